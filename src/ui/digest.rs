//! What the views need of a RunLog, kept up to date as rows arrive: for every curve the median
//! and band over members, half-times, and values that are not finite.

use super::decimate::Series;
use crate::runlog::{Metric, RunLog};

/// Bins of all curves of a run together; more than this is more than a frame can draw.
const BINS: usize = 24_000;
/// Quantiles that bound the band, as in the exported figures.
const QUANTILES: [f64; 2] = [0.05, 0.95];

#[derive(Debug, Default)]
pub struct Digest {
    rows: usize,
    /// One per metric and index.
    curves: Vec<Vec<Curve>>,
    scratch: Vec<f32>,
    not_finite: Vec<NotFinite>,
}

#[derive(Debug)]
pub struct Curve {
    pub series: Series,
    /// Value whose first crossing is the measured half-time.
    half: Option<f32>,
    /// Row of that crossing, interpolated.
    pub half_row: Option<f64>,
}

/// A metric with values that are not finite, and where they begin.
#[derive(Clone, Debug, PartialEq)]
pub struct NotFinite {
    pub name: String,
    pub step: u64,
}

impl Digest {
    /// An empty digest for this run.
    pub fn new(log: &RunLog) -> Self {
        let total: usize = log.metrics.iter().map(|metric| metric.info.width).sum();
        let capacity = (BINS / total.max(1)).clamp(200, 2_000);
        let spectrum = log.header.as_ref().map(|h| super::edit::linear(&h.spec).spectrum.clone());
        let spectrum = spectrum.unwrap_or_default();
        let curve = |metric: &Metric, index: usize| {
            let value = (metric.info.name == "sigma").then(|| spectrum.get(index)).flatten();
            let half = value.filter(|s| **s > 0.0).map(|s| (s / 2.0) as f32);
            Curve { series: Series::new(capacity), half, half_row: None }
        };
        let curves = log
            .metrics
            .iter()
            .map(|metric| (0..metric.info.width).map(|index| curve(metric, index)).collect())
            .collect();
        Self { curves, ..Self::default() }
    }

    /// Takes new rows in, at most about `budget` values of them; whether all are in.
    pub fn update(&mut self, log: &RunLog, budget: usize) -> bool {
        let per_row: usize = log.metrics.iter().map(|m| m.members * m.info.width).sum();
        let most = (budget / per_row.max(1)).max(1);
        let end = log.steps.len().min(self.rows + most);
        for row in self.rows..end {
            for (at, metric) in log.metrics.iter().enumerate() {
                self.push(log, at, metric, row);
            }
        }
        self.rows = end;
        end == log.steps.len()
    }

    pub fn rows(&self) -> usize {
        self.rows
    }

    /// The curve of one index of a metric.
    pub fn curve(&self, log: &RunLog, metric: &str, index: usize) -> Option<&Curve> {
        let at = log.metrics.iter().position(|m| m.info.name == metric)?;
        self.curves.get(at)?.get(index)
    }

    /// Metrics with values that are not finite, in the order they appeared.
    pub fn not_finite(&self) -> &[NotFinite] {
        &self.not_finite
    }

    fn push(&mut self, log: &RunLog, at: usize, metric: &Metric, row: usize) {
        let mut broken = false;
        for index in 0..metric.info.width {
            let [low, median, high] = quantiles(metric, row, index, &mut self.scratch, &mut broken);
            let curve = &mut self.curves[at][index];
            if let (Some(half), None) = (curve.half, curve.half_row) {
                curve.half_row = crossing(row, curve.series.last(), median, half);
            }
            curve.series.push(row, median, low, high);
        }
        let name = &metric.info.name;
        if broken && !self.not_finite.iter().any(|known| known.name == *name) {
            self.not_finite.push(NotFinite { name: name.clone(), step: log.steps[row] });
        }
    }
}

/// Low, median and high over the finite members of one row; NaN where there are none.
fn quantiles(
    metric: &Metric,
    row: usize,
    index: usize,
    scratch: &mut Vec<f32>,
    broken: &mut bool,
) -> [f32; 3] {
    if metric.members == 1 {
        let value = metric.at(row, 0, index);
        *broken |= !value.is_finite();
        return [value; 3];
    }
    scratch.clear();
    scratch.extend(metric.across(row, index).filter(|value| value.is_finite()));
    *broken |= scratch.len() < metric.members;
    if scratch.is_empty() {
        return [f32::NAN; 3];
    }
    let rank = |q: f64| (q * (scratch.len() - 1) as f64).round() as usize;
    let [low, middle, high] = [rank(QUANTILES[0]), rank(0.5), rank(QUANTILES[1])];
    let (left, median, right) = scratch.select_nth_unstable_by(middle, f32::total_cmp);
    let median = *median;
    let low = if low == middle { median } else { *left.select_nth_unstable_by(low, f32::total_cmp).1 };
    let above = high - middle;
    let high = if above == 0 { median } else { *right.select_nth_unstable_by(above - 1, f32::total_cmp).1 };
    [low, median, high]
}

/// Where a curve going from `before` (row - 1) to `now` (row) first reaches `half`.
fn crossing(row: usize, before: f32, now: f32, half: f32) -> Option<f64> {
    if !(before < half && now >= half) || row == 0 {
        return None;
    }
    let part = (half - before) / (now - before);
    Some(row as f64 - 1.0 + f64::from(part))
}
