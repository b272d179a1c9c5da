//! The engine of a page, seen from the page: a Web Worker that runs the same wasm.

use super::worker::READY;
use crate::engine::protocol::{Command, Event};
use crate::engine::wire;
use js_sys::{Array, Object, Reflect, Uint8Array};
use std::cell::{Cell, RefCell};
use std::rc::Rc;
use wasm_bindgen::closure::Closure;
use wasm_bindgen::{JsCast, JsValue};
use web_sys::{ErrorEvent, MessageEvent, Worker, WorkerOptions, WorkerType};

/// Beside the page's own script.
const SCRIPT: &str = "./worker.js";

/// An engine in a worker; dropping it ends both.
pub struct Engine {
    link: Rc<Link>,
}

struct Link {
    /// The compiled wasm, which the worker need not fetch again.
    module: JsValue,
    worker: RefCell<Option<Running>>,
    /// Commands that the worker is not ready for.
    waiting: RefCell<Vec<Command>>,
    ready: Cell<bool>,
    events: RefCell<Vec<Event>>,
    wake: Box<dyn Fn()>,
    /// Told if the first worker does not even start.
    blocked: Box<dyn Fn(&str)>,
    /// A worker has been ready before.
    proven: Cell<bool>,
}

/// A worker and what it calls.
struct Running {
    worker: Worker,
    _message: Closure<dyn FnMut(MessageEvent)>,
    _error: Closure<dyn FnMut(ErrorEvent)>,
}

impl Drop for Running {
    fn drop(&mut self) {
        self.worker.set_onmessage(None);
        self.worker.set_onerror(None);
        self.worker.terminate();
    }
}

impl Engine {
    /// Starts the worker on a compiled module. `wake` is called when events wait, `blocked` once, with
    /// the reason, where no worker starts.
    pub fn spawn(module: JsValue, wake: impl Fn() + 'static, blocked: impl Fn(&str) + 'static) -> Self {
        let link = Rc::new(Link {
            module,
            worker: RefCell::default(),
            waiting: RefCell::default(),
            ready: Cell::default(),
            events: RefCell::default(),
            wake: Box::new(wake),
            blocked: Box::new(blocked),
            proven: Cell::default(),
        });
        link.start();
        Self { link }
    }

    /// Never blocks.
    pub fn send(&self, command: Command) {
        if self.link.ready.get() {
            self.link.post(&command);
        } else {
            self.link.waiting.borrow_mut().push(command);
        }
    }

    /// The events that wait, in order; never blocks.
    pub fn events(&self) -> Vec<Event> {
        self.link.events.take()
    }
}

impl Link {
    fn start(self: &Rc<Self>) {
        match self.running() {
            Ok(running) => *self.worker.borrow_mut() = Some(running),
            Err(error) => (self.blocked)(&text(&error)),
        }
    }

    fn running(self: &Rc<Self>) -> Result<Running, JsValue> {
        let options = WorkerOptions::new();
        options.set_type(WorkerType::Module);
        let worker = Worker::new_with_options(SCRIPT, &options)?;
        // Weak: the worker's closures must not keep themselves alive.
        let weak = Rc::downgrade(self);
        let message = Closure::new(move |event: MessageEvent| {
            if let Some(link) = weak.upgrade() {
                link.hear(&event.data());
            }
        });
        let weak = Rc::downgrade(self);
        let error = Closure::new(move |event: ErrorEvent| {
            event.prevent_default();
            if let Some(link) = weak.upgrade() {
                link.ended(&event.message());
            }
        });
        worker.set_onmessage(Some(message.as_ref().unchecked_ref()));
        worker.set_onerror(Some(error.as_ref().unchecked_ref()));
        let hello = Object::new();
        Reflect::set(&hello, &"module".into(), &self.module)?;
        worker.post_message(&hello)?;
        Ok(Running { worker, _message: message, _error: error })
    }

    fn post(&self, command: &Command) {
        let Some(running) = &*self.worker.borrow() else { return };
        match wire::encode(command) {
            // A worker that has ended is told of by its error.
            Ok(bytes) => drop(running.worker.post_message(&Uint8Array::from(&bytes[..]))),
            Err(error) => tracing::error!("a command that cannot be written: {error}"),
        }
    }

    /// A message of the worker: events as bytes, or as a string that it is ready or why it ended.
    fn hear(self: &Rc<Self>, message: &JsValue) {
        match (message.dyn_ref::<Uint8Array>(), message.as_string()) {
            (Some(bytes), _) => match wire::decode::<Vec<Event>>(&bytes.to_vec()) {
                Ok(events) => self.tell(events),
                Err(error) => self.ended(&error),
            },
            (None, Some(word)) if word == READY => {
                self.ready.set(true);
                self.proven.set(true);
                self.waiting.take().iter().for_each(|command| self.post(command));
            }
            (None, word) => self.ended(&word.unwrap_or_default()),
        }
    }

    fn tell(&self, events: Vec<Event>) {
        self.events.borrow_mut().extend(events);
        (self.wake)();
    }

    /// The worker has ended: another takes its place, where one has ever worked. What was sent to
    /// the old one is gone with it; the front end begins anew from `Event::Ended`.
    fn ended(self: &Rc<Self>, why: &str) {
        if !self.proven.get() {
            return (self.blocked)(why);
        }
        self.ready.set(false);
        self.waiting.borrow_mut().clear();
        // Not dropped here: this is called by one of its closures.
        let old = self.worker.take();
        wasm_bindgen_futures::spawn_local(async move { drop(old) });
        self.tell(vec![Event::Ended(why.to_owned())]);
        self.start();
    }
}

fn text(error: &JsValue) -> String {
    error.dyn_ref::<js_sys::Error>().map_or_else(|| format!("{error:?}"), |error| error.message().into())
}

/// Hands over an array without a copy in between.
pub(super) fn parcel(bytes: &[u8]) -> (Uint8Array, Array) {
    let array = Uint8Array::from(bytes);
    let transfer = Array::of1(&array.buffer());
    (array, transfer)
}
