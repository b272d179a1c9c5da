//! A curve kept to what a plot can show: bins of rows with their minimum and maximum, filled as
//! rows arrive, so that a frame's work does not grow with the run.

use egui_plot::PlotPoint;

/// One measured quantity over the rows so far, in at most `capacity` bins.
#[derive(Clone, Debug)]
pub struct Series {
    capacity: usize,
    rows_per_bin: usize,
    in_last: usize,
    bins: Vec<Bin>,
    last: f32,
}

/// The median over members: its extremes and where they are; and the band around it.
#[derive(Clone, Copy, Debug)]
struct Bin {
    min: (usize, f32),
    max: (usize, f32),
    low: f32,
    high: f32,
}

/// What is drawn of a series.
#[derive(Clone, Debug, Default)]
pub struct Drawn {
    pub line: Vec<PlotPoint>,
    /// The band over members, empty for one member: x, low, high.
    pub band: [Vec<f64>; 3],
}

/// How much more than a line the edge of a band may be off: it is faint, and has no outline.
const BAND: f64 = 4.0;

impl Drawn {
    /// Leaves out what the band does not need; a band that is nowhere wide enough to see, whole.
    fn thin_out(&mut self, tolerance: f64) {
        let [x, low, high] = &self.band;
        if low.iter().zip(high).all(|(low, high)| high - low <= 0.5 * tolerance) {
            self.band = Default::default();
            return;
        }
        let places = kept(x.len(), |i| x[i], |i| [low[i], high[i]], tolerance);
        self.band = [x, low, high].map(|values| places.iter().map(|i| values[*i]).collect());
    }
}

impl Bin {
    fn new(row: usize, value: f32, low: f32, high: f32) -> Self {
        Self { min: (row, value), max: (row, value), low, high }
    }

    fn join(&mut self, other: &Self) {
        if !self.min.1.is_finite() || other.min.1 < self.min.1 {
            self.min = other.min;
        }
        if !self.max.1.is_finite() || other.max.1 >= self.max.1 {
            self.max = other.max;
        }
        self.low = self.low.min(other.low);
        self.high = self.high.max(other.high);
    }
}

impl Series {
    pub fn new(capacity: usize) -> Self {
        Self { capacity: capacity.max(2), rows_per_bin: 1, in_last: 0, bins: Vec::new(), last: f32::NAN }
    }

    /// The next row: median and band over members.
    pub fn push(&mut self, row: usize, value: f32, low: f32, high: f32) {
        self.last = value;
        let bin = Bin::new(row, value, low, high);
        if self.in_last == self.rows_per_bin || self.bins.is_empty() {
            if self.bins.len() == self.capacity {
                self.halve();
            }
            if self.in_last == self.rows_per_bin || self.bins.is_empty() {
                self.bins.push(bin);
                self.in_last = 1;
                return;
            }
        }
        self.in_last += 1;
        if let Some(last) = self.bins.last_mut() {
            last.join(&bin);
        }
    }

    /// Joins the bins in pairs.
    fn halve(&mut self) {
        let odd = self.bins.len() % 2 == 1;
        let joined = self.bins.chunks(2).map(|pair| {
            let mut bin = pair[0];
            if let Some(second) = pair.get(1) {
                bin.join(second);
            }
            bin
        });
        self.bins = joined.collect();
        self.in_last = if odd { self.in_last } else { self.rows_per_bin + self.in_last };
        self.rows_per_bin *= 2;
    }

    /// The last value pushed.
    pub fn last(&self) -> f32 {
        self.last
    }

    /// Smallest and largest finite median so far.
    pub fn range(&self) -> Option<(f32, f32)> {
        let finite = self.bins.iter().filter(|bin| bin.min.1.is_finite() && bin.max.1.is_finite());
        finite.fold(None, |range, bin| match range {
            None => Some((bin.min.1, bin.max.1)),
            Some((low, high)) => Some((low.min(bin.min.1), high.max(bin.max.1))),
        })
    }

