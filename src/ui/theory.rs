//! The theory drawn over a run: the scenario's overlay, asked for only when what it depends on
//! has changed, and the axis that curves and marks share.

use super::decimate::simplify;
use super::edit;
use crate::runlog::RunLog;
use crate::scenarios::{self, Overlay};
use egui_plot::PlotPoint;

/// Modes beyond which theory may take longer than a frame.
const WIDE: usize = 16;

/// What the horizontal axis of the plots counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Axis {
    /// `t`, the sum of the learning rates.
    #[default]
    Time,
    Step,
}

impl Axis {
    pub fn other(self) -> Self {
        match self {
            Self::Time => Self::Step,
            Self::Step => Self::Time,
        }
    }
}

/// Steps to time: the learning rate is constant between changes.
#[derive(Clone, Debug, Default)]
pub struct Timeline {
    /// (step, time there, learning rate from there on), rising.
    pieces: Vec<(f64, f64, f64)>,
}

impl Timeline {
    pub fn new(log: &RunLog) -> Self {
        let mut pieces: Vec<(f64, f64, f64)> = Vec::new();
        for (step, eta) in log.eta_history() {
            let step = step as f64;
            let time = pieces.last().map_or(0.0, |(from, time, eta)| time + (step - from) * eta);
            pieces.push((step, time, eta));
        }
        Self { pieces }
    }

    pub fn time(&self, step: f64) -> f64 {
        let at = self.pieces.partition_point(|piece| piece.0 <= step).saturating_sub(1);
        self.pieces.get(at).map_or(0.0, |(from, time, eta)| time + (step - from) * eta)
    }

    /// The position of a step on an axis.
    pub fn x(&self, step: f64, axis: Axis) -> f64 {
        match axis {
            Axis::Time => self.time(step),
            Axis::Step => step,
        }
    }
}

/// The overlay of a run and the timeline it lies on.
#[derive(Debug, Default)]
pub struct Theory {
    key: Option<(u64, usize)>,
    /// Counts the overlays, so that caches know one from the next.
    pub asked: u64,
    pub overlay: Overlay,
    pub timeline: Timeline,
}

impl Theory {
    /// Asks the scenario anew if the run or its interventions are others than the last time. While
    /// the learning rate is dragged, a wide lab keeps its old curves: theory would take longer than
    /// a frame, and the drag goes on.
    pub fn update(&mut self, run: u64, log: &RunLog, dragged: bool) {
        let key = (run, log.interventions.len());
        if self.key == Some(key) {
            return;
        }
        let wide = log.header.as_ref().is_some_and(|header| edit::linear(&header.spec).spectrum.len() > WIDE);
        if dragged && wide && self.key.is_some_and(|old| old.0 == run) {
            self.timeline = Timeline::new(log);
            return;
        }
        self.key = Some(key);
        self.asked += 1;
        let scenario = log.header.as_ref().and_then(|header| scenarios::find(&header.spec.scenario));
        self.overlay = scenario.map(|scenario| (scenario.overlay)(log)).unwrap_or_default();
        self.timeline = Timeline::new(log);
    }

    /// The half-time of a mode on an axis.
    pub fn half(&self, index: usize, axis: Axis) -> Option<f64> {
        let found = self.overlay.half_steps.iter().find(|half| half.0 == index)?;
        Some(self.timeline.x(found.1, axis)).filter(|x| x.is_finite())
    }

    pub fn formula(&self, metric: &str, index: usize) -> Option<&'static str> {
        let of = |curve: &&scenarios::Curve| curve.metric == metric && curve.index == index;
        self.overlay.curves.iter().find(of).map(|curve| curve.formula)
    }

    /// The last value of the curve over a metric.
    pub fn end(&self, metric: &str, index: usize) -> Option<f64> {
        let of = |curve: &&scenarios::Curve| curve.metric == metric && curve.index == index;
        let curve = self.overlay.curves.iter().find(of)?;
        curve.points.last().map(|point| point[1]).filter(|value| value.is_finite())
    }

    /// The curve over a metric as a plot draws it.
    pub fn draw(
        &self,
        metric: &str,
        index: usize,
        axis: Axis,
        y: impl Fn(f64) -> f64,
        tolerance: f64,
    ) -> Vec<PlotPoint> {
        let of = |curve: &&scenarios::Curve| curve.metric == metric && curve.index == index;
        let Some(curve) = self.overlay.curves.iter().find(of) else { return Vec::new() };
        let mut points: Vec<PlotPoint> = Vec::with_capacity(curve.points.len());
        for [step, value] in &curve.points {
            let point = PlotPoint::new(self.timeline.x(*step, axis), y(*value));
            let new = points.last().is_none_or(|last| last.x < point.x);
            if point.x.is_finite() && point.y.is_finite() && new {
                points.push(point);
            }
        }
        simplify(&points, tolerance)
    }
}
