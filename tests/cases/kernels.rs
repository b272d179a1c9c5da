//! Every kernel on the device against its twin in f64, on random shapes; and the twins' own oracles.

use crate::support::{floats, gpu, run_once};
use plateau::cpu::random::{gaussian, threefry};
use plateau::engine::executor::{Executor, ExecutorError};
use plateau::kernels::args::CounterAdvanceArgs;
use plateau::kernels::{Batch, KERNELS, Kernel, Recording, Role, Tensors};
use plateau::selftest::case::{Case, case};
use plateau::selftest::compare::{Disagreement, Expected};
use plateau::selftest::{self, Wrong};
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

/// A case of a kernel; every row of KERNELS has one.
fn case_of(kernel: &'static Kernel, seed: u64, members: u32) -> Case {
    case(kernel, seed, members).unwrap_or_else(|| {
        panic!("no case for {}: add one, so that it is held against its twin", kernel.name)
    })
}

/// The shared device against the twins in f64; `None` where there is no device.
fn disagreement(case: &Case) -> Option<Disagreement> {
    let recording = Arc::new(case.recording.clone());
    let ours = run_once(&mut *gpu()?, &case.tensors, &case.uploads, &recording, &case.outputs);
    Some(Expected::of(case).unwrap().against(case, &ours))
}

#[test]
fn every_kernel_agrees_with_its_twin() {
    for kernel in KERNELS {
        for seed in 0..24 {
            let members = if seed % 4 == 3 { 67 } else { 1 };
            let Some(worst) = disagreement(&case_of(kernel, seed, members)) else { return };
            assert!(worst.times <= 1.0, "{} seed {seed}: {}", kernel.name, worst.what);
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
                let case = case_of(kernel, seed, if seed % 4 == 3 { 5 } else { 1 });
                let Some(worst) = disagreement(&case) else { return };
                assert!(worst.times <= 1.0, "{} seed {seed}: {}", variant.entry, worst.what);
            }
        }
    }
}

/// The self-test on an executor, with nothing else to do meanwhile.
fn self_test(executor: &mut dyn Executor, kernels: &'static [Kernel]) -> Vec<Wrong> {
    pollster::block_on(selftest::run(executor, kernels, async || Ok(()), |_, _, _| ())).unwrap()
}

#[test]
fn a_right_device_passes_the_self_test() {
    let Some(mut gpu) = gpu() else { return };
    assert_eq!(self_test(&mut *gpu, KERNELS), []);
}

/// A change of one token in each kernel: name, from, to.
const MUTATIONS: [(&str, &str, &str); KERNELS.len()] = [
    ("counter_advance", "base + 1u] += args.step", "base + 1u] += args.slot"),
    ("gaussian_fill", "vec2u(ids[id.z], id.x)", "vec2u(id.x, ids[id.z])"),
    ("matmul", "s2 += a[a_at.z] * x", "s2 += a[a_at.y] * x"),
    ("axpby", "args.beta * y", "args.alpha * y"),
    ("sum_squares", "half > 0u", "half > 1u"),
    ("sgd_update", "params[at] -=", "params[at] +="),
    ("mode_projection", "v[task + column * d + id.x]", "v[task + id.x * d + column]"),
    ("log_row", "id.z * args.width", "id.z * args.slots"),
    ("sum", "partial[0] / sum_args.divisor", "partial[0]"),
    ("embedding_forward", "row % forward.time", "row / forward.time"),
    ("embedding_backward", "row += backward.time", "row += 1u"),
    ("rmsnorm_forward", "f32(forward.width) + forward.epsilon", "f32(forward.width)"),
    ("rmsnorm_backward", "- mean * x", "+ mean * x"),
    ("rmsnorm_gain_backward", "x[at] * row_inverse_rms", "x[at] + row_inverse_rms"),
    ("attention_forward", "score *= scale", "score *= 1.0"),
    ("attention_scores_backward", "d_scores_out[at.matrix_row + s] - sum", "d_scores_out[at.matrix_row + s]"),
    ("attention_backward", "dv += weights[column + s * time]", "dv += weights[at.matrix_row + s]"),
    ("bias_relu_forward", "+ bias, 0.0", "- bias, 0.0"),
    ("bias_relu_backward", "activated[at] > 0.0", "activated[at] < 0.0"),
    ("cross_entropy_forward", "/ sum - hit", "/ sum + hit"),
    ("adamw_update", "id.x < adamw.decayed_len", "id.x <= adamw.decayed_len"),
];

/// A kernel with one token changed is caught by the self-test, whichever it is.
#[test]
fn a_mutated_kernel_is_caught() {
    for (name, from, to) in MUTATIONS {
        let row = plateau::kernels::find(name).unwrap();
        assert!(row.source.contains(from), "{name} no longer has {from:?}");
        let source = Box::leak(row.source.replace(from, to).into_boxed_str());
        let file = Box::leak(format!("mutated {name}").into_boxed_str());
        let kernel = leak(Kernel { source, file, ..copy(row) });
        // A pipeline is kept by entry point: the mutated one needs a device of its own.
        let Ok(mut own) = plateau::gpu::GpuExecutor::open(None, 1 << 20) else { return };
        let wrong = self_test(&mut own, std::slice::from_ref(kernel));
        assert!(matches!(&wrong[..], [wrong] if wrong.kernel == name), "the mutation of {name} goes unseen");
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
    let case = case_of(plateau::kernels::find("axpby").unwrap(), 1, 2);
    let recording = Arc::new(case.recording.clone());
    let out = run_once(&mut own, &case.tensors, &case.uploads, &recording, &case.outputs);
    assert!(floats(&out[0]).iter().all(|value| value.is_finite()));
}
