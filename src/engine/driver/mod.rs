//! The driver: the only home of clocks and threads.
//!
//! `Engine` is the desktop's engine thread, `run_headless` the loop of terminal and tests; both are
//! loops around a `Runner`.

mod clock;
mod pool;
mod runner;

pub use crate::gpu::{AdapterDescription as Adapter, adapters};
pub use clock::Stopwatch;

use super::protocol::{Command, Event, ExecutorChoice, State};
use crate::runlog::RunLog;
use crate::spec::Spec;
use runner::{Rest, Runner};
use std::ops::ControlFlow;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::Duration;

/// Seconds a submit should take where a screen may share the GPU.
const WINDOW_SUBMIT: f64 = 0.008;
/// The same without a screen.
const HEADLESS_SUBMIT: f64 = 0.05;
/// The window is woken at most once in so many seconds: a display frame.
const FRAME: f64 = 1.0 / 60.0;

/// An engine on a thread of its own; dropping it ends the run and the thread.
pub struct Engine {
    commands: Sender<Command>,
    events: Receiver<Event>,
}

impl Engine {
    /// Starts the thread; `wake` is called when events wait, at most once a display frame.
    pub fn spawn(wake: impl Fn() + Send + 'static) -> Self {
        let (commands, inbox) = channel();
        let (outbox, events) = channel();
        let body = move || serve(&inbox, &outbox, &wake);
        // expect: a process that cannot start one thread cannot show its window either.
        std::thread::Builder::new().name("engine".into()).spawn(body).expect("the engine's thread starts");
        Self { commands, events }
    }

    /// Never blocks.
    pub fn send(&self, command: Command) {
        // An engine that has ended has told why; there is nobody left to tell.
        let _ = self.commands.send(command);
    }

    /// The events that wait, in order; never blocks.
    pub fn events(&self) -> Vec<Event> {
        self.events.try_iter().collect()
    }
}

/// The engine thread: commands, a tick, events, a rest.
fn serve(inbox: &Receiver<Command>, outbox: &Sender<Event>, wake: &impl Fn()) {
    let mut runner = Runner::new(WINDOW_SUBMIT);
    let clock = Stopwatch::start();
    let mut last_wake = f64::NEG_INFINITY;
    let mut owed = false;
    let mut rest = Rest::Idle;
    while !runner.quitting() {
        let command = match rest {
            Rest::None => {
                inbox.try_recv().map_err(|error| error == std::sync::mpsc::TryRecvError::Disconnected)
            }
            Rest::Seconds(seconds) => receive(inbox, seconds),
            Rest::Idle if owed => receive(inbox, FRAME),
            Rest::Idle => inbox.recv().map_err(|_| true),
        };
        match command {
            Ok(command) => {
                runner.command(command);
                inbox.try_iter().for_each(|command| runner.command(command));
            }
            Err(true) => return,
            Err(false) => {}
        }
        rest = runner.tick(false);
        for event in runner.events() {
            owed = true;
            if outbox.send(event).is_err() {
                return;
            }
        }
        if owed && clock.seconds() - last_wake >= FRAME {
            last_wake = clock.seconds();
            owed = false;
            wake();
        }
    }
}

/// A command within so many seconds; the error says whether the other side is gone.
fn receive(inbox: &Receiver<Command>, seconds: f64) -> Result<Command, bool> {
    let timeout = Duration::from_secs_f64(seconds.clamp(0.0, 1.0));
    inbox.recv_timeout(timeout).map_err(|error| error == RecvTimeoutError::Disconnected)
}

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
    let mut runner = Runner::new(HEADLESS_SUBMIT);
    let mut log = RunLog::default();
    let adapter = adapter.map(str::to_owned);
    runner.command(Command::Start { spec: Box::new(spec.clone()), executor, adapter, playing: true });
    loop {
        for event in runner.events() {
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
        commands(&log).into_iter().for_each(|command| runner.command(command));
        runner.tick(true);
    }
}
