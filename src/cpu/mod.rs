//! The CPU executor and one twin per kernel: the oracle of every test, and a first-class way to run.
//!
//! A twin is a plain function on slices for one member; the adapter of the same name, re-exported
//! here, fetches the slices from a `Call`. In f32 a twin mirrors the GPU, in f64 it is the oracle.

mod activation;
mod attention;
mod counter;
mod elementwise;
mod embedding;
pub mod executor;
mod linear;
mod log;
mod loss;
mod matmul;
mod memory;
mod norm;
mod optimizer;
pub mod random;
mod reduce;
mod scalar;
#[cfg(target_arch = "x86_64")]
mod small;

pub use activation::{bias_relu_backward, bias_relu_forward};
pub use attention::{attention_backward, attention_forward, attention_scores_backward};
pub use counter::counter_advance;
pub use elementwise::axpby;
pub use embedding::{embedding_backward, embedding_forward};
pub use executor::CpuExecutor;
pub use linear::mode_projection;
pub use log::log_row;
pub use loss::cross_entropy_forward;
pub use matmul::matmul;
pub use memory::Call;
pub use norm::{rmsnorm_backward, rmsnorm_forward, rmsnorm_gain_backward};
pub use optimizer::{adamw_update, sgd_update};
pub use random::gaussian_fill;
pub use reduce::{sum, sum_squares};
pub use scalar::Scalar;
