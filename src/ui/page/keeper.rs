//! The session that outlives the page: stored while it goes on, read back when the page opens.

use super::host;
use crate::engine::driver::Stopwatch;
use crate::export::stored::{self, LeftOut, Stored, View};
use crate::ui::{Settings, Window};
use eframe::egui;
use std::cell::{Cell, RefCell};
use std::rc::Rc;

/// Where the session is.
const KEY: &str = "session";
/// Where one that could not be read is kept aside.
const ASIDE: &str = "session-unread";
/// Seconds between two writes, at least.
const PAUSE: f64 = 3.0;
/// Writing may take this part of the page's time.
const SHARE: f64 = 0.01;

/// What was found at the start, and what is to be said of it.
#[derive(Default)]
pub struct Found {
    pub stored: Option<Stored>,
    pub warning: Option<String>,
}

/// Reads the stored session; one that cannot be read is kept aside.
pub async fn find() -> Found {
    let bytes = match host::load(KEY).await {
        Ok(Some(bytes)) => bytes,
        Ok(None) => return Found::default(),
        Err(why) => return Found { warning: Some(unkept(&why)), stored: None },
    };
    match stored::read(&bytes) {
        Ok(stored) => Found { stored: Some(stored), warning: None },
        Err(error) => {
            let aside = match host::save(ASIDE, &bytes).await {
                // Gone, so that it is not met again; kept where this fails, until it is written over.
                Ok(()) => host::remove(KEY).await.err(),
                Err(why) => Some(why),
            };
            let kept = aside.map_or_else(|| "it is kept aside".to_owned(), |why| format!("not kept: {why}"));
            Found { stored: None, warning: Some(format!("{error}; {kept}, and the page starts afresh")) }
        }
    }
}

fn unkept(why: &str) -> String {
    format!("settings and run will not survive a reload: {why}")
}

/// What tells a session from what it was before.
#[derive(Clone, PartialEq)]
struct Mark {
    settings: Settings,
    view: View,
    rows: usize,
    checkpoint: Option<u64>,
}

/// Writes the session when it has changed and time allows.
pub struct Keeper {
    clock: Stopwatch,
    /// When the next write may be.
    next: f64,
    written: Option<Mark>,
    /// A write is on its way.
    writing: Rc<Cell<bool>>,
    /// Why the last one failed, until it is said.
    trouble: Rc<RefCell<Option<String>>>,
    /// Said once: a full disk is not news every few seconds.
    said: bool,
}

impl Keeper {
    pub fn new() -> Self {
        Self {
            clock: Stopwatch::start(),
            next: PAUSE,
            written: None,
            writing: Rc::default(),
            trouble: Rc::default(),
            said: false,
        }
    }

    /// Writes if there is something new; `now` where the page may go at any moment. What it returns
    /// should be said.
    pub fn keep(&mut self, window: &Window, ctx: &egui::Context, now: bool) -> Option<String> {
        let due = now || self.clock.seconds() >= self.next;
        if due && !self.writing.get() {
            self.write(window, ctx);
        }
        let trouble = self.trouble.take()?;
        (!std::mem::replace(&mut self.said, true)).then(|| unkept(&trouble))
    }

    fn write(&mut self, window: &Window, ctx: &egui::Context) {
        let keep = window.keep(ctx);
        let mark = Mark {
            settings: window.settings().clone(),
            view: keep.view.clone(),
            rows: keep.log.map_or(0, |log| log.steps.len()),
            checkpoint: keep.checkpoint.map(|checkpoint| checkpoint.step),
        };
        if self.written.as_ref() == Some(&mark) {
            return;
        }
        let from = self.clock.seconds();
        match stored::write(&keep) {
            Ok((bytes, left_out)) => {
                if left_out == LeftOut::Run {
                    *self.trouble.borrow_mut() = Some("the run is too large to be kept".to_owned());
                }
                self.send(bytes);
            }
            Err(why) => *self.trouble.borrow_mut() = Some(why),
        }
        self.written = Some(mark);
        let took = self.clock.seconds() - from;
        self.next = self.clock.seconds() + PAUSE.max(took / SHARE);
    }

    fn send(&self, bytes: Vec<u8>) {
        let (writing, trouble) = (self.writing.clone(), self.trouble.clone());
        writing.set(true);
        wasm_bindgen_futures::spawn_local(async move {
            if let Err(why) = host::save(KEY, &bytes).await {
                *trouble.borrow_mut() = Some(why);
            }
            writing.set(false);
        });
    }
}
