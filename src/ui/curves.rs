//! What the plots draw, made when rows arrive or an axis changes and not again before.

use super::decimate::Drawn;
use super::digest::Digest;
use super::edit;
use super::theory::{Axis, Theory};
use crate::runlog::RunLog;
use egui_plot::PlotPoint;

/// Heights of a plot that a curve may be off by: less than half a pixel.
const TOLERANCE: f64 = 1.0 / 2_000.0;
/// Smallest loss shown; float32 sums of squares have no meaning below.
const LOSS_FLOOR: f64 = 1e-14;
/// Decades that the loss plot shows at most.
const DECADES: f64 = 12.0;

/// What the curves depend on.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Key {
    run: u64,
    rows: usize,
    interventions: usize,
    asked: u64,
    axis: Axis,
}

/// A measured curve and the theory over it.
#[derive(Debug, Default)]
pub struct Pair {
    pub measured: Drawn,
    pub theory: Vec<PlotPoint>,
    /// Measured half-time, if it was reached.
    pub half: Option<f64>,
}

#[derive(Debug, Default)]
pub struct Curves {
    key: Option<Key>,
    pub modes: Vec<Pair>,
    pub loss: Pair,
    /// End of the run on the horizontal axis.
    pub x_end: f64,
    /// Bounds of the modes' plot.
    pub strength: [f64; 2],
    /// Bounds of the loss plot, in decades.
    pub decades: [f64; 2],
}

impl Curves {
    /// Draws anew if the run, its rows, its interventions or the axis are others than before.
    pub fn update(&mut self, run: u64, log: &RunLog, digest: &Digest, theory: &Theory, axis: Axis) {
        let key = Key {
            run,
            rows: digest.rows(),
            interventions: log.interventions.len(),
            asked: theory.asked,
            axis,
        };
        if self.key == Some(key) {
            return;
        }
        let same_theory = self.key.is_some_and(|old| Key { rows: key.rows, ..old } == key);
        self.key = Some(key);
        let Some(header) = &log.header else {
            *self = Self { key: Some(key), ..Self::default() };
            return;
        };
        let linear = edit::linear(&header.spec);
        self.x_end = theory.timeline.x(header.spec.training.steps as f64, axis).max(1e-12);
        self.strength = strength(log, digest, &linear.spectrum);
        let ends = theory.end("loss", 0).map(log10);
        self.decades = decades(log, digest, &linear.spectrum, ends);
        let x = |row: usize| match axis {
            Axis::Time => log.times.get(row).copied().unwrap_or(0.0),
            Axis::Step => log.steps.get(row).copied().unwrap_or(0) as f64,
        };
        let many = log.members() > 1;
        self.modes.resize_with(linear.spectrum.len(), Pair::default);
        let tolerance = (self.strength[1] - self.strength[0]) * TOLERANCE;
        for (index, pair) in self.modes.iter_mut().enumerate() {
            if let Some(curve) = digest.curve(log, "sigma", index) {
                pair.measured = curve.series.draw(x, f64::from, tolerance, many);
                pair.half = curve.half_row.map(|row| between(x, row));
            }
            if !same_theory {
                pair.theory = theory.draw("sigma", index, axis, |y| y, tolerance);
            }
        }
        let tolerance = (self.decades[1] - self.decades[0]) * TOLERANCE;
        if let Some(curve) = digest.curve(log, "loss", 0) {
            self.loss.measured = curve.series.draw(x, |y| log10(f64::from(y)), tolerance, many);
        }
        if !same_theory {
            self.loss.theory = theory.draw("loss", 0, axis, log10, tolerance);
        }
    }
}

/// `log10`, with what is not positive at the floor and what is not a number left so.
pub fn log10(loss: f64) -> f64 {
    if loss.is_nan() { loss } else { loss.max(LOSS_FLOOR).log10() }
}

/// `x` at a row between two rows.
fn between(x: impl Fn(usize) -> f64, row: f64) -> f64 {
    let (below, part) = (row.floor(), row.fract());
    let (left, right) = (x(below as usize), x(below as usize + 1));
    left + (right - left) * part
}

/// From a little below 0 to a little above the strongest mode; wider, within reason, where the
/// measured modes go further.
fn strength(log: &RunLog, digest: &Digest, spectrum: &[f64]) -> [f64; 2] {
    let top = spectrum.iter().copied().fold(0.0, f64::max).max(1e-6);
    let ranges = (0..spectrum.len())
        .filter_map(|index| digest.curve(log, "sigma", index)?.series.range())
        .map(|(low, high)| (f64::from(low), f64::from(high)));
    let (low, high) = ranges.fold((0.0, top), |(low, high): (f64, f64), r| (low.min(r.0), high.max(r.1)));
    let high = high.min(2.5 * top);
    [low.max(-top) - 0.03 * high, high * 1.1]
}

/// From the smallest to the largest loss, with a little room.
fn decades(log: &RunLog, digest: &Digest, spectrum: &[f64], ends: Option<f64>) -> [f64; 2] {
    let start = log10(spectrum.iter().map(|s| s * s).sum());
    let range = digest.curve(log, "loss", 0).and_then(|curve| curve.series.range());
    let (low, high) =
        range.map_or((start, start), |(low, high)| (log10(f64::from(low)), log10(f64::from(high))));
    let high = high.max(start).min(start + 3.0) + 0.4;
    // Where theory ends, or the last plateau, is known beforehand, so the plot need not jump.
    let weakest = spectrum.iter().rev().find(|s| **s > 0.0).map_or(start, |s| log10(s * s));
    let low = low.min(ends.unwrap_or(weakest - 1.0)).max(high - DECADES);
    [low - 0.2, high]
}
