//! Undo and redo of what is set: the Spec, the preset it came from and the executor.

use crate::engine::protocol::ExecutorChoice;
use crate::scenarios;
use crate::spec::Spec;

/// Most changes that can be taken back.
const DEPTH: usize = 200;

/// What a change changes.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    pub spec: Spec,
    /// The preset chosen last, by position.
    pub preset: Option<usize>,
    pub executor: ExecutorChoice,
}

impl Settings {
    /// These settings; where they are those of a preset of the first scenario, which is the one that
    /// is shown, that preset is marked.
    pub fn of(spec: Spec, executor: ExecutorChoice) -> Self {
        let presets = (scenarios::ALL[0].presets)();
        let preset = presets.iter().position(|preset| preset.spec == spec);
        Self { spec, preset, executor }
    }
}

#[derive(Debug)]
pub struct History {
    past: Vec<Settings>,
    now: Settings,
    future: Vec<Settings>,
    /// One drag of a slider is one change.
    dragging: bool,
}

impl History {
    pub fn new(now: Settings) -> Self {
        Self { past: Vec::new(), now, future: Vec::new(), dragging: false }
    }

    pub fn now(&self) -> &Settings {
        &self.now
    }

    /// A change; `continues` joins it to the one before while the same drag goes on.
    pub fn change(&mut self, to: Settings, continues: bool) {
        if to == self.now {
            return;
        }
        let before = std::mem::replace(&mut self.now, to);
        if !(continues && self.dragging) {
            self.past.push(before);
            if self.past.len() > DEPTH {
                self.past.remove(0);
            }
        }
        self.dragging = continues;
        self.future.clear();
    }

    /// The pointer was let go: the next change stands on its own.
    pub fn end_drag(&mut self) {
        self.dragging = false;
    }

    pub fn is_dragging(&self) -> bool {
        self.dragging
    }

    pub fn can_undo(&self) -> bool {
        !self.past.is_empty()
    }

    pub fn can_redo(&self) -> bool {
        !self.future.is_empty()
    }

    /// The settings before the last change, now in force.
    pub fn undo(&mut self) -> Option<Settings> {
        let before = self.past.pop()?;
        self.future.push(std::mem::replace(&mut self.now, before));
        self.dragging = false;
        Some(self.now.clone())
    }

    /// The settings after the change taken back last, now in force.
    pub fn redo(&mut self) -> Option<Settings> {
        let after = self.future.pop()?;
        self.past.push(std::mem::replace(&mut self.now, after));
        self.dragging = false;
        Some(self.now.clone())
    }
}
