//! The engine of a page, seen from its worker: the entry point that `worker.js` calls.

use super::clock::Stopwatch;
use super::page::parcel;
use super::runner::Rest;
use super::serve::{FRAME, Port, serve};
use super::turn::{Bell, turn};
use crate::engine::protocol::{Command, Event};
use crate::engine::wire;
use js_sys::Uint8Array;
use std::cell::{Cell, RefCell};
use std::rc::Rc;
use wasm_bindgen::closure::Closure;
use wasm_bindgen::prelude::wasm_bindgen;
use wasm_bindgen::{JsCast, JsValue};
use web_sys::{DedicatedWorkerGlobalScope, MessageEvent};

/// The worker's first word; any other string is why it ended.
pub const READY: &str = "ready";

/// Serves the page that started this worker.
#[wasm_bindgen]
pub fn start_worker() {
    let scope: DedicatedWorkerGlobalScope = js_sys::global().unchecked_into();
    let dying = scope.clone();
    std::panic::set_hook(Box::new(move |info| post(&dying, &info.to_string().into())));
    let inbox = Rc::new(RefCell::new(Vec::new()));
    let bell = Bell::default();
    listen(&scope, inbox.clone(), bell.clone());
    let outbox = Rc::new(Outbox {
        scope: scope.clone(),
        events: RefCell::default(),
        clock: Stopwatch::start(),
        last: Cell::default(),
    });
    let mut desk = Desk { inbox, bell, outbox: outbox.clone() };
    wasm_bindgen_futures::spawn_local(async move {
        serve(&mut desk, true, Box::new(move |event| outbox.put(event))).await;
        scope.close();
    });
}

fn listen(scope: &DedicatedWorkerGlobalScope, inbox: Rc<RefCell<Vec<Command>>>, bell: Bell) {
    let hear = Closure::<dyn FnMut(MessageEvent)>::new(move |event: MessageEvent| {
        let bytes = Uint8Array::new(&event.data()).to_vec();
        match wire::decode(&bytes) {
            Ok(command) => inbox.borrow_mut().push(command),
            Err(error) => tracing::error!("a command that cannot be read: {error}"),
        }
        bell.ring();
    });
    scope.set_onmessage(Some(hear.as_ref().unchecked_ref()));
    // It listens as long as the worker lives.
    hear.forget();
    post(scope, &READY.into());
}

fn post(scope: &DedicatedWorkerGlobalScope, message: &JsValue) {
    // A page that has gone takes its worker with it.
    let _ = scope.post_message(message);
}

/// Events on their way to the page, posted together at most once a display frame.
struct Outbox {
    scope: DedicatedWorkerGlobalScope,
    events: RefCell<Vec<Event>>,
    clock: Stopwatch,
    last: Cell<f64>,
}

impl Outbox {
    fn put(&self, event: Event) {
        // What comes next takes long: the page should know at once.
        let urgent = matches!(event, Event::Progress(_));
        self.events.borrow_mut().push(event);
        if urgent {
            self.flush();
        }
    }

    fn flush(&self) {
        self.last.set(self.clock.seconds());
        let events = self.events.take();
        if events.is_empty() {
            return;
        }
        match wire::encode(&events) {
            Ok(bytes) => {
                let (array, transfer) = parcel(&bytes);
                // A page that has gone takes its worker with it.
                let _ = self.scope.post_message_with_transfer(&array, &transfer);
            }
            Err(error) => post(&self.scope, &error.into()),
        }
    }

    fn flush_if_due(&self) {
        if self.clock.seconds() - self.last.get() >= FRAME {
            self.flush();
        }
    }
}

struct Desk {
    inbox: Rc<RefCell<Vec<Command>>>,
    bell: Bell,
    outbox: Rc<Outbox>,
}

impl Port for Desk {
    async fn receive(&mut self, rest: Rest) -> Option<Vec<Command>> {
        let waiting = !self.inbox.borrow().is_empty();
        match rest {
            Rest::Idle if !waiting => {
                self.outbox.flush();
                self.bell.rest(None).await;
            }
            Rest::Seconds(seconds) if !waiting => {
                self.outbox.flush_if_due();
                self.bell.rest(Some(seconds)).await;
            }
            _ => {
                self.outbox.flush_if_due();
                turn().await;
            }
        }
        Some(self.inbox.take())
    }
}
