//! A Session: one run of one Spec, advanced a little at a time.
//!
//! Knows no clock, spawns nothing, never blocks. Everything has its step: rows, checkpoints and
//! changes, so that a run is the same however its submits were cut, and goes on after a lost
//! device from the last checkpoint as if nothing had happened.

use super::admit::admit_checkpoint;
use super::executor::{Executor, ExecutorError, Finished};
use super::protocol::{
    Change, Checkpoint, Event, Header, Intervention, Level, Notice, Picture, Resume, Rows, Watch,
};
use crate::kernels::{Batch, Readback, Recording, TensorId, Words};
use crate::models::{Program, ROWS, program};
use crate::spec::Spec;
use std::collections::VecDeque;
use std::sync::Arc;

/// What `advance` did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Advance {
    /// Handed over so many steps.
    Submitted(u64),
    /// Enough is on its way; poll first.
    Waiting,
    /// Every step is submitted and everything has come back.
    Done,
}

/// Batches on their way at once: one runs while the next is encoded.
const IN_FLIGHT: usize = 2;
/// Checkpoints over the length of a run.
const CHECKPOINTS: u64 = 16;

/// What each readback of a batch on its way is.
enum Expect {
    Rows(Vec<(u64, f64)>),
    Checkpoint { step: u64, time: f64, tensors: usize },
    Picture { watch: Watch, step: u64, shape: Vec<usize> },
}

pub struct Session {
    spec: Spec,
    program: Program,
    executor: Box<dyn Executor>,
    /// The next step to submit, and the sum of learning rates before it.
    step: u64,
    time: f64,
    /// Learning rate from each step on.
    etas: Vec<(u64, f64)>,
    in_flight: VecDeque<Vec<Expect>>,
    checkpoint: Checkpoint,
    /// Rows up to this step are already told.
    told: Option<u64>,
    tells_checkpoints: bool,
    watch: Option<Watch>,
    pending: Vec<Event>,
    finite: bool,
    /// The executor holds the tensors and uploads of this run.
    loaded: bool,
}

impl Session {
    /// A session for an admitted Spec on a ready executor.
    pub fn new(spec: &Spec, executor: Box<dyn Executor>) -> Self {
        Self {
            spec: spec.clone(),
            program: program(spec),
            executor,
            step: 0,
            time: 0.0,
            etas: vec![(0, spec.training.eta)],
            in_flight: VecDeque::new(),
            checkpoint: Checkpoint::default(),
            told: None,
            tells_checkpoints: false,
            watch: None,
            pending: Vec::new(),
            finite: true,
            loaded: false,
        }
    }

    /// The header of the run, for `Event::Started`.
    pub fn header(&self, memory: super::protocol::MemoryPlan) -> Header {
        Header {
            spec: self.spec.clone(),
            executor: self.executor.info(),
            metrics: self.program.metrics.clone(),
            memory,
            version: env!("CARGO_PKG_VERSION").into(),
        }
    }

    /// Steps submitted so far.
    pub fn step(&self) -> u64 {
        self.step
    }

    pub fn executor(&mut self) -> &mut dyn Executor {
        self.executor.as_mut()
    }

    /// Applies a change from the next step on.
    pub fn change(&mut self, change: Change) {
        let Change::Eta(eta) = change;
        self.etas.push((self.step, eta));
        self.pending.push(Event::Intervention(Intervention { step: self.step, change }));
    }

    /// Asks for a picture with every batch; `None` stops.
    pub fn watch(&mut self, watch: Option<Watch>) {
        self.watch = watch;
    }

    /// Asks for the watched picture at once, for a run that stands still; says whether a batch was
    /// handed over.
    pub fn refresh_picture(&mut self) -> Result<bool, ExecutorError> {
        if self.in_flight.len() >= IN_FLIGHT || self.watch.is_none() {
            return Ok(false);
        }
        let mut batch = Batch::default();
        let mut expects = Vec::new();
        self.load(&mut batch)?;
        self.add_picture(&mut batch, &mut expects);
        self.submit(batch, expects)?;
        Ok(true)
    }

