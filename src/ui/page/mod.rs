//! The page's window: eframe on WebGL, with the engine in a worker. The entry point that `boot.js`
//! calls.

mod address;
pub(super) mod host;
mod keeper;

use super::{Opening, Settings, Window, style};
use crate::engine::driver::Engine;
use crate::engine::protocol::Level;
use crate::export::stored::View;
use address::Address;
use eframe::egui;
use keeper::{Found, Keeper};
use wasm_bindgen::closure::Closure;
use wasm_bindgen::prelude::wasm_bindgen;
use wasm_bindgen::{JsCast, JsValue};
use web_sys::HtmlCanvasElement;

/// Opens the lab on a canvas. `module` is the compiled wasm, for the worker.
///
/// # Errors
/// Where the canvas gives no WebGL context.
#[wasm_bindgen]
pub async fn start_page(canvas: HtmlCanvasElement, module: JsValue) -> Result<(), JsValue> {
    std::panic::set_hook(Box::new(|info| host::failed("panic", &info.to_string())));
    host::progress("Opening the lab …", 0.3);
    let start = Start::find().await;
    let runner = eframe::WebRunner::new();
    let create: eframe::AppCreator<'static> =
        Box::new(move |context| Ok(Box::new(Page::new(context, module, start))));
    runner.start(canvas, eframe::WebOptions::default(), create).await?;
    keep_when_left(runner);
    Ok(())
}

/// Stores the session at once when the page is left or hidden: afterwards there may be no time.
fn keep_when_left(runner: eframe::WebRunner) {
    let Some(document) = document() else { return };
    let left = Closure::<dyn FnMut()>::new(move || {
        if let Some(mut page) = runner.app_mut::<Page>() {
            page.notice_hiding();
            page.keep(true);
        }
    });
    // Without it the session is that of some seconds before.
    let _ = document.add_event_listener_with_callback("visibilitychange", left.as_ref().unchecked_ref());
    left.forget();
}

/// What the page opens with, and what is to be said of it.
#[derive(Default)]
struct Start {
    opening: Opening,
    view: Option<View>,
    warnings: Vec<String>,
}

impl Start {
    /// The address decides what is set; the run is taken up again where it is of those settings.
    async fn find() -> Self {
        let Found { stored, warning } = keeper::find().await;
        let mut warnings = Vec::from_iter(warning);
        let view = stored.as_ref().map(|stored| stored.view.clone());
        let stored = stored.map(Opening::from).unwrap_or_default();
        let opening = match address::linked() {
            Some(Ok(link)) => {
                let settings = Settings::of(link.spec, link.executor);
                if stored.settings.as_ref() == Some(&settings) { stored } else { Opening::from(settings) }
            }
            Some(Err(why)) => {
                warnings.push(why);
                stored
            }
            None => stored,
        };
        Self { opening, view, warnings }
    }
}

struct Page {
    ctx: egui::Context,
    window: Window,
    address: Address,
    keeper: Keeper,
    /// How the window is to look, once it can.
    view: Option<View>,
    shown: bool,
    hidden: bool,
    title: String,
}

impl Page {
    fn new(context: &eframe::CreationContext<'_>, module: JsValue, start: Start) -> Self {
        style::set_up(&context.egui_ctx);
        let waker = context.egui_ctx.clone();
        let blocked = |why: &str| host::failed("worker", why);
        let engine = Engine::spawn(module, move || waker.request_repaint(), blocked);
        let mut window = Window::new(Box::new(engine), start.opening);
        start.warnings.into_iter().for_each(|text| window.say(Level::Warning, text));
        let waker = context.egui_ctx.clone();
        let address = Address::watch(move || waker.request_repaint());
        Self {
            ctx: context.egui_ctx.clone(),
            window,
            address,
            keeper: Keeper::new(),
            view: start.view,
            shown: false,
            hidden: false,
            title: String::new(),
        }
    }

    /// A hidden page goes on, without pictures that nobody sees.
    fn notice_hiding(&mut self) {
        let hidden = document().is_some_and(|document| document.hidden());
        if hidden != std::mem::replace(&mut self.hidden, hidden) {
            self.window.set_hidden(hidden);
        }
    }

    fn keep(&mut self, now: bool) {
        if let Some(trouble) = self.keeper.keep(&self.window, &self.ctx, now) {
            self.window.say(Level::Warning, trouble);
        }
    }

    /// The tab says how far the run is, also where it is hidden.
    fn name_tab(&mut self) {
        let title = match self.window.percent() {
            Some(percent) => format!("{percent} % – Plateau"),
            None => "Plateau".to_owned(),
        };
        if title != self.title
            && let Some(document) = document()
        {
            document.set_title(&title);
            self.title = title;
        }
    }
}

fn document() -> Option<web_sys::Document> {
    web_sys::window()?.document()
}

impl eframe::App for Page {
    fn logic(&mut self, ctx: &egui::Context, frame: &mut eframe::Frame) {
        if let Some(seconds) = frame.info().cpu_usage {
            self.window.frame_took(seconds);
        }
        if let Some(view) = self.view.take() {
            self.window.look_like(&view, ctx);
        }
        match self.address.asked() {
            Some(Ok(link)) => self.window.set(Settings::of(link.spec, link.executor)),
            Some(Err(why)) => self.window.say(Level::Error, why),
            None => {}
        }
        self.window.logic(ctx);
        self.name_tab();
        self.keep(false);
    }

    fn as_any_mut(&mut self) -> Option<&mut dyn std::any::Any> {
        Some(self)
    }

    fn ui(&mut self, ui: &mut egui::Ui, _frame: &mut eframe::Frame) {
        self.window.ui(ui);
        // One drag of a slider is one change, of the address too.
        if !self.window.is_dragging() {
            self.address.follow(self.window.settings());
        }
        if !self.shown {
            self.shown = true;
            host::ready();
        }
    }
}
