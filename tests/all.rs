//! One binary for all integration tests, so that the library links once.

#[path = "cases/address.rs"]
mod address;
#[path = "cases/cli.rs"]
mod cli;
#[path = "cases/draw.rs"]
mod draw;
#[path = "cases/engine.rs"]
mod engine;
#[path = "cases/export.rs"]
mod export;
#[path = "cases/golden.rs"]
mod golden;
#[path = "cases/golden_linear.rs"]
mod golden_linear;
#[path = "cases/kernels.rs"]
mod kernels;
#[path = "cases/memory.rs"]
mod memory;
#[path = "cases/saxe.rs"]
mod saxe;
#[path = "cases/shaders.rs"]
mod shaders;
#[path = "cases/skeleton.rs"]
mod skeleton;
#[path = "cases/stored.rs"]
mod stored;
#[path = "cases/support.rs"]
mod support;
#[path = "cases/theory.rs"]
mod theory;
#[path = "cases/tidy.rs"]
mod tidy;
#[cfg(feature = "ui")]
#[path = "cases/ui.rs"]
mod ui;
#[cfg(feature = "ui")]
#[path = "cases/ui_files.rs"]
mod ui_files;
#[cfg(feature = "ui")]
#[path = "cases/ui_measures.rs"]
mod ui_measures;
#[path = "cases/zip.rs"]
mod zip;
