//! The bar above: menus, transport, speed, undo, progress.

use super::action::{Action, Menu, key_text};
use super::plot::count;
use crate::engine::protocol::{Progress, State};
use eframe::egui;
use eframe::egui::{Button, ProgressBar, Slider, Ui};

/// What the bar shows.
#[derive(Clone, Copy, Debug)]
pub struct Top<'a> {
    pub state: State,
    pub step: u64,
    pub steps: u64,
    /// As a multiple of the normal speed; `None`: as fast as it goes.
    pub speed: Option<f64>,
    pub can_undo: bool,
    pub can_redo: bool,
    pub opened: bool,
    pub large: bool,
    /// What is done before the run can start.
    pub before: Option<&'a Progress>,
}

/// Range of the speed slider.
pub const SPEEDS: [f64; 2] = [1.0 / 32.0, 64.0];

impl Top<'_> {
    fn enabled(&self, action: &Action) -> bool {
        match action {
            Action::Undo => self.can_undo,
            Action::Redo => self.can_redo,
            Action::BackToLive => self.opened,
            _ => true,
        }
    }
}

pub fn show(ui: &mut Ui, top: Top<'_>) -> Option<Action> {
    let mut action = None;
    ui.horizontal(|ui| {
        for menu in Menu::ALL {
            ui.menu_button(menu.title(), |ui| list(ui, menu, top, &mut action));
        }
        ui.separator();
        let play = match top.state {
            _ if top.opened => "Live run",
            State::Playing => "▮▮ Pause",
            State::Done | State::Failed => "↻ Again",
            State::Preparing | State::Paused => "▶ Play",
        };
        button(ui, top, play, Action::PlayPause, &mut action);
        button(ui, top, "Step", Action::Step, &mut action);
        button(ui, top, "Reset", Action::Reset, &mut action);
        ui.separator();
        button(ui, top, "↶ Undo", Action::Undo, &mut action);
        if !top.large {
            button(ui, top, "↷ Redo", Action::Redo, &mut action);
            ui.separator();
            speed(ui, top, &mut action);
        }
        ui.separator();
        progress(ui, top);
    });
    action
}

fn list(ui: &mut Ui, menu: Menu, top: Top<'_>, action: &mut Option<Action>) {
    for item in Action::here().filter(|item| item.menu() == menu) {
        let keys = item.shortcut().map(|shortcut| key_text(ui.ctx(), &shortcut)).unwrap_or_default();
        let button = Button::new(item.label()).shortcut_text(keys);
        if ui.add_enabled(top.enabled(item), button).on_hover_text(item.tooltip()).clicked() {
            *action = Some(item.clone());
            ui.close();
        }
    }
    if menu == Menu::Run {
        ui.separator();
        ui.label("Drop a run folder onto the window to open it.");
    }
}

fn button(ui: &mut Ui, top: Top<'_>, text: &str, sends: Action, action: &mut Option<Action>) {
    let hint = sends.hint(ui.ctx());
    if ui.add_enabled(top.enabled(&sends), Button::new(text)).on_hover_text(hint).clicked() {
        *action = Some(sends);
    }
}

fn speed(ui: &mut Ui, top: Top<'_>, action: &mut Option<Action>) {
    ui.label("Speed").on_hover_text(Action::Speed(1.0).tooltip());
    let mut factor = top.speed.unwrap_or(SPEEDS[1]);
    ui.spacing_mut().slider_width = 80.0;
    let slider = Slider::new(&mut factor, SPEEDS[0]..=SPEEDS[1]).logarithmic(true).show_value(false);
    let response = ui.name_inputs("Speed", |ui| ui.add(slider)).on_hover_text(Action::Speed(1.0).tooltip());
    if response.changed() {
        *action = Some(Action::Speed(factor));
    }
    let text = match top.speed {
        None => "no limit".to_owned(),
        Some(factor) if factor >= 9.95 => format!("{factor:.0}×"),
        Some(factor) if factor >= 0.995 => format!("{factor:.1}×"),
        Some(factor) => format!("1/{:.0}×", 1.0 / factor),
    };
    let full = Button::selectable(top.speed.is_none(), "max").frame_when_inactive(true);
    ui.add_sized([52.0, 18.0], egui::Label::new(text));
    if ui.add(full).on_hover_text(Action::FullSpeed.hint(ui.ctx())).clicked() {
        *action = Some(if top.speed.is_none() { Action::NormalSpeed } else { Action::FullSpeed });
    }
}

fn progress(ui: &mut Ui, top: Top<'_>) {
    if let Some(Progress { what, done, of }) = top.before {
        let part = *done as f32 / (*of).max(1) as f32;
        let bar = ProgressBar::new(part).text(format!("{what} …")).desired_width(ui.available_width());
        ui.add(bar).on_hover_text("What is done before the run can start");
        return;
    }
    let part = top.step as f32 / top.steps.max(1) as f32;
    let text = format!("step {} of {}", count(top.step), count(top.steps));
    let bar = ProgressBar::new(part.min(1.0)).text(text).desired_width(ui.available_width());
    ui.add(bar).on_hover_text("How far the run is");
}
