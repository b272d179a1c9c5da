//! Gradient descent on deep linear nets, mode by mode, in closed form.
//!
//! Saxe, McClelland, Ganguli 2014 (arXiv:1312.6120) and Gidel, Bach, Lacoste-Julien 2019
//! (arXiv:1904.13262), re-derived for `L = ||P - A||_F^2`. From an aligned start the modes do not
//! see each other, so everything here is about one mode with singular value `s ≥ 0`.

use super::schedule::Schedule;

/// `sigma` of the balanced two-layer net when `growth` is the exponent of its odds:
/// `s / (1 + (s / sigma0 - 1) e^-growth)`.
///
/// With `growth = 4 s t` it solves `d sigma/dt = 4 sigma (s - sigma)`, the gradient flow.
fn logistic(s: f64, sigma0: f64, growth: f64) -> f64 {
    if sigma0 <= 0.0 { 0.0 } else { s / (1.0 + (s / sigma0 - 1.0) * (-growth).exp()) }
}

/// Gradient flow, two layers, balanced: `sigma(t)`.
///
/// For `s = 0` the equation is `d sigma/dt = -4 sigma^2`: the mode is never learned, and what the
/// start had of it fades.
pub fn flow_sigma(s: f64, sigma0: f64, t: f64) -> f64 {
    if s > 0.0 { logistic(s, sigma0, 4.0 * s * t) } else { fading(sigma0, t) }
}

fn fading(sigma0: f64, t: f64) -> f64 {
    sigma0 / (1.0 + 4.0 * sigma0 * t)
}

/// Gradient flow, two layers, balanced: the time at which `sigma = s/2`, `ln(s/sigma0 - 1) / (4 s)`.
///
/// `None` where the mode is never learned (`s = 0` or `sigma0 = 0`) or starts at half or above.
pub fn flow_half_time(s: f64, sigma0: f64) -> Option<f64> {
    log_odds_to_half(s, sigma0).map(|odds| odds / (4.0 * s))
}

/// `ln(s/sigma0 - 1)`, what the log-odds `ln(sigma/(s - sigma))` have to rise by to reach half.
fn log_odds_to_half(s: f64, sigma0: f64) -> Option<f64> {
    (s > 0.0 && sigma0 > 0.0 && sigma0 < s / 2.0).then(|| (s / sigma0 - 1.0).ln())
}

/// Growth of the log-odds in one step of size `eta`: `2 ln(1 + 2 eta s)`, exact on the plateau.
///
/// There a step multiplies `sigma` by `(1 + 2 eta s)^2`; the flow's `4 eta s` is early by `4 (eta s)^2`
/// a step. What this form leaves out gathers at the rise alone: [`LATE_AT_HALF`].
pub fn growth_per_step(s: f64, eta: f64) -> f64 {
    2.0 * (2.0 * eta * s).ln_1p()
}

/// Steps by which the finite-step form is late at `sigma = s/2`, whatever `s`, `eta` and the start: `3/4 ln 2`.
///
/// One step from `x = sigma/s` with `h = 2 eta s` raises the log-odds by
/// `2 ln(1 + h (1-x)) - ln(1 - 2 h x - h^2 x (1-x)) = 2 ln(1+h) + 3 h^2 x + O(h^3)`; with
/// `dx/dk = 2 h x (1-x)` the excess sums to `-3/2 h ln(1-x)`, that is to `-3/4 ln(1-x)` steps. So the
/// half-time is off by `1.5 ln 2 eta s / (ln(s/sigma0) / 2)` of itself (about `.12 eta s` at
/// `sigma0 = e^-16`), and the curve by at most [`CURVE_ERROR`] `eta s` of `s`.
pub const LATE_AT_HALF: f64 = 0.75 * std::f64::consts::LN_2;

/// First-order bound of the finite-step form's error, in units of `eta s · s`: the largest
/// `-3 x (1-x) ln(1-x)` over `x` (see [`LATE_AT_HALF`]).
pub const CURVE_ERROR: f64 = 0.781;

