//! What the user asks for, done: the only place that acts on an Action.

use super::action::{Action, pressed};
use super::edit;
use super::history::{History, Settings};
use super::plot::Follow;
use super::top::SPEEDS;
use super::window::Window;
use crate::engine::admit;
use crate::engine::protocol::{Change, Command, Level, State};
use crate::export::open::{Opened, open_bytes};
use crate::names::shown;
use crate::spec::Spec;
use eframe::egui;

impl Window {
    /// Takes the keys pressed and the files dropped since the last frame.
    pub(super) fn input(&mut self, ctx: &egui::Context) {
        for action in pressed(ctx) {
            self.perform(&action, ctx);
        }
        self.take_drops(ctx);
    }

    /// Does what the user asks for.
    pub fn perform(&mut self, action: &Action, ctx: &egui::Context) {
        match action {
            Action::PlayPause => self.play_or_pause(),
            Action::Step => self.link.send(Command::Step(1)),
            Action::Reset => self.restart(),
            Action::Slower => self.set_speed(self.speed.map_or(Some(SPEEDS[1]), |s| Some(s / 2.0))),
            Action::Faster => {
                self.set_speed(self.speed.map(|s| s * 2.0).filter(|s| *s <= SPEEDS[1]));
            }
            Action::FullSpeed => self.set_speed(None),
            Action::NormalSpeed => self.set_speed(Some(1.0)),
            Action::Speed(factor) => self.set_speed(Some(*factor)),
            Action::Undo => self.travel(History::undo),
            Action::Redo => self.travel(History::redo),
            Action::NextPreset => self.choose_beside(1),
            Action::PreviousPreset => self.choose_beside(-1),
            Action::Choose(index) => self.choose(*index),
            Action::Restart(spec) => self.change((**spec).clone()),
            Action::Eta(eta) => self.change_eta(*eta),
            Action::UseAuto | Action::UseGpu | Action::UseCpu => self.use_executor(action),
            Action::LoseDevice => self.link.send(Command::LoseDevice),
            Action::Member(member) => self.show_member(*member),
            Action::NextMember => self.show_member(self.member.saturating_add(1)),
            Action::PreviousMember => self.show_member(self.member.saturating_sub(1)),
            Action::Open(path) => self.take(&path.display().to_string(), super::files::open(path)),
            Action::OpenBytes(name, bytes) => self.take(name, open_bytes(name, bytes)),
            Action::Export => self.export(),
            Action::BackToLive => self.back_to_live(),
            Action::Quit => ctx.send_viewport_cmd(egui::ViewportCommand::Close),
            _ => self.view(action, ctx),
        }
        ctx.request_repaint();
    }

    /// Actions that change only how things look.
    fn view(&mut self, action: &Action, ctx: &egui::Context) {
        match action {
            Action::Presentation => {
                self.enlarge(!self.look.large, ctx);
                self.shown.controls = !self.look.large;
            }
            Action::Theme => {
                let theme = if self.look.dark { egui::Theme::Light } else { egui::Theme::Dark };
                self.look.dark = !self.look.dark;
                ctx.set_theme(theme);
            }
            Action::Controls => self.shown.controls = !self.shown.controls,
            Action::Keys => self.shown.keys = !self.shown.keys,
            Action::Notices => self.shown.notices = !self.shown.notices,
            Action::Basis => self.basis = self.basis.other(),
            Action::Axis => {
                self.look.axis = self.look.axis.other();
                self.follow = [Follow::default(); 2];
            }
            Action::FitViews => self.follow = [Follow::default(); 2],
            _ => {}
        }
    }

    pub(super) fn enlarge(&mut self, large: bool, ctx: &egui::Context) {
        self.look.large = large;
        ctx.set_zoom_factor(if large { super::style::LARGE } else { 1.0 });
    }

    fn play_or_pause(&mut self) {
        if self.opened.is_some() {
            return self.back_to_live();
        }
        match self.live.status.state {
            State::Playing => self.link.send(Command::Pause),
            State::Done | State::Failed => self.start(true),
            State::Preparing | State::Paused => self.link.send(Command::Play),
        }
    }

