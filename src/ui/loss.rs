//! The loss, on a log scale: plateaus at the sums of squares still to be learned, and a mark
//! where theory says that it drops.

use super::modes::{self, Scene};
use super::palette;
use super::plot::{self, Follow, number, power_of_ten, subscript};
use eframe::egui::{RichText, Ui};
use egui_plot::{GridMark, Line, LineStyle, Plot, PlotBounds, PlotUi, VLine};
use std::ops::RangeInclusive;

/// With more modes than this the plateaus run into one another and are not marked.
const MARKED: usize = 16;

pub fn show(ui: &mut Ui, scene: Scene<'_>, follow: &mut Follow) {
    let curves = scene.curves;
    let [low, high] = if curves.decades == [0.0; 2] { [-3.0, 1.0] } else { curves.decades };
    let bounds = PlotBounds::from_min_max([0.0, low], [curves.x_end.max(1e-9) * 1.002, high]);
    ui.horizontal_wrapped(|ui| {
        ui.label(RichText::new("Loss").strong().size(17.0));
        if !scene.theory.overlay.half_steps.is_empty() {
            ui.label("plateaus, and drops where theory predicts them");
        }
    });
    let plot = Plot::new("loss")
        .x_axis_label(plot::x_label(scene.look.axis))
        .y_axis_label("loss  ‖P − A‖²")
        .y_grid_spacer(plot::round_marks(4.0, if high - low > 1.5 { 1.0 } else { 0.0 }))
        .y_axis_formatter(decade)
        .y_axis_min_width(46.0);
    let (response, transform) =
        plot::framed(ui, plot, scene.look, follow, bounds, move |plot_ui| draw(plot_ui, scene));
    let Some(pointer) = response.hover_pos() else { return };
    let pair = &curves.loss;
    let lines = [(false, &pair.measured.line[..]), (true, &pair.theory[..])].into_iter();
    if let Some((theory, x)) = plot::nearest(lines, pointer, &transform) {
        plot::tell(&response, &describe(scene, theory, x));
    }
}

/// Whole decades by name; between them numbers, where nothing else would be seen.
fn decade(mark: GridMark, range: &RangeInclusive<f64>) -> String {
    if (mark.value - mark.value.round()).abs() < 1e-6 {
        power_of_ten(mark.value.round() as i64)
    } else if range.end() - range.start() < 1.5 {
        number(10f64.powf(mark.value))
    } else {
        String::new()
    }
}

fn draw<'a>(plot_ui: &mut PlotUi<'a>, scene: Scene<'a>) {
    let look = scene.look;
    let colour = palette::loss(look.dark);
    let modes = scene.spectrum().len();
    for &(index, step) in &scene.theory.overlay.half_steps {
        let x = scene.theory.timeline.x(step, look.axis);
        if x.is_finite() && modes <= MARKED {
            let colour = palette::mode(index, modes, look.dark).gamma_multiply(0.7);
            let line = VLine::new("", x).color(colour).width(1.2).style(LineStyle::dotted_dense());
            plot_ui.vline(line.allow_hover(false));
        }
    }
    for (from, to, level) in plateaus(scene) {
        let line = Line::new("", vec![[from, level], [to, level]]).color(look.faint()).width(1.0);
        plot_ui.line(line.allow_hover(false));
    }
    modes::band(plot_ui, &scene.curves.loss, palette::band(colour));
    let measured = Line::new("", &scene.curves.loss.measured.line[..])
        .allow_band(false)
        .color(colour)
        .width(look.line());
    plot_ui.line(measured.allow_hover(false));
    modes::theory(plot_ui, &scene.curves.loss.theory, palette::theory(colour, look.dark), look, 0);
}

/// The plateaus between predicted drops: (from, to, log10 of what is still to be learned).
fn plateaus(scene: Scene<'_>) -> Vec<(f64, f64, f64)> {
    let spectrum = scene.spectrum();
    if spectrum.len() > MARKED {
        return Vec::new();
    }
    let mut drops: Vec<(usize, f64)> = (0..spectrum.len())
        .filter_map(|index| Some((index, scene.theory.half(index, scene.look.axis)?)))
        .collect();
    drops.sort_by(|a, b| a.1.total_cmp(&b.1));
    let mut left: f64 = spectrum.iter().map(|s| s * s).sum();
    let mut from = 0.0;
    let mut found = Vec::new();
    for (index, x) in drops {
        found.push((from, x, super::curves::log10(left)));
        left -= spectrum[index] * spectrum[index];
        from = x;
    }
    found
}

fn describe(scene: Scene<'_>, theory: bool, x: f64) -> Vec<String> {
    let formula = scene.theory.formula("loss", 0).unwrap_or("sum of what each mode still lacks, squared");
    let predicted = plot::height(&scene.curves.loss.theory, x).map(|value| number(10f64.powf(value)));
    let mut lines = Vec::new();
    if theory {
        lines.push("loss, theory".to_owned());
        lines.extend(predicted.map(|value| format!("value {value}")));
        lines.push(format!("formula {formula}"));
    } else if let Some(row) = scene.row(x) {
        lines.push("loss, measured".to_owned());
        lines.extend(modes::measured(scene, "loss", 0, row));
        lines.extend(predicted.map(|value| format!("theory {value} ({formula})")));
    }
    let next = plateaus(scene).into_iter().position(|(from, to, _)| (from..to).contains(&x));
    if let Some(learned) = next {
        lines
            .push(format!("on the plateau after {learned} modes, where s{} is next", subscript(learned + 1)));
    }
    lines
}
