//! One mode of an aligned net under finite steps, exactly: a recursion of `N` numbers.
//!
//! From an aligned start `W1 = U diag(a_1)`, `W_i = diag(a_i)`, `WN = diag(a_N) V^T` every layer stays of that
//! shape, and gradient descent is `a_j += 2 eta (s - sigma) sigma / a_j`, `sigma = a_1 … a_N`, for each mode alone.
//! It covers what the closed forms do not: unbalanced layers, depth `N ≥ 3`, and learning rates near
//! or beyond the limit.

use super::schedule::Schedule;

/// One mode: its singular value and its factor in each layer.
#[derive(Clone, Debug)]
pub struct Mode {
    pub s: f64,
    pub layers: Vec<f64>,
}

impl Mode {
    /// `depth` equal layers, `sigma0` their product.
    pub fn balanced(s: f64, sigma0: f64, depth: u32) -> Self {
        Self { s, layers: vec![sigma0.powf(1.0 / f64::from(depth)); depth as usize] }
    }

    pub fn sigma(&self) -> f64 {
        self.layers.iter().product()
    }

    /// One step of gradient descent.
    pub fn step(&mut self, eta: f64) {
        let factor = 2.0 * eta * (self.s - self.sigma());
        let old = self.layers.clone();
        for (j, layer) in self.layers.iter_mut().enumerate() {
            // A product rather than sigma / a_j: layers may be zero.
            let others: f64 = old.iter().enumerate().filter(|&(i, _)| i != j).map(|(_, a)| a).product();
            *layer += factor * others;
        }
    }

    /// `sigma` at each step of `at` (rising).
    pub fn trajectory(mut self, eta: Schedule<'_>, at: &[u64]) -> Vec<f64> {
        let mut step = 0;
        at.iter()
            .map(|&target| {
                while step < target {
                    self.step(eta.eta_at(step));
                    step += 1;
                }
                self.sigma()
            })
            .collect()
    }

    /// The (fractional) step at which `sigma` first crosses `s/2` from below within `steps`,
    /// interpolated in the log-odds where both neighbours have them, else linearly.
    pub fn half_step(mut self, eta: Schedule<'_>, steps: u64) -> Option<f64> {
        let half = self.s / 2.0;
        let mut before = self.sigma();
        if self.s <= 0.0 || before >= half {
            return None;
        }
        for step in 0..steps {
            self.step(eta.eta_at(step));
            let after = self.sigma();
            if after >= half {
                let odds = |sigma: f64| (sigma / (self.s - sigma)).ln();
                let (low, high) = (odds(before), odds(after));
                let part = if low.is_finite() && high.is_finite() {
                    -low / (high - low)
                } else {
                    (half - before) / (after - before)
                };
                return Some(step as f64 + part);
            }
            before = after;
        }
        None
    }
}
