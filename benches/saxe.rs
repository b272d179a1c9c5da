//! Steps a second of the Saxe lab at d = 16, on both executors, beside the floor.
//!
//! Prints one JSON object a line: `{"what": …, "members": …, "steps_per_second": …}`; the peers'
//! script prints the same, and `benches/run.sh` makes the table of both. The floor of the gpu
//! executor is dispatches a step times the measured cost of an empty dispatch that depends on the
//! one before, in the same pass.

use plateau::cpu::CpuExecutor;
use plateau::engine::driver::Stopwatch;
use plateau::engine::executor::Executor;
use plateau::engine::session::{Advance, Session};
use plateau::gpu::GpuExecutor;
use plateau::kernels::args::CounterAdvanceArgs;
use plateau::kernels::{Batch, Recording, Role, Tensors};
use plateau::models::program;
use plateau::spec::*;
use std::sync::Arc;

/// Seconds of one measurement, and how many there are of each (the median is told).
const SECONDS: f64 = 1.0;
const REPEATS: usize = 5;

fn spec(members: u32) -> Spec {
    Spec {
        scenario: "saxe".into(),
        seed: 1,
        ensemble: Ensemble { members },
        training: Training { eta: 0.01, steps: 100_000_000 },
        measure: Measure { every: 100_000_000 },
        model: Model::Linear(Linear {
            spectrum: (0..16).map(|i| 4.0 * 0.85f64.powi(i)).collect(),
            depth: 2,
            start: Start::Aligned,
            tau: 8.0,
            imbalance: 1.0,
            basis: Basis::Random,
            det: Det::Any,
        }),
    }
}

/// Runs about so many steps to their end and returns steps a second.
fn rate(session: &mut Session, chunk: u64) -> f64 {
    let watch = Stopwatch::start();
    let mut steps = 0;
    while watch.seconds() < SECONDS {
        match session.advance(chunk).expect("the session advances") {
            Advance::Submitted(submitted) => steps += submitted,
            Advance::Waiting => drop(session.poll(true).expect("batches come back")),
            Advance::Done => break,
        }
    }
    while session.in_flight() > 0 {
        session.poll(true).expect("batches come back");
    }
    steps as f64 / watch.seconds()
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

fn measure(what: &str, members: u32, executor: Box<dyn Executor>) {
    let mut session = Session::new(&spec(members), executor);
    rate(&mut session, 8);
    let first = rate(&mut session, 64);
    // Submits of about 50 ms, as the headless driver makes them.
    let chunk = ((first * 0.05) as u64).clamp(1, 4096);
    let rates: Vec<f64> = (0..REPEATS).map(|_| rate(&mut session, chunk)).collect();
    let (low, high) = rates.iter().fold((f64::MAX, 0.0f64), |(low, high), r| (low.min(*r), high.max(*r)));
    println!(
        "{{\"what\": \"{what}\", \"members\": {members}, \"steps_per_second\": {:.1}, \"low\": {low:.1}, \"high\": {high:.1}}}",
        median(rates)
    );
}

/// Microseconds of one dispatch that does next to nothing, within one pass.
fn dispatch_overhead(gpu: &mut GpuExecutor) -> f64 {
    const DISPATCHES: u32 = 4000;
    let mut tensors = Tensors::new(1);
    let counters = tensors.integers("counters", Role::Settings, 4);
    gpu.load(&tensors).expect("tensors fit");
    let mut recording = Recording::new("nothing");
    recording.dispatch(CounterAdvanceArgs { step: 1, slot: 0 }, &[], &[counters], [1, 1]);
    let recording = Arc::new(recording);
    let mut times = Vec::new();
    for _ in 0..REPEATS + 1 {
        let watch = Stopwatch::start();
        gpu.submit(Batch { runs: vec![(recording.clone(), DISPATCHES)], ..Batch::default() })
            .expect("submits");
        while gpu.poll(true).expect("runs").is_empty() {}
        times.push(watch.seconds() * 1e6 / f64::from(DISPATCHES));
    }
    times.remove(0);
    median(times)
}

fn main() {
    plateau::gpu::prepare_process();
    for members in [1, 64, 1024] {
        measure("cpu", members, Box::new(CpuExecutor::<f32>::new()));
        match GpuExecutor::open(None, 1 << 24) {
            Ok(mut gpu) => {
                let overhead = dispatch_overhead(&mut gpu);
                let dispatches = program(&spec(members)).step.dispatches();
                println!(
                    "{{\"what\": \"floor\", \"members\": {members}, \"steps_per_second\": {:.1}, \"dispatches\": {dispatches}, \"microseconds\": {overhead:.2}}}",
                    1e6 / (overhead * dispatches as f64)
                );
                measure("gpu", members, Box::new(gpu));
            }
            Err(error) => eprintln!("no gpu: {error}"),
        }
    }
}
