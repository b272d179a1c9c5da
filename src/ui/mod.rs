//! The window: egui views over a RunLog, and one enum of actions that drives the engine.
//!
//! Events are folded in `Window::logic`; views are functions of what it keeps and return the
//! Action a user asked for; `Window::perform` is the only place that acts. A frame's work is
//! bounded: rows are taken in piece by piece (`digest`), curves are kept in bins (`decimate`), the
//! theory is asked for only when the run or its interventions change.

pub mod action;
mod bars;
mod controls;
mod curves;
pub mod decimate;
mod digest;
mod drop;
pub mod edit;
mod events;
mod files;
mod heat;
mod history;
mod keys;
mod layout;
pub mod link;
mod loss;
mod modes;
mod palette;
mod perform;
mod plot;
mod session;
mod status;
pub mod style;
mod theory;
mod top;
mod window;

pub use history::Settings;
pub use window::{Opening, Unfinished, Window};

#[cfg(not(target_arch = "wasm32"))]
mod desktop;
#[cfg(not(target_arch = "wasm32"))]
pub use desktop::{WindowOptions, run_window};

#[cfg(target_arch = "wasm32")]
mod page;
