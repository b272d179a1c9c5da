//! One binary for all integration tests, so that the library links once.

#[path = "cases/engine.rs"]
mod engine;
#[path = "cases/kernels.rs"]
mod kernels;
#[path = "cases/shaders.rs"]
mod shaders;
#[path = "cases/support.rs"]
mod support;
#[cfg(feature = "ui")]
#[path = "cases/ui.rs"]
mod ui;
