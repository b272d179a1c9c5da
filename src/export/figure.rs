//! The figure of a run: modes over the steps with theory dashed, and the loss below, the same
//! drawing for SVG and PNG.
//!
//! Measurement is solid, theory dashed, bands run from the 5th to the 95th percentile over
//! members. Colours are those of Okabe and Ito (2008), told apart by the colour-blind; more modes
//! than those colours are drawn along a ramp from blue to yellow.

use super::bands::{Band, band};
use crate::engine::protocol::Header;
use crate::runlog::{Metric, RunLog};
use crate::scenarios::{self, Overlay};
use crate::spec::Model;
use plotters::coord::Shift;
use plotters::coord::ranged1d::{Ranged, ValueFormatter};
use plotters::coord::types::RangedCoordf64;
use plotters::element::DashedPathElement;
use plotters::prelude::*;
use std::ops::Range;

/// Width and height in units; a picture of scale `n` has `n` pixels a unit.
pub const SIZE: (u32, u32) = (1200, 900);

/// Bins of rows along the horizontal axis.
const BINS: usize = 600;
const LEGEND_WIDTH: u32 = 210;
const FONT: &str = "sans-serif";
const INK: RGBColor = RGBColor(40, 40, 40);
const GRID: RGBColor = RGBColor(228, 228, 228);

/// Measurement where one curve stands alone: theory, dashed and dark, shows upon it.
const ALONE: RGBColor = RGBColor(125, 135, 150);

/// Okabe and Ito, with Tol's wine for their yellow, which is faint on white, and grey for black,
/// which is theory's.
const PALETTE: [RGBColor; 8] = [
    RGBColor(0, 114, 178),
    RGBColor(230, 159, 0),
    RGBColor(0, 158, 115),
    RGBColor(213, 94, 0),
    RGBColor(204, 121, 167),
    RGBColor(86, 180, 233),
    RGBColor(130, 130, 130),
    RGBColor(136, 34, 85),
];

type Area<B> = DrawingArea<B, Shift>;

/// What the run's scenario says about it; empty where no scenario of that name is known.
pub fn theory(log: &RunLog) -> Overlay {
    let scenario = log.header.as_ref().and_then(|header| scenarios::find(&header.spec.scenario));
    scenario.map_or_else(Overlay::default, |scenario| (scenario.overlay)(log))
}

/// Draws the figure on any backend of `scale` times [`SIZE`].
///
/// # Errors
/// One line, if the backend fails or the log has no run.
pub fn paint<B: DrawingBackend>(
    backend: B,
    scale: u32,
    log: &RunLog,
    theory: &Overlay,
) -> Result<(), String> {
    fonts()?;
    let header = log.header.as_ref().ok_or("there is no run to draw")?;
    let root = backend.into_drawing_area();
    paint_all(&root, Pen(scale), header, log, theory)
        .and_then(|()| root.present())
        .map_err(|error| error.to_string())
}

/// A browser measures text with its own fonts.
#[cfg(target_arch = "wasm32")]
fn fonts() -> Result<(), String> {
    Ok(())
}

/// The text of a bitmap needs a font of our own: the one the window uses.
#[cfg(not(target_arch = "wasm32"))]
fn fonts() -> Result<(), String> {
    static REGISTERED: std::sync::OnceLock<bool> = std::sync::OnceLock::new();
    let done = REGISTERED.get_or_init(|| {
        plotters::style::register_font(FONT, FontStyle::Normal, epaint_default_fonts::UBUNTU_LIGHT).is_ok()
    });
    if *done { Ok(()) } else { Err("the built-in font cannot be read".to_owned()) }
}

/// Turns units into pixels.
#[derive(Clone, Copy)]
struct Pen(u32);

impl Pen {
    fn px(self, units: i32) -> i32 {
        units * self.0 as i32
    }

    fn at(self, x: i32, y: i32) -> (i32, i32) {
        (self.px(x), self.px(y))
    }

