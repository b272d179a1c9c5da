//! The bar below, always visible: who computes, how fast, how much memory, and what went wrong.

use super::action::Action;
use super::digest::NotFinite;
use super::palette;
use super::plot::count;
use crate::engine::admit::human_bytes;
use crate::engine::protocol::{Header, Level, Notice, State, Status};
use eframe::egui;
use eframe::egui::{RichText, Sense, Ui};

/// What the bar shows.
pub struct Facts<'a> {
    pub header: Option<&'a Header>,
    pub status: &'a Status,
    /// Median and 99th percentile of the window's time for a frame, in seconds.
    pub frame: Option<[f32; 2]>,
    pub notice: Option<&'a Notice>,
    pub not_finite: &'a [NotFinite],
    /// The folder of an opened run.
    pub opened: Option<&'a str>,
    pub dark: bool,
}

pub fn show(ui: &mut Ui, facts: &Facts<'_>) -> Option<Action> {
    let mut action = None;
    ui.horizontal_wrapped(|ui| {
        state(ui, facts);
        if let Some(header) = facts.header {
            executor(ui, header);
            members(ui, header);
        }
        rate(ui, facts);
        finite(ui, facts);
        if let Some(notice) = facts.notice {
            let text = RichText::new(&notice.text).color(colour(notice.level, facts.dark, ui));
            let label = egui::Label::new(text).truncate().sense(Sense::click());
            if ui.add(label).on_hover_text(Action::Notices.hint(ui.ctx())).clicked() {
                action = Some(Action::Notices);
            }
        }
    });
    action
}

fn state(ui: &mut Ui, facts: &Facts<'_>) {
    if let Some(folder) = facts.opened {
        ui.label(RichText::new(format!("opened {folder}")).strong());
        ui.separator();
        return;
    }
    let text = match facts.status.state {
        State::Preparing => "preparing",
        State::Playing => "playing",
        State::Paused => "paused",
        State::Done => "done",
        State::Failed => "failed",
    };
    let text = RichText::new(text).strong();
    let failed = facts.status.state == State::Failed;
    ui.label(if failed { text.color(palette::error(facts.dark)) } else { text });
    ui.separator();
}

fn executor(ui: &mut Ui, header: &Header) {
    let executor = &header.executor;
    let software = if executor.software { ", software adapter" } else { "" };
    let backend = if executor.backend.is_empty() {
        String::new()
    } else {
        format!(" ({}{software})", executor.backend)
    };
    let text = format!("{} · {}{backend}", executor.kind, shortened(&executor.device));
    let reason = if executor.reason.is_empty() { "chosen by hand" } else { &executor.reason };
    let variants = executor.variants.join(", ");
    ui.label(text).on_hover_text(format!("{}\n{reason}\n{variants}", executor.device));
    ui.separator();
}

/// A device's name without its version in parentheses.
fn shortened(name: &str) -> &str {
    let short = name.split(" (").next().unwrap_or(name);
    if short.is_empty() { "unnamed adapter" } else { short }
}

fn members(ui: &mut Ui, header: &Header) {
    let members = header.spec.ensemble.members;
    let one = if members == 1 { "member" } else { "members" };
    ui.label(format!("{} {one}", count(u64::from(members))));
    ui.separator();
    let parts = header
        .memory
        .parts
        .iter()
        .map(|(what, bytes)| format!("{what}: {}", human_bytes(u128::from(*bytes))));
    let parts = parts.collect::<Vec<_>>().join("\n");
    ui.label(human_bytes(u128::from(header.memory.total())))
        .on_hover_text(format!("memory planned for the run\n{parts}"));
    ui.separator();
}

fn rate(ui: &mut Ui, facts: &Facts<'_>) {
    if facts.opened.is_none() {
        let status = facts.status;
        let text = format!("{} steps/s", count(status.steps_per_second.max(0.0) as u64));
        let last =
            format!("last submit: {} steps in {:.1} ms", status.submit_steps, 1e3 * status.submit_seconds);
        ui.label(text).on_hover_text(last);
        ui.separator();
    }
    if let Some([median, high]) = facts.frame {
        let text = format!("frame {:.1} ms", 1e3 * median);
        ui.label(text).on_hover_text(format!(
            "time the window takes for a frame: median; 99 % take at most {:.1} ms",
            1e3 * high
        ));
        ui.separator();
    }
}

fn finite(ui: &mut Ui, facts: &Facts<'_>) {
    for broken in facts.not_finite {
        let text = format!("{} not finite from step {}", broken.name, count(broken.step));
        ui.label(RichText::new(text).color(palette::error(facts.dark)).strong())
            .on_hover_text("values that are not numbers or infinite are left out of the plots");
        ui.separator();
    }
}

/// The colour of a notice.
pub fn colour(level: Level, dark: bool, ui: &Ui) -> egui::Color32 {
    match level {
        Level::Info => ui.visuals().text_color(),
        Level::Warning => palette::warning(dark),
        Level::Error => palette::error(dark),
    }
}
