//! A small random case of every kernel: what the tests and the self-test hold against the twins.

use super::transformer;
use crate::kernels::args::*;
use crate::kernels::{Batch, Kernel, Op, Readback, Recording, Role, Tensor, TensorId, Tensors, Words};
use rand::rngs::Xoshiro256PlusPlus;
use rand::{Rng, RngExt, SeedableRng};
use std::sync::Arc;

/// A random case of one kernel.
pub struct Case {
    pub tensors: Tensors,
    pub uploads: Vec<(TensorId, Words)>,
    /// One dispatch.
    pub recording: Recording,
    /// What it writes.
    pub outputs: Vec<TensorId>,
    /// It sums terms of either sign whatever the inputs' signs: errors are then held against the
    /// largest value of the tensor.
    pub cancels: bool,
}

impl Case {
    /// Uploads the inputs, runs the dispatch once, reads every output back whole; on an executor whose
    /// tensors from `base` on are the case's.
    pub fn batch(&self, base: u32) -> Batch {
        let at = |tensor: TensorId| TensorId(tensor.0 + base);
        let mut recording = self.recording.clone();
        for Op::Dispatch(dispatch) in &mut recording.ops {
            dispatch.bindings.iter_mut().for_each(|tensor| *tensor = at(*tensor));
        }
        let whole = |&tensor: &TensorId| Readback {
            tensor: at(tensor),
            members: (0, self.tensors.members),
            range: (0, self.tensors.get(tensor).len as u32),
        };
        Batch {
            uploads: self.uploads.iter().map(|(tensor, words)| (at(*tensor), words.clone())).collect(),
            runs: vec![(Arc::new(recording), 1)],
            readbacks: self.outputs.iter().map(whole).collect(),
        }
    }
}

/// Makes the tensors of a case, filled at random.
pub struct Maker {
    /// The same numbers on every platform, as long as no usize is drawn.
    rng: Xoshiro256PlusPlus,
    tensors: Tensors,
    uploads: Vec<(TensorId, Words)>,
}

impl Maker {
    fn new(seed: u64, members: u32) -> Self {
        Self {
            rng: Xoshiro256PlusPlus::seed_from_u64(seed),
            tensors: Tensors::new(members),
            uploads: Vec::new(),
        }
    }

    pub fn members(&self) -> u32 {
        self.tensors.members
    }

    pub fn below(&mut self, bound: u32) -> u32 {
        self.rng.random_range(1..=bound)
    }

    /// A float tensor of random values in (-1, 1).
    pub fn floats(&mut self, name: &'static str, len: u32, shared: bool) -> TensorId {
        self.between(-1.0, name, len, shared)
    }

    /// A float tensor of random values in (0, 1).
    pub fn positive(&mut self, name: &'static str, len: u32, shared: bool) -> TensorId {
        self.between(0.0, name, len, shared)
    }

    fn between(&mut self, low: f32, name: &'static str, len: u32, shared: bool) -> TensorId {
        let id = self.tensors.add(Tensor {
            name,
            role: Role::Activations,
            len: len as usize,
            shared,
            integer: false,
        });
        let values = (0..self.tensors.elements(id)).map(|_| self.rng.random_range(low..1.0)).collect();
        self.uploads.push((id, Words::Floats(values)));
        id
    }

    /// A u32 tensor of random values below `bound`.
    pub fn choices(&mut self, name: &'static str, len: u32, bound: u32, shared: bool) -> TensorId {
        let len = len as usize;
        let id = self.tensors.add(Tensor { name, role: Role::Task, len, shared, integer: true });
        let values = (0..self.tensors.elements(id)).map(|_| self.rng.random_range(0..bound)).collect();
        self.uploads.push((id, Words::Integers(values)));
        id
    }

    pub fn integers(&mut self, name: &'static str, per_member: &[u32]) -> TensorId {
        let id = self.tensors.integers(name, Role::Settings, per_member.len());
        self.uploads.push((id, Words::Integers(per_member.repeat(self.tensors.members as usize))));
        id
    }

    pub fn case(self, recording: Recording, outputs: &[TensorId]) -> Case {
        let outputs = outputs.to_vec();
        Case { tensors: self.tensors, uploads: self.uploads, recording, outputs, cancels: false }
    }
}

/// A random case of `kernel`, a row of KERNELS or a variation on one; `None` where it has none (every
/// row needs one).
pub fn case(kernel: &'static Kernel, seed: u64, members: u32) -> Option<Case> {
    let maker = Maker::new(seed, members);
    let mut case = linear(maker, kernel.name, seed)?;
    for Op::Dispatch(dispatch) in &mut case.recording.ops {
        dispatch.kernel = kernel;
    }
    Some(case)
}