    fn text(self, size: u32) -> TextStyle<'static> {
        (FONT, size * self.0).into_font().color(&INK)
    }

    fn line(self, colour: impl Into<RGBAColor>, width: u32) -> ShapeStyle {
        colour.into().stroke_width(width * self.0)
    }
}

type Drawn<B> = Result<(), DrawingAreaErrorKind<<B as DrawingBackend>::ErrorType>>;

fn paint_all<B: DrawingBackend>(
    root: &Area<B>,
    pen: Pen,
    header: &Header,
    log: &RunLog,
    theory: &Overlay,
) -> Drawn<B> {
    root.fill(&WHITE)?;
    root.draw(&Text::new(title(header), pen.at(24, 14), pen.text(24)))?;
    root.draw(&Text::new(subtitle(header, log), pen.at(24, 46), pen.text(16)))?;
    let body = root.margin(pen.px(74), pen.px(14), pen.px(14), pen.px(10));
    let (panels, legend) = body.split_horizontally(pen.px((SIZE.0 - LEGEND_WIDTH - 24) as i32));
    let (upper, lower) = panels.split_vertically(pen.px(460));
    let modes = log.metric("sigma").or_else(|| log.metrics.iter().find(|m| m.info.name != "loss"));
    if let Some(modes) = modes {
        paint_panel(&upper, pen, &Panel::new(log, theory, modes, Scale::Linear))?;
        paint_legend(&legend, pen, header, modes, theory)?;
    }
    if let Some(loss) = log.metric("loss") {
        paint_panel(&lower, pen, &Panel::new(log, theory, loss, Scale::Log))?;
    }
    Ok(())
}

fn title(header: &Header) -> String {
    scenarios::find(&header.spec.scenario).map_or(header.spec.scenario.as_str(), |s| s.title).to_owned()
}

/// What was run, in one line.
fn subtitle(header: &Header, log: &RunLog) -> String {
    let spec = &header.spec;
    let Model::Linear(linear) = &spec.model;
    let start = format!("{:?}", linear.start).to_lowercase();
    let seeds = spec.ensemble.members;
    format!(
        "d = {}, depth {}, {start} start, τ = {}, η = {}, {seeds} seed{} from {}, {} of {} steps, {} ({})",
        linear.spectrum.len(),
        linear.depth,
        linear.tau,
        spec.training.eta,
        if seeds == 1 { "" } else { "s" },
        spec.seed,
        log.last_step(),
        spec.training.steps,
        header.executor.kind,
        header.executor.device,
    )
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Scale {
    Linear,
    Log,
}

/// What one panel shows, ready to draw.
struct Panel<'a> {
    label: String,
    scale: Scale,
    steps: f64,
    bands: Vec<Band>,
    colours: Vec<RGBColor>,
    theory: Vec<Vec<(f64, f64)>>,
    overlay: &'a Overlay,
    half_colours: Vec<RGBColor>,
}

impl<'a> Panel<'a> {
    fn new(log: &RunLog, overlay: &'a Overlay, metric: &Metric, scale: Scale) -> Self {
        let width = metric.info.width;
        let unit = match metric.info.unit.as_str() {
            "" | "1" => String::new(),
            unit => format!(" [{unit}]"),
        };
        let colours = (0..width).map(|index| if width == 1 { ALONE } else { colour(index, width) }).collect();
        let theory = overlay
            .curves
            .iter()
            .filter(|curve| curve.metric == metric.info.name && curve.index < width)
            .map(|curve| curve.points.iter().map(|point| (point[0], point[1])).collect())
            .collect();
        let modes = overlay.half_steps.iter().map(|half| half.0 + 1).max().unwrap_or(0);
        let modes = modes.max(log.metric("sigma").map_or(0, |sigma| sigma.info.width));
        Self {
            label: format!("{}{unit}", metric.info.name),
            scale,
            steps: (log.last_step() as f64).max(1.0),
            bands: (0..width).map(|index| band(metric, index, &log.steps, BINS)).collect(),
            colours,
            theory,
            overlay,
            half_colours: overlay.half_steps.iter().map(|half| colour(half.0, modes)).collect(),
        }
    }

