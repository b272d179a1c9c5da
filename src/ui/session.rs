//! The window as a stored session, and a stored session as what a window opens with.

use super::edit::only_eta_differs;
use super::heat::Basis;
use super::history::Settings;
use super::theory::Axis;
use super::top::SPEEDS;
use super::window::{Opening, Unfinished, Window};
use crate::engine::protocol::{Command, State};
use crate::export::stored::{Keep, Stored, Theme, View};
use eframe::egui;
use eframe::egui::ThemePreference;

impl Window {
    /// What there is to store: settings, looks, and the live run as far as it is that of the settings.
    pub fn keep(&self, ctx: &egui::Context) -> Keep<'_> {
        let settings = self.settings();
        // Between a change and the answer to it the log is of the run before. The learning rate may
        // have changed on the way.
        let of_these = |header: &crate::engine::protocol::Header| {
            !self.starting && only_eta_differs(&header.spec, &settings.spec)
        };
        let log = Some(&self.live).filter(|log| log.header.as_ref().is_some_and(of_these));
        let checkpoint = self.checkpoint.as_ref().filter(|_| log.is_some());
        Keep { spec: &settings.spec, executor: settings.executor, view: self.looks(ctx), log, checkpoint }
    }

    /// How the window looks now.
    fn looks(&self, ctx: &egui::Context) -> View {
        let theme = match ctx.options(|options| options.theme_preference) {
            ThemePreference::System => Theme::System,
            ThemePreference::Light => Theme::Light,
            ThemePreference::Dark => Theme::Dark,
        };
        View {
            theme,
            large: self.look.large,
            controls: self.shown.controls,
            steps: self.look.axis == Axis::Step,
            plain: self.basis == Basis::Plain,
            member: self.member,
            speed: self.speed,
        }
    }

    /// Makes the window look as it did. The member is that of the run that was opened with.
    pub fn look_like(&mut self, view: &View, ctx: &egui::Context) {
        ctx.set_theme(match view.theme {
            Theme::System => ThemePreference::System,
            Theme::Light => ThemePreference::Light,
            Theme::Dark => ThemePreference::Dark,
        });
        self.enlarge(view.large, ctx);
        self.shown.controls = view.controls;
        self.look.axis = if view.steps { Axis::Step } else { Axis::Time };
        self.basis = if view.plain { Basis::Plain } else { Basis::Singular };
        self.member = view.member.min((self.settings().spec.ensemble.members).saturating_sub(1));
        self.speed = view.speed.map(|factor| factor.clamp(SPEEDS[0], SPEEDS[1]));
        self.send_speed();
        self.watch();
    }
}

impl Window {
    /// Trains with these settings from now on; undo takes them back.
    pub fn set(&mut self, settings: Settings) {
        if settings != *self.settings() {
            self.history.change(settings, false);
            self.restart();
        }
    }

    /// Whether a slider is held: what is set may change again at once.
    pub fn is_dragging(&self) -> bool {
        self.history.is_dragging()
    }

    /// How far the live run is, while it plays.
    pub fn percent(&self) -> Option<u64> {
        let steps = self.live.header.as_ref()?.spec.training.steps;
        let playing = self.live.status.state == State::Playing;
        playing.then(|| (100 * self.live.status.step.min(steps)).checked_div(steps).unwrap_or(100))
    }

    /// Nobody sees the window: the run goes on, without pictures.
    pub fn set_hidden(&self, hidden: bool) {
        if hidden { self.link.send(Command::Watch(None)) } else { self.watch() }
    }
}

impl From<Settings> for Opening {
    fn from(settings: Settings) -> Self {
        Self { executor: settings.executor, settings: Some(settings), ..Self::default() }
    }
}

impl From<Stored> for Opening {
    /// All but the view, for which there is `Window::look_like`.
    fn from(stored: Stored) -> Self {
        let Stored { spec, executor, run, .. } = stored;
        let settings = Some(Settings::of(spec, executor));
        let run = run.map(|(log, checkpoint)| Unfinished { log, checkpoint });
        Self { executor, settings, run, ..Self::default() }
    }
}
