//! The driver: the only home of clocks and threads.

use super::protocol::{Command, Event, ExecutorChoice};
use crate::runlog::RunLog;
use crate::spec::Spec;
use std::ops::ControlFlow;

/// An engine on a thread of its own.
pub struct Engine {}

impl Engine {
    /// Starts the thread; `wake` is called when events wait, at most once a display frame.
    pub fn spawn(_wake: impl Fn() + Send + 'static) -> Self {
        todo!("driver")
    }

    /// Never blocks.
    pub fn send(&self, _command: Command) {}

    /// The events that wait, in order; never blocks.
    pub fn events(&self) -> Vec<Event> {
        Vec::new()
    }
}

/// Runs a Spec to its end as fast as it goes, on this thread; `watch` sees every event and may stop it
/// (the log then holds what there is).
pub fn run_headless(
    _spec: &Spec,
    _executor: ExecutorChoice,
    _adapter: Option<&str>,
    _watch: &mut dyn FnMut(&Event) -> ControlFlow<()>,
) -> anyhow::Result<RunLog> {
    todo!("driver")
}

/// An adapter as `plateau adapters` lists it.
#[derive(Clone, Debug, serde::Serialize)]
pub struct Adapter {
    pub name: String,
    pub backend: String,
    pub software: bool,
    pub driver: String,
}

/// Every adapter of this machine.
pub fn adapters() -> Vec<Adapter> {
    Vec::new()
}
