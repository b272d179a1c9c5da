//! Where everything is in the window.

use super::action::Action;
use super::modes::{self, Scene};
use super::window::Window;
use super::{controls, drop, heat, keys, loss, status, top};
use eframe::egui;
use eframe::egui::{CentralPanel, DragValue, Frame, Margin, Panel, ScrollArea, Ui};

impl Window {
    /// Draws a frame and does what the user asked for in it.
    pub fn ui(&mut self, ui: &mut Ui) {
        let ctx = ui.ctx().clone();
        self.input(&ctx);
        self.look.dark = ctx.theme() == egui::Theme::Dark;
        // Between `logic` and here an action may have changed the axis.
        self.logic(&ctx);
        self.update_heat(&ctx);
        let held = ctx.input(|input| input.pointer.any_down());
        if !held && self.history.is_dragging() {
            self.history.end_drag();
            // The theory may have waited for this.
            ctx.request_repaint();
        }
        if !held && !ctx.text_edit_focused() && !ctx.input(|input| input.pointer.any_released()) {
            self.draft = self.history.now().spec.clone();
        }
        let mut actions = Vec::new();
        actions.extend(Panel::top("top").show(ui, |ui| top::show(ui, self.top())).inner);
        actions.extend(Panel::bottom("status").show(ui, |ui| self.status(ui)).inner);
        if self.shown.controls {
            let panel = Panel::left("controls").resizable(false).exact_size(318.0);
            actions.extend(panel.show(ui, |ui| self.controls(ui)).inner);
        }
        let margin = Frame::central_panel(ui.style()).inner_margin(Margin::symmetric(10, 6));
        actions.extend(CentralPanel::default().frame(margin).show(ui, |ui| self.views(ui)).inner);
        keys::show(&ctx, &mut self.shown.keys);
        keys::notices(&ctx, &mut self.shown.notices, &self.notices, self.look.dark);
        drop::show(&ctx);
        for action in actions {
            self.perform(&action, &ctx);
        }
    }

    fn top(&self) -> top::Top<'_> {
        let log = self.log();
        let header = log.header.as_ref();
        top::Top {
            state: log.status.state,
            step: log.status.step.max(log.last_step()),
            steps: header.map_or(self.history.now().spec.training.steps, |h| h.spec.training.steps),
            speed: self.speed,
            can_undo: self.history.can_undo(),
            can_redo: self.history.can_redo(),
            opened: self.opened.is_some(),
            large: self.look.large,
            before: self.progress.as_ref().filter(|_| self.opened.is_none()),
        }
    }

    fn status(&self, ui: &mut Ui) -> Option<Action> {
        let log = self.log();
        let facts = status::Facts {
            header: log.header.as_ref(),
            status: &log.status,
            frame: self.frame_times(),
            notice: self.notices.last(),
            not_finite: self.digest.not_finite(),
            opened: self.opened.as_ref().map(|opened| opened.name.as_str()),
            dark: self.look.dark,
        };
        status::show(ui, &facts)
    }

    fn controls(&mut self, ui: &mut Ui) -> Option<Action> {
        let panel = controls::Panel {
            title: self.scenario.title,
            sentence: self.scenario.sentence,
            presets: &self.presets,
            preset: self.history.now().preset,
            spectrum: &super::edit::linear(&self.history.now().spec).spectrum,
            look: self.look,
        };
        if let Some(header) = self.opened.as_ref().and_then(|opened| opened.log.header.as_ref()) {
            let mut spec = header.spec.clone();
            let preset = self.presets.iter().position(|preset| preset.spec == spec);
            let panel = controls::Panel { preset, spectrum: &[], ..panel };
            ui.label("The settings of the opened run. Escape leads back to the live one.");
            ui.separator();
            ui.disable();
            ScrollArea::vertical().show(ui, |ui| controls::show(ui, &panel, &mut spec));
            return None;
        }
        let draft = &mut self.draft;
        ScrollArea::vertical().show(ui, |ui| controls::show(ui, &panel, draft)).inner
    }

    /// The modes above, the loss and the heat maps below.
    fn views(&mut self, ui: &mut Ui) -> Option<Action> {
        let [mut upper, mut lower] = self.follow;
        let look = self.look;
        let scene =
            Scene { log: self.log(), digest: &self.digest, theory: &self.theory, curves: &self.curves, look };
        let area = ui.available_size();
        let below = (area.y * 0.42).clamp(150.0, 460.0);
        ui.allocate_ui(egui::vec2(area.x, area.y - below - 8.0), |ui| modes::show(ui, scene, &mut upper));
        ui.add_space(4.0);
        let mut action = None;
        ui.horizontal_top(|ui| {
            let height = ui.available_height().min(below);
            let maps = (2.2 * height).min(0.5 * area.x);
            let left = area.x - maps - 14.0;
            let column = egui::Layout::top_down(egui::Align::LEFT);
            ui.allocate_ui_with_layout(egui::vec2(left, below), column, |ui| {
                loss::show(ui, scene, &mut lower)
            });
            ui.allocate_ui_with_layout(egui::vec2(maps, below), column, |ui| action = self.maps(ui));
        });
        self.follow = [upper, lower];
        action
    }

    fn maps(&self, ui: &mut Ui) -> Option<Action> {
        let log = self.log();
        let depth = log.header.as_ref().map_or(2, |header| super::edit::linear(&header.spec).depth);
        let mut action = None;
        ui.horizontal_wrapped(|ui| {
            heat::title(ui, &self.heat, depth);
            for (basis, name) in [(heat::Basis::Singular, "singular basis"), (heat::Basis::Plain, "plain")] {
                let button = ui.selectable_label(self.basis == basis, name);
                if button.on_hover_text(Action::Basis.hint(ui.ctx())).clicked() && self.basis != basis {
                    action = Some(Action::Basis);
                }
            }
            let members = log.members().max(1) as u32;
            if members > 1 {
                let mut member = self.member;
                let value = DragValue::new(&mut member).range(0..=members - 1).prefix("member ");
                let shown = ui.name_inputs(Action::Member(0).label(), |ui| ui.add(value));
                if shown.on_hover_text(Action::Member(0).tooltip()).changed() {
                    action = Some(Action::Member(member));
                }
            }
        });
        if self.opened.is_some() {
            ui.label("A kept run has measurements, not matrices: only the task is shown.");
        }
        heat::show(ui, &self.heat, depth, self.basis, self.look);
        action
    }
}
