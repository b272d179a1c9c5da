//! Microseconds of every dispatch of a training step on the gpu executor: where a step's time goes.
//!
//! Usage: `cargo bench --bench kernels -- [d] [members]` (16 and 64 by default).

use plateau::engine::driver::Stopwatch;
use plateau::engine::executor::Executor;
use plateau::gpu::GpuExecutor;
use plateau::kernels::{Batch, Op, Recording, Words};
use plateau::models::program;
use plateau::spec::*;
use std::sync::Arc;

fn spec(d: usize, members: u32) -> Spec {
    Spec {
        scenario: "saxe".into(),
        seed: 1,
        ensemble: Ensemble { members },
        training: Training { eta: 0.01, steps: 1000 },
        measure: Measure { every: 1000 },
        model: Model::Linear(Linear {
            spectrum: vec![1.0; d],
            depth: 2,
            start: Start::Aligned,
            tau: 8.0,
            imbalance: 1.0,
            basis: Basis::Random,
            det: Det::Any,
        }),
    }
}

fn main() {
    plateau::gpu::prepare_process();
    let numbers: Vec<u32> = std::env::args().filter_map(|arg| arg.parse().ok()).collect();
    let (d, members) = (numbers.first().copied().unwrap_or(16), numbers.get(1).copied().unwrap_or(64));
    let program = program(&spec(d as usize, members));
    let mut gpu = match GpuExecutor::open(None, 1 << 24) {
        Ok(gpu) => gpu,
        Err(error) => return eprintln!("no gpu: {error}"),
    };
    gpu.load(&program.tensors).expect("tensors fit");
    let rows = (program.rows, Words::Floats(vec![1e-6; 4096]));
    gpu.submit(Batch {
        uploads: program.uploads.iter().cloned().chain([rows]).collect(),
        ..Batch::default()
    })
    .expect("uploads");
    while gpu.poll(true).expect("runs").is_empty() {}
    let mut microseconds = |recording: &Arc<Recording>, repeats: u32| {
        let watch = Stopwatch::start();
        gpu.submit(Batch { runs: vec![(recording.clone(), repeats)], ..Batch::default() }).expect("submits");
        while gpu.poll(true).expect("runs").is_empty() {}
        watch.seconds() * 1e6 / f64::from(repeats)
    };
    let mut best = |recording: &Arc<Recording>| {
        microseconds(recording, 20);
        microseconds(recording, 100).min(microseconds(recording, 100))
    };
    println!("a whole step: {:.1} us at d = {d}, {members} members", best(&program.step));
    for recording in [&program.step, &program.measure] {
        for op in &recording.ops {
            let Op::Dispatch(dispatch) = op;
            let mut one = Recording::new("one");
            one.ops = vec![op.clone()];
            println!("{} {:?}: {:.1} us", dispatch.kernel.name, dispatch.flags, best(&Arc::new(one)));
        }
    }
}
