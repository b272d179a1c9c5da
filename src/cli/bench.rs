//! `plateau bench`: steps a second of both executors, in one run on this machine.
//!
//! A measure to orient by. The comparison with other programs is a script of its own, in `benches/`.

use super::{BenchArguments, Ending, Executor, Outcome, interrupt, say};
use crate::engine::driver::{self, Stopwatch};
use crate::engine::protocol::{Event, ExecutorChoice};
use crate::names::shown;
use crate::scenarios;
use crate::spec::{Model, Spec};
use std::ops::ControlFlow;

/// Sizes of the ensembles measured.
const MEMBERS: [u32; 3] = [1, 64, 1_024];
/// Width of the network.
const WIDTH: usize = 16;

pub fn bench(arguments: &BenchArguments, quiet: bool) -> Ending {
    if !(0.1..=600.0).contains(&arguments.seconds) {
        return Err(format!("--seconds {}: not between 0.1 and 600", arguments.seconds));
    }
    let spec = spec()?;
    interrupt::install();
    let executors = match arguments.executor.executor {
        Executor::Auto => vec![("cpu", ExecutorChoice::Cpu), ("gpu", ExecutorChoice::Gpu)],
        Executor::Cpu => vec![("cpu", ExecutorChoice::Cpu)],
        Executor::Gpu => vec![("gpu", ExecutorChoice::Gpu)],
    };
    say(&format!("two layers, d = {WIDTH}; steps a second, and member-steps a second"));
    for (name, executor) in executors {
        for members in MEMBERS {
            let mut spec = spec.clone();
            spec.ensemble.members = members;
            let rate = measure(&spec, executor, arguments);
            if interrupt::asked() {
                return Ok(Outcome::Interrupted);
            }
            let rate = rate.map(|rate| format!("{:>10.0} {:>12.0}", rate, rate * f64::from(members)));
            if let (Executor::Gpu, Err(error)) = (arguments.executor.executor, &rate) {
                return Err(shown(&format!("{error:#}")));
            }
            let text = rate.unwrap_or_else(|error| format!("not possible: {}", shown(&format!("{error:#}"))));
            say(&format!("{name}  {members:>5} members  {text}"));
        }
    }
    if !quiet {
        say("compared with other programs: see benches/");
    }
    Ok(Outcome::Done)
}

/// The first scenario's first preset at the width measured, longer than anybody waits.
fn spec() -> Result<Spec, String> {
    let presets = scenarios::ALL.first().map(|scenario| (scenario.presets)()).unwrap_or_default();
    let mut spec = presets.into_iter().next().ok_or("there is no preset to measure")?.spec;
    let Model::Linear(linear) = &mut spec.model;
    linear.spectrum = (0..WIDTH as i32).map(|i| 4.0 * 0.75_f64.powi(i)).collect();
    spec.training.steps = 100_000_000;
    spec.measure.every = 1_000_000;
    Ok(spec)
}

/// Steps a second after a first fifth of the time, which goes to starting up.
fn measure(spec: &Spec, executor: ExecutorChoice, arguments: &BenchArguments) -> anyhow::Result<f64> {
    let stopwatch = Stopwatch::start();
    let mut first: Option<(f64, u64)> = None;
    let mut last = (0.0, 0);
    let adapter = arguments.executor.adapter.as_deref();
    driver::run_headless(spec, executor, adapter, &mut |event| {
        let now = stopwatch.seconds();
        if let Event::Status(status) = event {
            last = (now, status.step);
            let warm = status.step > 0 && now > 0.2 * arguments.seconds;
            if first.is_none() && warm {
                first = Some(last);
            }
        }
        let measured = first.is_some_and(|first| now > first.0 + arguments.seconds);
        if measured || interrupt::asked() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    })?;
    let (start, step) = first.ok_or_else(|| anyhow::anyhow!("ended too soon to be measured"))?;
    Ok((last.1 - step) as f64 / (last.0 - start).max(1e-9))
}
