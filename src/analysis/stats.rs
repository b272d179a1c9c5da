//! Statistics over seeds. Values that are not finite are left out throughout, never averaged in.

use statrs::distribution::{Beta, Binomial, ContinuousCDF, DiscreteCDF, StudentsT};

fn finite(values: &[f64]) -> Vec<f64> {
    values.iter().copied().filter(|value| value.is_finite()).collect()
}

/// The mean; NaN for no values.
pub fn mean(values: &[f64]) -> f64 {
    let values = finite(values);
    values.iter().sum::<f64>() / values.len() as f64
}

/// The sample standard deviation (divided by `n - 1`); NaN for fewer than two values.
pub fn standard_deviation(values: &[f64]) -> f64 {
    let values = finite(values);
    let centre = mean(&values);
    let squares: f64 = values.iter().map(|value| (value - centre).powi(2)).sum();
    if values.len() < 2 { f64::NAN } else { (squares / (values.len() - 1) as f64).sqrt() }
}

/// The standard error of the mean; NaN for fewer than two values.
pub fn standard_error(values: &[f64]) -> f64 {
    standard_deviation(values) / (finite(values).len() as f64).sqrt()
}

/// The quantile `q` in `0..=1`, interpolated linearly between order statistics (type 7 of
/// Hyndman and Fan 1996, numpy's default); NaN for no values.
pub fn quantile(values: &[f64], q: f64) -> f64 {
    let mut values = finite(values);
    values.sort_by(f64::total_cmp);
    sorted_quantile(&values, q)
}

fn sorted_quantile(sorted: &[f64], q: f64) -> f64 {
    let Some(last) = sorted.len().checked_sub(1) else { return f64::NAN };
    let place = q.clamp(0.0, 1.0) * last as f64;
    let (below, part) = (place.floor() as usize, place.fract());
    let above = (below + 1).min(last);
    sorted[below] + part * (sorted[above] - sorted[below])
}

/// What a plot draws of many seeds at one step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Band {
    pub low: f64,
    pub middle: f64,
    pub high: f64,
}

/// The band that holds the middle `share` of the seeds, and their median; NaN for no values.
pub fn band(values: &[f64], share: f64) -> Band {
    let mut values = finite(values);
    values.sort_by(f64::total_cmp);
    let tail = (1.0 - share) / 2.0;
    let [low, middle, high] = [tail, 0.5, 1.0 - tail].map(|q| sorted_quantile(&values, q));
    Band { low, middle, high }
}

/// Student's t interval of the mean at `confidence` in `0..1`: `mean ± t s/sqrt(n)`.
///
/// The mean twice where the values are all equal; infinite for one value; NaN for none.
pub fn mean_interval(values: &[f64], confidence: f64) -> [f64; 2] {
    let values = finite(values);
    let centre = mean(&values);
    match values.len() {
        0 => [f64::NAN; 2],
        1 => [f64::NEG_INFINITY, f64::INFINITY],
        n => {
            let half = students_t(confidence, n - 1) * standard_error(&values);
            [centre - half, centre + half]
        }
    }
}

/// The two-sided t value for `confidence` with `freedom ≥ 1` degrees of freedom.
fn students_t(confidence: f64, freedom: usize) -> f64 {
    // Location 0, scale 1 and at least one degree of freedom are always a distribution.
    StudentsT::new(0.0, 1.0, freedom as f64).map_or(f64::NAN, |t| t.inverse_cdf((1.0 + confidence) / 2.0))
}

/// The interval that holds all seeds, `[smallest, largest]`; NaN for no values.
pub fn range(values: &[f64]) -> [f64; 2] {
    [quantile(values, 0.0), quantile(values, 1.0)]
}

