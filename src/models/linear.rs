//! Deep linear networks `P = W1 … WN` on the task `A = U diag(s) V^T`: task, start and Recordings.
//!
//! Loss `||P - A||_F^2` (no 1/2), the population loss for isotropic inputs; plain gradient descent,
//! all matrices `[d, d]` row-major (Saxe et al. 2014; Springer et al. 2025, section 4).

use super::{PictureSource, Program, ROWS};
use crate::cpu::random::{gaussian, stream_key, threefry};
use crate::engine::protocol::MetricInfo;
use crate::kernels::args::*;
use crate::kernels::{Recording, Role, Tensor, TensorId, Tensors, Words};
use crate::spec::{Basis, Det, Linear, Spec, Start};
use nalgebra::DMatrix;
use std::sync::Arc;

/// The task of one member: `A = U diag(s) V^T`, all `[d, d]`, in f64.
pub struct Task {
    pub u: DMatrix<f64>,
    pub v: DMatrix<f64>,
    pub a: DMatrix<f64>,
}

/// Streams of random numbers: each kind of draw has its own.
mod stream {
    pub const LEFT_BASIS: u32 = 1;
    pub const RIGHT_BASIS: u32 = 2;
    pub const START: u32 = 3;
}

/// The task of `member`, drawn from `(seed, member)`; pure.
pub fn task(spec: &Spec, linear: &Linear, member: u32) -> Task {
    let d = linear.spectrum.len();
    let basis = |stream| match linear.basis {
        Basis::Random => haar(spec.seed, stream, member, d),
        Basis::Identity => DMatrix::identity(d, d),
    };
    let u = basis(stream::LEFT_BASIS);
    let mut v = basis(stream::RIGHT_BASIS);
    let positive = u.determinant() * v.determinant() > 0.0;
    let flip = match linear.det {
        Det::Any => false,
        Det::Positive => !positive,
        Det::Negative => positive,
    };
    if flip {
        v.column_mut(d - 1).neg_mut();
    }
    let s = DMatrix::from_diagonal(&nalgebra::DVector::from_column_slice(&linear.spectrum));
    let a = &u * s * v.transpose();
    Task { u, v, a }
}

/// `[rows, columns]` standard Gaussians of one stream and member, row-major in the draws' index.
fn gaussians(seed: u32, stream: u32, member: u32, first: usize, d: usize) -> DMatrix<f64> {
    let key = stream_key(seed, stream, 0);
    DMatrix::from_fn(d, d, |i, j| gaussian(threefry(key, [member, (first + i * d + j) as u32])))
}

/// A Haar-distributed orthogonal matrix: Q of a Gaussian matrix, signs fixed by R (Mezzadri 2007).
fn haar(seed: u32, stream: u32, member: u32, d: usize) -> DMatrix<f64> {
    let (mut q, r) = gaussians(seed, stream, member, 0, d).qr().unpack();
    for i in 0..d {
        if r[(i, i)] < 0.0 {
            q.column_mut(i).neg_mut();
        }
    }
    q
}

/// The layers `W1 … WN` of `member` at step 0, in f64.
pub fn start(spec: &Spec, linear: &Linear, member: u32) -> Vec<DMatrix<f64>> {
    start_with(spec, linear, member, &task(spec, linear, member))
}

fn start_with(spec: &Spec, linear: &Linear, member: u32, task: &Task) -> Vec<DMatrix<f64>> {
    let (d, depth) = (linear.spectrum.len(), linear.depth as usize);
    let scale = (-linear.tau).exp();
    let ratio = if linear.start == Start::Unbalanced { linear.imbalance } else { 1.0 };
    let layer = |i: usize| match linear.start {
        Start::Identity => DMatrix::identity(d, d) * scale,
        Start::Random => gaussians(spec.seed, stream::START, member, i * d * d, d) * scale,
        Start::Aligned | Start::Unbalanced if depth == 1 => &task.u * task.v.transpose() * scale,
        Start::Aligned | Start::Unbalanced if i == 0 => &task.u * (scale * ratio),
        Start::Aligned | Start::Unbalanced if i == depth - 1 => task.v.transpose() * (scale / ratio),
        Start::Aligned | Start::Unbalanced => DMatrix::identity(d, d) * scale,
    };
    (0..depth).map(layer).collect()
}

