//! One binary for all integration tests, so that the library links once.

#[path = "cases/engine.rs"]
mod engine;
#[path = "cases/golden.rs"]
mod golden;
#[path = "cases/kernels.rs"]
mod kernels;
#[path = "cases/shaders.rs"]
mod shaders;
#[path = "cases/skeleton.rs"]
mod skeleton;
#[path = "cases/support.rs"]
mod support;
#[path = "cases/transformer_cases.rs"]
mod transformer_cases;
