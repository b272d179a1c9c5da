//! Every kernel on the device against its twin in f64, on random shapes; and the twins' own oracles.

use crate::support::{floats, gpu, run_once};
use crate::transformer_cases;
use plateau::cpu::CpuExecutor;
use plateau::cpu::random::{gaussian, threefry};
use plateau::engine::executor::{Executor, ExecutorError};
use plateau::kernels::args::*;
use plateau::kernels::{Batch, KERNELS, Kernel, Op, Recording, Role, Tensor, TensorId, Tensors, Words};
use rand::rngs::SmallRng;
use rand::{Rng, RngExt, SeedableRng};
use std::sync::Arc;

/// The published known answers of Random123 for threefry2x32 with 20 rounds.
#[test]
fn threefry_gives_the_published_words() {
    let cases = [
        ([0, 0], [0, 0], [0x6b20_0159, 0x99ba_4efe]),
        ([u32::MAX; 2], [u32::MAX; 2], [0x1cb9_96fc, 0xbb00_2be7]),
        ([0x1319_8a2e, 0x0370_7344], [0x243f_6a88, 0x85a3_08d3], [0xc492_3a9c, 0x483d_f7a0]),
    ];
    for (key, counter, words) in cases {
        assert_eq!(threefry(key, counter), words);
    }
}

/// One global statistic on 20,000 draws: the largest of the standardised first four moments.
/// Under N(0, 1) each is below 5 with probability 1 - 6e-7; a spread of 1.05 is rejected.
#[test]
fn gaussians_are_standard() {
    let statistic = |scale: f64| {
        let n = 20_000;
        let draws: Vec<f64> = (0..n).map(|i| scale * gaussian::<f64>(threefry([7, 9], [0, i]))).collect();
        let moment = |p: i32| draws.iter().map(|x| x.powi(p)).sum::<f64>() / f64::from(n);
        // Variance of the mean of x^p is (E x^2p - (E x^p)^2) / n.
        [(1, 0.0, 1.0), (2, 1.0, 2.0), (3, 0.0, 15.0), (4, 3.0, 96.0)]
            .map(|(p, mean, variance)| (moment(p) - mean).abs() / (variance / f64::from(n)).sqrt())
            .into_iter()
            .fold(0.0, f64::max)
    };
    assert!(statistic(1.0) < 5.0);
    assert!(statistic(1.05) > 5.0, "a wrong spread must be seen");
}

/// A random case of one kernel.
pub struct Case {
    tensors: Tensors,
    uploads: Vec<(TensorId, Words)>,
    recording: Recording,
    outputs: Vec<TensorId>,
    /// Its sums have terms of either sign whatever the inputs' signs: errors are then held against
    /// the largest value of the tensor.
    pub cancels: bool,
}

pub struct Maker {
    rng: SmallRng,
    tensors: Tensors,
    uploads: Vec<(TensorId, Words)>,
}