/// The exact binomial interval (Clopper and Pearson 1934) of a share seen `hits` times in `n`.
pub fn share_interval(hits: u64, n: u64, confidence: f64) -> [f64; 2] {
    let tail = (1.0 - confidence) / 2.0;
    // Both shapes are at least 1 where the quantile is asked for, so the distribution exists.
    let beta =
        |a: u64, b: u64, q: f64| Beta::new(a as f64, b as f64).map_or(f64::NAN, |beta| beta.inverse_cdf(q));
    let low = if hits == 0 { 0.0 } else { beta(hits, n - hits + 1, tail) };
    let high = if hits >= n { 1.0 } else { beta(hits + 1, n - hits, 1.0 - tail) };
    [low, high]
}

/// The smallest `k` that a count of `n` events of probability `p` each exceeds with probability at most `alarm`.
pub fn binomial_limit(n: u64, p: f64, alarm: f64) -> u64 {
    let Ok(count) = Binomial::new(p, n) else { return n };
    (0..n).find(|&k| count.sf(k) <= alarm).unwrap_or(n)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn textbook_values() {
        let values = [2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0];
        assert_eq!(mean(&values), 5.0);
        assert!((standard_deviation(&values) - (32.0_f64 / 7.0).sqrt()).abs() < 1e-12);
        // t(.975, 7) = 2.364624: tables of Student's t.
        let [low, high] = mean_interval(&values, 0.95);
        let half = 2.364_624 * (32.0_f64 / 7.0).sqrt() / 8.0_f64.sqrt();
        assert!((high - 5.0 - half).abs() < 1e-4 && (5.0 - low - half).abs() < 1e-4);
    }

    #[test]
    fn quantiles_as_numpy_has_them() {
        let values = [3.0, 1.0, 2.0, 10.0];
        assert_eq!(quantile(&values, 0.0), 1.0);
        assert_eq!(quantile(&values, 0.5), 2.5);
        assert!((quantile(&values, 0.9) - 7.9).abs() < 1e-12);
        assert_eq!(band(&values, 0.5), Band { low: 1.75, middle: 2.5, high: 4.75 });
    }

    #[test]
    fn what_is_not_finite_is_left_out() {
        assert_eq!(mean(&[1.0, f64::NAN, 3.0, f64::INFINITY]), 2.0);
        assert!(mean(&[]).is_nan() && quantile(&[], 0.5).is_nan() && standard_error(&[1.0]).is_nan());
        assert_eq!(mean_interval(&[1.0], 0.95), [f64::NEG_INFINITY, f64::INFINITY]);
        assert_eq!(mean_interval(&[2.0, 2.0, 2.0], 0.95), [2.0, 2.0]);
    }

    #[test]
    fn shares_and_counts() {
        // 4 of 10: .1216 to .7376 at 95%; none of 20: the upper end is 1 - .025^(1/20).
        let [low, high] = share_interval(4, 10, 0.95);
        assert!((low - 0.1216).abs() < 1e-4 && (high - 0.7376).abs() < 1e-4);
        let [low, high] = share_interval(0, 20, 0.95);
        assert!(low == 0.0 && (high - (1.0 - 0.025_f64.powf(0.05))).abs() < 1e-6);
        assert_eq!(share_interval(20, 20, 0.95)[1], 1.0);
        // P(X > 3) = 6.7e-7 and P(X > 2) = 5.4e-5 for 8 events of probability .01.
        assert_eq!(binomial_limit(8, 0.01, 1e-5), 3);
        assert_eq!(binomial_limit(8, 0.01, 1e-4), 2);
        assert_eq!(binomial_limit(1, 0.01, 1e-5), 1);
    }

    #[test]
    fn the_interval_covers_the_mean_as_often_as_it_says() {
        // 4,000 samples of 5 sums of uniforms from a linear congruential generator: 90% ± 3%.
        let mut state = 1_u64;
        let mut uniform = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 11) as f64 / (1_u64 << 53) as f64
        };
        let covered = (0..4000)
            .filter(|_| {
                let sample: Vec<f64> =
                    (0..5).map(|_| (0..12).map(|_| uniform()).sum::<f64>() - 6.0).collect();
                let [low, high] = mean_interval(&sample, 0.9);
                low < 0.0 && 0.0 < high
            })
            .count();
        assert!((3480..=3720).contains(&covered), "{covered} of 4000");
    }
}