/// Row-major f32 values.
fn row_major(matrix: &DMatrix<f64>) -> impl Iterator<Item = f32> + '_ {
    (0..matrix.nrows()).flat_map(move |i| (0..matrix.ncols()).map(move |j| matrix[(i, j)] as f32))
}

/// Elements of an arena of `len` floats a member, padded so that members begin aligned.
pub fn padded(len: usize) -> usize {
    len.next_multiple_of(64)
}

/// Floats of a member's layers, one after another, padded.
pub fn arena(linear: &Linear) -> usize {
    padded(linear.depth as usize * linear.spectrum.len().pow(2))
}

/// The tensors of the network and the shape arithmetic over them.
struct Net {
    d: u32,
    depth: u32,
    tensors: Tensors,
    params: TensorId,
    grads: TensorId,
    /// `W1`, `W1 W2`, …, `P`: the partial products from the second on, one tensor each.
    products: Vec<TensorId>,
    /// Gradients of the partial products: `2 (P - A)` and what it becomes on the way down.
    errors: Vec<TensorId>,
    u: TensorId,
    v: TensorId,
    a: TensorId,
    ids: TensorId,
    counters: TensorId,
    rows: TensorId,
    scalars: TensorId,
    log: TensorId,
    log_slots: u32,
}

impl Net {
    fn new(spec: &Spec, linear: &Linear) -> Self {
        let (d, depth) = (linear.spectrum.len(), linear.depth as usize);
        let square = padded(d * d);
        let mut tensors = Tensors::new(spec.ensemble.members);
        let t = &mut tensors;
        let params = t.floats("params", Role::Parameters, arena(linear));
        let grads = t.floats("grads", Role::Gradients, arena(linear));
        let mut squares = |names: &[&'static str]| -> Vec<TensorId> {
            names.iter().map(|name| t.floats(name, Role::Activations, square)).collect()
        };
        let products = squares(&["product_2", "product_3", "product_4"][..depth - 1]);
        let errors = squares(&["error_1", "error_2", "error_3", "error_4"][..depth]);
        let [u, v, a] = ["task_u", "task_v", "task_a"].map(|name| t.floats(name, Role::Task, d * d));
        let ids = t.integers("ids", Role::Settings, 1);
        let counters = t.integers("counters", Role::Settings, 4);
        let rows =
            t.add(Tensor { name: "rows", role: Role::Settings, len: ROWS, shared: true, integer: false });
        let scalars = t.floats("scalars", Role::Log, 1 + d);
        let log_slots = log_slots(spec.ensemble.members as usize, 1 + d);
        let log = t.floats("log", Role::Log, log_slots as usize * (1 + d));
        Self {
            d: d as u32,
            depth: depth as u32,
            tensors,
            params,
            grads,
            products,
            errors,
            u,
            v,
            a,
            ids,
            counters,
            rows,
            scalars,
            log,
            log_slots,
        }
    }

    fn square(&self) -> u32 {
        self.d * self.d
    }

    /// Where layer `i` (from 0) lies in the arenas.
    fn layer(&self, i: u32) -> u32 {
        i * self.square()
    }

    /// The product of the first `i + 1` layers: the parameters themselves for `i = 0`.
    fn product(&self, i: u32) -> TensorId {
        if i == 0 { self.params } else { self.products[i as usize - 1] }
    }

