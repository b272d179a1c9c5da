//! One AdamW step of a small transformer: finite differences, PyTorch's values, both executors.

use crate::golden::{arena, batch, golden, net, numbers, schedule};
use crate::support::gpu;
use plateau::cpu::CpuExecutor;
use plateau::cpu::executor::TwinScalar;
use plateau::engine::executor::Executor;
use plateau::gpu::GpuExecutor;
use plateau::kernels::args::{AdamwUpdateArgs, Args, AxpbyArgs, MatmulArgs, RmsnormBackwardArgs};
use plateau::kernels::{Batch, Dispatch, Op, Readback, Recording, TensorId, Tensors, Words};
use plateau::models::transformer::{Param, Transformer, scalar};
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::Arc;

/// An executor whose tensors can be read, and set as exactly as it keeps them.
trait Bench: Executor {
    fn read(&mut self, tensors: &Tensors, tensor: TensorId, member: usize) -> Vec<f64>;
    fn set(&mut self, tensor: TensorId, values: &[f64]);

    fn go(&mut self, batch: Batch) -> Vec<Words> {
        self.submit(batch).unwrap();
        self.poll(true).unwrap().pop().unwrap().readbacks
    }

    fn run(&mut self, uploads: Vec<(TensorId, Words)>, recording: &Arc<Recording>) {
        self.go(Batch { uploads, runs: vec![(recording.clone(), 1)], readbacks: Vec::new() });
    }
}

impl<S: TwinScalar> Bench for CpuExecutor<S> {
    fn read(&mut self, _: &Tensors, tensor: TensorId, member: usize) -> Vec<f64> {
        self.floats(tensor, member).iter().map(|value| value.value()).collect()
    }

    fn set(&mut self, tensor: TensorId, values: &[f64]) {
        let values: Vec<S> = values.iter().map(|&value| S::of(value)).collect();
        self.set_floats(tensor, 0, &values);
    }
}

impl Bench for GpuExecutor {
    fn read(&mut self, tensors: &Tensors, tensor: TensorId, member: usize) -> Vec<f64> {
        let members = (member as u32, member as u32 + 1);
        let readback = Readback { tensor, members, range: (0, tensors.get(tensor).len as u32) };
        match self.go(Batch { readbacks: vec![readback], ..Batch::default() }).remove(0) {
            Words::Floats(values) => values.into_iter().map(f64::from).collect(),
            Words::Integers(_) => panic!("integers"),
        }
    }

    fn set(&mut self, tensor: TensorId, values: &[f64]) {
        let values = Words::Floats(values.iter().map(|&value| value as f32).collect());
        self.go(Batch { uploads: vec![(tensor, values)], ..Batch::default() });
    }
}

/// Loads the start of these members of the golden run, and their first batch.
fn begin(executor: &mut dyn Bench, net: &Transformer, members: &[usize]) {
    executor.load(&net.tensors).unwrap();
    let start = members.iter().flat_map(|&member| arena(net, &golden()["members"][member]["start"]));
    let mut uploads = batch(net, members, 0);
    uploads.push((net.params, Words::Floats(start.map(|value| value as f32).collect())));
    executor.go(Batch { uploads, ..Batch::default() });
    executor.set(net.rows, &schedule(net, members));
}

/// The two Recordings under test.
struct Recordings {
    gradients: Arc<Recording>,
    step: Arc<Recording>,
}

impl Recordings {
    fn of(net: &Transformer) -> Self {
        Self { gradients: Arc::new(net.gradients()), step: Arc::new(net.step()) }
    }
}

/// What a quantity is, for its tolerance.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    Logits,
    Loss,
    Norm,
    Gradient,
    AfterOne,
    AfterThree,
}

/// Largest error of each kind: `max |ours - golden| / max |golden|` over one tensor, the worst tensor.
type Errors = BTreeMap<Kind, f64>;

fn note(errors: &mut Errors, kind: Kind, ours: &[f64], golden: &[f64]) {
    let largest = golden.iter().fold(0.0, |largest: f64, value| largest.max(value.abs()));
    let difference = ours.iter().zip(golden).map(|(a, b)| (a - b).abs());
    let worst = difference.fold(0.0, |worst: f64, d| if d.is_nan() { f64::INFINITY } else { worst.max(d) });
    let error = errors.entry(kind).or_default();
    *error = error.max(worst / largest);
}

fn note_tensors(errors: &mut Errors, kind: Kind, table: &[Param], ours: &[f64], golden: &Value) {
    for param in table {
        let ours = &ours[param.offset as usize..][..param.len()];
        note(errors, kind, ours, &numbers(&golden[&param.name]));
    }
}

