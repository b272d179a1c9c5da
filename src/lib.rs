//! Plateau: a lab for what training does while the loss stands still.

pub mod analysis;
#[cfg(not(target_arch = "wasm32"))]
pub mod cli;
pub mod cpu;
pub mod engine;
pub mod export;
pub mod gpu;
pub mod kernels;
pub mod models;
pub mod names;
pub mod runlog;
pub mod scenarios;
pub mod spec;
pub mod theory;
#[cfg(feature = "ui")]
pub mod ui;