    /// The curve with `x(row)` and a monotone `y(value)`, straight to within `tolerance` of y.
    pub fn draw(
        &self,
        x: impl Fn(usize) -> f64,
        y: impl Fn(f32) -> f64,
        tolerance: f64,
        band: bool,
    ) -> Drawn {
        let mut points = Vec::with_capacity(2 * self.bins.len());
        let mut drawn = Drawn::default();
        for bin in &self.bins {
            let (first, second) =
                if bin.min.0 <= bin.max.0 { (bin.min, bin.max) } else { (bin.max, bin.min) };
            for (row, value) in [first, second] {
                let point = PlotPoint::new(x(row), y(value));
                let new = points.last().is_none_or(|last: &PlotPoint| last.x < point.x);
                if point.y.is_finite() && point.x.is_finite() && new {
                    points.push(point);
                }
            }
            let (low, high) = (y(bin.low), y(bin.high));
            if band && low.is_finite() && high.is_finite() {
                drawn.band[0].push(x(first.0));
                drawn.band[1].push(low);
                drawn.band[2].push(high);
            }
        }
        drawn.line = simplify(&points, tolerance);
        drawn.thin_out(BAND * tolerance);
        drawn
    }
}

/// The fewest of the points, from first to last, whose straight lines pass within `tolerance` (in
/// y) of every point left out.
pub fn simplify(points: &[PlotPoint], tolerance: f64) -> Vec<PlotPoint> {
    kept(points.len(), |i| points[i].x, |i| [points[i].y], tolerance).into_iter().map(|i| points[i]).collect()
}

/// Places of a polyline in several dimensions that are enough to draw it: a cone from the last kept
/// place is narrowed in each dimension until one of them closes.
fn kept<const N: usize>(
    count: usize,
    x: impl Fn(usize) -> f64,
    y: impl Fn(usize) -> [f64; N],
    tolerance: f64,
) -> Vec<usize> {
    const OPEN: [f64; 2] = [f64::NEG_INFINITY, f64::INFINITY];
    let mut kept = Vec::new();
    if count == 0 {
        return kept;
    }
    kept.push(0);
    let (mut anchor, mut cone) = (0, [OPEN; N]);
    for place in 1..count {
        let from = y(anchor);
        let run = x(place) - x(anchor);
        let inside = |i: usize| {
            let slope = (y(place)[i] - from[i]) / run;
            (cone[i][0]..=cone[i][1]).contains(&slope)
        };
        if !(0..N).all(inside) {
            anchor = place - 1;
            kept.push(anchor);
            cone = [OPEN; N];
        }
        let (from, to, run) = (y(anchor), y(place), x(place) - x(anchor));
        for i in 0..N {
            cone[i][0] = cone[i][0].max((to[i] - tolerance - from[i]) / run);
            cone[i][1] = cone[i][1].min((to[i] + tolerance - from[i]) / run);
        }
    }
    if count > 1 {
        kept.push(count - 1);
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bins_stay_few_and_lose_no_spike() {
        let mut series = Series::new(16);
        for row in 0..10_001 {
            let value = if row == 7_777 { 50.0 } else { (row as f32 * 0.01).sin() };
            series.push(row, value, value, value);
        }
        assert!(series.bins.len() <= 16);
        let drawn = series.draw(|row| row as f64, f64::from, 0.0, false);
        assert!(drawn.line.iter().any(|p| p.x == 7_777.0 && p.y == 50.0));
        assert!(drawn.line.windows(2).all(|pair| pair[0].x < pair[1].x));
    }

    #[test]
    fn rows_are_spread_evenly() {
        let mut series = Series::new(8);
        for row in 0..1_000 {
            series.push(row, row as f32, 0.0, 0.0);
        }
        let last = series.bins.last().map(|bin| bin.max.0);
        assert_eq!(last, Some(999));
        let widths: Vec<usize> =
            series.bins.iter().take(series.bins.len() - 1).map(|bin| bin.max.0 - bin.min.0 + 1).collect();
        assert!(widths.iter().all(|width| *width == series.rows_per_bin), "{widths:?}");
    }

    #[test]
    fn simplified_stays_within_tolerance() {
        let points: Vec<PlotPoint> =
            (0..500).map(|i| PlotPoint::new(i as f64, (i as f64 * 0.02).sin())).collect();
        let kept = simplify(&points, 0.01);
        assert!(kept.len() < 100);
        for point in &points {
            let at = kept.partition_point(|k| k.x < point.x).clamp(1, kept.len() - 1);
            let (a, b) = (kept[at - 1], kept[at]);
            let y = a.y + (b.y - a.y) * (point.x - a.x) / (b.x - a.x);
            assert!((y - point.y).abs() <= 0.0101, "{} off at {}", y - point.y, point.x);
        }
    }
}
