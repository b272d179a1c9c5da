//! Where a sampled curve of a mode crosses half its singular value.

/// The (fractional) step at which `sigma` first crosses `s/2` from below.
///
/// Between two samples the log-odds `ln(sigma/(s - sigma))` are taken as linear in the step, as they are on the
/// logistic curve; where a neighbour has none (`sigma ≤ 0` or `sigma ≥ s`), `sigma` itself is.
/// `None` where it starts at half or above, never gets there, or `s ≤ 0`. `steps` and `sigma` are of one length.
pub fn half_crossing(steps: &[u64], sigma: &[f64], s: f64) -> Option<f64> {
    let half = s / 2.0;
    if s <= 0.0 || *sigma.first()? >= half {
        return None;
    }
    let after = sigma.iter().position(|&value| value >= half)?;
    let (from, to) = (steps[after - 1] as f64, steps[after] as f64);
    Some(from + (to - from) * crossing_part(sigma[after - 1], sigma[after], s))
}

/// Where between two samples the crossing lies, in `0..=1`.
fn crossing_part(below: f64, above: f64, s: f64) -> f64 {
    let [low, high] = [below, above].map(|sigma| (sigma / (s - sigma)).ln());
    if low.is_finite() && high.is_finite() {
        -low / (high - low)
    } else {
        (s / 2.0 - below) / (above - below)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exact_on_the_logistic_curve_however_coarse() {
        let (s, k_half, rate) = (2.8, 155.7, 0.11);
        for every in [1, 7, 40] {
            let steps: Vec<u64> = (0..400).step_by(every).collect();
            let sigma: Vec<f64> =
                steps.iter().map(|&k| s / (1.0 + (-(k as f64 - k_half) * rate).exp())).collect();
            let found = half_crossing(&steps, &sigma, s).unwrap();
            assert!((found - k_half).abs() < 1e-9, "every {every}: {found}");
        }
    }

    #[test]
    fn linear_where_there_are_no_odds_and_none_where_there_is_no_crossing() {
        assert_eq!(half_crossing(&[0, 10], &[0.0, 2.0], 2.0), Some(5.0));
        assert_eq!(half_crossing(&[0, 10], &[1.5, 2.0], 2.0), None);
        assert_eq!(half_crossing(&[0, 10], &[0.1, 0.2], 2.0), None);
        assert_eq!(half_crossing(&[0, 10], &[-1.0, 0.2], 0.0), None);
        assert_eq!(half_crossing(&[], &[], 1.0), None);
        assert_eq!(half_crossing(&[0, 1], &[0.1, f64::NAN], 1.0), None);
    }
}
