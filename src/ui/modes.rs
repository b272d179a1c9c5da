//! The modes against time: measured solid, theory dashed, bands over seeds, half-times marked.

use super::curves::{Curves, Pair};
use super::digest::Digest;
use super::edit;
use super::palette;
use super::plot::{self, Follow, Look, count, number, subscript};
use super::theory::{Axis, Theory};
use crate::runlog::RunLog;
use eframe::egui;
use eframe::egui::{Align2, RichText, Ui};
use egui_plot::{
    FilledArea, Line, LineStyle, MarkerShape, Plot, PlotBounds, PlotPoint, PlotTransform, PlotUi, Points,
};

/// Width kept beside the plot for the modes' names.
const LABELS: f32 = 86.0;

/// What the plots are made from.
#[derive(Clone, Copy)]
pub struct Scene<'a> {
    pub log: &'a RunLog,
    pub digest: &'a Digest,
    pub theory: &'a Theory,
    pub curves: &'a Curves,
    pub look: Look,
}

impl Scene<'_> {
    pub fn spectrum(&self) -> &[f64] {
        self.log.header.as_ref().map_or(&[], |header| &edit::linear(&header.spec).spectrum)
    }

    /// The logged row nearest to a place on the axis.
    pub fn row(&self, x: f64) -> Option<usize> {
        let rows = self.digest.rows();
        let at = |row: usize| match self.look.axis {
            Axis::Time => self.log.times[row],
            Axis::Step => self.log.steps[row] as f64,
        };
        let above = match self.look.axis {
            Axis::Time => self.log.times[..rows].partition_point(|t| *t < x),
            Axis::Step => self.log.steps[..rows].partition_point(|s| (*s as f64) < x),
        };
        let below = above.saturating_sub(1);
        let above = above.min(rows.checked_sub(1)?);
        Some(if (at(below) - x).abs() < (at(above) - x).abs() { below } else { above })
    }
}

/// One curve of the plot, as the hover names it.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Which {
    Measured(usize),
    Theory(usize),
}

pub fn show(ui: &mut Ui, scene: Scene<'_>, follow: &mut Follow) {
    let curves = scene.curves;
    let [low, high] = if curves.strength == [0.0; 2] { [-0.05, 1.0] } else { curves.strength };
    let bounds = PlotBounds::from_min_max([0.0, low], [curves.x_end.max(1e-9) * 1.002, high]);
    title(ui, scene);
    let plot = Plot::new("modes")
        .x_axis_label(plot::x_label(scene.look.axis))
        .y_axis_label(if ui.available_height() > 300.0 {
            "mode strength  σ_i = u_i^T P v_i"
        } else {
            "mode strength  σ_i"
        })
        .y_grid_spacer(plot::round_marks(5.0, 0.0))
        .y_axis_formatter(|mark, _| number(mark.value))
        .width((ui.available_width() - LABELS).max(60.0))
        .y_axis_min_width(46.0);
    let (response, transform) =
        plot::framed(ui, plot, scene.look, follow, bounds, move |plot_ui| draw(plot_ui, scene));
    labels(ui, scene, &transform);
    let Some(pointer) = response.hover_pos() else { return };
    let measured = curves.modes.iter().enumerate().map(|(i, p)| (Which::Measured(i), &p.measured.line[..]));
    let theory = curves.modes.iter().enumerate().map(|(i, p)| (Which::Theory(i), &p.theory[..]));
    if let Some((which, x)) = plot::nearest(measured.chain(theory), pointer, &transform) {
        plot::tell(&response, &describe(scene, which, x));
    }
}

/// The title line: what is solid, what is dashed, what the band is, and what theory leaves out.
fn title(ui: &mut Ui, scene: Scene<'_>) {
    ui.horizontal_wrapped(|ui| {
        ui.label(RichText::new("Singular modes").strong().size(17.0));
        let members = scene.log.members();
        let measured = if members > 1 {
            format!("— measured, median and 5–95 % band over {members} seeds")
        } else {
            "— measured".to_owned()
        };
        ui.label(measured);
        if !scene.theory.overlay.curves.is_empty() {
            ui.label("- - theory");
        }
        if !scene.theory.overlay.half_steps.is_empty() {
            ui.label("◇ predicted and ● measured half-time");
        }
        if !scene.theory.overlay.caveat.is_empty() {
            let colour = palette::warning(scene.look.dark);
            ui.label(RichText::new(&scene.theory.overlay.caveat).color(colour));
        }
    });
}

fn draw<'a>(plot_ui: &mut PlotUi<'a>, scene: Scene<'a>) {
    let modes = scene.curves.modes.len();
    let colour = |index| palette::mode(index, modes, scene.look.dark);
    for (index, pair) in scene.curves.modes.iter().enumerate() {
        band(plot_ui, pair, palette::band(colour(index)));
    }
    // The strongest last, so that it lies on top where modes meet.
    for (index, pair) in scene.curves.modes.iter().enumerate().rev() {
        let line = Line::new("", &pair.measured.line[..])
            .allow_band(false)
            .color(colour(index))
            .width(scene.look.line());
        plot_ui.line(line.allow_hover(false).id(("measured", index)));
    }
    for (index, pair) in scene.curves.modes.iter().enumerate().rev() {
        theory(plot_ui, &pair.theory, palette::theory(colour(index), scene.look.dark), scene.look, index);
    }
    for (index, pair) in scene.curves.modes.iter().enumerate() {
        half_times(plot_ui, scene, pair, index);
    }
}

/// The band of a measured curve over members.
pub fn band(plot_ui: &mut PlotUi<'_>, pair: &Pair, colour: egui::Color32) {
    let [x, low, high] = &pair.measured.band;
    if x.len() > 1 {
        plot_ui.add(FilledArea::new("", x, low, high).fill_color(colour).allow_hover(false));
    }
}

