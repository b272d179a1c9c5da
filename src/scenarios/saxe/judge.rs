//! What a run of the lab is held against, finding by finding.
//!
//! Aligned starts and one layer are deterministic: the worst seed decides.

use super::predict::{self, Law, Prediction};
use crate::analysis::{crossing, stats};
use crate::runlog::{Metric, RunLog};
use crate::scenarios::{Finding, Verdict};
use crate::spec::{Linear, Model, Spec};
use crate::theory::schedule::Schedule;

/// A finished run and theory for it.
pub struct Run<'a> {
    log: &'a RunLog,
    pub spec: &'a Spec,
    pub linear: &'a Linear,
    history: Vec<(u64, f64)>,
}

impl<'a> Run<'a> {
    pub fn new(log: &'a RunLog, spec: &'a Spec) -> Self {
        let Model::Linear(linear) = &spec.model;
        let history = log.eta_history();
        Self { log, spec, linear, history }
    }

    pub fn members(&self) -> usize {
        self.log.members()
    }

    pub fn steps(&self) -> &[u64] {
        &self.log.steps
    }

    /// `t` of each row.
    pub fn times(&self) -> &[f64] {
        &self.log.times
    }

    pub fn metric(&self, name: &str) -> Option<&'a Metric> {
        self.log.metric(name)
    }

    /// Why nothing can be said, if so: no such metrics, an early end, numbers that are not finite.
    fn problem(&self) -> Option<Finding> {
        let finding = |what: &str, verdict, measured: f64, oracle: String| {
            Some(Finding { what: what.into(), verdict, measured, interval: [measured; 2], oracle })
        };
        let (Some(loss), Some(sigma)) = (self.metric("loss"), self.metric("sigma")) else {
            return finding("no measurements", Verdict::NotResolved, f64::NAN, "a run of the lab".into());
        };
        let values = || loss.values.iter().chain(&sigma.values);
        if let Some(bad) = values().find(|value| !value.is_finite()) {
            return finding("a value is not finite", Verdict::Fails, f64::from(*bad), "finite".into());
        }
        let last = self.log.last_step();
        if last < self.spec.training.steps {
            let oracle = format!("{} steps", self.spec.training.steps);
            return finding("the run ended early", Verdict::NotResolved, last as f64, oracle);
        }
        None
    }

    /// The findings of `judge`, or the one that says why there are none.
    pub fn judged(&self, judge: impl Fn(&Self, &Metric, &Metric) -> Vec<Finding>) -> Vec<Finding> {
        match (self.problem(), self.metric("loss"), self.metric("sigma")) {
            (None, Some(loss), Some(sigma)) => judge(self, loss, sigma),
            (problem, ..) => problem.into_iter().collect(),
        }
    }

    pub fn predict(&self, law: Law, member: usize) -> Prediction {
        predict::member(law, self.spec, member as u32, Schedule::new(&self.history), &self.log.steps)
    }

    /// Measured half-times, `[member][mode]`, in steps.
    fn halves(&self, sigma: &Metric) -> Vec<Vec<Option<f64>>> {
        let of = |member, mode| {
            let series: Vec<f64> = sigma.series(member, mode).map(f64::from).collect();
            crossing::half_crossing(&self.log.steps, &series, self.linear.spectrum[mode])
        };
        (0..self.members())
            .map(|member| (0..self.linear.spectrum.len()).map(|mode| of(member, mode)).collect())
            .collect()
    }
}

pub fn verdict(holds: bool) -> Verdict {
    if holds { Verdict::Holds } else { Verdict::Fails }
}

/// The standard case: half-times, order, and the curves.
pub fn aligned(run: &Run<'_>) -> Vec<Finding> {
    run.judged(|run, loss, sigma| {
        let eta = run.spec.training.eta;
        let closed = run.predict(Law::Closed, 0);
        let halves = run.halves(sigma);
        let tolerance = |mode: usize| (0.2 * eta * run.linear.spectrum[mode]).max(1e-3);
        let mut findings = half_times(run, &closed, &halves, "the finite-step closed form", tolerance);
        findings.push(every_seed_in_order(&halves));
        // First order in eta s: .781 eta s of s (theory::linear::CURVE_ERROR), and float32.
        let bound = |mode: usize| eta * run.linear.spectrum[mode] + 1e-4;
        findings.push(curve_error(run, sigma, &closed, "largest curve error over eta s", bound, |mode| {
            eta * run.linear.spectrum[mode].powi(2)
        }));
        let exact = run.predict(Law::Recursion, 0);
        findings.push(exact_curves(run, sigma, &exact));
        findings.push(exact_loss(run, loss, &exact));
        findings
    })
}

/// One layer: every mode is half learned at the same step, on the exact curve.
pub fn shallow(run: &Run<'_>) -> Vec<Finding> {
    run.judged(|run, _, sigma| {
        let theory = run.predict(Law::Shallow, 0);
        let halves = run.halves(sigma);
        let spread: Vec<f64> = halves.iter().map(|of_modes| spread(of_modes)).collect();
        // An unlearned mode makes the spread infinite; start terms of e^-tau move a mode by under 3%.
        let expected = self::spread(&theory.half);
        let worst = spread.iter().copied().fold(0.0, f64::max);
        let together = Finding {
            what: "largest over smallest half-time of the modes".into(),
            verdict: verdict((worst - expected).abs() <= 1e-3),
            measured: worst,
            interval: stats::range(&spread),
            oracle: format!(
                "{expected:.4}: all at once, but for the start, by the exact curve (within 0.001)"
            ),
        };
        vec![together, exact_curves(run, sigma, &theory)]
    })
}

