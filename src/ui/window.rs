//! The window's state: what the engine told, what is shown, what is set; and what actions do.

use super::action::{Action, pressed};
use super::curves::Curves;
use super::digest::Digest;
use super::edit;
use super::heat::{Basis, Heat, Show};
use super::history::{History, Settings};
use super::link::EngineLink;
use super::plot::{Follow, Look};
use super::theory::Theory;
use super::top::SPEEDS;
use crate::engine::admit;
use crate::engine::protocol::{Change, Command, Event, ExecutorChoice, Level, Notice, Picture, State, Watch};
use crate::runlog::RunLog;
use crate::scenarios::{self, Preset, Scenario};
use crate::spec::Spec;
use eframe::egui;
use std::path::Path;

/// Seconds that a whole run takes at the normal speed.
const RUN_SECONDS: f64 = 12.0;
/// Values a frame takes in at most, so that a flood of rows does not hold the window up.
const BUDGET: usize = 120_000;
/// Frame times kept for the percentiles.
const FRAMES: usize = 300;

/// A run folder that is shown in place of the live run.
pub(super) struct Opened {
    pub name: String,
    pub log: RunLog,
}

/// Parts of the window that come and go.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shown {
    pub controls: bool,
    pub keys: bool,
    pub notices: bool,
}

pub struct Window {
    link: Box<dyn EngineLink>,
    pub(super) scenario: &'static Scenario,
    pub(super) presets: Vec<Preset>,
    pub(super) history: History,
    adapter: Option<String>,
    live: RunLog,
    pub(super) opened: Option<Opened>,
    /// Counts the runs shown, so that caches know one from the next.
    pub(super) run: u64,
    pub(super) digest: Digest,
    pub(super) theory: Theory,
    pub(super) curves: Curves,
    picture: Option<Picture>,
    pub(super) heat: Heat,
    pub(super) member: u32,
    pub(super) basis: Basis,
    pub(super) look: Look,
    pub(super) follow: [Follow; 2],
    /// As a multiple of the normal speed; `None`: no limit.
    pub(super) speed: Option<f64>,
    pub(super) notices: Vec<Notice>,
    pub(super) shown: Shown,
    /// The Spec in the controls while a drag goes on.
    pub(super) draft: Spec,
    frames: Vec<f32>,
    frame_at: usize,
}

impl Window {
    /// A window on an engine, its lab started.
    pub fn new(link: Box<dyn EngineLink>, executor: ExecutorChoice, adapter: Option<String>) -> Self {
        let scenario = scenarios::ALL[0];
        let presets = (scenario.presets)();
        let spec = presets.first().map_or_else(fallback, |preset| preset.spec.clone());
        let settings = Settings { spec: spec.clone(), preset: (!presets.is_empty()).then_some(0), executor };
        let window = Self {
            link,
            scenario,
            presets,
            history: History::new(settings),
            adapter,
            live: RunLog::default(),
            opened: None,
            run: 0,
            digest: Digest::default(),
            theory: Theory::default(),
            curves: Curves::default(),
            picture: None,
            heat: Heat::default(),
            member: 0,
            basis: Basis::default(),
            look: Look::default(),
            follow: [Follow::default(); 2],
            speed: Some(1.0),
            notices: Vec::new(),
            shown: Shown { controls: true, keys: false, notices: false },
            draft: spec,
            frames: Vec::new(),
            frame_at: 0,
        };
        window.start(true);
        window
    }

    /// The run that is shown.
    pub fn log(&self) -> &RunLog {
        self.opened.as_ref().map_or(&self.live, |opened| &opened.log)
    }

    /// What is set now.
    pub fn settings(&self) -> &Settings {
        self.history.now()
    }

    /// What the window itself had to say, and the engine.
    pub fn notices(&self) -> &[Notice] {
        &self.notices
    }

    /// Shows a run folder's log in place of the live run.
    pub fn open(&mut self, name: String, log: RunLog) {
        self.link.send(Command::Pause);
        self.opened = Some(Opened { name, log });
        self.begin_again();
        self.picture = None;
    }

    /// Time the last frame took, in seconds.
    pub fn frame_took(&mut self, seconds: f32) {
        if self.frames.len() < FRAMES {
            self.frames.push(seconds);
        } else {
            self.frames[self.frame_at % FRAMES] = seconds;
        }
        self.frame_at += 1;
    }

    /// Median and 99th percentile of the frame times, in seconds.
    pub fn frame_times(&self) -> Option<[f32; 2]> {
        let mut sorted = self.frames.clone();
        sorted.sort_by(f32::total_cmp);
        let last = sorted.len().checked_sub(1)?;
        Some([sorted[last / 2], sorted[last * 99 / 100]])
    }