/// Finite steps, two layers, balanced: `sigma` at `step`, each step adding [`growth_per_step`].
pub fn step_sigma(s: f64, sigma0: f64, eta: Schedule<'_>, step: f64) -> f64 {
    if s > 0.0 {
        logistic(s, sigma0, eta.sum(step, |eta| growth_per_step(s, eta)))
    } else {
        fading(sigma0, eta.time(step))
    }
}

/// Finite steps, two layers, balanced: the (fractional) step at which `sigma = s/2`.
///
/// `None` as in [`flow_half_time`], and where the learning rate falls to zero before.
pub fn half_step(s: f64, sigma0: f64, eta: Schedule<'_>) -> Option<f64> {
    eta.step_when(log_odds_to_half(s, sigma0)?, |eta| growth_per_step(s, eta))
}

/// Gradient flow, two layers, unbalanced: `sigma(t)` from the layers' values `a` and `b` (`a + b ≠ 0`).
///
/// `c = a^2 - b^2` is conserved and `d sigma/dt = 2 (s - sigma) sqrt(c^2 + 4 sigma^2)`. Exact closed form:
/// `y = (a + b)^2` obeys the Riccati equation `dy/dt = 4 s y - y^2 + c^2` with roots `2 s ± q`,
/// `q = sqrt(4 s^2 + c^2)`, so `(y+ - y)/(y - y-)` decays like `e^{-2 q t}`, and `sigma = (y - c^2/y)/4`.
/// Derived here; `c = 0` gives [`flow_sigma`]. Under finite steps `c` shrinks by `1 - 4 eta^2 (s - sigma)^2`
/// a step and no closed form is known to us: use [`super::recursion`].
pub fn flow_sigma_unbalanced(s: f64, [a, b]: [f64; 2], t: f64) -> f64 {
    let (c, q) = imbalance(s, [a, b]);
    let roots = riccati_roots(s, c, q);
    let decayed = distance(roots, (a + b).powi(2)) * (-2.0 * q * t).exp();
    let y = (roots[0] + roots[1] * decayed) / (1.0 + decayed);
    (y - c * c / y) / 4.0
}

/// Gradient flow, two layers, unbalanced: the time at which `sigma = s/2`.
pub fn flow_half_time_unbalanced(s: f64, [a, b]: [f64; 2]) -> Option<f64> {
    if s <= 0.0 || a + b == 0.0 || a * b >= s / 2.0 {
        return None;
    }
    let (c, q) = imbalance(s, [a, b]);
    let roots = riccati_roots(s, c, q);
    let half = s + s.hypot(c);
    Some((distance(roots, (a + b).powi(2)) / distance(roots, half)).ln() / (2.0 * q))
}

fn imbalance(s: f64, [a, b]: [f64; 2]) -> (f64, f64) {
    let c = a * a - b * b;
    (c, (2.0 * s).hypot(c))
}

/// `2 s + q` and `2 s - q`, the second without cancellation.
fn riccati_roots(s: f64, c: f64, q: f64) -> [f64; 2] {
    let upper = 2.0 * s + q;
    [upper, if upper > 0.0 { -c * c / upper } else { 0.0 }]
}

fn distance([upper, lower]: [f64; 2], y: f64) -> f64 {
    (upper - y) / (y - lower)
}

/// One layer, finite steps, exact: `sigma = s (1 - (1 - 2 eta)^k) + sigma0 (1 - 2 eta)^k`.
///
/// Every mode comes at the same rate: the contrast to two layers (for isotropic inputs).
pub fn shallow_sigma(s: f64, sigma0: f64, eta: Schedule<'_>, step: f64) -> f64 {
    s + (sigma0 - s) * shallow_rest(eta, step)
}

/// `(1 - 2 eta)^k`, the share not yet learned; between steps, and for `2 eta > 1`, the size without the sign.
fn shallow_rest(eta: Schedule<'_>, step: f64) -> f64 {
    let log = eta.sum(step, |eta| (1.0 - 2.0 * eta).abs().max(f64::MIN_POSITIVE).ln());
    let flips = eta.sum(step, |eta| f64::from(u8::from(2.0 * eta > 1.0)));
    if flips.round() as i64 % 2 == 0 { log.exp() } else { -log.exp() }
}

