//! Ctrl-C: the first asks the work to stop and keep what there is, the second ends the program.

use std::sync::atomic::{AtomicBool, Ordering};

static ASKED: AtomicBool = AtomicBool::new(false);

/// Takes over Ctrl-C (and a request to terminate) for the rest of the program.
pub fn install() {
    let handler = || {
        if ASKED.swap(true, Ordering::SeqCst) {
            std::process::exit(130);
        }
    };
    // Without a handler Ctrl-C ends the program at once, which loses the run but nothing else.
    if ctrlc::set_handler(handler).is_err() {
        tracing::warn!("Ctrl-C cannot be handled here");
    }
}

/// Whether Ctrl-C was pressed.
pub fn asked() -> bool {
    ASKED.load(Ordering::SeqCst)
}