/// Runs both golden members and compares with what PyTorch gave in `precision`.
fn compare(executor: &mut dyn Bench, net: &Transformer, recordings: &Recordings, precision: &str) -> Errors {
    let members = [0, 1];
    let mut errors = Errors::new();
    let golden = |member: usize| &golden()["members"][member][precision];
    begin(executor, net, &members);
    executor.run(Vec::new(), &recordings.gradients);
    for member in members {
        let mut read = |tensor| executor.read(&net.tensors, tensor, member);
        let (golden, scalars) = (golden(member), read(net.scalars));
        note(&mut errors, Kind::Logits, &read(net.logits), &numbers(&golden["logits"]));
        let loss = golden["losses"][0].as_f64().unwrap();
        note(&mut errors, Kind::Loss, &scalars[scalar::LOSS as usize..][..1], &[loss]);
        let norm = scalars[scalar::SQUARED_NORM as usize].sqrt();
        note(&mut errors, Kind::Norm, &[norm], &[golden["norms"][0].as_f64().unwrap()]);
        note_tensors(&mut errors, Kind::Gradient, &net.table.params, &read(net.grads), &golden["gradients"]);
    }
    begin(executor, net, &members);
    for step in 0..3 {
        executor.run(batch(net, &members, step), &recordings.step);
        let (kind, name) = match step {
            0 => (Kind::AfterOne, "after_1"),
            2 => (Kind::AfterThree, "after_3"),
            _ => continue,
        };
        for member in members {
            let params = executor.read(&net.tensors, net.params, member);
            note_tensors(&mut errors, kind, &net.table.params, &params, &golden(member)[name]);
        }
    }
    errors
}

fn exceeded(errors: &Errors, tolerance: fn(Kind) -> f64) -> bool {
    errors.iter().any(|(&kind, &error)| error > tolerance(kind))
}

fn hold(errors: &Errors, tolerance: fn(Kind) -> f64, what: &str) {
    let list: Vec<_> = errors.iter().map(|(kind, error)| format!("{kind:?} {error:.1e}")).collect();
    eprintln!("{what}: {}", list.join(", "));
    assert!(!exceeded(errors, tolerance), "{what}: {}", list.join(", "));
}

/// In f64 only the order of sums differs, and epsilon by its rounding to f32.
fn double(kind: Kind) -> f64 {
    match kind {
        Kind::Logits | Kind::Loss | Kind::Norm | Kind::Gradient => 2e-12,
        Kind::AfterOne | Kind::AfterThree => 5e-11,
    }
}

/// In f32, ten to twenty times what PyTorch's own f32 differs from its f64 (in the order below 2e-7,
/// 4e-7, 1e-7 and 5e-7). Adam divides by the size of the gradient: a small entry moves by its
/// relative error times the rate.
fn single(kind: Kind) -> f64 {
    match kind {
        Kind::Logits | Kind::Loss | Kind::Norm => 2e-6,
        Kind::Gradient => 5e-6,
        Kind::AfterOne => 2e-6,
        Kind::AfterThree => 1e-5,
    }
}

#[test]
fn the_table_tiles_the_arena_with_decayed_tensors_first() {
    let net = net(2);
    let mut at = 0;
    for param in &net.table.params {
        assert_eq!(param.offset as usize, at, "{}", param.name);
        assert_eq!(param.decayed, at < net.table.decayed_len(), "{}", param.name);
        at += param.len();
    }
    assert_eq!(at, net.table.len());
}

#[test]
fn finite_differences_agree_with_the_backward_of_every_tensor() {
    const H: f64 = 1e-5;
    let net = net(2);
    let [gradients, forward] = [net.gradients(), net.forward()].map(Arc::new);
    let mut cpu = CpuExecutor::<f64>::new();
    begin(&mut cpu, &net, &[0, 1]);
    cpu.run(Vec::new(), &gradients);
    let analytic = [0, 1].map(|member| cpu.floats(net.grads, member).to_vec());
    let mut params = [0, 1].map(|member| cpu.floats(net.params, member).to_vec());
    let mut losses = |params: &[Vec<f64>; 2]| {
        for (member, params) in params.iter().enumerate() {
            cpu.set_floats(net.params, member, params);
        }
        cpu.run(Vec::new(), &forward);
        [0, 1].map(|member| cpu.floats(net.scalars, member)[scalar::LOSS as usize])
    };
    for param in &net.table.params {
        let mut seen: f64 = 0.0;
        for at in (param.offset as usize..).take(param.len()) {
            let mut moved = |by: f64| {
                params.iter_mut().for_each(|params| params[at] += by);
                let losses = losses(&params);
                params.iter_mut().for_each(|params| params[at] -= by);
                losses
            };
            let (up, down) = (moved(H), moved(-H));
            for member in 0..2 {
                let difference = (up[member] - down[member]) / (2.0 * H);
                let error = (difference - analytic[member][at]).abs();
                // h^2 f''' / 6 is about 1e-10 and the rounding of the loss, eps / h, 1e-11.
                assert!(error < 2e-9, "{}[{}]: {error:e}", param.name, at - param.offset as usize);
                seen = seen.max(analytic[member][at].abs());
            }
        }
        assert!(seen > 1e-4, "the gradient of {} is all but zero: nothing was tested", param.name);
    }
}

