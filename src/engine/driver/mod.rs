//! The driver: the only home of clocks and threads.
//!
//! A `Runner` turns commands and time into steps. `serve` is the loop around it for a front end:
//! on a thread of its own on the desktop (`thread`), in a Web Worker in a page (`page`, `worker`).
//! `headless` is the loop of terminal and tests.

mod clock;
mod pool;
mod runner;
mod serve;
mod turn;

#[cfg(not(target_arch = "wasm32"))]
mod headless;
#[cfg(not(target_arch = "wasm32"))]
mod thread;
#[cfg(not(target_arch = "wasm32"))]
pub use {
    crate::gpu::{AdapterDescription as Adapter, adapters},
    headless::{run_commands, run_headless},
    thread::Engine,
};

#[cfg(target_arch = "wasm32")]
mod page;
#[cfg(target_arch = "wasm32")]
mod worker;
#[cfg(target_arch = "wasm32")]
pub use page::Engine;

pub use clock::Stopwatch;