    /// Lowest and highest value to show, from the measurement: theory that runs away is cut off.
    fn bounds(&self) -> (f64, f64) {
        let lines = self.bands.iter().flat_map(|band| band.line.iter().map(|point| point.1));
        let ranges = self.bands.iter().flat_map(|band| band.range.iter().flat_map(|r| [r.1, r.2]));
        let keep = |value: &f64| value.is_finite() && (self.scale == Scale::Linear || *value > 0.0);
        let (low, high) = lines
            .chain(ranges)
            .filter(keep)
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), v| (low.min(v), high.max(v)));
        match self.scale {
            _ if low > high => (0.1, 1.0),
            // Seven decades show every plateau; below is rounding noise.
            Scale::Log => (low.max(high * 1e-7) / 1.5, high * 1.5),
            Scale::Linear => {
                let pad = 0.05 * (high - low).max(1e-6 * high.abs()).max(1e-6 * low.abs()).max(1e-30);
                ((low - pad).min(0.0), high + pad)
            }
        }
    }
}

fn paint_panel<B: DrawingBackend>(area: &Area<B>, pen: Pen, panel: &Panel<'_>) -> Drawn<B> {
    let (low, high) = panel.bounds();
    let (x, y) = (0.0..panel.steps, low..high);
    let mut builder = ChartBuilder::on(area);
    builder.x_label_area_size(pen.px(44)).y_label_area_size(pen.px(84)).margin(pen.px(8));
    match panel.scale {
        Scale::Linear => paint_chart(builder.build_cartesian_2d(x, y.clone())?, pen, panel, &y),
        Scale::Log => paint_chart(builder.build_cartesian_2d(x, y.clone().log_scale())?, pen, panel, &y),
    }
}

fn paint_chart<B: DrawingBackend, Y: Ranged<ValueType = f64> + ValueFormatter<f64>>(
    mut chart: ChartContext<'_, B, Cartesian2d<RangedCoordf64, Y>>,
    pen: Pen,
    panel: &Panel<'_>,
    bounds: &Range<f64>,
) -> Drawn<B> {
    chart
        .configure_mesh()
        .light_line_style(TRANSPARENT)
        .bold_line_style(pen.line(GRID, 1))
        .axis_style(pen.line(INK, 1))
        .set_all_tick_mark_size(pen.px(5))
        .y_labels(7)
        .x_desc("step")
        .y_desc(&panel.label)
        .x_label_formatter(&|step| format!("{step}"))
        .y_label_formatter(&|value| short(*value))
        .label_style(pen.text(15))
        .axis_desc_style(pen.text(17))
        .draw()?;
    for (half, colour) in panel.overlay.half_steps.iter().zip(&panel.half_colours) {
        if (0.0..=panel.steps).contains(&half.1) {
            let line = [(half.1, bounds.start), (half.1, bounds.end)];
            let style = pen.line(colour.mix(0.7), 1);
            chart.draw_series(DashedLineSeries::new(line, pen.px(2), pen.px(4), style))?;
        }
    }
    for (band, colour) in panel.bands.iter().zip(&panel.colours) {
        chart.draw_series(area_of(band, bounds).map(|area| Polygon::new(area, colour.mix(0.22))))?;
        for piece in visible(&band.line, panel.steps, bounds) {
            chart.draw_series(LineSeries::new(piece, pen.line(*colour, 3)))?;
        }
    }
    for curve in &panel.theory {
        for piece in visible(curve, panel.steps, bounds) {
            let style = pen.line(BLACK.mix(0.85), 1);
            chart.draw_series(DashedLineSeries::new(piece, pen.px(7), pen.px(5), style))?;
        }
    }
    Ok(())
}

/// The outline of a band, there and back; none where there is no width to show.
fn area_of(band: &Band, bounds: &Range<f64>) -> Option<Vec<(f64, f64)>> {
    let inside = |value: f64| value.clamp(bounds.start, bounds.end);
    let upper = band.range.iter().map(|r| (r.0, inside(r.2)));
    let lower = band.range.iter().rev().map(|r| (r.0, inside(r.1)));
    (band.range.len() > 1).then(|| upper.chain(lower).collect())
}

