//! The list of keys and the list of notices.

use super::action::{Action, Menu, key_text};
use super::plot::count;
use super::status::colour;
use crate::engine::protocol::Notice;
use eframe::egui;
use eframe::egui::{Align2, Grid, RichText, ScrollArea, TextWrapMode, Window};

/// All keys, menu by menu.
pub fn show(ctx: &egui::Context, open: &mut bool) {
    let window = Window::new("Keys").anchor(Align2::CENTER_CENTER, [0.0, 0.0]).collapsible(false);
    window.auto_sized().open(open).show(ctx, |ui| {
        ui.style_mut().wrap_mode = Some(TextWrapMode::Extend);
        ui.spacing_mut().item_spacing.y = 2.0;
        ui.horizontal_top(|ui| {
            column(ui, &[Menu::Run]);
            ui.add_space(18.0);
            column(ui, &[Menu::View, Menu::Help]);
            ui.add_space(18.0);
            column(ui, &[Menu::Engine]);
        });
        ui.label(
            "In the plots: drag to move, Ctrl and wheel to zoom, double click to fit; hover to read a curve.",
        );
    });
}

fn column(ui: &mut egui::Ui, menus: &[Menu]) {
    ui.vertical(|ui| {
        for menu in menus {
            ui.label(RichText::new(menu.title()).strong());
            Grid::new(menu.title()).num_columns(2).spacing([14.0, 2.0]).show(ui, |ui| {
                for action in Action::here().filter(|action| action.menu() == *menu) {
                    let Some(shortcut) = action.shortcut() else { continue };
                    ui.label(RichText::new(key_text(ui.ctx(), &shortcut)).monospace());
                    ui.label(action.label()).on_hover_text(action.tooltip());
                    ui.end_row();
                }
            });
            ui.add_space(4.0);
        }
    });
}

/// What the engine and the window had to say, newest first.
pub fn notices(ctx: &egui::Context, open: &mut bool, notices: &[Notice], dark: bool) {
    let window = Window::new("Notices").anchor(Align2::RIGHT_BOTTOM, [-12.0, -40.0]).collapsible(false);
    window.default_width(460.0).open(open).show(ctx, |ui| {
        if notices.is_empty() {
            ui.label("Nothing so far.");
        }
        ScrollArea::vertical().max_height(300.0).show(ui, |ui| {
            for notice in notices.iter().rev().take(200) {
                let text = format!("step {}: {}", count(notice.step), notice.text);
                ui.label(RichText::new(text).color(colour(notice.level, dark, ui)));
            }
        });
    });
}
