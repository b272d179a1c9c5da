//! One binary for all integration tests, so that the library links once.

#[path = "cases/cli.rs"]
mod cli;
#[path = "cases/engine.rs"]
mod engine;
#[path = "cases/export.rs"]
mod export;
#[path = "cases/kernels.rs"]
mod kernels;
#[path = "cases/shaders.rs"]
mod shaders;
#[path = "cases/support.rs"]
mod support;
#[path = "cases/tidy.rs"]
mod tidy;
