//! The desktop's window: eframe on its wgpu renderer, with a device of its own.

use super::{Opening, Settings, Window, style};
use crate::engine::driver::Engine;
use crate::engine::protocol::ExecutorChoice;
use crate::runlog::RunLog;
use crate::spec::Spec;
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
    /// What trains, admitted; the first preset otherwise.
    pub spec: Option<Spec>,
}

/// What went wrong with the window's own device, told by its callbacks; and whether the window
/// has closed, when a device ends as it should.
#[derive(Default)]
struct Fate {
    device: Option<eframe::wgpu::Device>,
    lost: Option<String>,
    closed: bool,
}

#[derive(Clone, Default)]
struct Shared(Arc<Mutex<Fate>>);

impl Shared {
    fn with<R>(&self, f: impl FnOnce(&mut Fate) -> R) -> R {
        f(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn is_lost(&self) -> bool {
        self.with(|fate| fate.lost.is_some())
    }

    /// Asks the device: its callback is called from here where it is lost.
    fn look(&self) -> bool {
        if let Some(device) = self.with(|fate| fate.device.clone()) {
            // An error here is a lost device, of which the callback tells.
            let _ = device.poll(eframe::wgpu::PollType::Poll);
        }
        self.is_lost()
    }
}

/// Opens the window with its lab training, and returns when it is closed.
///
/// # Errors
/// Where there is no display or no adapter to draw with, or where the window's own device was
/// lost: one line that names what runs without a window.
pub fn run_window(options: WindowOptions) -> anyhow::Result<()> {
    let fate = Shared::default();
    let inner = options.size.unwrap_or([1280.0, 720.0]);
    let viewport = egui::ViewportBuilder::default()
        .with_title("Plateau")
        .with_app_id("plateau")
        .with_inner_size(inner)
        .with_min_inner_size([960.0, 600.0]);
    let mut native = eframe::NativeOptions { viewport, ..Default::default() };
    let usual = native.wgpu_options.on_surface_status.clone();
    let kept = fate.clone();
    native.wgpu_options.on_surface_status = Arc::new(move |status| {
        if kept.is_lost() { eframe::egui_wgpu::SurfaceErrorAction::SkipFrame } else { usual(status) }
    });
    let kept = fate.clone();
    let create: eframe::AppCreator<'_> =
        Box::new(move |context| Ok(Box::new(App::new(context, options, kept))));
    let shown = quiet_if_lost(&fate, || eframe::run_native("Plateau", native, create));
    if let Some(lost) = fate.with(|fate| fate.lost.take()) {
        let why = lost.lines().next().map(|line| format!(" ({line})")).unwrap_or_default();
        anyhow::bail!(
            "the window's graphics device was lost{why}; start again, or `plateau run saxe` runs without one"
        );
    }
    match shown {
        Some(shown) => shown.map_err(|error| {
            let error = error.to_string();
            let why = cause(&error);
            anyhow::anyhow!("no window: {why}; `plateau run saxe` runs without one")
        }),
        None => anyhow::bail!("the window ended by an error in it; `plateau run saxe` runs without one"),
    }
}

/// The cause of a windowing error, which comes last after places in source files.
fn cause(error: &str) -> &str {
    let mut parts = error.split(": ").skip_while(|part| !part.contains(".rs:")).skip(1);
    parts.next().map_or(error, |first| &error[error.find(first).unwrap_or(0)..])
}

/// Runs the window. In the frame in which its device is lost the painter panics, which no callback
/// can keep it from: that panic is not printed but told by the caller, in one line. `None` after
/// a panic.
fn quiet_if_lost<R>(fate: &Shared, run: impl FnOnce() -> R) -> Option<R> {
    let usual = Arc::new(std::panic::take_hook());
    let (kept, hook) = (fate.clone(), usual.clone());
    std::panic::set_hook(Box::new(move |info| {
        if !kept.look() {
            hook(info);
        }
    }));
    let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(run));
    std::panic::set_hook(Box::new(move |info| usual(info)));
    result.ok()
}

struct App {
    window: Window,
    fate: Shared,
}

impl App {
    fn new(context: &eframe::CreationContext<'_>, options: WindowOptions, fate: Shared) -> Self {
        guard(context, &fate);
        style::set_up(&context.egui_ctx);
        let waker = context.egui_ctx.clone();
        let engine = Engine::spawn(move || waker.request_repaint());
        let WindowOptions { executor, adapter, spec, .. } = options;
        let settings = spec.map(|spec| Settings::of(spec, executor));
        let opening = Opening { executor, adapter, settings, ..Opening::default() };
        let mut window = Window::new(Box::new(engine), opening);
        if let Some((name, log)) = options.open {
            window.open(name, log);
        }
        Self { window, fate }
    }
}

/// Callbacks on the window's own device: without them an error there ends the program.
fn guard(context: &eframe::CreationContext<'_>, fate: &Shared) {
    let Some(state) = &context.wgpu_render_state else { return };
    fate.with(|fate| fate.device = Some(state.device.clone()));
    let kept = fate.clone();
    state.device.on_uncaptured_error(Arc::new(move |error: eframe::wgpu::Error| {
        if !kept.is_lost() {
            tracing::error!("drawing the window: {error}");
        }
    }));
    let (kept, waker) = (fate.clone(), context.egui_ctx.clone());
    state.device.set_device_lost_callback(move |_, text| {
        kept.with(|fate| {
            if !fate.closed {
                fate.lost = Some(text);
            }
        });
        waker.request_repaint();
    });
}

impl eframe::App for App {
    fn logic(&mut self, ctx: &egui::Context, frame: &mut eframe::Frame) {
        if let Some(seconds) = frame.info().cpu_usage {
            self.window.frame_took(seconds);
        }
        if self.fate.look() {
            ctx.send_viewport_cmd(egui::ViewportCommand::Close);
        }
        self.window.logic(ctx);
    }

    /// Draws nothing where there is no device to draw with.
    fn ui(&mut self, ui: &mut egui::Ui, _frame: &mut eframe::Frame) {
        if !self.fate.is_lost() {
            self.window.ui(ui);
        }
    }

    fn on_exit(&mut self) {
        self.fate.with(|fate| {
            fate.closed = true;
            fate.device = None;
        });
    }
}
