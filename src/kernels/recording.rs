//! Recordings: dispatches as data, on named tensors, with no device in them.
//!
//! A model declares its `Tensors` and writes `Recording`s once; a session hands the executor
//! `Batch`es that replay them many times. Copies into and out of tensors belong to the batch.

use super::args::Args;
use super::{Kernel, find};
use crate::packed;
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// A tensor of a `Tensors` table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TensorId(pub u32);

/// What a tensor is for; the memory plan is told by role.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Role {
    Parameters,
    Gradients,
    Moments,
    Activations,
    Task,
    Settings,
    Log,
}

impl Role {
    pub fn name(self) -> &'static str {
        match self {
            Self::Parameters => "parameters",
            Self::Gradients => "gradients",
            Self::Moments => "optimizer moments",
            Self::Activations => "activations",
            Self::Task => "task",
            Self::Settings => "settings and schedule",
            Self::Log => "log",
        }
    }
}

/// A tensor: `[member][len]`, or `[len]` where all members share it. Floats or u32, never both.
#[derive(Clone, Debug)]
pub struct Tensor {
    pub name: &'static str,
    pub role: Role,
    /// Elements of one member (of all of it, where shared).
    pub len: usize,
    pub shared: bool,
    pub integer: bool,
}

/// The tensors of a run, and its number of members.
#[derive(Clone, Debug, Default)]
pub struct Tensors {
    pub list: Vec<Tensor>,
    pub members: u32,
}

impl Tensors {
    pub fn new(members: u32) -> Self {
        Self { list: Vec::new(), members }
    }

    /// A float tensor `[member][len]`.
    pub fn floats(&mut self, name: &'static str, role: Role, len: usize) -> TensorId {
        self.add(Tensor { name, role, len, shared: false, integer: false })
    }

    /// A u32 tensor `[member][len]`.
    pub fn integers(&mut self, name: &'static str, role: Role, len: usize) -> TensorId {
        self.add(Tensor { name, role, len, shared: false, integer: true })
    }

    pub fn add(&mut self, tensor: Tensor) -> TensorId {
        self.list.push(tensor);
        TensorId(self.list.len() as u32 - 1)
    }

    pub fn get(&self, id: TensorId) -> &Tensor {
        &self.list[id.0 as usize]
    }

    /// All elements, over members.
    pub fn elements(&self, id: TensorId) -> usize {
        let tensor = self.get(id);
        tensor.len * if tensor.shared { 1 } else { self.members as usize }
    }

    /// Elements from one member's part to the next: what the `*_stride` of a uniform struct says.
    pub fn stride(&self, id: TensorId) -> u32 {
        let tensor = self.get(id);
        if tensor.shared { 0 } else { tensor.len as u32 }
    }
}

/// The boolean overrides that are set in a dispatch.
pub type Flags = Vec<&'static str>;

/// One dispatch: kernel, uniform bytes, flags, tensors in binding order, and output items in x and y.
#[derive(Clone)]
pub struct Dispatch {
    pub kernel: &'static Kernel,
    pub args: Vec<u8>,
    pub flags: Flags,
    pub bindings: Vec<TensorId>,
    pub items: [u32; 2],
}

#[derive(Clone)]
pub enum Op {
    Dispatch(Dispatch),
}

/// A list of dispatches, replayed as one.
#[derive(Clone)]
pub struct Recording {
    /// Unique in this process: executors keep what they prepare for a Recording under it.
    pub id: u64,
    pub label: &'static str,
    pub ops: Vec<Op>,
}

impl Recording {
    pub fn new(label: &'static str) -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        Self { id: NEXT.fetch_add(1, Ordering::Relaxed), label, ops: Vec::new() }
    }

    /// Adds a dispatch of the kernel that `args` belongs to.
    pub fn dispatch<A: Args>(
        &mut self,
        args: A,
        flags: &[&'static str],
        bindings: &[TensorId],
        items: [u32; 2],
    ) {
        // expect: a table test proves that every Args names a row of KERNELS.
        let kernel = find(A::KERNEL).expect("every uniform struct has a kernel");
        debug_assert!(
            flags.iter().all(|flag| kernel.flags.contains(flag)),
            "unknown flag of {}",
            kernel.name
        );
        self.ops.push(Op::Dispatch(Dispatch {
            kernel,
            args: bytemuck::bytes_of(&args).to_vec(),
            flags: flags.to_vec(),
            bindings: bindings.to_vec(),
            items,
        }));
    }

    pub fn dispatches(&self) -> usize {
        self.ops.len()
    }
}

/// Elements of a tensor.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Words {
    Floats(#[serde(with = "packed")] Vec<f32>),
    Integers(#[serde(with = "packed")] Vec<u32>),
}

impl Words {
    pub fn len(&self) -> usize {
        match self {
            Self::Floats(values) => values.len(),
            Self::Integers(values) => values.len(),
        }
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// Which part of a tensor to read back: members `members.0..members.1`, elements `range.0..range.1`
/// of each. The answer has `[member][element]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Readback {
    pub tensor: TensorId,
    pub members: (u32, u32),
    pub range: (u32, u32),
}

/// What one submit does, in order: uploads (whole tensors, or their beginning), replays, readbacks.
#[derive(Clone, Default)]
pub struct Batch {
    pub uploads: Vec<(TensorId, Words)>,
    pub runs: Vec<(Arc<Recording>, u32)>,
    pub readbacks: Vec<Readback>,
}
