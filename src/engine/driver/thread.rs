//! The engine on a thread of its own: the desktop's.

use super::clock::Stopwatch;
use super::runner::Rest;
use super::serve::{FRAME, Port, serve};
use crate::engine::protocol::{Command, Event};
use std::cell::Cell;
use std::rc::Rc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, TryRecvError, channel};
use std::time::Duration;

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
        let body = move || {
            let waker = Rc::new(Waker {
                wake,
                clock: Stopwatch::start(),
                last: Cell::default(),
                owed: Cell::default(),
            });
            let mut desk = Desk { inbox, waker: waker.clone() };
            let tell = move |event| {
                // A window that has gone is noticed by its commands.
                let _ = outbox.send(event);
                waker.owed.set(true);
                waker.look();
            };
            pollster::block_on(serve(&mut desk, false, Box::new(tell)));
        };
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

/// Wakes the window at most once a display frame.
struct Waker<W> {
    wake: W,
    clock: Stopwatch,
    last: Cell<f64>,
    /// Events wait of which the window does not know.
    owed: Cell<bool>,
}

impl<W: Fn()> Waker<W> {
    fn look(&self) {
        let now = self.clock.seconds();
        if self.owed.get() && now - self.last.get() >= FRAME {
            self.last.set(now);
            self.owed.set(false);
            (self.wake)();
        }
    }
}

struct Desk<W> {
    inbox: Receiver<Command>,
    waker: Rc<Waker<W>>,
}

impl<W: Fn()> Desk<W> {
    /// A command within so many seconds; `Err(Disconnected)` where the window is gone.
    fn wait(&self, rest: Rest) -> Result<Command, RecvTimeoutError> {
        let within = |seconds: f64| self.inbox.recv_timeout(Duration::from_secs_f64(seconds.clamp(0.0, 1.0)));
        match rest {
            Rest::None => self.inbox.try_recv().map_err(|error| match error {
                TryRecvError::Empty => RecvTimeoutError::Timeout,
                TryRecvError::Disconnected => RecvTimeoutError::Disconnected,
            }),
            Rest::Seconds(seconds) => within(seconds),
            Rest::Idle if self.waker.owed.get() => within(FRAME),
            Rest::Idle => self.inbox.recv().map_err(|_| RecvTimeoutError::Disconnected),
        }
    }
}

impl<W: Fn()> Port for Desk<W> {
    async fn receive(&mut self, rest: Rest) -> Option<Vec<Command>> {
        self.waker.look();
        match self.wait(rest) {
            Ok(first) => Some(std::iter::once(first).chain(self.inbox.try_iter()).collect()),
            Err(RecvTimeoutError::Timeout) => Some(Vec::new()),
            Err(RecvTimeoutError::Disconnected) => None,
        }
    }
}
