//! What the engine asks of an executor. There are two: `gpu` (wgpu) and `cpu` (the twins).

use super::protocol::ExecutorInfo;
use crate::kernels::{Batch, Tensors, Words};

/// Why an executor cannot go on.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ExecutorError {
    /// The device is gone; a new one can be tried.
    #[error("the device was lost: {0}")]
    Lost(String),
    /// The device refuses what it is asked, and would again.
    #[error("{0}")]
    Refused(String),
    #[error("not enough memory: {0}")]
    Memory(String),
}

/// The readbacks of one finished batch, in the order asked for.
#[derive(Clone, Debug, PartialEq)]
pub struct Finished {
    pub readbacks: Vec<Words>,
}

/// Runs Batches on the tensors of one run.
pub trait Executor {
    fn info(&self) -> ExecutorInfo;

    /// Drops what was there and makes these tensors, all zero.
    fn load(&mut self, tensors: &Tensors) -> Result<(), ExecutorError>;

    /// Hands over a batch; batches run in the order handed over.
    fn submit(&mut self, batch: Batch) -> Result<(), ExecutorError>;

    /// The batches finished since the last call, in order. `wait` blocks for at least one where
    /// the platform can (never in a browser).
    fn poll(&mut self, wait: bool) -> Result<Vec<Finished>, ExecutorError>;

    /// Destroys the device on purpose; the next call must report it lost.
    fn lose(&mut self);
}