/// A theory curve.
pub fn theory<'a>(
    plot_ui: &mut PlotUi<'a>,
    points: &'a [PlotPoint],
    colour: egui::Color32,
    look: Look,
    id: usize,
) {
    let line = Line::new("", points).allow_band(false).color(colour).width(look.thin());
    plot_ui.line(line.style(LineStyle::dashed_loose()).allow_hover(false).id(("theory", id)));
}

fn half_times(plot_ui: &mut PlotUi<'_>, scene: Scene<'_>, pair: &Pair, index: usize) {
    let Some(s) = scene.spectrum().get(index).copied().filter(|s| *s > 0.0) else { return };
    let colour = palette::mode(index, scene.curves.modes.len(), scene.look.dark);
    let radius = if scene.curves.modes.len() > 16 { 2.5 } else { 1.4 * scene.look.line() };
    let points = |x: f64, shape| {
        let series = Points::new("", vec![[x, s / 2.0]]).shape(shape).radius(radius);
        series.allow_hover(false)
    };
    if let Some(x) = pair.half {
        plot_ui.points(points(x, MarkerShape::Circle).color(colour));
    }
    if let Some(x) = scene.theory.half(index, scene.look.axis) {
        let mark = points(x, MarkerShape::Diamond).radius(radius * 1.5).filled(false);
        plot_ui.points(mark.color(scene.look.ink()));
    }
}

/// The modes' names beside the plot, each at the height where its mode ends, pushed apart where
/// they would overlap; of very many only some.
fn labels(ui: &Ui, scene: Scene<'_>, transform: &PlotTransform) {
    let spectrum = scene.spectrum();
    let (frame, font) = (*transform.frame(), egui::FontId::proportional(14.0));
    let line = font.size + 1.0;
    let room = (frame.height() / line).max(1.0) as usize;
    let every = spectrum.len().div_ceil(room).max(1);
    let height = |s: f64| transform.position_from_point_y(s);
    let mut places: Vec<(usize, f32)> = (0..spectrum.len())
        .step_by(every)
        .map(|index| (index, height(spectrum[index])))
        .filter(|(_, y)| frame.y_range().expand(1.0).contains(*y))
        .collect();
    spread(&mut places, frame.y_range(), line);
    for (index, y) in places {
        let colour = palette::mode(index, spectrum.len(), scene.look.dark);
        let name = format!("s{} = {}", subscript(index + 1), number(spectrum[index]));
        let colour = palette::label(colour, scene.look.dark);
        let place = egui::pos2(frame.right() + 7.0, y);
        ui.painter().text(place, Align2::LEFT_CENTER, name, font.clone(), colour);
    }
}

/// Moves labels, given from top to bottom, so that they are at least a line apart and within.
fn spread(places: &mut [(usize, f32)], range: egui::Rangef, line: f32) {
    let mut least = range.min;
    for (_, y) in places.iter_mut() {
        *y = y.max(least);
        least = *y + line;
    }
    let mut most = range.max;
    for (_, y) in places.iter_mut().rev() {
        *y = y.min(most);
        most = *y - line;
    }
}

/// Value, unit and formula of a curve at a place.
fn describe(scene: Scene<'_>, which: Which, x: f64) -> Vec<String> {
    let index = match which {
        Which::Measured(index) | Which::Theory(index) => index,
    };
    let name = format!("σ{}", subscript(index + 1));
    let s = scene.spectrum().get(index).copied().unwrap_or(0.0);
    let theory = plot::height(&scene.curves.modes[index].theory, x);
    let formula = scene.theory.formula("sigma", index).unwrap_or("");
    let mut lines = Vec::new();
    if which == Which::Theory(index) {
        lines.push(format!("{name}, theory"));
        lines.extend(theory.map(|value| format!("value {}", number(value))));
        lines.push(format!("formula {formula}"));
    } else if let Some(row) = scene.row(x) {
        lines.push(format!("{name}, measured"));
        lines.extend(measured(scene, "sigma", index, row));
        lines.extend(theory.map(|value| format!("theory {} ({formula})", number(value))));
    }
    lines.push(format!("goes to s{} = {}", subscript(index + 1), number(s)));
    if let (Some(predicted), seen) =
        (scene.theory.half(index, scene.look.axis), scene.curves.modes[index].half)
    {
        let seen = seen.map_or_else(|| "not yet".to_owned(), number);
        lines.push(format!("half-time: predicted {}, measured {seen}", number(predicted)));
    }
    lines
}

/// What is measured in one row: value or median and band, unit, formula, where.
pub fn measured(scene: Scene<'_>, metric: &str, index: usize, row: usize) -> Vec<String> {
    let Some(metric) = scene.log.metric(metric) else { return Vec::new() };
    let unit = if metric.info.unit.is_empty() { "no unit" } else { &metric.info.unit };
    let mut values: Vec<f32> = metric.across(row, index).collect();
    values.sort_by(f32::total_cmp);
    let at = |q: f64| f64::from(values[(q * (values.len() - 1) as f64).round() as usize]);
    let mut lines = Vec::new();
    if values.len() == 1 {
        lines.push(format!("value {} ({unit})", number(at(0.0))));
    } else if !values.is_empty() {
        lines.push(format!(
            "median {} ({unit}), 5–95 %: {} to {}",
            number(at(0.5)),
            number(at(0.05)),
            number(at(0.95))
        ));
    }
    lines.push(format!("formula {}", metric.info.formula));
    let (t, step) = (scene.log.times[row], scene.log.steps[row]);
    lines.push(format!("at t = {}, step {}", number(t), count(step)));
    lines
}
