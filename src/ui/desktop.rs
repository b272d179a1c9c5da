//! The desktop's window: eframe on its wgpu renderer, with a device of its own.

use super::{Window, style};
use crate::engine::driver::Engine;
use crate::engine::protocol::ExecutorChoice;
use crate::runlog::RunLog;
use eframe::egui;
use std::sync::{Arc, Mutex, PoisonError};

/// What the window opens with.
#[derive(Debug, Default)]
pub struct WindowOptions {
    /// Size in points; a size that fits a laptop otherwise.
    pub size: Option<[f32; 2]>,
    pub executor: ExecutorChoice,
    /// Part of the adapter's name that the engine should use.
    pub adapter: Option<String>,
    /// A run to show, with the name it goes by.
    pub open: Option<(String, RunLog)>,
}

/// What went wrong with the window's own device, told by its callbacks.
type Trouble = Arc<Mutex<Option<String>>>;

/// Opens the window with its lab training, and returns when it is closed.
///
/// # Errors
/// Where there is no display or no adapter to draw with, or where the window's own device was
/// lost: one line that names what runs without a window.
pub fn run_window(options: WindowOptions) -> anyhow::Result<()> {
    let trouble = Trouble::default();
    let inner = options.size.unwrap_or([1280.0, 720.0]);
    let viewport = egui::ViewportBuilder::default()
        .with_title("Plateau")
        .with_app_id("plateau")
        .with_inner_size(inner)
        .with_min_inner_size([960.0, 600.0]);
    let native = eframe::NativeOptions { viewport, ..Default::default() };
    let kept = trouble.clone();
    let create: eframe::AppCreator<'_> =
        Box::new(move |context| Ok(Box::new(App::new(context, options, kept))));
    let shown = eframe::run_native("Plateau", native, create);
    if let Some(lost) = take(&trouble) {
        anyhow::bail!(
            "the window's graphics device was lost ({lost}); start again, or `plateau run saxe` runs without a window"
        );
    }
    shown.map_err(|error| anyhow::anyhow!("no window: {error}; `plateau run saxe` runs without one"))
}

fn take(trouble: &Trouble) -> Option<String> {
    trouble.lock().unwrap_or_else(PoisonError::into_inner).take()
}

struct App {
    window: Window,
    trouble: Trouble,
}

impl App {
    fn new(context: &eframe::CreationContext<'_>, options: WindowOptions, trouble: Trouble) -> Self {
        guard(context, &trouble);
        style::set_up(&context.egui_ctx);
        let waker = context.egui_ctx.clone();
        let engine = Engine::spawn(move || waker.request_repaint());
        let mut window = Window::new(Box::new(engine), options.executor, options.adapter);
        if let Some((name, log)) = options.open {
            window.open(name, log);
        }
        Self { window, trouble }
    }
}

/// Callbacks on the window's own device: without them an error there ends the program.
fn guard(context: &eframe::CreationContext<'_>, trouble: &Trouble) {
    let Some(state) = &context.wgpu_render_state else { return };
    state.device.on_uncaptured_error(Arc::new(|error: eframe::wgpu::Error| {
        tracing::error!("drawing the window: {error}");
    }));
    let (kept, waker) = (trouble.clone(), context.egui_ctx.clone());
    state.device.set_device_lost_callback(move |reason, text| {
        // Destroyed is how a device ends when the window closes.
        if !matches!(reason, eframe::wgpu::DeviceLostReason::Destroyed) {
            *kept.lock().unwrap_or_else(PoisonError::into_inner) = Some(text);
            waker.request_repaint();
        }
    });
}

impl eframe::App for App {
    fn logic(&mut self, ctx: &egui::Context, frame: &mut eframe::Frame) {
        if let Some(seconds) = frame.info().cpu_usage {
            self.window.frame_took(seconds);
        }
        if self.trouble.lock().unwrap_or_else(PoisonError::into_inner).is_some() {
            ctx.send_viewport_cmd(egui::ViewportCommand::Close);
        }
        self.window.logic(ctx);
    }

    fn ui(&mut self, ui: &mut egui::Ui, _frame: &mut eframe::Frame) {
        self.window.ui(ui);
    }
}
