//! The page's window: eframe on WebGL, with the engine in a worker. The entry point that `boot.js`
//! calls.

use super::{Opening, Window, style};
use crate::engine::driver::Engine;
use eframe::egui;
use wasm_bindgen::JsValue;
use wasm_bindgen::prelude::wasm_bindgen;
use web_sys::HtmlCanvasElement;

/// What the page's script does for us; see `web/boot.js`.
#[wasm_bindgen]
extern "C" {
    /// The first frame is there: the loading screen goes.
    #[wasm_bindgen(js_namespace = plateauHost)]
    fn ready();
    /// Nothing can be shown any more; the page says why, and what to do.
    #[wasm_bindgen(js_namespace = plateauHost)]
    fn failed(kind: &str, report: &str);
}

/// Opens the lab on a canvas. `module` is the compiled wasm, for the worker.
///
/// # Errors
/// Where the canvas gives no WebGL context.
#[wasm_bindgen]
pub async fn start_page(canvas: HtmlCanvasElement, module: JsValue) -> Result<(), JsValue> {
    std::panic::set_hook(Box::new(|info| failed("panic", &info.to_string())));
    let runner = eframe::WebRunner::new();
    let create: eframe::AppCreator<'static> =
        Box::new(move |context| Ok(Box::new(Page::new(context, module))));
    runner.start(canvas, eframe::WebOptions::default(), create).await
}

struct Page {
    window: Window,
    shown: bool,
}

impl Page {
    fn new(context: &eframe::CreationContext<'_>, module: JsValue) -> Self {
        style::set_up(&context.egui_ctx);
        let waker = context.egui_ctx.clone();
        let blocked = |why: &str| failed("worker", why);
        let engine = Engine::spawn(module, move || waker.request_repaint(), blocked);
        Self { window: Window::new(Box::new(engine), Opening::default()), shown: false }
    }
}

impl eframe::App for Page {
    fn logic(&mut self, ctx: &egui::Context, frame: &mut eframe::Frame) {
        if let Some(seconds) = frame.info().cpu_usage {
            self.window.frame_took(seconds);
        }
        self.window.logic(ctx);
    }

    fn ui(&mut self, ui: &mut egui::Ui, _frame: &mut eframe::Frame) {
        self.window.ui(ui);
        if !self.shown {
            self.shown = true;
            ready();
        }
    }
}
