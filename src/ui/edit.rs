//! What a change in the controls makes of a Spec: pure functions.

use crate::spec::{Linear, Model, Spec, Start};

/// Rows of measurements a run of the window aims at: more than a plot has pixels.
const ROWS: u64 = 1_500;
/// Longest run that a change of the task asks for by itself.
const LONGEST: f64 = 200_000.0;
/// Time constants waited for after the last half-time, so that its plateau is seen.
const TAIL: f64 = 4.0;

/// The linear network of a Spec.
pub fn linear(spec: &Spec) -> &Linear {
    let Model::Linear(linear) = &spec.model;
    linear
}

pub fn linear_mut(spec: &mut Spec) -> &mut Linear {
    let Model::Linear(linear) = &mut spec.model;
    linear
}

/// Whether a run can go from one Spec to the other by a change of the learning rate alone.
pub fn only_eta_differs(from: &Spec, to: &Spec) -> bool {
    let mut same = from.clone();
    same.training.eta = to.training.eta;
    same == *to
}

/// `eta` beyond which gradient descent cannot settle on the first mode.
pub fn eta_limit(linear: &Linear) -> f64 {
    let strongest = linear.spectrum.first().copied().unwrap_or(1.0).max(1e-6);
    crate::theory::linear::eta_limit(linear.depth, strongest)
}

/// A geometric spectrum of `width` values between the same ends.
pub fn with_width(spectrum: &[f64], width: usize) -> Vec<f64> {
    let first = spectrum.first().copied().unwrap_or(4.0).max(1e-3);
    let last = spectrum.iter().copied().filter(|s| *s > 0.0).fold(first, f64::min);
    let last = if last < first { last } else { first / 12.0 };
    geometric(first, last, width)
}

/// `width` values falling by a constant ratio from `first` to `last`, to three digits.
pub fn geometric(first: f64, last: f64, width: usize) -> Vec<f64> {
    let steps = width.saturating_sub(1).max(1) as f64;
    (0..width).map(|i| three_digits(first * (last / first).powf(i as f64 / steps))).collect()
}

/// Rounded to three significant digits, as a person would write it.
pub fn three_digits(value: f64) -> f64 {
    if value == 0.0 || !value.is_finite() {
        return 0.0;
    }
    let scale = 10f64.powf(2.0 - value.abs().log10().floor());
    (value * scale).round() / scale
}

/// Sorted as a spectrum must be: the largest first.
pub fn sort(spectrum: &mut [f64]) {
    spectrum.sort_by(|a, b| b.total_cmp(a));
}

/// Time at which mode `s` of a start `e^-tau` is learned and its plateau seen, by the gradient
/// flow of depth N, `d sigma/dt = 2 N sigma^(2 - 2/N) (s - sigma)`, integrated roughly.
fn settled(s: f64, linear: &Linear) -> f64 {
    let depth = f64::from(linear.depth);
    let start = -depth * linear.tau;
    let curvature = 2.0 * depth * s.powf(2.0 - 2.0 / depth);
    let wait = match linear.depth {
        1 => 0.0,
        2 => ((s.ln() - start).max(0.0)) / (4.0 * s),
        _ => {
            let power = 1.0 - 2.0 / depth;
            (-start * power).exp() / (2.0 * depth * s * power)
        }
    };
    wait + TAIL / curvature
}

/// Sets the length of the run so that every mode the start can learn is seen, and the cadence of
/// measurements to it. Modes of no strength are never learned and not waited for.
pub fn fit_length(spec: &mut Spec) {
    let linear = linear(spec);
    let strongest = linear.spectrum.first().copied().unwrap_or(0.0);
    let waited = linear.spectrum.iter().filter(|s| **s > 1e-3 * strongest);
    let slack = if linear.start == Start::Random { 1.2 } else { 1.0 };
    let time = waited.map(|s| settled(*s, linear)).fold(0.0, f64::max) * slack;
    let steps = (time / spec.training.eta).ceil();
    spec.training.steps = if steps.is_finite() { steps.clamp(200.0, LONGEST) as u64 } else { 1_000 };
    spec.measure.every = spec.training.steps.div_ceil(ROWS).max(1);
}