/// One layer: the (fractional) step at which `sigma = s/2`, where `0 ≤ sigma0 < s/2`.
pub fn shallow_half_step(s: f64, sigma0: f64, eta: Schedule<'_>) -> Option<f64> {
    if s <= 0.0 || sigma0 >= s / 2.0 {
        return None;
    }
    let target = (2.0 * (s - sigma0) / s).ln();
    eta.step_when(target, |eta| -(1.0 - 2.0 * eta).abs().max(f64::MIN_POSITIVE).ln())
}

/// Gradient flow, `N ≥ 2` layers, aligned and balanced: the time from `sigma0` to `sigma` (`0 < sigma0 ≤ sigma < s`).
///
/// `d sigma/dt = 2 N sigma^(2 - 2/N) (s - sigma)`; with `a = sigma^(1/N)` that is `da/dt = 2 a^(N-1) (s - a^N)`,
/// and `1/(s - a^N) = sum_m a^(N m) / s^(m+1)` integrates term by term. Implicit in `sigma`.
pub fn deep_flow_time(depth: u32, s: f64, sigma0: f64, sigma: f64) -> f64 {
    let n = f64::from(depth);
    let (a0, a) = (sigma0.powf(1.0 / n), sigma.powf(1.0 / n));
    let mut total = 0.0;
    for m in 0..100_000 {
        let power = n * f64::from(m) - n + 2.0;
        let integral = if power == 0.0 { (a / a0).ln() } else { (a.powf(power) - a0.powf(power)) / power };
        let term = integral / (2.0 * s.powi(m + 1));
        total += term;
        if term.abs() <= 1e-16 * total.abs() {
            break;
        }
    }
    total
}

/// Gradient flow, `N ≥ 2` layers, aligned and balanced: the time at which `sigma = s/2`.
pub fn deep_flow_half_time(depth: u32, s: f64, sigma0: f64) -> Option<f64> {
    log_odds_to_half(s, sigma0).map(|_| deep_flow_time(depth, s, sigma0, s / 2.0))
}

/// The loss of aligned modes, `sum (s_i - sigma_i)^2`.
///
/// From an aligned start `U^T P V` stays diagonal and this is the whole loss; it falls by `s_i^2` at the
/// half-time of each mode. A mode that is never learned leaves `s_i^2`: so it is with the last mode under the
/// identity start when `det A < 0` (gradient flow keeps the sign of `det P`).
pub fn loss(spectrum: &[f64], sigmas: impl IntoIterator<Item = f64>) -> f64 {
    spectrum.iter().zip(sigmas).map(|(s, sigma)| (s - sigma).powi(2)).sum()
}

/// The learning rate above which the learned modes of a balanced net are not stable: `1 / (N s_1^(2 - 2/N))`.
///
/// A step multiplies a small error of the strongest mode by `1 - 2 eta N s_1^(2 - 2/N)`. Two layers: `1/(2 s_1)`.
pub fn eta_limit(depth: u32, s1: f64) -> f64 {
    let n = f64::from(depth);
    1.0 / (n * s1.powf(2.0 - 2.0 / n))
}

/// The limit for two unbalanced layers, `1 / sqrt(c^2 + 4 s_1^2)`, `c = a^2 - b^2` as it was at the start.
pub fn eta_limit_unbalanced(s1: f64, c: f64) -> f64 {
    1.0 / (2.0 * s1).hypot(c)
}

/// The two values mode 1 of a balanced two-layer net jumps between when `.5 < eta s_1 < .618`:
/// `(r ± sqrt(r^2 - 4)) / (4 eta)`, `r = 1 + 2 eta s_1`; `None` outside.
///
/// It is seen only if the other modes settle, `eta (s_1 + s_2) < 1`.
pub fn two_cycle(s1: f64, eta: f64) -> Option<[f64; 2]> {
    let r = 1.0 + 2.0 * eta * s1;
    // Multiplier 9 - 2 r^2: stable between -1 and 1, that is for 4 < r^2 < 5.
    let stable = r * r > 4.0 && r * r < 5.0;
    stable.then(|| [1.0, -1.0].map(|sign| (r + sign * (r * r - 4.0).sqrt()) / (4.0 * eta)))
}
