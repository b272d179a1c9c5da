//! What the two plots share: frame, axes, following the run, and the hover.

use super::theory::Axis;
use eframe::egui;
use eframe::egui::{Color32, Pos2, Response, RichText, Ui};
use egui_plot::{GridInput, GridMark, Plot, PlotBounds, PlotPoint, PlotTransform, PlotUi};

/// How far from a curve the pointer may be to mean it, in points.
const REACH: f32 = 14.0;

/// Difference in distance below which curves count as lying on one another, in points.
const TIE: f32 = 2.0;

/// How things look now.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Look {
    pub axis: Axis,
    pub dark: bool,
    pub large: bool,
}

impl Look {
    /// Width of a measured curve.
    pub fn line(self) -> f32 {
        if self.large { 3.4 } else { 2.6 }
    }

    /// Width of the theory over it.
    pub fn thin(self) -> f32 {
        if self.large { 1.9 } else { 1.4 }
    }

    pub fn ink(self) -> Color32 {
        if self.dark { Color32::from_gray(0xE4) } else { Color32::from_gray(0x1C) }
    }

    pub fn grid(self) -> Color32 {
        Color32::from_gray(if self.dark { 0x3A } else { 0xDC })
    }

    pub fn faint(self) -> Color32 {
        Color32::from_gray(if self.dark { 0x88 } else { 0x77 })
    }
}

/// Whether a plot shows the whole run or what the user has zoomed to.
#[derive(Clone, Copy, Debug)]
pub struct Follow(pub bool);

impl Default for Follow {
    fn default() -> Self {
        Self(true)
    }
}

/// The label of the horizontal axis.
pub fn x_label(axis: Axis) -> &'static str {
    match axis {
        Axis::Time => "time t = learning rate × steps",
        Axis::Step => "optimizer steps",
    }
}

/// A plot without what egui_plot does by itself: bounds follow the run until the user zooms or
/// moves, a double click brings them back. Returns the response and where things are.
pub fn framed<'a>(
    ui: &mut Ui,
    plot: Plot<'a>,
    look: Look,
    follow: &mut Follow,
    bounds: PlotBounds,
    draw: impl FnOnce(&mut PlotUi<'a>) + 'a,
) -> (Response, PlotTransform) {
    let following = follow.0;
    let plot = plot
        .auto_bounds(false)
        .show_x(false)
        .show_y(false)
        .show_crosshair(false)
        .label_formatter(|_| None)
        .allow_double_click_reset(false)
        .x_grid_spacer(round_marks(10.0, 0.0))
        .x_axis_formatter(|mark, _| number(mark.value))
        .set_margin_fraction(egui::Vec2::ZERO)
        .grid_color(look.grid())
        .grid_fade(0.4);
    let shown = plot.show(ui, move |plot_ui| {
        if following {
            plot_ui.set_plot_bounds(bounds);
        }
        draw(plot_ui);
    });
    if following && moved(shown.transform.bounds(), &bounds) && ui.input(touched) {
        follow.0 = false;
    }
    if shown.response.double_clicked() {
        follow.0 = true;
        ui.ctx().request_repaint();
    }
    (shown.response, shown.transform)
}

fn touched(input: &egui::InputState) -> bool {
    input.pointer.any_down() || input.smooth_scroll_delta != egui::Vec2::ZERO || input.zoom_delta() != 1.0
}

fn moved(a: &PlotBounds, b: &PlotBounds) -> bool {
    let (a, b) = ([a.min(), a.max()], [b.min(), b.max()]);
    let scale = [b[1][0] - b[0][0], b[1][1] - b[0][1]];
    (0..2).any(|end| (0..2).any(|axis| (a[end][axis] - b[end][axis]).abs() > 1e-6 * scale[axis]))
}

/// Grid lines at 1, 2 or 5 times a power of ten, so far apart that each has room for its number:
/// `parts` times the least distance that egui_plot draws, and `least`.
pub fn round_marks(parts: f64, least: f64) -> impl Fn(GridInput) -> Vec<GridMark> {
    move |input| {
        let step = round_up((input.base_step_size * parts).max(least));
        let (first, last) = ((input.bounds.0 / step).ceil(), (input.bounds.1 / step).floor());
        let few = last - first < 1_000.0;
        if !few {
            return Vec::new();
        }
        (first as i64..=last as i64).map(|i| GridMark { value: i as f64 * step, step_size: step }).collect()
    }
}

