//! Runs without a front end: a Spec to its end on this thread, as fast as it goes.

use super::runner::{Manner, Runner};
use crate::engine::protocol::{Command, Event, ExecutorChoice, State};
use crate::runlog::RunLog;
use crate::spec::Spec;
use std::cell::RefCell;
use std::ops::ControlFlow;
use std::rc::Rc;

/// Seconds a submit should take, without a screen.
const SUBMIT: f64 = 0.05;

/// Runs a Spec to its end as fast as it goes, on this thread; `watch` sees every event and may stop it
/// (the log then holds what there is). A refusal or a failed run is an error.
pub fn run_headless(
    spec: &Spec,
    executor: ExecutorChoice,
    adapter: Option<&str>,
    watch: &mut dyn FnMut(&Event) -> ControlFlow<()>,
) -> anyhow::Result<RunLog> {
    run_commands(spec, executor, adapter, &mut |_| Vec::new(), watch)
}

/// The same, with commands of the caller's after each round of events: tests destroy devices so.
pub fn run_commands(
    spec: &Spec,
    executor: ExecutorChoice,
    adapter: Option<&str>,
    commands: &mut dyn FnMut(&RunLog) -> Vec<Command>,
    watch: &mut dyn FnMut(&Event) -> ControlFlow<()>,
) -> anyhow::Result<RunLog> {
    let told = Rc::new(RefCell::new(Vec::new()));
    let events = told.clone();
    let manner = Manner { submit: SUBMIT, in_browser: false, checkpoints: false };
    let mut runner = Runner::new(manner, Box::new(move |event| events.borrow_mut().push(event)));
    let mut log = RunLog::default();
    let adapter = adapter.map(str::to_owned);
    let spec = Box::new(spec.clone());
    let start = Command::Start { spec, executor, adapter, playing: true, resume: None };
    pollster::block_on(runner.command(start));
    loop {
        for event in told.take() {
            if let Event::Refused(why) = event {
                anyhow::bail!("{why}");
            }
            log.fold(&event);
            if watch(&event).is_break() {
                return Ok(log);
            }
        }
        match runner.state() {
            State::Done => return Ok(log),
            State::Failed => {
                let why = log.notices.last().map_or("the run failed", |notice| &notice.text);
                anyhow::bail!("{why}");
            }
            _ => {}
        }
        commands(&log).into_iter().for_each(|command| pollster::block_on(runner.command(command)));
        pollster::block_on(runner.tick(true));
    }
}
