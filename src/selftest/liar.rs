//! An executor that computes one kernel wrong, for tests of what is told of it.

use crate::cpu::CpuExecutor;
use crate::engine::executor::{Executor, ExecutorError, Finished};
use crate::engine::protocol::ExecutorInfo;
use crate::kernels::{Batch, Op, Tensors, Words};
use std::collections::VecDeque;

/// The twins, but for one kernel.
pub struct Liar {
    twins: CpuExecutor<f32>,
    kernel: &'static str,
    /// What the kernel's outputs begin with, or how it ends.
    lie: Result<f32, ExecutorError>,
    /// Whether each batch on its way has that kernel.
    lies: VecDeque<bool>,
    /// The last poll gave nothing: only every second one does.
    silent: bool,
}

impl Liar {
    pub fn new(kernel: &'static str, lie: Result<f32, ExecutorError>) -> Self {
        Self { twins: CpuExecutor::new(), kernel, lie, lies: VecDeque::new(), silent: false }
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
        self.lies.clear();
        self.twins.load(tensors)
    }

    fn submit(&mut self, batch: Batch) -> Result<(), ExecutorError> {
        let ops = batch.runs.iter().flat_map(|(recording, _)| &recording.ops);
        let lies = ops.into_iter().any(|Op::Dispatch(dispatch)| dispatch.kernel.name == self.kernel);
        if let (true, Err(error)) = (lies, &self.lie) {
            return Err(error.clone());
        }
        self.lies.push_back(lies);
        self.twins.submit(batch)
    }

    fn poll(&mut self, wait: bool) -> Result<Vec<Finished>, ExecutorError> {
        self.silent = !self.silent;
        if self.silent {
            return Ok(Vec::new());
        }
        let mut finished = self.twins.poll(wait)?;
        for batch in &mut finished {
            if self.lies.pop_front() == Some(true) {
                batch.readbacks.iter_mut().for_each(|words| self.spoil(words));
            }
        }
        Ok(finished)
    }

    fn lose(&mut self) {
        self.twins.lose();
    }
}
