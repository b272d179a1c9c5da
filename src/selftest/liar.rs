//! An executor that computes one kernel wrong, for tests of what is told of it.

use crate::cpu::CpuExecutor;
use crate::engine::executor::{Executor, ExecutorError, Finished};
use crate::engine::protocol::ExecutorInfo;
use crate::kernels::{Batch, Op, Tensors, Words};

/// The twins, but for one kernel.
pub struct Liar {
    twins: CpuExecutor<f32>,
    kernel: &'static str,
    /// What the kernel's outputs begin with, or how it ends.
    lie: Result<f32, ExecutorError>,
    /// The last batch has that kernel.
    lies: bool,
    /// Polls to come that give nothing yet.
    silent: u32,
}

impl Liar {
    pub fn new(kernel: &'static str, lie: Result<f32, ExecutorError>) -> Self {
        Self { twins: CpuExecutor::new(), kernel, lie, lies: false, silent: 0 }
    }

    fn spoil(&self, words: &mut Words) {
        match (words, &self.lie) {
            (Words::Floats(values), Ok(lie)) => values[0] = *lie,
            (Words::Integers(values), _) => values[0] += 1,
            _ => {}
        }
    }
}

impl Executor for Liar {
    fn info(&self) -> ExecutorInfo {
        ExecutorInfo { kind: "gpu".into(), ..self.twins.info() }
    }

    fn load(&mut self, tensors: &Tensors) -> Result<(), ExecutorError> {
        self.twins.load(tensors)
    }

    fn submit(&mut self, batch: Batch) -> Result<(), ExecutorError> {
        let ops = batch.runs.iter().flat_map(|(recording, _)| &recording.ops);
        self.lies = ops.into_iter().any(|Op::Dispatch(dispatch)| dispatch.kernel.name == self.kernel);
        self.silent = 1;
        match &self.lie {
            Err(error) if self.lies => Err(error.clone()),
            _ => self.twins.submit(batch),
        }
    }

    fn poll(&mut self, wait: bool) -> Result<Vec<Finished>, ExecutorError> {
        if self.silent > 0 {
            self.silent -= 1;
            return Ok(Vec::new());
        }
        let mut finished = self.twins.poll(wait)?;
        if self.lies {
            finished.iter_mut().flat_map(|batch| &mut batch.readbacks).for_each(|words| self.spoil(words));
        }
        Ok(finished)
    }

    fn lose(&mut self) {
        self.twins.lose();
    }
}
