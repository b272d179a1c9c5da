//! What the window needs of an engine: a thread here, a worker in a page, a fake in tests.

use crate::engine::protocol::{Command, Event};

pub trait EngineLink {
    /// Never blocks.
    fn send(&self, command: Command);
    /// The events that wait, in order; never blocks.
    fn events(&self) -> Vec<Event>;
}

impl EngineLink for crate::engine::driver::Engine {
    fn send(&self, command: Command) {
        Self::send(self, command);
    }

    fn events(&self) -> Vec<Event> {
        Self::events(self)
    }
}

/// Shared by a test and the window it drives.
impl<T: EngineLink> EngineLink for std::rc::Rc<T> {
    fn send(&self, command: Command) {
        (**self).send(command);
    }

    fn events(&self) -> Vec<Event> {
        (**self).events()
    }
}
