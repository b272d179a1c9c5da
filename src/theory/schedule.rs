//! A learning rate that changes at given steps, and sums over it.

/// Learning rate in force from each step on, rising in the step: `[(0, eta), (from_step, eta), …]`.
///
/// A pair `(n, eta)` acts from the update that takes step `n` to step `n + 1`; of two pairs at the
/// same step the later one counts. The last learning rate lasts for ever.
#[derive(Clone, Copy, Debug)]
pub struct Schedule<'a> {
    changes: &'a [(u64, f64)],
}

impl<'a> Schedule<'a> {
    pub fn new(changes: &'a [(u64, f64)]) -> Self {
        Self { changes }
    }

    /// `(from, to, eta)` of each stretch with one learning rate; the last has no end.
    fn stretches(self) -> impl Iterator<Item = (f64, f64, f64)> + 'a {
        let changes = self.changes;
        changes.iter().enumerate().map(|(i, &(from, eta))| {
            let to = changes.get(i + 1).map_or(f64::INFINITY, |next| next.0 as f64);
            (from as f64, to, eta)
        })
    }

    /// The learning rate of the update that takes `step` to `step + 1`.
    pub fn eta_at(self, step: u64) -> f64 {
        self.changes.iter().rev().find(|change| change.0 <= step).map_or(0.0, |change| change.1)
    }

    /// `sum over the updates before step of per_step(eta)`; a fractional step counts in part.
    pub fn sum(self, step: f64, per_step: impl Fn(f64) -> f64) -> f64 {
        self.stretches()
            .map(|(from, to, eta)| ((step.min(to) - from).max(0.0), eta))
            .filter(|&(length, _)| length > 0.0)
            .map(|(length, eta)| length * per_step(eta))
            .sum()
    }

    /// `t`: the sum of the learning rates before `step`.
    pub fn time(self, step: f64) -> f64 {
        self.sum(step, |eta| eta)
    }

    /// The (fractional) step at which `sum` reaches `target` (> 0) for the first time, if it ever does.
    pub fn step_when(self, target: f64, per_step: impl Fn(f64) -> f64) -> Option<f64> {
        let mut sum = 0.0;
        for (from, to, eta) in self.stretches() {
            let rate = per_step(eta);
            if rate > 0.0 && to > from && sum + rate * (to - from) >= target {
                return Some(from + (target - sum) / rate);
            }
            if to > from {
                sum += rate * (to - from);
            }
        }
        None
    }

    /// The largest learning rate that was in force for at least one step.
    pub fn largest_eta(self) -> f64 {
        self.stretches().filter(|&(from, to, _)| to > from).map(|stretch| stretch.2).fold(0.0, f64::max)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_and_inverts_over_changes() {
        let changes = [(0, 0.1), (10, 0.5), (10, 0.2), (20, 0.0), (30, 1.0)];
        let schedule = Schedule::new(&changes);
        assert_eq!(schedule.eta_at(9), 0.1);
        assert_eq!(schedule.eta_at(10), 0.2);
        assert_eq!(schedule.eta_at(25), 0.0);
        assert!((schedule.time(25.0) - 3.0).abs() < 1e-12);
        for target in [0.3, 1.0, 2.9, 3.1, 40.0] {
            let step = schedule.step_when(target, |eta| eta).unwrap();
            assert!((schedule.time(step) - target).abs() < 1e-9, "{target}");
        }
        assert_eq!(schedule.largest_eta(), 1.0);
        assert_eq!(Schedule::new(&[(0, 0.0)]).step_when(1.0, |eta| eta), None);
    }
}