    /// Hands over at most `max_steps` steps, up to the end of the run or of the log's room.
    pub fn advance(&mut self, max_steps: u64) -> Result<Advance, ExecutorError> {
        if self.in_flight.len() >= IN_FLIGHT {
            return Ok(Advance::Waiting);
        }
        let total = self.spec.training.steps;
        if self.loaded && self.step >= total {
            return Ok(if self.in_flight.is_empty() { Advance::Done } else { Advance::Waiting });
        }
        let mut batch = Batch::default();
        let mut expects = Vec::new();
        self.load(&mut batch)?;
        let first = self.step;
        let last = (first + max_steps).min(total).min(first + ROWS as u64);
        self.upload_counters(&mut batch);
        let rows = self.add_steps(&mut batch, last);
        self.upload_schedule(&mut batch, first);
        self.add_log(&mut batch, &mut expects, rows);
        self.add_checkpoint(&mut batch, &mut expects);
        self.add_picture(&mut batch, &mut expects);
        let steps = self.step - first;
        self.submit(batch, expects)?;
        Ok(Advance::Submitted(steps))
    }

    /// The events of what has come back.
    pub fn poll(&mut self, wait: bool) -> Result<Vec<Event>, ExecutorError> {
        let mut events = std::mem::take(&mut self.pending);
        match self.executor.poll(wait && !self.in_flight.is_empty()) {
            Ok(finished) => finished.into_iter().for_each(|batch| self.receive(batch, &mut events)),
            Err(error) => {
                self.pending = events;
                return Err(error);
            }
        }
        Ok(events)
    }

    /// Goes on from the last checkpoint on another executor; returns its step.
    pub fn resume(&mut self, executor: Box<dyn Executor>) -> u64 {
        self.executor = executor;
        self.in_flight.clear();
        self.loaded = false;
        self.step = self.checkpoint.step;
        self.time = self.checkpoint.time;
        self.step
    }

    /// Whether a run of this Spec can go on there; one line if not.
    pub fn admit_resume(&self, resume: &Resume) -> Result<(), String> {
        admit_checkpoint(&self.spec, &resume.checkpoint).map_err(|refusal| refusal.to_string())
    }

    /// Goes on where another engine left off; admitted before, and not yet advanced.
    pub fn go_on(&mut self, resume: Resume) {
        let Resume { checkpoint, interventions, told } = resume;
        // In the order they were made: of two that hold for a step, the later one counts.
        for Intervention { step, change: Change::Eta(eta) } in interventions {
            self.etas.push((step, eta));
        }
        (self.step, self.time, self.told) = (checkpoint.step, checkpoint.time, told);
        self.checkpoint = checkpoint;
    }

    /// Steps still to repeat of those already told, after going on from a checkpoint.
    pub fn to_repeat(&self) -> u64 {
        self.told.unwrap_or(0).saturating_sub(self.step)
    }

    /// Whether checkpoints are told as events.
    pub fn tell_checkpoints(&mut self, tell: bool) {
        self.tells_checkpoints = tell;
    }

    /// Exchanges the executor and begins anew; returns the one it had.
    pub fn restart(&mut self, executor: Box<dyn Executor>) -> Box<dyn Executor> {
        let old = std::mem::replace(&mut self.executor, executor);
        self.rewind();
        old
    }

    /// Begins anew at step 0; what is on its way is dropped.
    pub fn rewind(&mut self) {
        self.in_flight.clear();
        self.pending.clear();
        self.loaded = false;
        (self.step, self.time, self.told, self.finite) = (0, 0.0, None, true);
        self.etas.truncate(1);
        self.checkpoint = Checkpoint::default();
    }

    /// Bytes of the largest tensor: what a device must be able to bind.
    pub fn largest_tensor(&self) -> u64 {
        let tensors = &self.program.tensors;
        let bytes = (0..tensors.list.len()).map(|i| tensors.elements(TensorId(i as u32)) as u64 * 4);
        bytes.max().unwrap_or(0)
    }

