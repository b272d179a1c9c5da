//! The loop of an engine with a front end: commands, a tick, events, a rest.
//!
//! Written once; a desktop thread and a page's worker differ in their `Port`.

use super::runner::{Manner, Rest, Runner, Tell};
use crate::engine::protocol::Command;

/// Seconds a submit should take where a screen may share the GPU.
const SUBMIT: f64 = 0.008;
/// The front end is woken at most once in so many seconds: a display frame.
pub const FRAME: f64 = 1.0 / 60.0;

/// What an engine hears from its front end.
pub trait Port {
    /// The commands that wait; rests as it is told where none do. `None`: the front end is gone.
    async fn receive(&mut self, rest: Rest) -> Option<Vec<Command>>;
}

/// Serves a front end until it quits or goes away.
pub async fn serve(port: &mut impl Port, checkpoints: bool, tell: Tell) {
    // On the desktop the user asks for the self-test: `plateau adapters --check`.
    let in_browser = cfg!(target_arch = "wasm32");
    let manner = Manner { submit: SUBMIT, in_browser, checkpoints };
    let mut runner = Runner::new(manner, tell);
    let mut rest = Rest::Idle;
    while !runner.quitting() {
        let Some(commands) = port.receive(rest).await else { return };
        for command in commands {
            runner.command(command).await;
        }
        rest = runner.tick(false).await;
    }
}
