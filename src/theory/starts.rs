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

/// `sigma0_i` of two layers `w1`, `w2` on the task with bases `u`, `v`, all `[d, d]`, columns in falling order of `s`.
pub fn effective(w1: &DMatrix<f64>, w2: &DMatrix<f64>, u: &DMatrix<f64>, v: &DMatrix<f64>) -> Vec<f64> {
    let growing = (w1.transpose() * u + w2 * v) * 0.5;
    let sizes: Vec<f64> = growing.column_iter().map(|column| column.norm()).collect();
    let r = QR::new(growing).r();
    let scale = sizes.iter().copied().fold(0.0, f64::max);
    (0..sizes.len())
        .map(|i| r[(i, i)].abs())
        .map(|entry| if entry <= NOTHING * scale { 0.0 } else { entry * entry })
        .collect()
}

/// `e^{-N tau}`: `sigma0` of the aligned start of `depth` layers.
pub fn aligned(depth: u32, tau: f64) -> f64 {
    (-f64::from(depth) * tau).exp()
}

/// The diagonal of `U^T P V`, what is measured at step 0.
pub fn projected(product: &DMatrix<f64>, u: &DMatrix<f64>, v: &DMatrix<f64>) -> Vec<f64> {
    (0..u.ncols()).map(|i| u.column(i).dot(&(product * v.column(i)))).collect()
}