/// The least of 1, 2 and 5 times a power of ten that is not below `value`.
fn round_up(value: f64) -> f64 {
    let power = 10f64.powf(value.log10().floor());
    [1.0, 2.0, 5.0].into_iter().map(|digit| digit * power).find(|step| *step >= value).unwrap_or(10.0 * power)
}

/// The curve nearest to the pointer and the place on the axis below the pointer; of curves that
/// lie on one another the first.
pub fn nearest<'a, K: Copy>(
    curves: impl Iterator<Item = (K, &'a [PlotPoint])>,
    pointer: Pos2,
    transform: &PlotTransform,
) -> Option<(K, f64)> {
    let x = transform.value_from_position(pointer).x;
    let reach = f64::from(REACH) * transform.dvalue_dpos()[0].abs();
    let mut best: Option<(f32, K)> = None;
    for (key, points) in curves {
        let from = points.partition_point(|p| p.x < x - reach).saturating_sub(1);
        let to = (points.partition_point(|p| p.x <= x + reach) + 1).min(points.len());
        for pair in points[from.min(to)..to].windows(2) {
            let [a, b] = [0, 1].map(|i| transform.position_from_point(&pair[i]));
            let distance = to_segment(pointer, a, b);
            if distance <= REACH && best.is_none_or(|(least, _)| distance + TIE < least) {
                best = Some((distance, key));
            }
        }
    }
    best.map(|(_, key)| (key, x))
}

fn to_segment(p: Pos2, a: Pos2, b: Pos2) -> f32 {
    let (along, from) = (b - a, p - a);
    let part = (from.dot(along) / along.length_sq().max(1e-9)).clamp(0.0, 1.0);
    (from - part * along).length()
}

/// Height of a polyline at `x`, where it reaches.
pub fn height(points: &[PlotPoint], x: f64) -> Option<f64> {
    let at = points.partition_point(|p| p.x < x);
    let (a, b) = (points.get(at.checked_sub(1)?)?, points.get(at)?);
    Some(a.y + (b.y - a.y) * (x - a.x) / (b.x - a.x))
}

/// Lines of text beside the pointer, the first one strong.
pub fn tell(response: &Response, lines: &[String]) {
    let place = egui::PopupAnchor::Pointer;
    let tip = egui::Tooltip::always_open(response.ctx.clone(), response.layer_id, response.id, place);
    tip.gap(14.0).show(|ui| {
        ui.set_max_width(420.0);
        for (i, line) in lines.iter().enumerate() {
            let text = RichText::new(line);
            ui.label(if i == 0 { text.strong() } else { text });
        }
    });
}

/// A number as the views write it: four digits, a power of ten where needed.
pub fn number(value: f64) -> String {
    if !value.is_finite() {
        return "not finite".to_owned();
    }
    let size = value.abs();
    if size == 0.0 {
        "0".to_owned()
    } else if !(1e-3..1e5).contains(&size) {
        format!("{value:.3e}")
    } else {
        let digits = (3.0 - size.log10().floor()).clamp(0.0, 6.0) as usize;
        let text = format!("{value:.digits$}");
        if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
    }
}

/// A count with spaces between thousands.
pub fn count(value: u64) -> String {
    let digits = value.to_string();
    let mut out = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(' ');
        }
        out.push(digit);
    }
    out
}

/// A small index below the line: `1` → `₁`.
pub fn subscript(index: usize) -> String {
    index.to_string().chars().map(|c| char::from_u32(0x2080 + c as u32 - 0x30).unwrap_or(c)).collect()
}

/// `10` to a whole power.
pub fn power_of_ten(power: i64) -> String {
    const RAISED: [char; 10] = ['⁰', '¹', '²', '³', '⁴', '⁵', '⁶', '⁷', '⁸', '⁹'];
    let sign = if power < 0 { "⁻" } else { "" };
    let digits = power.unsigned_abs().to_string();
    let raised: String = digits.bytes().map(|digit| RAISED[usize::from(digit - b'0')]).collect();
    format!("10{sign}{raised}")
}
