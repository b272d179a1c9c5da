//! The spine: equal runs, resumed runs, changes, gradients of whole networks.

use crate::support::{floats, has_gpu, run_once};
use plateau::cpu::CpuExecutor;
use plateau::engine::driver::{run_commands, run_headless};
use plateau::engine::executor::Executor;
use plateau::engine::protocol::{Change, Command, ExecutorChoice};
use plateau::kernels::{Batch, Words};
use plateau::models::program;
use plateau::runlog::RunLog;
use plateau::spec::*;
use std::ops::ControlFlow;

fn spec(d: usize, members: u32, steps: u64) -> Spec {
    Spec {
        scenario: "saxe".into(),
        seed: 3,
        ensemble: Ensemble { members },
        training: Training { eta: 0.02, steps },
        measure: Measure { every: 7 },
        model: Model::Linear(Linear {
            spectrum: (0..d).map(|i| 3.0 * 0.7f64.powi(i as i32)).collect(),
            depth: 2,
            start: Start::Random,
            tau: 3.0,
            imbalance: 1.0,
            basis: Basis::Random,
            det: Det::Any,
        }),
    }
}

fn linear(spec: &mut Spec) -> &mut Linear {
    let Model::Linear(linear) = &mut spec.model;
    linear
}

fn run(spec: &Spec, executor: ExecutorChoice) -> RunLog {
    run_headless(spec, executor, None, &mut |_| ControlFlow::Continue(())).unwrap()
}

fn executors() -> Vec<ExecutorChoice> {
    let gpu = has_gpu().then_some(ExecutorChoice::Gpu);
    [ExecutorChoice::Cpu].into_iter().chain(gpu).collect()
}

#[test]
fn equal_runs_give_equal_bits() {
    for executor in executors() {
        let (a, b) = (run(&spec(5, 3, 300), executor), run(&spec(5, 3, 300), executor));
        assert!(a.same_run(&b), "{executor:?}");
        assert_eq!(a.steps[..3], [0, 7, 14]);
        assert_eq!(a.last_step(), 300);
        let mut other = spec(5, 3, 300);
        other.seed = 4;
        assert!(!a.same_run(&run(&other, executor)), "another seed is another run");
    }
}

/// Members do not see each other: member 2 of three is the same with or without the others.
#[test]
fn a_member_is_the_same_in_any_company() {
    for executor in executors() {
        let (few, many) = (run(&spec(5, 2, 100), executor), run(&spec(5, 67, 100), executor));
        for row in 0..few.steps.len() {
            for member in 0..2 {
                let at = |log: &RunLog| log.metric("loss").unwrap().at(row, member, 0).to_bits();
                assert_eq!(at(&few), at(&many), "{executor:?} row {row} member {member}");
            }
        }
    }
}

#[test]
fn the_executors_agree() {
    if !has_gpu() {
        return;
    }
    let (cpu, gpu) = (run(&spec(7, 4, 400), ExecutorChoice::Cpu), run(&spec(7, 4, 400), ExecutorChoice::Gpu));
    for name in ["loss", "sigma"] {
        for (a, b) in cpu.metric(name).unwrap().values.iter().zip(&gpu.metric(name).unwrap().values) {
            // Rounding grows with the modes, e^(4 s eta k) from the start on; after that it is forgotten.
            assert!((a - b).abs() <= 2e-3 * (1.0 + b.abs()), "{name}: {a} against {b}");
        }
    }
}

#[test]
fn a_lost_device_changes_nothing() {
    for executor in executors() {
        let spec = spec(6, 3, 6_000);
        let unbroken = run(&spec, executor);
        let mut losses = 0;
        let mut lose = |log: &RunLog| {
            // Twice: once before the first checkpoint is likely, once far into the run.
            let due = (losses == 0 && log.last_step() > 10) || (losses == 1 && log.last_step() > 3_000);
            losses += u32::from(due);
            if due { vec![Command::LoseDevice] } else { Vec::new() }
        };
        let broken =
            run_commands(&spec, executor, None, &mut lose, &mut |_| ControlFlow::Continue(())).unwrap();
        assert_eq!(losses, 2);
        assert!(broken.same_run(&unbroken), "{executor:?}");
        let said = |text: &str| broken.notices.iter().filter(|notice| notice.text.contains(text)).count();
        assert_eq!((said("lost"), said("resumed")), (2, 2), "{:?}", broken.notices);
    }
}