/// Three layers: the curves of the exact recursion, and the order.
pub fn deep(run: &Run<'_>) -> Vec<Finding> {
    run.judged(|run, loss, sigma| {
        let exact = run.predict(Law::Recursion, 0);
        vec![
            every_seed_in_order(&run.halves(sigma)),
            exact_curves(run, sigma, &exact),
            exact_loss(run, loss, &exact),
        ]
    })
}

fn half_times(
    run: &Run<'_>,
    theory: &Prediction,
    halves: &[Vec<Option<f64>>],
    oracle: &str,
    tolerance: impl Fn(usize) -> f64,
) -> Vec<Finding> {
    let of_mode = |(mode, s): (usize, &f64)| {
        let measured: Vec<f64> = halves.iter().map(|modes| modes[mode].unwrap_or(f64::INFINITY)).collect();
        let expected = theory.half[mode].unwrap_or(f64::NAN);
        let worst = measured.iter().map(|half| (half / expected - 1.0).abs()).fold(0.0, f64::max);
        Finding {
            what: format!("half-time in steps of mode {} (s = {s})", mode + 1),
            // A NaN expectation compares false and fails.
            verdict: verdict(worst <= tolerance(mode) && expected.is_finite()),
            measured: stats::mean(&measured),
            interval: stats::range(&measured),
            oracle: format!(
                "{expected:.3} by {oracle}, within {:.2}% (worst seed off by {:.3}%)",
                100.0 * tolerance(mode),
                100.0 * worst
            ),
        }
    };
    run.linear.spectrum.iter().enumerate().map(of_mode).collect()
}

/// Seeds whose modes come in the order of their singular values; all must.
fn every_seed_in_order(halves: &[Vec<Option<f64>>]) -> Finding {
    let in_order = |modes: &&Vec<Option<f64>>| {
        modes.iter().all(Option::is_some) && modes.windows(2).all(|pair| pair[0] < pair[1])
    };
    let (hits, n) = (halves.iter().filter(in_order).count() as u64, halves.len() as u64);
    Finding {
        what: "share of seeds that learn the modes in the order of s".into(),
        verdict: verdict(hits == n),
        measured: hits as f64 / n as f64,
        interval: stats::share_interval(hits, n, 0.95),
        oracle: "1: every seed, every pair of modes".into(),
    }
}

/// Largest over smallest half-time; infinite where a mode has none.
fn spread(halves: &[Option<f64>]) -> f64 {
    let steps: Vec<f64> = halves.iter().map(|half| half.unwrap_or(f64::INFINITY)).collect();
    let [low, high] = [f64::min, f64::max].map(|pick| steps.iter().copied().fold(steps[0], pick));
    if high.is_finite() { high / low } else { f64::INFINITY }
}

/// The largest distance of a measured curve from theory, in units of `unit(mode)`; `bound(mode)` is relative to `s`.
fn curve_error(
    run: &Run<'_>,
    sigma: &Metric,
    theory: &Prediction,
    what: &str,
    bound: impl Fn(usize) -> f64,
    unit: impl Fn(usize) -> f64,
) -> Finding {
    let mut per_member = vec![0.0_f64; run.members()];
    let mut largest_share = 0.0_f64;
    for (member, worst) in per_member.iter_mut().enumerate() {
        for (mode, &s) in run.linear.spectrum.iter().enumerate() {
            let distances =
                sigma.series(member, mode).zip(&theory.sigma[mode]).map(|(m, t)| (f64::from(m) - t).abs());
            let distance = distances.fold(0.0, f64::max);
            *worst = worst.max(distance / unit(mode));
            largest_share = largest_share.max(distance / (s * bound(mode)));
        }
    }
    let interval = stats::range(&per_member);
    Finding {
        what: what.into(),
        verdict: verdict(largest_share <= 1.0),
        measured: interval[1],
        interval,
        oracle: format!(
            "at most 1 (and 1e-4 of s for float32), .78 to first order; {:.0}% of the tolerance used",
            100.0 * largest_share
        ),
    }
}

/// Relative distance from a curve that is exact but for float32.
fn exact_curves(run: &Run<'_>, sigma: &Metric, exact: &Prediction) -> Finding {
    const TOLERANCE: f64 = 1e-3;
    let what = "largest distance from the exact curve of each mode, over s";
    let mut finding = curve_error(run, sigma, exact, what, |_| TOLERANCE, |mode| run.linear.spectrum[mode]);
    finding.oracle = format!("{} in exact arithmetic; at most {TOLERANCE} for float32", run.law_name());
    finding
}

fn exact_loss(run: &Run<'_>, loss: &Metric, exact: &Prediction) -> Finding {
    const TOLERANCE: f64 = 2e-3;
    let whole: f64 = run.linear.spectrum.iter().map(|s| s * s).sum();
    let expected: Vec<f64> =
        (0..run.steps().len()).map(|row| exact.loss(&run.linear.spectrum, row)).collect();
    let worst = |member| {
        let distance = |(m, t): (f32, &f64)| (f64::from(m) - t).abs() / whole;
        loss.series(member, 0).zip(&expected).map(distance).fold(0.0, f64::max)
    };
    let per_member: Vec<f64> = (0..run.members()).map(worst).collect();
    let interval = stats::range(&per_member);
    Finding {
        what: "largest distance of the loss from its theory, over the first loss".into(),
        verdict: verdict(interval[1] <= TOLERANCE),
        measured: interval[1],
        interval,
        oracle: format!("sum (s_i - sigma_i)^2 step by step; at most {TOLERANCE}"),
    }
}

impl Run<'_> {
    fn law_name(&self) -> &'static str {
        if self.linear.depth == 1 { "the closed form of one layer" } else { "the recursion of each mode" }
    }
}
