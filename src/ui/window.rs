//! The window's state: what the engine told, what is shown, what is set; and what actions do.

use super::curves::Curves;
use super::digest::Digest;
use super::heat::{Basis, Heat, Show};
use super::history::{History, Settings};
use super::link::EngineLink;
use super::plot::{Follow, Look};
use super::theory::Theory;
use crate::engine::protocol::{Checkpoint, Command, ExecutorChoice, Level, Notice, Picture, Progress};
use crate::runlog::RunLog;
use crate::scenarios::{self, Preset, Scenario};
use crate::spec::Spec;
use eframe::egui;

/// Values a frame takes in at most, so that a flood of rows does not hold the window up.
const BUDGET: usize = 120_000;
/// Frame times kept for the percentiles.
const FRAMES: usize = 300;

/// What a window opens with.
#[derive(Debug, Default)]
pub struct Opening {
    pub executor: ExecutorChoice,
    /// Part of the adapter's name that the engine should use.
    pub adapter: Option<String>,
    /// What is set; the first scenario's first preset otherwise.
    pub settings: Option<Settings>,
    /// A run of these settings to go on with.
    pub run: Option<Unfinished>,
}

/// A run and where it goes on.
#[derive(Debug)]
pub struct Unfinished {
    pub log: RunLog,
    pub checkpoint: Option<Checkpoint>,
}

/// A kept run that is shown in place of the live run.
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
    pub(super) link: Box<dyn EngineLink>,
    pub(super) scenario: &'static Scenario,
    pub(super) presets: Vec<Preset>,
    pub(super) history: History,
    pub(super) adapter: Option<String>,
    pub(super) live: RunLog,
    pub(super) opened: Option<Opened>,
    /// Counts the runs shown, so that caches know one from the next.
    pub(super) run: u64,
    pub(super) digest: Digest,
    pub(super) theory: Theory,
    pub(super) curves: Curves,
    pub(super) picture: Option<Picture>,
    /// Where the live run goes on if its engine ends; only some engines tell.
    pub(super) checkpoint: Option<Checkpoint>,
    /// What the engine does before the run can start.
    pub(super) progress: Option<Progress>,
    /// A start is asked for and not yet answered.
    pub(super) starting: bool,
    /// Engines that ended under this run.
    pub(super) ends: u32,
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
    #[cfg(target_arch = "wasm32")]
    pub(super) arrived: super::drop::Arrived,
    frames: Vec<f32>,
    frame_at: usize,
}

impl Window {
    /// A window on an engine, its lab started, or going on.
    pub fn new(link: Box<dyn EngineLink>, opening: Opening) -> Self {
        let scenario = scenarios::ALL[0];
        let presets = (scenario.presets)();
        let settings = opening.settings.unwrap_or_else(|| first(&presets, opening.executor));
        let spec = settings.spec.clone();
        let mut window = Self {
            link,
            scenario,
            presets,
            history: History::new(settings),
            adapter: opening.adapter,
            live: RunLog::default(),
            opened: None,
            run: 0,
            digest: Digest::default(),
            theory: Theory::default(),
            curves: Curves::default(),
            picture: None,
            checkpoint: None,
            progress: None,
            starting: false,
            ends: 0,
            heat: Heat::default(),
            member: 0,
            basis: Basis::default(),
            look: Look::default(),
            follow: [Follow::default(); 2],
            speed: Some(1.0),
            notices: Vec::new(),
            shown: Shown { controls: true, keys: false, notices: false },
            draft: spec,
            #[cfg(target_arch = "wasm32")]
            arrived: super::drop::Arrived::default(),
            frames: Vec::new(),
            frame_at: 0,
        };
        match opening.run {
            Some(Unfinished { log, checkpoint }) => {
                (window.live, window.checkpoint) = (log, checkpoint);
                window.notices.clone_from(&window.live.notices);
                window.begin_again();
                window.go_on();
            }
            None => window.start(true),
        }
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

    /// Shows a kept run in place of the live run.
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

    /// The run that is shown is another one.
    pub(super) fn begin_again(&mut self) {
        self.run += 1;
        self.digest = Digest::new(self.log());
        self.follow = [Follow::default(); 2];
        let members = self.log().members() as u32;
        self.member = self.member.min(members.saturating_sub(1));
    }

    /// Adds a notice of the window's own.
    pub fn say(&mut self, level: Level, text: String) {
        let step = self.live.status.step;
        self.notices.push(Notice { level, step, text });
    }
}

/// The first preset.
fn first(presets: &[Preset], executor: ExecutorChoice) -> Settings {
    let spec = presets.first().map_or_else(fallback, |preset| preset.spec.clone());
    Settings { spec, preset: (!presets.is_empty()).then_some(0), executor }
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