#[test]
fn a_change_of_eta_is_stamped_and_acts() {
    let spec = spec(4, 1, 4_000);
    let mut changed = false;
    let mut change = |log: &RunLog| {
        if !changed && log.last_step() > 500 {
            changed = true;
            return vec![Command::Change(Change::Eta(0.001))];
        }
        Vec::new()
    };
    let log = run_commands(&spec, ExecutorChoice::Cpu, None, &mut change, &mut |_| ControlFlow::Continue(()))
        .unwrap();
    let [intervention] = log.interventions[..] else { panic!("{:?}", log.interventions) };
    let row = log.steps.iter().position(|step| *step >= intervention.step).unwrap();
    let per_step =
        |row: usize| (log.times[row + 1] - log.times[row]) / (log.steps[row + 1] - log.steps[row]) as f64;
    assert!((per_step(0) - 0.02).abs() < 1e-9 && (per_step(row) - 0.001).abs() < 1e-9);
}

#[test]
fn divergence_is_said_by_name() {
    let mut spec = spec(3, 2, 200);
    spec.training.eta = 5.0;
    let log = run(&spec, ExecutorChoice::Cpu);
    assert!(
        log.notices.iter().any(|n| n.text.contains("loss of member 0 is not finite")),
        "{:?}",
        log.notices
    );
}

/// The gradients of whole networks against central differences, all in f64.
#[test]
fn gradients_agree_with_finite_differences() {
    for depth in 1..=4 {
        let mut spec = spec(4, 2, 1);
        spec.training.eta = 1e-3;
        linear(&mut spec).depth = depth;
        linear(&mut spec).tau = 0.2;
        let program = program(&spec);
        let params = program.state[0];
        let mut cpu = CpuExecutor::<f64>::new();
        cpu.load(&program.tensors).unwrap();
        let setup = Batch { uploads: program.uploads.clone(), ..Batch::default() };
        cpu.submit(setup).unwrap();
        let start: Vec<f64> = cpu.floats(params, 1).to_vec();
        // The learning rate as the executor holds it: f32, widened.
        let lr = 1e-3f32;
        let counters = Words::Integers(vec![0; 8]);
        let one = |recording| Batch {
            uploads: vec![(program.rows, Words::Floats(vec![lr])), (program.counters, counters.clone())],
            runs: vec![(recording, 1)],
            readbacks: Vec::new(),
        };
        cpu.submit(one(program.step.clone())).unwrap();
        let moved: Vec<f64> = cpu.floats(params, 1).to_vec();
        let mut loss = |values: &[f64]| {
            cpu.set_floats(params, 1, values);
            cpu.submit(one(program.measure.clone())).unwrap();
            cpu.floats(program.log, 1)[0]
        };
        let count = depth as usize * 16;
        for i in 0..count {
            let gradient = (start[i] - moved[i]) / f64::from(lr);
            let mut at = start.clone();
            let h = 1e-5;
            at[i] = start[i] + h;
            let up = loss(&at);
            at[i] = start[i] - h;
            let difference = (up - loss(&at)) / (2.0 * h);
            assert!(
                (gradient - difference).abs() < 1e-7 * (1.0 + gradient.abs()),
                "depth {depth}, entry {i}"
            );
        }
    }
}

/// The random start drawn on the device is the one the host computes.
#[test]
fn the_start_is_the_same_on_host_and_device() {
    let spec = spec(5, 3, 1);
    let Model::Linear(model) = &spec.model;
    let program = program(&spec);
    let init = program.init.clone().unwrap();
    let mut cpu = CpuExecutor::<f32>::new();
    let out = run_once(&mut cpu, &program.tensors, &program.uploads, &init, &program.state);
    let stride = program.tensors.get(program.state[0]).len;
    for member in 0..3 {
        let layers = plateau::models::linear::start(&spec, model, member);
        for (l, layer) in layers.iter().enumerate() {
            for i in 0..25 {
                let ours = floats(&out[0])[member as usize * stride + l * 25 + i];
                assert!((f64::from(ours) - layer[(i / 5, i % 5)]).abs() < 1e-6);
            }
        }
    }
}
