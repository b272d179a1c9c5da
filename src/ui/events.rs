//! What the engine tells the window, and what the window asks of it.

use super::history::Settings;
use super::window::Window;
use crate::engine::protocol::{Command, Event, Level, Resume, State, Watch};
use crate::spec::Spec;

/// Seconds that a whole run takes at the normal speed.
const RUN_SECONDS: f64 = 12.0;
/// Engines that a run may outlive.
const ENDS: u32 = 3;

impl Window {
    pub(super) fn fold(&mut self, event: Event) {
        match &event {
            Event::Notice(notice) => self.notices.push(notice.clone()),
            Event::Refused(text) => self.say(Level::Error, text.clone()),
            _ => {}
        }
        self.live.fold(&event);
        match event {
            Event::Progress(progress) => self.progress = Some(progress),
            Event::Picture(picture) => self.picture = Some(picture),
            Event::Checkpoint(checkpoint) => self.checkpoint = Some(checkpoint),
            Event::Started(_) => {
                (self.picture, self.checkpoint) = (None, None);
                if self.opened.is_none() {
                    self.begin_again();
                }
                self.begun();
            }
            Event::Continued(_) => self.begun(),
            Event::Refused(_) => self.answered(),
            Event::Ended(why) => self.engine_ended(&why),
            _ => {}
        }
    }

    pub(super) fn answered(&mut self) {
        (self.starting, self.progress) = (false, None);
    }

    pub(super) fn begun(&mut self) {
        self.answered();
        // The watch belongs to a run.
        self.watch();
    }

    /// Another engine waits: the run goes on there, or the one that was about to start starts.
    pub(super) fn engine_ended(&mut self, why: &str) {
        self.ends += 1;
        let why = why.lines().next().unwrap_or("without a word");
        if self.ends > ENDS {
            self.live.status.state = State::Failed;
            self.answered();
            return self
                .say(Level::Error, format!("the engine ended again and again ({why}); Reset starts anew"));
        }
        let step = self.checkpoint.as_ref().map_or(0, |checkpoint| checkpoint.step);
        self.say(Level::Warning, format!("the engine ended ({why}): a new one goes on from step {step}"));
        if self.starting { self.send_start(true, None) } else { self.go_on() }
    }

    /// Has the engine go on with the live run from its last checkpoint.
    pub(super) fn go_on(&mut self) {
        let Some(header) = &self.live.header else { return self.start(true) };
        let resume = Resume {
            checkpoint: self.checkpoint.clone().unwrap_or_default(),
            interventions: self.live.interventions.clone(),
            told: self.live.steps.last().copied(),
        };
        let spec = Box::new(header.spec.clone());
        let playing = self.live.status.state != State::Paused;
        self.send_start(playing, Some((spec, Box::new(resume))));
    }

    /// Starts what is set.
    pub(super) fn start(&mut self, playing: bool) {
        self.ends = 0;
        self.send_start(playing, None);
    }

    pub(super) fn send_start(&mut self, playing: bool, run: Option<(Box<Spec>, Box<Resume>)>) {
        self.send_speed();
        self.starting = true;
        let Settings { spec, executor, .. } = self.history.now().clone();
        let adapter = self.adapter.clone();
        let (spec, resume) = match run {
            Some((spec, resume)) => (spec, Some(resume)),
            None => (Box::new(spec), None),
        };
        self.link.send(Command::Start { spec, executor, adapter, playing, resume });
    }

    pub(super) fn send_speed(&self) {
        let normal = self.history.now().spec.training.steps as f64 / RUN_SECONDS;
        self.link.send(Command::Speed(self.speed.map(|factor| factor * normal)));
    }

    pub(super) fn watch(&self) {
        let watch = Watch { what: "product".to_owned(), member: self.member };
        self.link.send(Command::Watch(Some(watch)));
    }
}