    /// What the speed of a run depends on: dispatches a step, members, largest tensor in bytes.
    pub fn shape(&self) -> (usize, u32, u64) {
        (self.program.step.dispatches(), self.spec.ensemble.members, self.largest_tensor())
    }

    /// Batches on their way.
    pub fn in_flight(&self) -> usize {
        self.in_flight.len()
    }

    fn eta(&self, step: u64) -> f64 {
        self.etas.iter().rev().find(|(from, _)| *from <= step).map_or(self.spec.training.eta, |(_, eta)| *eta)
    }

    /// Makes the tensors and the start (or the checkpoint), where that is still to be done.
    fn load(&mut self, batch: &mut Batch) -> Result<(), ExecutorError> {
        if self.loaded {
            return Ok(());
        }
        self.executor.load(&self.program.tensors)?;
        batch.uploads.extend(self.program.uploads.iter().cloned());
        let state = self.program.state.iter().copied();
        batch.uploads.extend(state.zip(self.checkpoint.tensors.iter().cloned()));
        if self.checkpoint.step == 0 {
            batch.runs.extend(self.program.init.iter().map(|init| (init.clone(), 1)));
        }
        self.loaded = true;
        Ok(())
    }

    fn upload_counters(&self, batch: &mut Batch) {
        let members = self.spec.ensemble.members as usize;
        // The device counts in 32 bits; admission keeps runs below that.
        let counters = [self.step as u32, 0, 0, 0].repeat(members);
        batch.uploads.push((self.program.counters, Words::Integers(counters)));
    }

    /// The learning rate of each step of this batch, rounded once from f64.
    fn upload_schedule(&self, batch: &mut Batch, first: u64) {
        let rows: Vec<f32> = (first..self.step.max(first + 1)).map(|step| self.eta(step) as f32).collect();
        batch.uploads.push((self.program.rows, Words::Floats(rows)));
    }

    /// Steps up to `last`, a row of the log wherever one is due; stops where the log is full.
    fn add_steps(&mut self, batch: &mut Batch, last: u64) -> Vec<(u64, f64)> {
        let (every, total) = (self.spec.measure.every, self.spec.training.steps);
        let mut rows = Vec::new();
        if self.step == 0 {
            push_run(batch, &self.program.measure);
            rows.push((0, 0.0));
        }
        while self.step < last && rows.len() < self.program.log_slots as usize {
            push_run(batch, &self.program.step);
            self.time += self.eta(self.step);
            self.step += 1;
            if self.step.is_multiple_of(every) || self.step == total {
                push_run(batch, &self.program.measure);
                rows.push((self.step, self.time));
            }
        }
        rows
    }

    fn add_log(&self, batch: &mut Batch, expects: &mut Vec<Expect>, rows: Vec<(u64, f64)>) {
        if rows.is_empty() {
            return;
        }
        let width: usize = self.program.metrics.iter().map(|metric| metric.width).sum();
        let range = (0, (rows.len() * width) as u32);
        batch.readbacks.push(Readback { tensor: self.program.log, members: self.members(), range });
        expects.push(Expect::Rows(rows));
    }

    fn members(&self) -> (u32, u32) {
        (0, self.spec.ensemble.members)
    }

    fn add_checkpoint(&self, batch: &mut Batch, expects: &mut Vec<Expect>) {
        let cadence = (self.spec.training.steps / CHECKPOINTS).max(1);
        let newest = expects_checkpoint(&self.in_flight).unwrap_or(self.checkpoint.step);
        if self.step / cadence == newest / cadence {
            return;
        }
        for &tensor in &self.program.state {
            let range = (0, self.program.tensors.get(tensor).len as u32);
            batch.readbacks.push(Readback { tensor, members: self.members(), range });
        }
        let tensors = self.program.state.len();
        expects.push(Expect::Checkpoint { step: self.step, time: self.time, tensors });
    }

