//! The CPU executor: replays Recordings through the twins, members in parallel.
//!
//! Members run outermost: one member's whole batch, then the next, so that a small model's step
//! stays in cache. A batch runs to its end inside `submit`; the driver keeps batches short.

use super::memory::Memory;
use super::{Call, Scalar};
use crate::engine::executor::{Executor, ExecutorError, Finished};
use crate::engine::protocol::ExecutorInfo;
use crate::kernels::{Batch, Kernel, Op, Readback, Recording, TensorId, Tensors, Words};
use std::sync::Arc;

/// f32 for running, f64 as the oracle.
pub struct CpuExecutor<S> {
    tensors: Tensors,
    shared: Memory<S>,
    members: Vec<Memory<S>>,
    finished: Vec<Finished>,
    lost: bool,
}

/// A scalar with its column of the twins.
pub trait TwinScalar: Scalar {
    fn twin(kernel: &Kernel) -> fn(&mut Call<'_, Self>);
    const NAME: &'static str;
}

impl TwinScalar for f32 {
    fn twin(kernel: &Kernel) -> fn(&mut Call<'_, Self>) {
        kernel.twin.f32
    }
    const NAME: &'static str = "f32";
}

impl TwinScalar for f64 {
    fn twin(kernel: &Kernel) -> fn(&mut Call<'_, Self>) {
        kernel.twin.f64
    }
    const NAME: &'static str = "f64";
}

impl<S: TwinScalar> Default for CpuExecutor<S> {
    fn default() -> Self {
        Self::new()
    }
}

impl<S: TwinScalar> CpuExecutor<S> {
    pub fn new() -> Self {
        Self {
            tensors: Tensors::default(),
            shared: Memory::default(),
            members: Vec::new(),
            finished: Vec::new(),
            lost: false,
        }
    }

    /// One member's part of a float tensor (all of a shared one), at full precision.
    pub fn floats(&self, tensor: TensorId, member: usize) -> &[S] {
        let home = if self.tensors.get(tensor).shared { &self.shared } else { &self.members[member] };
        &home.floats[tensor.0 as usize]
    }

    /// Overwrites the beginning of one member's part, at full precision.
    pub fn set_floats(&mut self, tensor: TensorId, member: usize, values: &[S]) {
        let shared = self.tensors.get(tensor).shared;
        let home = if shared { &mut self.shared } else { &mut self.members[member] };
        home.floats[tensor.0 as usize][..values.len()].copy_from_slice(values);
    }

    fn upload(&mut self, tensor: TensorId, words: &Words) {
        let (at, info) = (tensor.0 as usize, self.tensors.get(tensor).clone());
        let len = info.len.max(1);
        match words {
            Words::Floats(values) if info.shared => convert(values, &mut self.shared.floats[at]),
            Words::Integers(values) if info.shared => {
                self.shared.integers[at][..values.len()].copy_from_slice(values);
            }
            Words::Floats(values) => {
                let parts = values.chunks(len).zip(&mut self.members);
                parts.for_each(|(part, member)| convert(part, &mut member.floats[at]));
            }
            Words::Integers(values) => {
                let parts = values.chunks(len).zip(&mut self.members);
                parts.for_each(|(part, member)| member.integers[at][..part.len()].copy_from_slice(part));
            }
        }
    }

