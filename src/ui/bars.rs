//! The spectrum of the task as bars whose tops are dragged. The colours are those of the modes,
//! so that the bars are the plots' legend as well.

use super::edit::{sort, three_digits};
use super::palette;
use super::plot::{Look, number, subscript};
use crate::engine::admit::MAX_SINGULAR_VALUE;
use eframe::egui;
use eframe::egui::{Align2, CursorIcon, Id, Rect, Sense, Ui};

const HEIGHT: f32 = 104.0;

/// A drag that goes on: which bar, and the value at the upper edge when it began.
#[derive(Clone, Copy, Debug)]
struct Drag {
    bar: usize,
    top: f64,
}

/// Shows the spectrum and lets it be changed; true when a change is complete.
pub fn show(ui: &mut Ui, spectrum: &mut [f64], look: Look) -> bool {
    let size = egui::vec2(ui.available_width(), HEIGHT);
    let (rect, response) = ui.allocate_exact_size(size, Sense::drag());
    response.widget_info(|| egui::WidgetInfo::labeled(egui::Role::Group, true, "Spectrum of the task"));
    if spectrum.is_empty() {
        return false;
    }
    let id = response.id.with("drag");
    let mut drag: Option<Drag> = ui.data(|data| data.get_temp(id));
    let fresh_top = spectrum.iter().copied().fold(1e-3, f64::max) * 1.18;
    let column = rect.width() / spectrum.len() as f32;
    let last = spectrum.len() - 1;
    let under = |x: f32| (((x - rect.left()) / column).max(0.0) as usize).min(last);
    if let Some(pointer) = response.interact_pointer_pos().filter(|_| response.drag_started()) {
        drag = Some(Drag { bar: under(pointer.x), top: fresh_top });
    }
    let top = drag.map_or(fresh_top, |drag| drag.top);
    let mut done = false;
    if let Some(held) = drag {
        if let Some(pointer) = response.interact_pointer_pos() {
            let part = f64::from((rect.bottom() - pointer.y) / rect.height()).clamp(0.0, 1.6);
            // The lowest two pixels are zero, which no hand would hit otherwise.
            let value = if part * f64::from(rect.height()) < 2.0 { 0.0 } else { part * top };
            if let Some(bar) = spectrum.get_mut(held.bar) {
                *bar = three_digits(value.min(MAX_SINGULAR_VALUE));
            }
        }
        if response.drag_stopped() {
            sort(spectrum);
            drag = None;
            done = true;
        }
    }
    keep(ui, id, drag);
    let told = drag.map(|drag| drag.bar).or_else(|| response.hover_pos().map(|pointer| under(pointer.x)));
    paint(ui, rect, spectrum, top, told, look);
    if let Some(bar) = told.filter(|_| response.hovered() || drag.is_some()) {
        ui.ctx().set_cursor_icon(CursorIcon::ResizeVertical);
        let name = format!("s{} = {}", subscript(bar + 1), number(spectrum[bar]));
        let line = "singular value of the task A = U diag(s) V^T (no unit)".to_owned();
        super::plot::tell(
            &response,
            &[name, line, "drag the top; the modes are sorted on release".to_owned()],
        );
    }
    done
}

fn keep(ui: &Ui, id: Id, drag: Option<Drag>) {
    ui.data_mut(|data| match drag {
        Some(drag) => {
            data.insert_temp(id, drag);
        }
        None => data.remove::<Drag>(id),
    });
}

fn paint(ui: &Ui, rect: Rect, spectrum: &[f64], top: f64, told: Option<usize>, look: Look) {
    let painter = ui.painter_at(rect.expand(1.0));
    painter.rect_filled(rect, 3.0, ui.visuals().extreme_bg_color);
    let column = rect.width() / spectrum.len() as f32;
    let gap = if column > 8.0 { 2.0 } else { 0.5 };
    for (index, value) in spectrum.iter().enumerate() {
        let colour = palette::mode(index, spectrum.len(), look.dark);
        let colour = if told == Some(index) { colour } else { colour.gamma_multiply(0.85) };
        let height = ((value / top) as f32 * rect.height()).clamp(1.5, rect.height());
        let left = rect.left() + index as f32 * column;
        let bar = Rect::from_min_max(
            egui::pos2(left + gap, rect.bottom() - height),
            egui::pos2(left + column - gap, rect.bottom()),
        );
        painter.rect_filled(bar, if column > 8.0 { 2.0 } else { 0.0 }, colour);
        if column > 30.0 {
            let font = egui::TextStyle::Small.resolve(ui.style());
            let place = egui::pos2(bar.center().x, (bar.top() - 2.0).max(rect.top() + font.size + 1.0));
            painter.text(place, Align2::CENTER_BOTTOM, number(*value), font, look.ink());
        }
    }
}