/// A random case of one of the linear networks' kernels, or of those of the transformer.
fn linear(mut m: Maker, name: &str, seed: u64) -> Option<Case> {
    let mut r = Recording::new("case");
    let case = match name {
        "counter_advance" => {
            let counters = m.integers("counters", &[3, 5, 7, 9]);
            r.dispatch(CounterAdvanceArgs { step: 2, slot: 1 }, &[], &[counters], [1, 1]);
            m.case(r, &[counters])
        }
        "gaussian_fill" => {
            let (len, offset) = (m.below(200), m.below(5));
            let ids = m.integers("ids", &[seed as u32]);
            let out = m.floats("out", len + offset + 3, false);
            let stride = len + offset + 3;
            let args = GaussianFillArgs { offset, stride, len, seed: 11, stream: 2, step: 3, deviation: 0.3 };
            r.dispatch(args, &[], &[ids, out], [len, 1]);
            // The error of a cosine does not shrink with it.
            Case { cancels: true, ..m.case(r, &[out]) }
        }
        "matmul" => matmul_case(m, r, seed),
        "axpby" => {
            let len = m.below(300);
            let (x, y) = (m.floats("x", len + 2, false), m.floats("y", len + 1, seed.is_multiple_of(3)));
            let out = m.floats("out", len + 3, false);
            let args = AxpbyArgs {
                len,
                x_offset: 2,
                x_stride: m.tensors.stride(x),
                y_offset: 1,
                y_stride: m.tensors.stride(y),
                out_offset: 3,
                out_stride: m.tensors.stride(out),
                alpha: 1.5,
                beta: -0.7,
            };
            let flags: &[_] = if seed.is_multiple_of(2) { &["ACCUMULATE"] } else { &[] };
            r.dispatch(args, flags, &[x, y, out], [len, 1]);
            m.case(r, &[out])
        }
        "sum_squares" => {
            let len = m.below(1000);
            let (x, out) = (m.floats("x", len + 4, false), m.floats("out", 3, false));
            let args = SumSquaresArgs { len, x_offset: 4, x_stride: len + 4, out_offset: 2, out_stride: 3 };
            r.dispatch(args, &[], &[x, out], [1, 1]);
            m.case(r, &[out])
        }
        "sgd_update" => {
            let len = m.below(300);
            let rows = m.floats("rows", 12, true);
            let counters = m.integers("counters", &[40, 5, 0, 0]);
            let (params, grads) = (m.floats("params", len + 7, false), m.floats("grads", len + 7, false));
            let args = SgdUpdateArgs { len, stride: len + 7, row_len: 2, row_member: 0 };
            r.dispatch(args, &[], &[rows, counters, params, grads], [len, 1]);
            Case { cancels: true, ..m.case(r, &[params, grads]) }
        }
        "mode_projection" => {
            let d = m.below(64);
            let product = m.floats("product", d * d + 3, false);
            let [u, v] = ["u", "v"].map(|name| m.floats(name, d * d, false));
            let out = m.floats("out", d + 2, false);
            let args = ModeProjectionArgs { d, stride: d * d + 3, out_offset: 2, out_stride: d + 2 };
            r.dispatch(args, &[], &[product, u, v, out], [d, 1]);
            m.case(r, &[out])
        }
        "log_row" => {
            let (width, slots) = (m.below(90), 5);
            let scalars = m.floats("scalars", width, false);
            let counters = m.integers("counters", &[1, 1, (seed % 6) as u32, 0]);
            let log = m.floats("log", width * slots, false);
            r.dispatch(LogRowArgs { width, slots }, &[], &[scalars, counters, log], [width, 1]);
            m.case(r, &[log])
        }
        other => return transformer::case(m, other, seed),
    };
    Some(case)
}

/// Sizes among them odd, prime and one; offsets; all eight sets of flags in turn.
fn matmul_case(mut m: Maker, mut r: Recording, seed: u64) -> Case {
    const SIZES: [u32; 10] = [1, 2, 3, 7, 13, 16, 17, 31, 53, 67];
    let mut size = || SIZES[m.rng.next_u32() as usize % SIZES.len()];
    let [rows, columns, inner] = [size(), size(), size()];
    let a = m.floats("a", rows * inner + 1, seed.is_multiple_of(5));
    let b = m.floats("b", inner * columns + 2, false);
    let out = m.floats("out", rows * columns + 3, false);
    let args = MatmulArgs {
        m: rows,
        n: columns,
        k: inner,
        a_offset: 1,
        a_stride: m.tensors.stride(a),
        b_offset: 2,
        b_stride: m.tensors.stride(b),
        out_offset: 3,
        out_stride: m.tensors.stride(out),
        alpha: 0.75,
    };
    let all = ["TRANSPOSE_A", "TRANSPOSE_B", "ACCUMULATE"];
    let flags: Vec<_> = all.iter().enumerate().filter(|(i, _)| seed >> i & 1 == 1).map(|(_, f)| *f).collect();
    r.dispatch(args, &flags, &[a, b, out], [columns, rows]);
    m.case(r, &[out])
}