impl Maker {
    fn new(seed: u64, members: u32) -> Self {
        Self { rng: SmallRng::seed_from_u64(seed), tensors: Tensors::new(members), uploads: Vec::new() }
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

/// A random case of `kernel`; every row of KERNELS needs one.
fn case(kernel: &Kernel, seed: u64, members: u32) -> Case {
    let mut m = Maker::new(seed, members);
    let mut r = Recording::new("case");
    match kernel.name {
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
            m.case(r, &[out])
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
        other => transformer_cases::case(m, other, seed)
            .unwrap_or_else(|| panic!("no case for {other}: add one, so that it is held against its twin")),
    }
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

/// Largest |gpu - f64 twin| over its bound; at most 1 where they agree.
///
/// The bound of a value is 32 eps times what the twin gives for the absolute values of all inputs
/// (for a product sum |a||b|), which no cancellation can make small; 64 times that for Gaussians,
/// since WGSL promises no more of a cosine than 2^-11 (adapters seen so far keep to 2^-20).
fn disagreement(case: &Case) -> Option<f64> {
    let mut gpu = gpu()?;
    let recording = Arc::new(case.recording.clone());
    let ours = run_once(&mut *gpu, &case.tensors, &case.uploads, &recording, &case.outputs);
    let twin = |uploads: &[(TensorId, Words)], recording: &Arc<Recording>| {
        run_once(&mut CpuExecutor::<f64>::new(), &case.tensors, uploads, recording, &case.outputs)
    };
    let exact = twin(&case.uploads, &recording);
    let scale = twin(&absolute(&case.uploads, &case.tensors), &Arc::new(positive(&case.recording)));
    let Op::Dispatch(dispatch) = &case.recording.ops[0];
    let eps = f64::from(f32::EPSILON) * if dispatch.kernel.name == "gaussian_fill" { 2048.0 } else { 32.0 };
    let mut worst: f64 = 0.0;
    for ((ours, exact), scale) in ours.iter().zip(&exact).zip(&scale) {
        if let (Words::Integers(ours), Words::Integers(exact)) = (ours, exact) {
            worst = worst.max(if ours == exact { 0.0 } else { f64::INFINITY });
            continue;
        }
        let largest = floats(exact).iter().fold(0.0, |largest: f32, value| largest.max(value.abs()));
        let floor = if case.cancels { largest.max(1e-3) } else { 1e-3 };
        for ((&ours, &exact), &scale) in floats(ours).iter().zip(floats(exact)).zip(floats(scale)) {
            let bound = eps * f64::from(scale.abs().max(floor));
            let error = f64::from(ours - exact).abs() / bound;
            worst = if error.is_nan() { f64::INFINITY } else { worst.max(error) };
        }
    }
    Some(worst)
}

/// All values positive, but for the schedule, which the updates subtract with.
fn absolute(uploads: &[(TensorId, Words)], tensors: &Tensors) -> Vec<(TensorId, Words)> {
    let absolute = |tensor: TensorId, words: &Words| match words {
        Words::Floats(values) => {
            let sign = if tensors.get(tensor).name == "rows" { -1.0 } else { 1.0 };
            Words::Floats(values.iter().map(|value| sign * value.abs()).collect())
        }
        other => other.clone(),
    };
    uploads.iter().map(|(tensor, words)| (*tensor, absolute(*tensor, words))).collect()
}

/// The same with the sign taken off `beta`, the one negative factor of the cases.
fn positive(recording: &Recording) -> Recording {
    let mut out = Recording::new("positive");
    out.ops = recording.ops.clone();
    for Op::Dispatch(dispatch) in &mut out.ops {
        if dispatch.kernel.name == "axpby" {
            let mut args: AxpbyArgs = bytemuck::pod_read_unaligned(&dispatch.args);
            args.beta = args.beta.abs();
            dispatch.args = bytemuck::bytes_of(&args).to_vec();
        }
    }
    out
}

#[test]
fn every_kernel_agrees_with_its_twin() {
    for kernel in KERNELS {
        for seed in 0..24 {
            let members = if seed % 4 == 3 { 67 } else { 1 };
            let Some(worst) = disagreement(&case(kernel, seed, members)) else { return };
            assert!(worst <= 1.0, "{} seed {seed}: {worst:.1} times the bound", kernel.name);
        }
    }
}

#[test]
fn every_variant_agrees_with_the_twin() {
    for kernel in KERNELS.iter().filter(|kernel| kernel.variants.len() > 1) {
        for variant in kernel.variants {
            let only = Box::leak(Box::new([*variant]));
            let kernel = leak(Kernel { variants: only, ..copy(kernel) });
            for seed in 0..24 {
                let mut case = case(kernel, seed, if seed % 4 == 3 { 5 } else { 1 });
                replace(&mut case.recording, kernel);
                let Some(worst) = disagreement(&case) else { return };
                assert!(worst <= 1.0, "{} seed {seed}: {worst:.1} times the bound", variant.entry);
            }
        }
    }
}

/// A kernel with one token changed is caught by the comparison above, whichever it is.
#[test]
fn a_mutated_kernel_is_caught() {
    let mutations = [
        ("counter_advance", "base + 1u] += args.step", "base + 1u] += args.slot"),
        ("gaussian_fill", "vec2u(ids[id.z], id.x)", "vec2u(id.x, ids[id.z])"),
        ("matmul", "s2 += a[a_at.z] * x", "s2 += a[a_at.y] * x"),
        ("axpby", "args.beta * y", "args.alpha * y"),
        ("sum_squares", "half > 0u", "half > 1u"),
        ("sgd_update", "params[at] -=", "params[at] +="),
        ("mode_projection", "v[task + column * d + id.x]", "v[task + id.x * d + column]"),
        ("log_row", "id.z * args.width", "id.z * args.slots"),
    ];
    for (name, from, to) in mutations.into_iter().chain(transformer_cases::MUTATIONS) {
        let row = plateau::kernels::find(name).unwrap();
        assert!(row.source.contains(from), "{name} no longer has {from:?}");
        let source = Box::leak(row.source.replace(from, to).into_boxed_str());
        let file = Box::leak(format!("mutated {name}").into_boxed_str());
        let kernel = leak(Kernel { source, file, ..copy(row) });
        let caught = (0..8).any(|seed| {
            let mut case = case(kernel, seed, 5);
            replace(&mut case.recording, kernel);
            // A pipeline is kept by entry point: the mutated one needs a device of its own.
            let mut own = match plateau::gpu::GpuExecutor::open(None, 1 << 20) {
                Ok(own) => own,
                Err(_) => return true,
            };
            let recording = Arc::new(case.recording.clone());
            let ours = run_once(&mut own, &case.tensors, &case.uploads, &recording, &case.outputs);
            let mut twin = CpuExecutor::<f64>::new();
            let exact = run_once(&mut twin, &case.tensors, &case.uploads, &recording, &case.outputs);
            ours.iter().zip(&exact).any(|(ours, exact)| match (ours, exact) {
                (Words::Floats(a), Words::Floats(b)) => a.iter().zip(b).any(|(a, b)| (a - b).abs() > 1e-3),
                (a, b) => a != b,
            })
        });
        assert!(caught, "the mutation of {name} goes unseen");
    }
}

fn copy(kernel: &Kernel) -> Kernel {
    Kernel {
        name: kernel.name,
        file: kernel.file,
        source: kernel.source,
        args: kernel.args,
        flags: kernel.flags,
        variants: kernel.variants,
        twin: kernel.twin,
    }
}

fn leak(kernel: Kernel) -> &'static Kernel {
    Box::leak(Box::new(kernel))
}

fn replace(recording: &mut Recording, kernel: &'static Kernel) {
    for Op::Dispatch(dispatch) in &mut recording.ops {
        dispatch.kernel = kernel;
    }
}

/// What a device refuses is an error that says so, not a panic; the device stays usable.
#[test]
fn a_refused_dispatch_is_an_error() {
    let Ok(mut own) = plateau::gpu::GpuExecutor::open(None, 1 << 20) else { return };
    let mut tensors = Tensors::new(1);
    let counters = tensors.integers("counters", Role::Settings, 4);
    own.load(&tensors).unwrap();
    let mut wrong = Recording::new("wrong");
    wrong.dispatch(CounterAdvanceArgs { step: 1, slot: 0 }, &[], &[counters, counters], [1, 1]);
    let runs = vec![(Arc::new(wrong), 1)];
    let refused = own.submit(Batch { runs, ..Batch::default() });
    assert!(matches!(refused, Err(ExecutorError::Refused(_))), "{refused:?}");
    let case = case(plateau::kernels::find("axpby").unwrap(), 1, 2);
    let recording = Arc::new(case.recording.clone());
    let out = run_once(&mut own, &case.tensors, &case.uploads, &recording, &case.outputs);
    assert!(floats(&out[0]).iter().all(|value| value.is_finite()));
}