    pub(super) fn restart(&mut self) {
        self.opened = None;
        self.start(true);
    }

    fn set_speed(&mut self, speed: Option<f64>) {
        self.speed = speed.map(|factor| factor.clamp(SPEEDS[0], SPEEDS[1]));
        self.send_speed();
    }

    fn show_member(&mut self, member: u32) {
        let members = self.log().members() as u32;
        self.member = member.min(members.saturating_sub(1));
        if self.opened.is_none() {
            self.watch();
        }
    }

    fn choose(&mut self, index: usize) {
        let Some(preset) = self.presets.get(index) else { return };
        let executor = self.history.now().executor;
        let settings = Settings { spec: preset.spec.clone(), preset: Some(index), executor };
        if settings == *self.history.now() {
            return self.restart();
        }
        self.history.change(settings, false);
        self.restart();
    }

    fn choose_beside(&mut self, by: isize) {
        let count = self.presets.len() as isize;
        if count > 0 {
            let now = self.history.now().preset.map_or(if by > 0 { -1 } else { 0 }, |index| index as isize);
            self.choose((now + by).rem_euclid(count) as usize);
        }
    }

    /// A change that begins the run anew.
    fn change(&mut self, spec: Spec) {
        if spec == self.history.now().spec {
            return;
        }
        if let Err(refusal) = admit::admit(&spec) {
            return self.say(Level::Error, format!("not started: {refusal}"));
        }
        let executor = self.history.now().executor;
        self.history.change(Settings { spec, preset: None, executor }, false);
        self.restart();
    }

    /// A change that acts on the running run.
    fn change_eta(&mut self, eta: f64) {
        if let Err(refusal) = admit::admit_change(Change::Eta(eta)) {
            return self.say(Level::Error, refusal.to_string());
        }
        let mut to = self.history.now().clone();
        to.spec.training.eta = eta;
        to.preset = None;
        self.history.change(to, true);
        self.eta_or_restart();
    }

    fn eta_or_restart(&mut self) {
        let over = matches!(self.live.status.state, State::Done | State::Failed);
        if over || self.opened.is_some() {
            return self.restart();
        }
        let eta = self.history.now().spec.training.eta;
        self.link.send(Command::Change(Change::Eta(eta)));
    }

    /// Undo or redo: the learning rate alone acts at once, everything else restarts.
    fn travel(&mut self, to: fn(&mut History) -> Option<Settings>) {
        let before = self.history.now().clone();
        let Some(now) = to(&mut self.history) else { return };
        if before.executor == now.executor && edit::only_eta_differs(&before.spec, &now.spec) {
            self.eta_or_restart();
        } else {
            self.restart();
        }
    }

    fn use_executor(&mut self, action: &Action) {
        let Some(executor) = action.executor() else { return };
        let to = Settings { executor, ..self.history.now().clone() };
        self.history.change(to, false);
        self.restart();
    }

    /// Shows the run that was opened, or trains its Spec.
    fn take(&mut self, name: &str, opened: Result<Opened, String>) {
        match opened {
            Ok(Opened::Run(log)) => self.open(name.to_owned(), *log),
            Ok(Opened::Spec(spec)) => {
                let settings = Settings::of(*spec, self.history.now().executor);
                self.history.change(settings, false);
                self.restart();
                self.say(Level::Info, format!("started the Spec of {}; undo takes it back", shown(name)));
            }
            Err(error) => self.say(Level::Error, error),
        }
    }

    fn back_to_live(&mut self) {
        self.shown.keys = false;
        self.shown.notices = false;
        if self.opened.take().is_some() {
            self.begin_again();
            self.watch();
        }
    }

    fn export(&mut self) {
        match super::files::export(self.log()) {
            Ok(place) => self.say(Level::Info, format!("exported to {place}")),
            Err(error) => self.say(Level::Error, format!("not exported: {error}")),
        }
    }
}
