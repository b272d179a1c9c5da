//! The controls: presets, the task, the start, the learning rate, the ensemble.

use super::action::Action;
use super::plot::{Look, number};
use super::{bars, edit};
use crate::engine::admit::{IMBALANCE, MAX_ETA, MAX_STEPS, MAX_TAU, MAX_WIDTH};
use crate::scenarios::Preset;
use crate::spec::{Basis, Det, Spec, Start};
use eframe::egui;
use eframe::egui::{ComboBox, DragValue, Grid, Response, RichText, Slider, SliderClamping, Ui};

/// Most members that the slider offers; a Spec may have more.
const SEEDS: u32 = 256;

/// A window lower than this has its presets in a drop-down list, so that no control is hidden.
const LIST: f32 = 840.0;

/// What the controls show.
pub struct Panel<'a> {
    pub title: &'a str,
    pub sentence: &'a str,
    pub presets: &'a [Preset],
    /// The preset chosen last, if it is unchanged.
    pub preset: Option<usize>,
    /// The spectrum in force, from which a drag of the width starts.
    pub spectrum: &'a [f64],
    pub look: Look,
}

/// Shows the controls over a draft of the Spec; returns what a completed change asks for.
pub fn show(ui: &mut Ui, panel: &Panel<'_>, draft: &mut Spec) -> Option<Action> {
    let mut action = gallery(ui, panel);
    ui.separator();
    let before = draft.clone();
    let mut done = spectrum(ui, draft, panel.look);
    let eta = Grid::new("parameters").num_columns(2).spacing([10.0, 6.0]).show(ui, |ui| {
        done |= width(ui, draft, panel.spectrum);
        let eta = learning_rate(ui, draft);
        done |= start(ui, draft);
        done |= ensemble(ui, draft);
        eta
    });
    if done {
        if before.training.steps == draft.training.steps {
            edit::fit_length(draft);
        }
        action = Some(Action::Restart(Box::new(draft.clone())));
    }
    action.or(eta.inner.map(Action::Eta))
}

fn gallery(ui: &mut Ui, panel: &Panel<'_>) -> Option<Action> {
    let mut action = None;
    ui.label(RichText::new(panel.title).strong().size(17.0)).on_hover_text(panel.sentence);
    if ui.ctx().content_rect().height() < LIST {
        let chosen = panel.preset.and_then(|index| panel.presets.get(index));
        let shown = chosen.map_or("your own settings", |preset| preset.title);
        ui.name_inputs("Preset", |ui| {
            ComboBox::from_id_salt("preset")
                .selected_text(shown)
                .width(ui.available_width())
                .height(420.0)
                .show_ui(ui, |ui| action = presets(ui, panel));
        });
    } else {
        action = presets(ui, panel);
    }
    let text = panel.preset.and_then(|index| panel.presets.get(index)).map(|preset| preset.look_for);
    ui.label(RichText::new(text.unwrap_or("Your own settings; undo leads back to the preset.")).italics());
    action
}

fn presets(ui: &mut Ui, panel: &Panel<'_>) -> Option<Action> {
    let mut action = None;
    let column = egui::Layout::top_down_justified(egui::Align::LEFT);
    ui.with_layout(column, |ui| {
        for (index, preset) in panel.presets.iter().enumerate() {
            let response = ui.selectable_label(panel.preset == Some(index), preset.title);
            if response.on_hover_text(preset.look_for).clicked() {
                action = Some(Action::Choose(index));
            }
        }
    });
    action
}

/// Whether a widget's change is complete: released, or set without a drag.
fn committed(response: &Response) -> bool {
    response.drag_stopped() || (response.changed() && !response.dragged())
}

fn spectrum(ui: &mut Ui, draft: &mut Spec, look: Look) -> bool {
    ui.horizontal(|ui| {
        ui.label("Singular values of the task");
        ui.with_layout(egui::Layout::right_to_left(egui::Align::Center), |ui| {
            ui.label(RichText::new("drag the bars").weak());
        });
    });
    bars::show(ui, &mut edit::linear_mut(draft).spectrum, look)
}

/// A change makes a geometric spectrum between the ends of the one in force.
fn width(ui: &mut Ui, draft: &mut Spec, spectrum: &[f64]) -> bool {
    let linear = edit::linear_mut(draft);
    let mut d = linear.spectrum.len();
    let tooltip = "Width of every layer and number of modes; a change makes a geometric spectrum";
    let bar = Slider::new(&mut d, 2..=MAX_WIDTH).update_while_editing(false);
    let response = row(ui, "Width d", tooltip, |ui| slider(ui, bar));
    if d != linear.spectrum.len() {
        linear.spectrum = if d == spectrum.len() { spectrum.to_vec() } else { edit::with_width(spectrum, d) };
    }
    committed(&response)
}

/// The learning rate acts while it is dragged.
fn learning_rate(ui: &mut Ui, draft: &mut Spec) -> Option<f64> {
    let limit = edit::eta_limit(edit::linear(draft));
    let (low, high) = (1e-4_f64.min(limit / 100.0), 4.0 * limit);
    let mut eta = draft.training.eta;
    let range = low..=high.max(eta);
    let place = (limit / low).ln() / (range.end() / low).ln();
    let response = row(ui, "Learning rate η", Action::Eta(0.0).tooltip(), |ui| {
        let widgets = ui.horizontal(|ui| {
            let bare = Slider::new(&mut eta, range).logarithmic(true).smallest_positive(low);
            let response = slider(ui, bare.show_value(false));
            mark(ui, &response, place, limit);
            let value = DragValue::new(&mut eta)
                .range(1e-6..=MAX_ETA)
                .clamp_existing_to_range(false)
                .speed(1e-4)
                .max_decimals(5);
            response | ui.add(value.update_while_editing(false))
        });
        widgets.inner
    });
    if response.changed() && eta != draft.training.eta {
        draft.training.eta = edit::three_digits(eta);
        return Some(draft.training.eta);
    }
    None
}

