//! Theory over a run: curves for `sigma` and `loss`, half-times, and what theory does not cover.
//!
//! A function of the Spec and the interventions alone: a front end need not call it for every row.

use super::predict::{self, Law, Prediction};
use crate::analysis::stats;
use crate::runlog::RunLog;
use crate::scenarios::{Curve, Overlay};
use crate::spec::{Det, Linear, Model, Spec, Start};
use crate::theory::linear as closed;
use crate::theory::schedule::Schedule;

/// Points of a curve.
const POINTS: u64 = 400;
/// Members over which the median of theory is taken where their starts differ.
const MEMBERS: u32 = 32;
/// `e^-tau` over `sqrt(s_1)` below which the rounding of the learned modes in float32 counts beside the start.
///
/// Not for aligned starts: there it falls on hidden directions that are taken, and is undone.
const FLOAT32_START: f64 = 1e-5;

pub fn overlay(log: &RunLog) -> Overlay {
    let Some(header) = &log.header else { return Overlay::default() };
    let Model::Linear(linear) = &header.spec.model;
    let history = log.eta_history();
    let eta = Schedule::new(&history);
    let law = Law::of(linear, eta.largest_eta());
    let caveat = caveat(&header.spec, linear, law, eta);
    if law == Law::None || linear.spectrum.is_empty() {
        return Overlay { caveat, ..Overlay::default() };
    }
    let at = sample_steps(header.spec.training.steps.max(log.last_step()));
    let members = if law.differs_by_member(linear) { log.members().min(MEMBERS as usize) as u32 } else { 1 };
    let predictions: Vec<Prediction> =
        (0..members).map(|member| predict::member(law, &header.spec, member, eta, &at)).collect();
    Overlay {
        curves: curves(law, linear, &at, &predictions),
        half_steps: half_steps(linear.spectrum.len(), &predictions),
        caveat,
    }
}

/// At most `POINTS` steps from 0 to `steps`, both included.
fn sample_steps(steps: u64) -> Vec<u64> {
    let last = steps.clamp(1, POINTS - 1);
    let mut at: Vec<u64> =
        (0..=last).map(|i| (u128::from(i) * u128::from(steps) / u128::from(last)) as u64).collect();
    at.dedup();
    at
}

/// The median over the members of `value(prediction, point)`, at each step: what figures and window
/// draw of the measured ones.
fn median_curve(
    at: &[u64],
    predictions: &[Prediction],
    value: impl Fn(&Prediction, usize) -> f64,
) -> Vec<[f64; 2]> {
    let drawn = predictions[0].sigma[0].len();
    let median = |point| {
        let values: Vec<f64> = predictions.iter().map(|p| value(p, point)).collect();
        stats::quantile(&values, 0.5)
    };
    at.iter().take(drawn).enumerate().map(|(point, &step)| [step as f64, median(point)]).collect()
}

fn curves(law: Law, linear: &Linear, at: &[u64], predictions: &[Prediction]) -> Vec<Curve> {
    let formula = law.formula();
    let sigma = |index: usize| {
        let points = median_curve(at, predictions, |p, point| p.sigma[index][point]);
        Curve { metric: "sigma", index, formula, points }
    };
    let loss = Curve {
        metric: "loss",
        index: 0,
        formula: "sum over modes of (s_i - sigma_i)^2, each sigma_i by its theory",
        points: median_curve(at, predictions, |p, point| p.loss(&linear.spectrum, point)),
    };
    (0..linear.spectrum.len()).map(sigma).chain([loss]).collect()
}

/// The median over members of each mode's half-time; a mode most members never learn has none.
fn half_steps(modes: usize, predictions: &[Prediction]) -> Vec<(usize, f64)> {
    let of = |index: usize| {
        let steps: Vec<f64> = predictions.iter().filter_map(|p| p.half[index]).collect();
        (2 * steps.len() > predictions.len()).then(|| (index, stats::quantile(&steps, 0.5)))
    };
    (0..modes).filter_map(of).collect()
}

/// What theory does not cover in this run, in one line.
fn caveat(spec: &Spec, linear: &Linear, law: Law, eta: Schedule<'_>) -> String {
    let parts = [
        beyond_limit(spec, linear, eta),
        uncovered(linear, law),
        small_start(linear, law),
        close_modes(linear, law),
        missing_mode(linear, law),
        float32(linear, law),
    ];
    parts.into_iter().flatten().collect::<Vec<_>>().join("; ")
}

fn beyond_limit(spec: &Spec, linear: &Linear, eta: Schedule<'_>) -> Option<String> {
    let s1 = *linear.spectrum.first()?;
    let limit = match linear.start {
        Start::Unbalanced => {
            let scale = (-2.0 * linear.tau).exp();
            closed::eta_limit_unbalanced(s1, scale * (linear.imbalance.powi(2) - linear.imbalance.powi(-2)))
        }
        _ => closed::eta_limit(linear.depth, s1),
    };
    let largest = eta.largest_eta();
    if largest < limit || !limit.is_finite() {
        return None;
    }
    let pair = if linear.depth == 2 { closed::two_cycle(s1, spec.training.eta) } else { None };
    let fate = match pair {
        Some([high, low]) => format!("mode 1 jumps between {high:.3} and {low:.3}"),
        None => "rounding decides what follows and theory does not".into(),
    };
    Some(format!("eta = {largest} is beyond {limit:.3}, where mode 1 stops being stable: {fate}"))
}

fn uncovered(linear: &Linear, law: Law) -> Option<String> {
    (law == Law::None)
        .then(|| format!("no theory is known for {} layers that do not start aligned", linear.depth))
}

fn small_start(linear: &Linear, law: Law) -> Option<String> {
    let weakest = linear.spectrum.iter().copied().rfind(|&s| s > 0.0)?;
    let spread = if linear.start == Start::Random { linear.spectrum.len() as f64 } else { 1.0 };
    let large = law == Law::Effective && spread * (-2.0 * linear.tau).exp() > 0.02 * weakest;
    large.then(|| "theory asks for a small start; from this one it is a rough guide".into())
}

fn close_modes(linear: &Linear, law: Law) -> Option<String> {
    let close = |pair: &[f64]| pair[1] > 0.0 && pair[0] - pair[1] < 0.1 * pair[0];
    (law == Law::Effective && linear.spectrum.windows(2).any(close))
        .then(|| "modes within a tenth of each other mix from this start, and theory has them apart".into())
}

fn missing_mode(linear: &Linear, law: Law) -> Option<String> {
    (law == Law::Effective && linear.start == Start::Identity && linear.det == Det::Negative).then(|| {
        "det A < 0: exact arithmetic never learns the last mode, the rounding of floats does in the end"
            .into()
    })
}

fn float32(linear: &Linear, law: Law) -> Option<String> {
    let s1 = linear.spectrum.first()?;
    let lost = law == Law::Effective && (-linear.tau).exp() < FLOAT32_START * s1.sqrt();
    lost.then(|| {
        "the start is so small that the rounding of float32 adds to it and hurries the last modes".into()
    })
}