/// The parts of a curve that lie within the panel.
fn visible(curve: &[(f64, f64)], steps: f64, bounds: &Range<f64>) -> Vec<Vec<(f64, f64)>> {
    let shows = |point: &(f64, f64)| bounds.contains(&point.1) && (0.0..=steps).contains(&point.0);
    curve.split(|point| !shows(point)).filter(|piece| piece.len() > 1).map(<[_]>::to_vec).collect()
}

fn paint_legend<B: DrawingBackend>(
    area: &Area<B>,
    pen: Pen,
    header: &Header,
    modes: &Metric,
    theory: &Overlay,
) -> Drawn<B> {
    let Model::Linear(linear) = &header.spec.model;
    let (width, mut y) = (modes.info.width, 14);
    let text = |text: String, y: i32| area.draw(&Text::new(text, pen.at(50, y - 9), pen.text(16)));
    let sample = |y: i32| [pen.at(6, y), pen.at(40, y)];
    for index in (0..width).step_by(width.div_ceil(16)) {
        area.draw(&PathElement::new(sample(y), pen.line(colour(index, width), 3)))?;
        let strength = linear.spectrum.get(index).map_or(String::new(), |s| format!("  s = {}", short(*s)));
        text(format!("mode {}{strength}", index + 1), y)?;
        y += 24;
    }
    y += 12;
    if !theory.curves.is_empty() {
        area.draw(&DashedPathElement::new(sample(y), pen.px(7), pen.px(5), pen.line(BLACK, 1)))?;
        text("theory".to_owned(), y)?;
        y += 24;
    }
    if !theory.half_steps.is_empty() {
        let upright = [pen.at(23, y - 10), pen.at(23, y + 10)];
        area.draw(&DashedPathElement::new(upright, pen.px(2), pen.px(4), pen.line(INK, 1)))?;
        text("half-time, theory".to_owned(), y)?;
        y += 24;
    }
    if modes.members > 1 {
        let box_of = [pen.at(6, y - 7), pen.at(40, y + 7)];
        area.draw(&Rectangle::new(box_of, INK.mix(0.2).filled()))?;
        area.draw(&PathElement::new(sample(y), pen.line(INK, 3)))?;
        text("median, 5 to 95 %".to_owned(), y)?;
        text(format!("of {} seeds", modes.members), y + 18)?;
    }
    Ok(())
}

/// A colour for one of `count` curves.
fn colour(index: usize, count: usize) -> RGBColor {
    if count <= PALETTE.len() {
        return PALETTE[index % PALETTE.len()];
    }
    // From dark blue over grey to yellow, the ends of cividis: brightness rises all the way.
    let along = index as f64 / (count - 1).max(1) as f64;
    let mix = |from: f64, to: f64| (from + (to - from) * along).round() as u8;
    RGBColor(mix(0.0, 230.0), mix(50.0, 190.0), mix(110.0, 60.0))
}

/// A tick's number: plain where that is short, with an exponent otherwise.
fn short(value: f64) -> String {
    if value == 0.0 || (0.01..10_000.0).contains(&value.abs()) {
        // Ticks come out of floating-point sums: three digits behind the point hide that.
        let text = format!("{value:.3}");
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    } else {
        format!("{value:.0e}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tick_numbers_are_short() {
        assert_eq!(
            ["0", "0.5", "4", "1e-5"],
            [0.0, 0.5, 4.0, 1e-5].map(short).each_ref().map(String::as_str)
        );
    }

    #[test]
    fn theory_beyond_the_panel_is_cut_out() {
        let curve = [(0.0, 1.0), (1.0, 2.0), (2.0, 99.0), (3.0, f64::NAN), (4.0, 1.0), (5.0, 1.5)];
        let pieces = visible(&curve, 10.0, &(0.0..3.0));
        assert_eq!(pieces, [vec![(0.0, 1.0), (1.0, 2.0)], vec![(4.0, 1.0), (5.0, 1.5)]]);
    }
}