#[test]
fn the_f64_twins_agree_with_pytorch() {
    let net = net(2);
    let errors = compare(&mut CpuExecutor::<f64>::new(), &net, &Recordings::of(&net), "float64");
    hold(&errors, double, "f64 twins");
}

#[test]
fn the_f32_twins_agree_with_pytorch() {
    let net = net(2);
    for precision in ["float32", "float64"] {
        let errors = compare(&mut CpuExecutor::<f32>::new(), &net, &Recordings::of(&net), precision);
        hold(&errors, single, &format!("f32 twins against {precision}"));
    }
}

#[test]
fn the_gpu_agrees_with_pytorch() {
    let Some(mut gpu) = gpu() else { return };
    let net = net(2);
    for precision in ["float32", "float64"] {
        let errors = compare(&mut *gpu, &net, &Recordings::of(&net), precision);
        hold(&errors, single, &format!("gpu against {precision}"));
    }
}

/// Changes the uniform struct and flags of the last dispatch of that kernel for which `change` says
/// yes.
fn plant<A: Args>(recording: &Recording, change: impl Fn(&mut A, &mut Dispatch) -> bool) -> Arc<Recording> {
    let mut planted = Recording::new("planted");
    planted.ops = recording.ops.clone();
    let found = planted.ops.iter_mut().rev().any(|Op::Dispatch(dispatch)| {
        let mut args: A = match dispatch.kernel.name == A::KERNEL {
            true => bytemuck::pod_read_unaligned(&dispatch.args),
            false => return false,
        };
        let changed = change(&mut args, dispatch);
        if changed {
            dispatch.args = bytemuck::bytes_of(&args).to_vec();
        }
        changed
    });
    assert!(found, "nothing was planted");
    Arc::new(planted)
}

/// Wherever one thing goes wrong, the loosest comparison above sees it.
#[test]
fn planted_errors_are_caught() {
    let net = net(2);
    let seen = |recordings: &Recordings| {
        let mut cpu = CpuExecutor::<f32>::new();
        exceeded(&compare(&mut cpu, &net, recordings, "float64"), single)
    };
    let right = Recordings::of(&net);
    assert!(!seen(&right));
    let gradients = |gradients| Recordings { gradients, step: right.step.clone() };
    let alpha = plant::<MatmulArgs>(&right.gradients, |args, _| {
        args.alpha = 1.001;
        true
    });
    assert!(seen(&gradients(alpha)), "a wrong factor in one matrix's gradient");
    let residual = plant::<AxpbyArgs>(&right.gradients, |args, _| {
        args.alpha = 0.0;
        true
    });
    assert!(seen(&gradients(residual)), "a residual path dropped in forward");
    let residual = plant::<RmsnormBackwardArgs>(&right.gradients, |_, dispatch| {
        let had = dispatch.flags.contains(&"ACCUMULATE");
        dispatch.flags.clear();
        had
    });
    assert!(seen(&gradients(residual)), "a residual path dropped in backward");
    let step = |step| Recordings { gradients: right.gradients.clone(), step };
    let decay = plant::<AdamwUpdateArgs>(&right.step, |args, _| {
        args.decayed_len -= 8 * 11;
        true
    });
    assert!(seen(&step(decay)), "no decay on the head");
    let clip = plant::<AdamwUpdateArgs>(&right.step, |args, _| {
        args.clip = 0.0;
        true
    });
    assert!(seen(&step(clip)), "no clipping");
}

/// Parameters after three steps.
fn trained(executor: &mut dyn Bench, net: &Transformer, members: &[usize]) -> Vec<Vec<f64>> {
    let step = Arc::new(net.step());
    begin(executor, net, members);
    for at in 0..3 {
        executor.run(batch(net, members, at), &step);
    }
    (0..members.len()).map(|member| executor.read(&net.tensors, net.params, member)).collect()
}

fn members_do_not_touch(executor: &mut dyn Bench) {
    let together = trained(executor, &net(2), &[0, 1]);
    assert_ne!(together[0], together[1]);
    for member in [0, 1] {
        let alone = trained(executor, &net(1), &[member]).remove(0);
        assert!(alone == together[member], "member {member} differs from its run alone");
    }
}

#[test]
fn two_members_at_once_equal_each_alone_on_the_cpu() {
    members_do_not_touch(&mut CpuExecutor::<f32>::new());
    members_do_not_touch(&mut CpuExecutor::<f64>::new());
}

#[test]
fn two_members_at_once_equal_each_alone_on_the_gpu() {
    if let Some(mut gpu) = gpu() {
        members_do_not_touch(&mut *gpu);
    }
}
