//! The CPU executor and one twin per kernel: the oracle of every test, and a first-class way to run.
//!
//! A twin is a plain function on slices for one member; the adapter of the same name, re-exported
//! here, fetches the slices from a `Call`. In f32 a twin mirrors the GPU, in f64 it is the oracle.

mod counter;
mod elementwise;
pub mod executor;
mod linear;
mod log;
mod matmul;
mod memory;
mod optimizer;
pub mod random;
mod reduce;
mod scalar;

pub use counter::counter_advance;
pub use elementwise::axpby;
pub use executor::CpuExecutor;
pub use linear::mode_projection;
pub use log::log_row;
pub use matmul::matmul;
pub use memory::Call;
pub use optimizer::sgd_update;
pub use random::gaussian_fill;
pub use reduce::sum_squares;
pub use scalar::Scalar;
