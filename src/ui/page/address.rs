//! The fragment of the page's address, both ways: it follows what is set, and a changed one is followed.

use crate::export::address::{Link, from_fragment, to_fragment};
use crate::ui::Settings;
use std::cell::Cell;
use std::rc::Rc;
use wasm_bindgen::closure::Closure;
use wasm_bindgen::{JsCast, JsValue};

/// The address bar, as far as it is ours.
pub struct Address {
    /// What was written last.
    written: Option<Settings>,
    /// Somebody else has changed it since it was looked at.
    changed: Rc<Cell<bool>>,
}

impl Address {
    /// Listens for changes from now on; `wake` is called when there is one.
    pub fn watch(wake: impl Fn() + 'static) -> Self {
        let changed = Rc::new(Cell::new(false));
        let flag = changed.clone();
        let hear = Closure::<dyn FnMut()>::new(move || {
            flag.set(true);
            wake();
        });
        if let Some(window) = web_sys::window() {
            // A page that cannot listen still opens links.
            let _ = window.add_event_listener_with_callback("hashchange", hear.as_ref().unchecked_ref());
        }
        // It listens as long as the page is there.
        hear.forget();
        Self { written: None, changed }
    }

    /// What the address asks for, if it was changed by the user: a link, or why it is none.
    pub fn asked(&mut self) -> Option<Result<Link, String>> {
        if !self.changed.take() {
            return None;
        }
        // Whatever it says, afterwards it is written anew.
        self.written = None;
        linked()
    }

    /// Has the address say what is set.
    pub fn follow(&mut self, settings: &Settings) {
        if self.written.as_ref() == Some(settings) {
            return;
        }
        self.written = Some(settings.clone());
        let fragment = format!("#{}", to_fragment(&settings.spec, settings.executor));
        let history = web_sys::window().and_then(|window| window.history().ok());
        if let Some(history) = history {
            // A browser may refuse many changes in a short time; the next one says it all again.
            let _ = history.replace_state_with_url(&JsValue::NULL, "", Some(&fragment));
        }
    }
}

/// What the address asks for; `None` where it asks for nothing.
pub fn linked() -> Option<Result<Link, String>> {
    let fragment = web_sys::window()?.location().hash().ok()?;
    let said = !fragment.trim_start_matches('#').trim().is_empty();
    said.then(|| from_fragment(&fragment).map_err(|error| format!("the address: {error}")))
}