    /// Folds what the engine told and brings the caches up to date; draws nothing.
    pub fn logic(&mut self, ctx: &egui::Context) {
        for event in self.link.events() {
            self.fold(event);
        }
        let log = self.opened.as_ref().map_or(&self.live, |opened| &opened.log);
        let all_in = self.digest.update(log, BUDGET);
        self.theory.update(self.run, log, self.history.is_dragging());
        self.curves.update(self.run, log, &self.digest, &self.theory, self.look.axis);
        if !all_in {
            ctx.request_repaint();
        }
    }

    /// The heat maps of what is shown; apart from `logic`, since it makes textures.
    pub(super) fn update_heat(&mut self, ctx: &egui::Context) {
        let log = self.opened.as_ref().map_or(&self.live, |opened| &opened.log);
        let Some(header) = &log.header else { return };
        let member = self.member.min(header.spec.ensemble.members.saturating_sub(1));
        // Pictures are of the live run.
        let of_this = |picture: &&Picture| self.opened.is_none() && picture.watch.member == member;
        let picture = self.picture.as_ref().filter(of_this);
        let show = Show { member, basis: self.basis, dark: self.look.dark };
        self.heat.update(ctx, self.run, &header.spec, picture, show);
    }

    fn fold(&mut self, event: Event) {
        let started = matches!(event, Event::Started(_));
        match &event {
            Event::Notice(notice) => self.notices.push(notice.clone()),
            Event::Refused(text) => self.say(Level::Error, text.clone()),
            _ => {}
        }
        self.live.fold(&event);
        if let Event::Picture(picture) = event {
            self.picture = Some(picture);
        }
        if started {
            self.picture = None;
            if self.opened.is_none() {
                self.begin_again();
            }
            // The watch belongs to a run.
            self.watch();
        }
    }

    /// The run that is shown is another one.
    fn begin_again(&mut self) {
        self.run += 1;
        self.digest = Digest::new(self.log());
        self.follow = [Follow::default(); 2];
        let members = self.log().members() as u32;
        self.member = self.member.min(members.saturating_sub(1));
    }

    pub(super) fn say(&mut self, level: Level, text: String) {
        let step = self.live.status.step;
        self.notices.push(Notice { level, step, text });
    }

    /// Takes the keys pressed and the folders dropped since the last frame.
    pub(super) fn input(&mut self, ctx: &egui::Context) {
        for action in pressed(ctx) {
            self.perform(&action, ctx);
        }
        let dropped = ctx.input(|input| input.raw.dropped_files.clone());
        for file in dropped {
            self.perform(&Action::Open(file.path().to_owned()), ctx);
        }
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
            Action::Open(folder) => self.open_folder(folder),
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
                self.look.large = !self.look.large;
                self.shown.controls = !self.look.large;
                ctx.set_zoom_factor(if self.look.large { super::style::LARGE } else { 1.0 });
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

    /// Starts what is set.
    fn start(&self, playing: bool) {
        let Settings { spec, executor, .. } = self.history.now().clone();
        self.send_speed();
        let adapter = self.adapter.clone();
        self.link.send(Command::Start { spec: Box::new(spec), executor, adapter, playing });
    }

    fn restart(&mut self) {
        self.opened = None;
        self.start(true);
    }

    fn set_speed(&mut self, speed: Option<f64>) {
        self.speed = speed.map(|factor| factor.clamp(SPEEDS[0], SPEEDS[1]));
        self.send_speed();
    }

    fn send_speed(&self) {
        let normal = self.history.now().spec.training.steps as f64 / RUN_SECONDS;
        self.link.send(Command::Speed(self.speed.map(|factor| factor * normal)));
    }

    fn watch(&self) {
        let watch = Watch { what: "product".to_owned(), member: self.member };
        self.link.send(Command::Watch(Some(watch)));
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

    fn open_folder(&mut self, folder: &Path) {
        match super::files::read(folder) {
            Ok(log) => self.open(folder.display().to_string(), log),
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
            Ok(folder) => self.say(Level::Info, format!("exported to {folder}")),
            Err(error) => self.say(Level::Error, format!("not exported: {error}")),
        }
    }
}

/// What runs where a scenario has no presets: the case of the design's reference figures.
fn fallback() -> Spec {
    use crate::spec::*;
    Spec {
        scenario: scenarios::ALL[0].id.to_owned(),
        seed: 1,
        ensemble: Ensemble { members: 1 },
        training: Training { eta: 0.01, steps: 1_334 },
        measure: Measure { every: 1 },
        model: Model::Linear(Linear {
            spectrum: vec![4.0, 2.8, 2.0, 1.4, 1.0, 0.7, 0.5, 0.35],
            depth: 2,
            start: Start::Aligned,
            tau: 8.0,
            imbalance: 1.0,
            basis: crate::spec::Basis::Random,
            det: Det::Any,
        }),
    }
}
