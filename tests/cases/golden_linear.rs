//! Both executors against nets trained in numpy float64 by `assets/golden/linear.py`.

use crate::support::gpu;
use nalgebra::DMatrix;
use plateau::cpu::CpuExecutor;
use plateau::engine::executor::Executor;
use plateau::kernels::{Batch, Readback, TensorId, Words};
use plateau::models::{Program, program};
use plateau::spec::*;
use serde::Deserialize;

#[derive(Deserialize)]
struct Golden {
    cases: Vec<Case>,
}

#[derive(Deserialize)]
struct Case {
    name: String,
    depth: u32,
    spectrum: Vec<f64>,
    etas: Vec<(u64, f64)>,
    u: Vec<f64>,
    v: Vec<f64>,
    start: Vec<Vec<f64>>,
    steps: Vec<u64>,
    sigma: Vec<Vec<f64>>,
    loss: Vec<f64>,
}

impl Case {
    fn program(&self) -> Program {
        program(&Spec {
            scenario: "saxe".into(),
            seed: 0,
            ensemble: Ensemble { members: 1 },
            training: Training { eta: 0.01, steps: 1 },
            measure: Measure { every: 1 },
            model: Model::Linear(Linear {
                spectrum: self.spectrum.clone(),
                depth: self.depth,
                start: Start::Aligned,
                tau: 1.0,
                imbalance: 1.0,
                basis: Basis::Random,
                det: Det::Any,
            }),
        })
    }

    /// `A = U diag(s) V^T`, row-major.
    fn task(&self) -> Vec<f64> {
        let d = self.spectrum.len();
        let matrix = |values: &[f64]| DMatrix::from_row_slice(d, d, values);
        let s = DMatrix::from_diagonal(&nalgebra::DVector::from_column_slice(&self.spectrum));
        // Column-major of the transpose is row-major.
        (matrix(&self.u) * s * matrix(&self.v).transpose()).transpose().as_slice().to_vec()
    }

    fn eta(&self, step: u64) -> f64 {
        self.etas.iter().rev().find(|(from, _)| *from <= step).unwrap().1
    }

    /// The case's own task and start in place of the drawn ones.
    fn tensors(&self, program: &Program) -> Vec<(TensorId, Vec<f64>)> {
        let id =
            |name: &str| TensorId(program.tensors.list.iter().position(|t| t.name == name).unwrap() as u32);
        vec![
            (id("task_u"), self.u.clone()),
            (id("task_v"), self.v.clone()),
            (id("task_a"), self.task()),
            (program.state[0], self.start.concat()),
        ]
    }

    /// Runs the case; `(loss, sigma)` at each golden step. `set` puts f64 values in, after the uploads.
    fn run<E: Executor>(&self, executor: &mut E, set: impl Fn(&mut E, TensorId, &[f64])) -> Vec<Vec<f32>> {
        let program = self.program();
        executor.load(&program.tensors).unwrap();
        executor.submit(Batch { uploads: program.uploads.clone(), ..Batch::default() }).unwrap();
        for (tensor, values) in self.tensors(&program) {
            set(executor, tensor, &values);
        }
        let width = 1 + self.spectrum.len() as u32;
        let mut rows = Vec::new();
        let mut step = 0;
        for &until in &self.steps {
            while step < until {
                let steps = (until - step).min(4000);
                let etas: Vec<f64> = (step..step + steps).map(|step| self.eta(step)).collect();
                set(executor, program.rows, &etas);
                let counters = (program.counters, Words::Integers(vec![step as u32, 0, 0, 0]));
                let runs = vec![(program.step.clone(), steps as u32)];
                executor.submit(Batch { uploads: vec![counters], runs, ..Batch::default() }).unwrap();
                step += steps;
            }
            let readback = Readback { tensor: program.log, members: (0, 1), range: (0, width) };
            executor
                .submit(Batch {
                    uploads: vec![(program.counters, Words::Integers(vec![step as u32, 0, 0, 0]))],
                    runs: vec![(program.measure.clone(), 1)],
                    readbacks: vec![readback],
                })
                .unwrap();
            rows.push(loop {
                let finished = executor.poll(true).unwrap();
                let words = finished.into_iter().flat_map(|finished| finished.readbacks).next();
                if let Some(Words::Floats(values)) = words {
                    break values;
                }
            });
        }
        rows
    }

    /// The largest distance from the golden sigma, over s_1.
    fn distance(&self, rows: &[Vec<f32>]) -> f64 {
        let mut worst: f64 = 0.0;
        for (row, (sigma, loss)) in rows.iter().zip(self.sigma.iter().zip(&self.loss)) {
            for (ours, golden) in row[1..].iter().zip(sigma) {
                worst = worst.max((f64::from(*ours) - golden).abs() / self.spectrum[0]);
            }
            worst = worst.max((f64::from(row[0]) - loss).abs() / self.loss[0]);
        }
        worst
    }
}

fn cases() -> Vec<Case> {
    let golden: Golden = serde_json::from_str(include_str!("../../assets/golden/linear.json")).unwrap();
    assert!(golden.cases.len() >= 6);
    golden.cases
}

fn upload(executor: &mut dyn Executor, tensor: TensorId, values: &[f64]) {
    let values = values.iter().map(|value| *value as f32).collect();
    executor.submit(Batch { uploads: vec![(tensor, Words::Floats(values))], ..Batch::default() }).unwrap();
}

/// In f64 only the readback is rounded.
#[test]
fn the_twins_in_f64_train_as_numpy_does() {
    for case in cases() {
        let mut cpu = CpuExecutor::<f64>::new();
        let rows = case.run(&mut cpu, |cpu, tensor, values| cpu.set_floats(tensor, 0, values));
        let distance = case.distance(&rows);
        assert!(distance < 1e-7, "{}: {distance:e}", case.name);
    }
}

#[test]
fn both_executors_in_f32_train_as_numpy_does() {
    for case in cases() {
        let mut cpu = CpuExecutor::<f32>::new();
        let rows = case.run(&mut cpu, |cpu, tensor, values| upload(cpu, tensor, values));
        let distance = case.distance(&rows);
        assert!(distance < TOLERANCE, "cpu, {}: {distance:e}", case.name);
        let Some(mut gpu) = gpu() else { continue };
        let rows = case.run(&mut *gpu, |gpu, tensor, values| upload(gpu, tensor, values));
        let distance = case.distance(&rows);
        assert!(distance < TOLERANCE, "gpu, {}: {distance:e}", case.name);
    }
}

/// Rounding of the start, 6e-8 of it, grows with the mode and moves its rise by about as much in
/// log-odds; the bound leaves a factor for the steps' own rounding. A step left out moves it by 4 s eta.
const TOLERANCE: f64 = 2e-4;

/// A run with the learning rate off by a thousandth is seen.
#[test]
fn a_wrong_step_is_seen() {
    let mut case = cases().into_iter().next().unwrap();
    case.etas.iter_mut().for_each(|(_, eta)| *eta *= 1.001);
    let mut cpu = CpuExecutor::<f64>::new();
    let rows = case.run(&mut cpu, |cpu, tensor, values| cpu.set_floats(tensor, 0, values));
    assert!(case.distance(&rows) > TOLERANCE);
}