    fn matmul(&self, a: (TensorId, u32), b: (TensorId, u32), out: (TensorId, u32)) -> MatmulArgs {
        let stride = |id| self.tensors.stride(id);
        MatmulArgs {
            m: self.d,
            n: self.d,
            k: self.d,
            a_offset: a.1,
            a_stride: stride(a.0),
            b_offset: b.1,
            b_stride: stride(b.0),
            out_offset: out.1,
            out_stride: stride(out.0),
            alpha: 1.0,
        }
    }

    /// `P` into the last product: `products[i] = products[i - 1] W_{i + 1}`.
    fn record_forward(&self, recording: &mut Recording) {
        for i in 1..self.depth {
            let (a, b, out) = ((self.product(i - 1), 0), (self.params, self.layer(i)), (self.product(i), 0));
            recording.dispatch(self.matmul(a, b, out), &[], &[a.0, b.0, out.0], [self.d, self.d]);
        }
    }

    /// `out = alpha x + beta y` on one `[d, d]` matrix each, from the start of each tensor.
    fn record_axpby(
        &self,
        r: &mut Recording,
        [alpha, beta]: [f32; 2],
        [x, y, out]: [TensorId; 3],
        flags: &[&'static str],
    ) {
        let args = AxpbyArgs {
            len: self.square(),
            x_stride: self.tensors.stride(x),
            y_stride: self.tensors.stride(y),
            out_stride: self.tensors.stride(out),
            alpha,
            beta,
            ..AxpbyArgs::default()
        };
        r.dispatch(args, flags, &[x, y, out], [self.square(), 1]);
    }

    /// `error = scale (P - A)`, in the error of the last product.
    fn record_error(&self, recording: &mut Recording, scale: f32) {
        let out = self.errors[self.depth as usize - 1];
        self.record_axpby(recording, [scale, -scale], [self.product(self.depth - 1), self.a, out], &[]);
    }

    /// Gradients: `dW_i += (W1 … W_{i-1})^T E_i`, `E_{i-1} = E_i W_i^T`, `dW_1 += E_1`, `E_N = 2 (P - A)`.
    fn record_backward(&self, recording: &mut Recording) {
        let error = |i: u32| (self.errors[i as usize], 0);
        for i in (1..self.depth).rev() {
            let (before, grad) = ((self.product(i - 1), 0), (self.grads, self.layer(i)));
            let args = self.matmul(before, error(i), grad);
            let bindings = [before.0, error(i).0, grad.0];
            recording.dispatch(args, &["TRANSPOSE_A", "ACCUMULATE"], &bindings, [self.d, self.d]);
            let weight = (self.params, self.layer(i));
            let (out, flags): (_, &[_]) = match i {
                // The last product on the way down is W1 itself: its error is its gradient.
                1 => ((self.grads, 0), &["TRANSPOSE_B", "ACCUMULATE"]),
                _ => (error(i - 1), &["TRANSPOSE_B"]),
            };
            let args = self.matmul(error(i), weight, out);
            recording.dispatch(args, flags, &[error(i).0, weight.0, out.0], [self.d, self.d]);
        }
        if self.depth == 1 {
            let e = error(0).0;
            self.record_axpby(recording, [1.0, 0.0], [e, e, self.grads], &["ACCUMULATE"]);
        }
    }

    fn step(&self) -> Recording {
        let mut recording = Recording::new("step");
        self.record_forward(&mut recording);
        self.record_error(&mut recording, 2.0);
        self.record_backward(&mut recording);
        let len = self.depth * self.square();
        let update =
            SgdUpdateArgs { len, stride: self.tensors.stride(self.params), row_len: 1, row_member: 0 };
        let bindings = [self.rows, self.counters, self.params, self.grads];
        recording.dispatch(update, &[], &bindings, [len, 1]);
        recording.dispatch(CounterAdvanceArgs { step: 1, slot: 0 }, &[], &[self.counters], [1, 1]);
        recording
    }

    fn measure(&self) -> Recording {
        let mut recording = Recording::new("measure");
        self.record_forward(&mut recording);
        self.record_error(&mut recording, 1.0);
        let (error, last) = (self.errors[self.depth as usize - 1], self.product(self.depth - 1));
        let width = 1 + self.d;
        let loss = SumSquaresArgs {
            len: self.square(),
            x_stride: self.tensors.stride(error),
            out_stride: width,
            ..SumSquaresArgs::default()
        };
        recording.dispatch(loss, &[], &[error, self.scalars], [1, 1]);
        let modes = ModeProjectionArgs {
            d: self.d,
            stride: self.tensors.stride(last),
            out_offset: 1,
            out_stride: width,
        };
        recording.dispatch(modes, &[], &[last, self.u, self.v, self.scalars], [self.d, 1]);
        let row = LogRowArgs { width, slots: self.log_slots };
        recording.dispatch(row, &[], &[self.scalars, self.counters, self.log], [width, 1]);
        recording.dispatch(CounterAdvanceArgs { step: 0, slot: 1 }, &[], &[self.counters], [1, 1]);
        recording
    }

    fn refresh(&self) -> Recording {
        let mut recording = Recording::new("product");
        self.record_forward(&mut recording);
        recording
    }
}

/// Log rows kept between readbacks: as many as fit 4 MiB over all members, at least 8.
pub fn log_slots(members: usize, width: usize) -> u32 {
    ((1 << 20) / (members * width)).clamp(8, 256) as u32
}

pub fn metrics(linear: &Linear) -> Vec<MetricInfo> {
    let info = |name: &str, width, formula: &str| MetricInfo {
        name: name.into(),
        width,
        unit: "1".into(),
        formula: formula.into(),
    };
    vec![
        info("loss", 1, "||P - A||_F^2"),
        info("sigma", linear.spectrum.len(), "u_i^T P v_i, P = W1 W2 … WN"),
    ]
}

pub fn program(spec: &Spec, linear: &Linear) -> Program {
    let net = Net::new(spec, linear);
    let members = spec.ensemble.members;
    let [mut u, mut v, mut a, mut params] = [(); 4].map(|()| Vec::new());
    let arena = net.tensors.get(net.params).len;
    for member in 0..members {
        let task = task(spec, linear, member);
        u.extend(row_major(&task.u));
        v.extend(row_major(&task.v));
        a.extend(row_major(&task.a));
        for layer in start_with(spec, linear, member, &task) {
            params.extend(row_major(&layer));
        }
        params.resize(arena * (member as usize + 1), 0.0);
    }
    let ids = (0..members).collect();
    let uploads = vec![
        (net.u, Words::Floats(u)),
        (net.v, Words::Floats(v)),
        (net.a, Words::Floats(a)),
        (net.ids, Words::Integers(ids)),
        (net.params, Words::Floats(params)),
    ];
    let init = (linear.start == Start::Random).then(|| Arc::new(random_start(spec, linear, &net)));
    let d = net.d as usize;
    let picture = PictureSource {
        name: "product",
        tensor: net.product(net.depth - 1),
        shape: vec![d, d],
        refresh: Arc::new(net.refresh()),
    };
    Program {
        uploads,
        init,
        step: Arc::new(net.step()),
        measure: Arc::new(net.measure()),
        metrics: metrics(linear),
        state: vec![net.params],
        counters: net.counters,
        rows: net.rows,
        log: net.log,
        log_slots: net.log_slots,
        pictures: vec![picture],
        tensors: net.tensors,
    }
}

/// The random start, drawn on the device: the same function of (seed, member, index) as `start`.
fn random_start(spec: &Spec, linear: &Linear, net: &Net) -> Recording {
    let mut recording = Recording::new("random start");
    let len = net.depth * net.square();
    let args = GaussianFillArgs {
        offset: 0,
        stride: net.tensors.stride(net.params),
        len,
        seed: spec.seed,
        stream: stream::START,
        step: 0,
        deviation: (-linear.tau).exp() as f32,
    };
    recording.dispatch(args, &[], &[net.ids, net.params], [len, 1]);
    recording
}
