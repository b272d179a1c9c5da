//! Fonts, spacing and the two themes.

use eframe::egui;
use eframe::egui::{Color32, CornerRadius, FontFamily, Stroke, Theme, Visuals};

/// Zoom of the presentation mode.
pub const LARGE: f32 = 1.5;

/// Once, when the window opens.
pub fn set_up(ctx: &egui::Context) {
    ctx.set_fonts(fonts());
    ctx.set_visuals_of(Theme::Dark, dark());
    ctx.set_visuals_of(Theme::Light, light());
    ctx.all_styles_mut(|style| {
        style.spacing.item_spacing = egui::vec2(8.0, 5.0);
        style.spacing.button_padding = egui::vec2(8.0, 3.0);
        style.interaction.tooltip_delay = 0.25;
        // Nothing moves by itself: a window at rest draws nothing.
        style.animation_time = 0.0;
    });
}

/// The fonts egui ships; Hack, which has the mathematical signs, also behind the proportional one.
fn fonts() -> egui::FontDefinitions {
    let mut fonts = egui::FontDefinitions::default();
    if let Some(names) = fonts.families.get_mut(&FontFamily::Proportional) {
        names.push("Hack".to_owned());
    }
    fonts
}

fn light() -> Visuals {
    let mut visuals = Visuals::light();
    visuals.panel_fill = Color32::from_gray(0xFA);
    visuals.window_fill = Color32::WHITE;
    visuals.extreme_bg_color = Color32::WHITE;
    visuals.override_text_color = Some(Color32::from_gray(0x1C));
    round(visuals)
}

fn dark() -> Visuals {
    let mut visuals = Visuals::dark();
    visuals.panel_fill = Color32::from_gray(0x18);
    visuals.window_fill = Color32::from_gray(0x20);
    visuals.extreme_bg_color = Color32::from_gray(0x0E);
    visuals.override_text_color = Some(Color32::from_gray(0xE4));
    round(visuals)
}

fn round(mut visuals: Visuals) -> Visuals {
    visuals.window_corner_radius = CornerRadius::same(6);
    visuals.slider_trailing_fill = true;
    let blue = if visuals.dark_mode {
        Color32::from_rgb(0x1E, 0x5F, 0x94)
    } else {
        Color32::from_rgb(0xA8, 0xD4, 0xF2)
    };
    visuals.selection.bg_fill = blue;
    visuals.selection.stroke =
        Stroke::new(1.0, if visuals.dark_mode { Color32::WHITE } else { Color32::BLACK });
    visuals
}