    fn read(&self, readback: &Readback) -> Words {
        let at = readback.tensor.0 as usize;
        let info = self.tensors.get(readback.tensor);
        let homes = match info.shared {
            true => std::slice::from_ref(&self.shared),
            false => &self.members[readback.members.0 as usize..readback.members.1 as usize],
        };
        let range = readback.range.0 as usize..readback.range.1 as usize;
        match info.integer {
            true => Words::Integers(
                homes.iter().flat_map(|home| home.integers[at][range.clone()].iter().copied()).collect(),
            ),
            false => Words::Floats(
                homes
                    .iter()
                    .flat_map(|home| home.floats[at][range.clone()].iter().map(|value| value.value() as f32))
                    .collect(),
            ),
        }
    }
}

fn convert<S: Scalar>(from: &[f32], to: &mut [S]) {
    for (to, &from) in to.iter_mut().zip(from) {
        *to = S::of(f64::from(from));
    }
}

/// All replays of a batch, for one member.
fn run_member<S: TwinScalar>(
    runs: &[(Arc<Recording>, u32)],
    member: usize,
    own: &mut Memory<S>,
    shared: &Memory<S>,
) {
    for (recording, repeats) in runs {
        for _ in 0..*repeats {
            for Op::Dispatch(dispatch) in &recording.ops {
                S::twin(dispatch.kernel)(&mut Call { dispatch, member, own, shared });
            }
        }
    }
}

impl<S: TwinScalar> Executor for CpuExecutor<S> {
    fn info(&self) -> ExecutorInfo {
        let threads = threads();
        let noun = if threads == 1 { "thread" } else { "threads" };
        ExecutorInfo {
            kind: "cpu".into(),
            device: format!("{threads} {noun}, {}, {}", instruction_set(), S::NAME),
            backend: String::new(),
            software: false,
            variants: vec!["matmul=matrixmultiply".into()],
            reason: String::new(),
        }
    }

    fn load(&mut self, tensors: &Tensors) -> Result<(), ExecutorError> {
        self.lost = false;
        self.tensors = tensors.clone();
        self.shared = Memory::new(tensors, true);
        self.members = (0..tensors.members).map(|_| Memory::new(tensors, false)).collect();
        self.finished.clear();
        Ok(())
    }

    fn submit(&mut self, batch: Batch) -> Result<(), ExecutorError> {
        if self.lost {
            return Err(ExecutorError::Lost("destroyed on request".into()));
        }
        for (tensor, words) in &batch.uploads {
            self.upload(*tensor, words);
        }
        let shared = &self.shared;
        let run = |(member, own): (usize, &mut Memory<S>)| run_member(&batch.runs, member, own, shared);
        for_each_member(&mut self.members, run);
        let readbacks = batch.readbacks.iter().map(|readback| self.read(readback)).collect();
        self.finished.push(Finished { readbacks });
        Ok(())
    }

    fn poll(&mut self, _wait: bool) -> Result<Vec<Finished>, ExecutorError> {
        if self.lost {
            return Err(ExecutorError::Lost("destroyed on request".into()));
        }
        Ok(std::mem::take(&mut self.finished))
    }

    fn lose(&mut self) {
        self.lost = true;
    }
}

#[cfg(not(target_arch = "wasm32"))]
fn for_each_member<T: Send>(members: &mut [T], run: impl Fn((usize, &mut T)) + Send + Sync) {
    use rayon::prelude::*;
    match members {
        // A lone member stays on this thread: waking another costs more than a step.
        [one] => run((0, one)),
        many => many.par_iter_mut().enumerate().for_each(run),
    }
}

#[cfg(target_arch = "wasm32")]
fn for_each_member<T>(members: &mut [T], run: impl Fn((usize, &mut T))) {
    members.iter_mut().enumerate().for_each(run);
}

#[cfg(not(target_arch = "wasm32"))]
fn threads() -> usize {
    rayon::current_num_threads()
}

#[cfg(target_arch = "wasm32")]
fn threads() -> usize {
    1
}

/// What the matrix product uses, since the order of its sums depends on it.
fn instruction_set() -> &'static str {
    #[cfg(target_arch = "x86_64")]
    {
        if is_x86_feature_detected!("avx512f") {
            return "AVX-512";
        }
        if is_x86_feature_detected!("fma") {
            return "AVX2 and FMA";
        }
        if is_x86_feature_detected!("avx") {
            return "AVX";
        }
        "SSE2"
    }
    #[cfg(target_arch = "aarch64")]
    {
        "NEON"
    }
    #[cfg(target_arch = "wasm32")]
    {
        if cfg!(target_feature = "simd128") { "SIMD128" } else { "scalar wasm" }
    }
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64", target_arch = "wasm32")))]
    {
        std::env::consts::ARCH
    }
}
