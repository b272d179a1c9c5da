//! The window, where there can be one.

use super::{Ending, Outcome};
use crate::runlog::RunLog;

/// What runs without a display.
const HINT: &str = "`plateau run saxe` runs without one";

/// Opens the window, on a run and the name it goes by where one is given, and returns when it is closed.
pub fn open(run: Option<(String, RunLog)>) -> Ending {
    match why_not() {
        Some(reason) => Err(format!("{reason}; {HINT}")),
        None => show(run).map(|()| Outcome::Done),
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
fn show(run: Option<(String, RunLog)>) -> Result<(), String> {
    let options = crate::ui::WindowOptions { open: run, ..Default::default() };
    crate::ui::run_window(options).map_err(|error| error.to_string())
}

#[cfg(not(feature = "ui"))]
fn show(_run: Option<(String, RunLog)>) -> Result<(), String> {
    Err(HINT.to_owned())
}
