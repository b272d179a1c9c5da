//! Curves over the members of an ensemble, thinned to what a picture can show.

use crate::runlog::Metric;

/// One measured quantity against the step: median and range over members.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Band {
    /// `(step, median)`, thinned by minimum and maximum so that no spike is lost.
    pub line: Vec<(f64, f64)>,
    /// `(step, 5th percentile, 95th percentile)`; empty for a single member.
    pub range: Vec<(f64, f64, f64)>,
}

/// Quantiles that bound the band.
pub const QUANTILES: [f64; 2] = [0.05, 0.95];

/// The band of one index of a metric, in at most `bins` bins of rows. Values that are not finite
/// are left out, members and rows alike.
pub fn band(metric: &Metric, index: usize, steps: &[u64], bins: usize) -> Band {
    let rows = steps.len();
    let bins = bins.clamp(1, rows.max(1));
    let mut band = Band::default();
    for bin in 0..bins {
        let (from, to) = (bin * rows / bins, (bin + 1) * rows / bins);
        add_bin(&mut band, metric, index, steps, from..to);
    }
    band
}

fn add_bin(band: &mut Band, metric: &Metric, index: usize, steps: &[u64], rows: std::ops::Range<usize>) {
    let middle = rows.start + rows.len() / 2;
    let mut medians: Vec<(f64, f64)> = Vec::new();
    let mut bounds: Option<(f64, f64)> = None;
    for row in rows {
        let mut values: Vec<f32> = metric.across(row, index).filter(|value| value.is_finite()).collect();
        if values.is_empty() {
            continue;
        }
        medians.push((steps[row] as f64, f64::from(quantile(&mut values, 0.5))));
        if metric.members > 1 {
            let low = f64::from(quantile(&mut values, QUANTILES[0]));
            let high = f64::from(quantile(&mut values, QUANTILES[1]));
            bounds = Some(bounds.map_or((low, high), |(l, h)| (l.min(low), h.max(high))));
        }
    }
    if let Some((low, high)) = bounds {
        band.range.push((steps[middle] as f64, low, high));
    }
    band.line.extend(extremes(medians));
}

/// First, lowest, highest and last point in order of time, each once.
fn extremes(points: Vec<(f64, f64)>) -> Vec<(f64, f64)> {
    if points.len() <= 4 {
        return points;
    }
    let by_value = |a: &usize, b: &usize| points[*a].1.total_cmp(&points[*b].1);
    let mut kept = vec![0, points.len() - 1];
    kept.extend((0..points.len()).min_by(by_value));
    kept.extend((0..points.len()).max_by(by_value));
    kept.sort_unstable();
    kept.dedup();
    kept.into_iter().map(|i| points[i]).collect()
}

/// The sample quantile without interpolation (nearest rank); reorders the values, of which there
/// is at least one.
fn quantile(values: &mut [f32], q: f64) -> f32 {
    let rank = (q * (values.len() - 1) as f64).round() as usize;
    *values.select_nth_unstable_by(rank, f32::total_cmp).1
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::protocol::MetricInfo;

    fn metric(members: usize, values: Vec<f32>) -> Metric {
        let info = MetricInfo { name: "m".into(), width: 1, unit: String::new(), formula: String::new() };
        Metric { info, members, values }
    }

    #[test]
    fn a_spike_survives_the_thinning() {
        let mut values = vec![1.0; 10_000];
        values[7_123] = 9.0;
        let steps: Vec<u64> = (0..10_000).collect();
        let band = band(&metric(1, values), 0, &steps, 50);
        assert!(band.line.len() <= 200);
        assert!(band.line.contains(&(7_123.0, 9.0)));
        assert!(band.range.is_empty());
        assert!(band.line.windows(2).all(|pair| pair[0].0 < pair[1].0));
    }

    #[test]
    fn the_band_is_over_members_and_skips_what_is_not_finite() {
        let mut values: Vec<f32> = (0..21).map(|v| v as f32).collect();
        values.extend(std::iter::repeat_n(f32::NAN, 21));
        let band = band(&metric(21, values), 0, &[0, 10], 100);
        assert_eq!(band.line, [(0.0, 10.0)]);
        assert_eq!(band.range, [(0.0, 1.0, 19.0)]);
    }

    #[test]
    fn no_rows_no_band() {
        assert_eq!(band(&metric(3, Vec::new()), 0, &[], 100), Band::default());
    }
}
