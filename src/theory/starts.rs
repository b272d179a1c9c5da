//! Effective starts: what a general start of two layers amounts to, mode by mode.
//!
//! While `P` is small, gradient descent is linear: with `g_i = (W1^T u_i + W2 v_i)/2` the growing part of mode `i`
//! is `g_i (1 + 2 eta s_i)^k`, and the rest decays. A mode that is learned takes its hidden direction with it: what
//! a later mode has along that direction decays at the rate `s_i - s_j`. What is left of `g_i` across the directions of all stronger
//! modes is the diagonal of R in the QR decomposition of the `g_i` in order of their singular values, and
//! `sigma0_i = R_ii^2` puts the mode on the closed form of the aligned start.
//!
//! Exact for aligned starts (`R_ii = e^-tau`). Identity start: columns `e^-tau (u_i + v_i)/2`; for `det U det V < 0` the
//! orthogonal matrix `U^T V` has an eigenvalue -1, the columns are dependent, and `R_dd = 0`: the last mode is
//! never learned. The derivation asks for a small start, and singular values far enough apart for one mode
//! to be learned before the next one rises.

use nalgebra::{DMatrix, QR};

/// Relative size of `R_ii` below which it is rounding of a zero.
const NOTHING: f64 = 1e-12;

/// The growing parts `g_i = (W1^T u_i + W2 v_i)/2` of all modes, as columns.
fn growing(w1: &DMatrix<f64>, w2: &DMatrix<f64>, u: &DMatrix<f64>, v: &DMatrix<f64>) -> DMatrix<f64> {
    (w1.transpose() * u + w2 * v) * 0.5
}

/// `sigma0_i` of two layers `w1`, `w2` on the task with bases `u`, `v`, all `[d, d]`, columns in falling order of `s`.
pub fn effective(w1: &DMatrix<f64>, w2: &DMatrix<f64>, u: &DMatrix<f64>, v: &DMatrix<f64>) -> Vec<f64> {
    let growing = growing(w1, w2, u, v);
    let scale = growing.column_iter().map(|column| column.norm()).fold(0.0, f64::max);
    let r = QR::new(growing).r();
    (0..u.ncols())
        .map(|i| r[(i, i)].abs())
        .map(|entry| if entry <= NOTHING * scale { 0.0 } else { entry * entry })
        .collect()
}

/// `R_{d-1,d}^2`: what the weakest mode has along the direction of the one before it; 0 for one mode.
pub fn weakest_along(w1: &DMatrix<f64>, w2: &DMatrix<f64>, u: &DMatrix<f64>, v: &DMatrix<f64>) -> f64 {
    let (d, r) = (u.ncols(), QR::new(growing(w1, w2, u, v)).r());
    if d < 2 { 0.0 } else { r[(d - 2, d - 1)].powi(2) }
}

/// What a mode shows at time `t` along the direction of the next stronger one, in passing.
///
/// It grows like `e^{4 s t}` from `size` ([`weakest_along`]) until that mode is learned (at `learned`), then decays
/// like `e^{-4 (stronger - s) t}`; within a tenth from about `t = learned + 1` on. After stronger directions are
/// gone this is all that a missing mode shows in exact arithmetic, and not little where the stronger mode is late.
pub fn in_passing(size: f64, [s, stronger]: [f64; 2], learned: f64, t: f64) -> f64 {
    let growth = 4.0 * s * t.min(learned) - 4.0 * (stronger - s) * (t - learned).max(0.0);
    size * growth.exp()
}

/// `e^{-N tau}`: `sigma0` of the aligned start of `depth` layers.
pub fn aligned(depth: u32, tau: f64) -> f64 {
    (-f64::from(depth) * tau).exp()
}

/// The diagonal of `U^T P V`, what is measured at step 0.
pub fn projected(product: &DMatrix<f64>, u: &DMatrix<f64>, v: &DMatrix<f64>) -> Vec<f64> {
    (0..u.ncols()).map(|i| u.column(i).dot(&(product * v.column(i)))).collect()
}