/// A line on the slider at the largest stable learning rate.
fn mark(ui: &mut Ui, slider: &Response, part: f64, limit: f64) {
    let handle = slider.rect.height() / 2.5;
    let line = slider.rect.x_range().shrink(handle);
    let x = line.min + (line.max - line.min) * part as f32;
    let place = egui::Rect::from_center_size(
        egui::pos2(x, slider.rect.center().y),
        egui::vec2(8.0, slider.rect.height()),
    );
    let colour = super::palette::error(ui.visuals().dark_mode);
    ui.painter().vline(x, place.y_range(), egui::Stroke::new(2.0, colour));
    let text = format!("largest stable learning rate: {} = 1/(2 s₁) for two layers", number(limit));
    ui.interact(place, slider.id.with("limit"), egui::Sense::hover()).on_hover_text(text);
}

fn start(ui: &mut Ui, draft: &mut Spec) -> bool {
    let linear = edit::linear_mut(draft);
    let scale = Slider::new(&mut linear.tau, 0.0..=MAX_TAU / 2.0).max_decimals(2);
    let mut done = committed(&row(ui, "Start scale τ", "Every layer starts at the scale e^-τ", |ui| {
        slider(ui, scale)
    }));
    done |= choice(
        ui,
        "Start",
        "What the layers are at step 0",
        &mut linear.start,
        &[
            (Start::Aligned, "aligned with the task"),
            (Start::Identity, "identity"),
            (Start::Random, "random"),
            (Start::Unbalanced, "aligned, unbalanced"),
        ],
    );
    if linear.start == Start::Unbalanced {
        linear.depth = 2;
        if done && linear.imbalance == 1.0 {
            linear.imbalance = 3.0;
        }
        let bar = Slider::new(&mut linear.imbalance, IMBALANCE[0]..=IMBALANCE[1]).logarithmic(true);
        let tooltip = "W₁ = r e^-τ U and W₂ = e^-τ/r V^T";
        done |= committed(&row(ui, "Imbalance r", tooltip, |ui| slider(ui, bar)));
    }
    let tooltip = "Depth N: one layer is the shallow contrast, where all modes come at once";
    done |=
        choice(ui, "Layers", tooltip, &mut linear.depth, &[(1, "1, shallow"), (2, "2"), (3, "3"), (4, "4")]);
    let tooltip = "The identity start cannot learn the last mode if det A < 0";
    done |= choice(
        ui,
        "Sign of det A",
        tooltip,
        &mut linear.det,
        &[(Det::Any, "as drawn"), (Det::Positive, "positive"), (Det::Negative, "negative")],
    );
    let tooltip = "The singular vectors of the task, drawn for each member";
    let options = [(Basis::Random, "random orthogonal"), (Basis::Identity, "identity")];
    done | choice(ui, "Bases U, V", tooltip, &mut linear.basis, &options)
}

fn ensemble(ui: &mut Ui, draft: &mut Spec) -> bool {
    let most = SEEDS.max(draft.ensemble.members);
    let bar =
        Slider::new(&mut draft.ensemble.members, 1..=most).logarithmic(true).update_while_editing(false);
    let tooltip = "Members of the ensemble, trained side by side: each has its own task and start";
    let mut done = committed(&row(ui, "Seeds", tooltip, |ui| slider(ui, bar)));
    let seed = DragValue::new(&mut draft.seed).update_while_editing(false);
    done |= committed(&row(ui, "First seed", "Key of every random draw of the run", |ui| ui.add(seed)));
    let steps = DragValue::new(&mut draft.training.steps).range(1..=MAX_STEPS).speed(10.0);
    let tooltip = "Length of the run; set by itself when the task changes";
    done | committed(&row(ui, "Steps", tooltip, |ui| ui.add(steps.update_while_editing(false))))
}

/// A row of the grid: the name, and the widgets that it names.
fn row<R>(ui: &mut Ui, name: &str, tooltip: &str, widgets: impl FnOnce(&mut Ui) -> R) -> R {
    let label = ui.label(name).on_hover_text(tooltip);
    let result = ui.label_inputs_by(label.id, widgets);
    ui.end_row();
    result
}

fn slider(ui: &mut Ui, slider: Slider<'_>) -> Response {
    ui.spacing_mut().slider_width = 108.0;
    // A Spec from elsewhere may lie outside a slider's range; looking at it must not change it.
    ui.add(slider.clamping(SliderClamping::Edits))
}

fn choice<T: Copy + PartialEq>(
    ui: &mut Ui,
    name: &str,
    tooltip: &str,
    value: &mut T,
    options: &[(T, &str)],
) -> bool {
    let before = *value;
    let chosen = options.iter().find(|(option, _)| *option == before).map_or("", |(_, name)| name);
    row(ui, name, tooltip, |ui| {
        ComboBox::from_id_salt(name).selected_text(chosen).width(168.0).show_ui(ui, |ui| {
            for (option, name) in options {
                ui.selectable_value(value, *option, *name);
            }
        });
    });
    *value != before
}
