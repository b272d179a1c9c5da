//! Commands in, Events out: the whole of what passes between a front end and the engine.
//!
//! Plain serde data, the same on a desktop thread and in a page's worker.

use crate::kernels::Words;
use crate::packed;
use crate::spec::Spec;
use serde::{Deserialize, Serialize};

/// Which executor a run asks for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ExecutorChoice {
    /// Whichever a short measurement finds faster.
    #[default]
    Auto,
    Gpu,
    Cpu,
}

/// What the driver is asked to do.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Command {
    /// Drops the current run and starts this one, playing or paused.
    Start {
        spec: Box<Spec>,
        executor: ExecutorChoice,
        adapter: Option<String>,
        playing: bool,
        /// Where to go on, for a run that lost its engine; `None` begins at step 0.
        resume: Option<Box<Resume>>,
    },
    Play,
    Pause,
    /// Exactly so many steps, then pause.
    Step(u64),
    /// Steps a second at most; `None` is as fast as it goes.
    Speed(Option<f64>),
    /// A change of the running run; it acts at the next step not yet submitted.
    Change(Change),
    /// Ask for a picture after each submit; the latest wins, `None` stops.
    Watch(Option<Watch>),
    /// Destroys the engine's device on purpose, to show that training survives it.
    LoseDevice,
    Quit,
}

/// What can be changed in a running run.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Change {
    Eta(f64),
}

/// A change and the step it acts from.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Intervention {
    pub step: u64,
    pub change: Change,
}

/// Where a run goes on: its last checkpoint, and what the front end knows beyond it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Resume {
    pub checkpoint: Checkpoint,
    /// Every change of the run so far.
    pub interventions: Vec<Intervention>,
    /// Rows up to this step are there and not told again.
    pub told: Option<u64>,
}

/// The state of a run after so many steps: the tensors its steps read and write.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Checkpoint {
    pub step: u64,
    /// Sum of the learning rates so far.
    pub time: f64,
    /// In the order of the program's state, `[member][element]` each; empty at step 0.
    pub tensors: Vec<Words>,
}

/// A picture to pull: a tensor of the model (`"product"`: P, `[d, d]`) of one member.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Watch {
    pub what: String,
    pub member: u32,
}

/// What the engine tells.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Event {
    /// Something long before a run can start: compiling, testing, measuring.
    Progress(Progress),
    Started(Box<Header>),
    /// A resumed run goes on; the rows so far stay.
    Continued(Box<Header>),
    Rows(Rows),
    Intervention(Intervention),
    Picture(Picture),
    /// Told only where it was asked for.
    Checkpoint(Checkpoint),
    Status(Status),
    Notice(Notice),
    /// The run was not started; the one line says what and where. The run before it goes on.
    Refused(String),
    /// The engine itself has ended, and another one waits for a run. Told by the link to it.
    Ended(String),
}

/// How far something long is: `done` of `of` parts.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Progress {
    pub what: String,
    pub done: usize,
    pub of: usize,
}

/// Who computes, in the record of the run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExecutorInfo {
    /// `"gpu"` or `"cpu"`.
    pub kind: String,
    /// Adapter name, or the processor's instruction set and thread count.
    pub device: String,
    /// `"Vulkan"`, `"Metal"`, …; empty for the cpu.
    pub backend: String,
    /// A software adapter: shaders run on the processor.
    pub software: bool,
    /// The kernel variants in use where there is a choice, `"matmul=registers"`.
    pub variants: Vec<String>,
    /// Why this executor, in one line (the figures of the short measurement).
    pub reason: String,
}

/// One measured quantity of a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MetricInfo {
    /// `"loss"`, `"sigma"`, …: the `metric` column of `metrics.csv`.
    pub name: String,
    /// Number of values a member has, the `index` column.
    pub width: usize,
    pub unit: String,
    pub formula: String,
}

/// Bytes a run takes, by role, told before it starts.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct MemoryPlan {
    /// (what, bytes)
    pub parts: Vec<(String, u64)>,
}

impl MemoryPlan {
    pub fn total(&self) -> u64 {
        self.parts.iter().map(|part| part.1).sum()
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Header {
    pub spec: Spec,
    pub executor: ExecutorInfo,
    pub metrics: Vec<MetricInfo>,
    pub memory: MemoryPlan,
    /// Version of this program.
    pub version: String,
}

/// Rows of measurements: `values[row][member][metric, index]` flattened, metrics in header order.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Rows {
    pub steps: Vec<u64>,
    /// Sum of the learning rates so far, the `t` of the theory.
    #[serde(with = "packed")]
    pub times: Vec<f64>,
    #[serde(with = "packed")]
    pub values: Vec<f32>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Picture {
    pub watch: Watch,
    pub step: u64,
    pub shape: Vec<usize>,
    #[serde(with = "packed")]
    pub values: Vec<f32>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum State {
    /// No run yet, or an executor being prepared.
    #[default]
    Preparing,
    Playing,
    Paused,
    Done,
    /// The engine cannot go on; a Notice says why.
    Failed,
}

/// Wall-clock facts; never part of what is compared between runs.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Status {
    pub state: State,
    pub step: u64,
    pub steps_per_second: f64,
    /// Steps in the last submit and its time in seconds.
    pub submit_steps: u64,
    pub submit_seconds: f64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Level {
    Info,
    Warning,
    Error,
}

/// Something the user should know: device loss, recovery, values that are not finite.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Notice {
    pub level: Level,
    pub step: u64,
    pub text: String,
}
