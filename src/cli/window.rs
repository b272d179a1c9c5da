//! The window, where there can be one.

use super::{Ending, Outcome};
use crate::engine::protocol::ExecutorChoice;
use crate::runlog::RunLog;
use crate::spec::Spec;

/// What runs without a display.
const HINT: &str = "`plateau run saxe` runs without one";

/// What the window opens with.
pub enum First {
    /// The first preset, training.
    Lab,
    /// A run kept under this name.
    Run(String, Box<RunLog>),
    /// What a file or a link says, training.
    Spec(Box<Spec>, ExecutorChoice),
}

/// Opens the window and returns when it is closed.
pub fn open(first: First) -> Ending {
    match why_not() {
        Some(reason) => Err(format!("{reason}; {HINT}")),
        None => show(first).map(|()| Outcome::Done),
    }
}

/// Why there can be no window, if that is known beforehand.
pub fn why_not() -> Option<&'static str> {
    if cfg!(not(feature = "ui")) {
        return Some("built without the window");
    }
    let set = |name| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    let needs_server = cfg!(all(unix, not(target_os = "macos")));
    let displays = ["DISPLAY", "WAYLAND_DISPLAY", "WAYLAND_SOCKET"];
    (needs_server && !displays.into_iter().any(set)).then_some("no display to open a window on")
}

#[cfg(feature = "ui")]
fn show(first: First) -> Result<(), String> {
    let mut options = crate::ui::WindowOptions::default();
    match first {
        First::Lab => {}
        First::Run(name, log) => options.open = Some((name, *log)),
        First::Spec(spec, executor) => (options.spec, options.executor) = (Some(*spec), executor),
    }
    crate::ui::run_window(options).map_err(|error| error.to_string())
}

#[cfg(not(feature = "ui"))]
fn show(_first: First) -> Result<(), String> {
    Err(HINT.to_owned())
}