    fn add_picture(&self, batch: &mut Batch, expects: &mut Vec<Expect>) {
        let Some(watch) = &self.watch else { return };
        let Some(source) = self.program.pictures.iter().find(|source| source.name == watch.what) else {
            return;
        };
        let member = watch.member.min(self.spec.ensemble.members - 1);
        push_run(batch, &source.refresh);
        let range = (0, source.shape.iter().product::<usize>() as u32);
        batch.readbacks.push(Readback { tensor: source.tensor, members: (member, member + 1), range });
        expects.push(Expect::Picture { watch: watch.clone(), step: self.step, shape: source.shape.clone() });
    }

    fn submit(&mut self, batch: Batch, expects: Vec<Expect>) -> Result<(), ExecutorError> {
        self.executor.submit(batch)?;
        self.in_flight.push_back(expects);
        Ok(())
    }

    fn receive(&mut self, finished: Finished, events: &mut Vec<Event>) {
        let Some(expects) = self.in_flight.pop_front() else { return };
        let mut words = finished.readbacks.into_iter();
        for expect in expects {
            match expect {
                Expect::Rows(rows) => {
                    let values = floats(words.next());
                    self.receive_rows(&rows, values, events);
                }
                Expect::Checkpoint { step, time, tensors } => {
                    self.checkpoint =
                        Checkpoint { step, time, tensors: words.by_ref().take(tensors).collect() };
                    if self.tells_checkpoints {
                        events.push(Event::Checkpoint(self.checkpoint.clone()));
                    }
                }
                Expect::Picture { watch, step, shape } => {
                    let values = floats(words.next());
                    events.push(Event::Picture(Picture { watch, step, shape, values }));
                }
            }
        }
    }

    /// Turns `[member][slot][metric]` into rows `[row][member][metric]`, less those already told.
    fn receive_rows(&mut self, rows: &[(u64, f64)], values: Vec<f32>, events: &mut Vec<Event>) {
        let members = self.spec.ensemble.members as usize;
        let width = values.len() / (members * rows.len()).max(1);
        let mut out = Rows::default();
        for (slot, &(step, time)) in rows.iter().enumerate() {
            if self.told.is_some_and(|told| step <= told) {
                continue;
            }
            self.told = Some(step);
            out.steps.push(step);
            out.times.push(time);
            for member in 0..members {
                let at = (member * rows.len() + slot) * width;
                out.values.extend_from_slice(&values[at..at + width]);
            }
        }
        if out.steps.is_empty() {
            return;
        }
        self.check_finite(&out, width, events);
        events.push(Event::Rows(out));
    }

    /// Says once, by name, what is not finite any more.
    fn check_finite(&mut self, rows: &Rows, width: usize, events: &mut Vec<Event>) {
        let Some(at) = rows.values.iter().position(|value| !value.is_finite()).filter(|_| self.finite) else {
            return;
        };
        self.finite = false;
        let members = self.spec.ensemble.members as usize;
        let (row, member) = (at / (members * width), at / width % members);
        let mut index = at % width;
        let mut name = "";
        for metric in &self.program.metrics {
            name = &metric.name;
            if index < metric.width {
                break;
            }
            index -= metric.width;
        }
        let step = rows.steps[row];
        let text =
            format!("{name} of member {member} is not finite from step {step} on: the run has diverged");
        events.push(Event::Notice(Notice { level: Level::Warning, step, text }));
    }
}

/// Adds one replay, merged with the one before where it is the same Recording.
fn push_run(batch: &mut Batch, recording: &Arc<Recording>) {
    match batch.runs.last_mut() {
        Some((last, repeats)) if Arc::ptr_eq(last, recording) => *repeats += 1,
        _ => batch.runs.push((recording.clone(), 1)),
    }
}

fn expects_checkpoint(in_flight: &VecDeque<Vec<Expect>>) -> Option<u64> {
    in_flight.iter().rev().flatten().find_map(|expect| match expect {
        Expect::Checkpoint { step, .. } => Some(*step),
        _ => None,
    })
}

fn floats(words: Option<Words>) -> Vec<f32> {
    match words {
        Some(Words::Floats(values)) => values,
        _ => Vec::new(),
    }
}
