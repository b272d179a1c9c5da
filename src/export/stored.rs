//! A session as bytes, for a page that is left and comes back: what is set, how it looks, and the run.
//!
//! `magic, version, checksum`, then four sections of MessagePack, each behind its length: settings,
//! facts of the run, its rows, its checkpoint; a section that is not there has length 0. The parts
//! are apart so that each has a limit of its own: numbers, the bulk, are blocks that take no more
//! memory than bytes, and what serde must buffer (a Spec's tagged model) lies in the small sections.
//! A page that closes has no time to ask: what does not fit is left out, the checkpoint first.

use super::json::check_metrics;
use super::toml::accept;
use crate::engine::admit::{admit_change, admit_checkpoint, rows};
use crate::engine::protocol::{Checkpoint, ExecutorChoice, Header, Intervention, Notice, Status};
use crate::engine::wire;
use crate::models;
use crate::packed;
use crate::runlog::{Metric, RunLog};
use crate::spec::Spec;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

/// Most bytes of a stored session.
pub const MAX_BYTES: usize = 32 << 20;
/// Version of this format; it rises with every change of what is in it.
pub const VERSION: u32 = 1;

const MAGIC: [u8; 8] = *b"plateau\x1a";
/// Magic, version, checksum.
const HEAD: usize = 20;
/// Most bytes of the settings and of the facts.
const MAX_SETTINGS: usize = 64 << 10;
const MAX_FACTS: usize = 2 << 20;

/// How a window looks and goes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct View {
    pub theme: Theme,
    /// Large letters, for a lecture hall.
    pub large: bool,
    pub controls: bool,
    /// Plots against steps rather than time.
    pub steps: bool,
    /// Matrices as they are rather than in the singular basis of the task.
    pub plain: bool,
    pub member: u32,
    /// As a multiple of the normal speed; `None`: no limit.
    pub speed: Option<f64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Theme {
    /// As the system has it.
    System,
    Light,
    Dark,
}

/// What did not fit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum LeftOut {
    #[default]
    Nothing,
    /// The run goes on from step 0, its rows are there.
    Checkpoint,
    /// The run begins anew.
    Run,
}

/// What is to be stored.
#[derive(Clone, Debug)]
pub struct Keep<'a> {
    pub spec: &'a Spec,
    pub executor: ExecutorChoice,
    pub view: View,
    pub log: Option<&'a RunLog>,
    /// Of the log's run.
    pub checkpoint: Option<&'a Checkpoint>,
}

/// What was stored.
#[derive(Clone, Debug, PartialEq)]
pub struct Stored {
    /// Admitted.
    pub spec: Spec,
    pub executor: ExecutorChoice,
    pub view: View,
    /// The log has the shapes of its Spec's program, the checkpoint those of its state.
    pub run: Option<(RunLog, Option<Checkpoint>)>,
    pub left_out: LeftOut,
}

/// Why bytes are no session; each is one line.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StoredError {
    #[error("the stored session is damaged: {0}")]
    Corrupt(String),
    #[error("the stored session is of version {0}, this program reads version {VERSION}")]
    Version(u32),
    #[error("the stored session has {0} bytes, the limit is {MAX_BYTES}")]
    TooLarge(usize),
}

#[derive(Serialize, Deserialize)]
struct Settings {
    spec: Spec,
    executor: ExecutorChoice,
    view: View,
    left_out: LeftOut,
}

/// A run but for its rows.
#[derive(Serialize, Deserialize)]
struct Facts {
    header: Header,
    interventions: Vec<Intervention>,
    notices: Vec<Notice>,
    status: Status,
}

/// The rows of a run; `values` are those of its metrics, one metric after another.
#[derive(Serialize, Deserialize)]
struct Rows {
    #[serde(with = "packed")]
    steps: Vec<u64>,
    #[serde(with = "packed")]
    times: Vec<f64>,
    #[serde(with = "packed")]
    values: Vec<f32>,
}

/// The session as bytes, and what did not fit.
///
/// # Errors
/// One line; what was admitted does not fail.
pub fn write(keep: &Keep<'_>) -> Result<(Vec<u8>, LeftOut), String> {
    let run = keep.log.map(sections).transpose()?.flatten();
    let mut left_out = LeftOut::Nothing;
    let used = |run: &[Vec<u8>; 2]| HEAD + MAX_SETTINGS + run[0].len() + run[1].len() + 4 * 4;
    let run = run.filter(|run| run[0].len() <= MAX_FACTS && used(run) <= MAX_BYTES);
    if run.is_none() && keep.log.is_some_and(|log| log.header.is_some()) {
        left_out = LeftOut::Run;
    }
    let mut checkpoint = Vec::new();
    if let (Some(run), Some(state)) = (&run, keep.checkpoint) {
        let room = MAX_BYTES - used(run);
        let len = 4 * state.tensors.iter().map(|words| words.len()).sum::<usize>();
        checkpoint = if len <= room { wire::encode(state)? } else { Vec::new() };
        if checkpoint.is_empty() || checkpoint.len() > room {
            (checkpoint, left_out) = (Vec::new(), LeftOut::Checkpoint);
        }
    }
    let Keep { executor, view, .. } = keep;
    let settings = Settings { spec: keep.spec.clone(), executor: *executor, view: view.clone(), left_out };
    let [facts, rows] = run.unwrap_or_default();
    Ok((assemble([wire::encode(&settings)?, facts, rows, checkpoint]), left_out))
}

/// Facts and rows of a run that has a header; empty where the numbers alone would not fit.
fn sections(log: &RunLog) -> Result<Option<[Vec<u8>; 2]>, String> {
    let Some(header) = log.header.clone() else { return Ok(None) };
    let count = log.metrics.iter().map(|metric| metric.values.len()).sum::<usize>();
    if 4 * count + 16 * log.steps.len() > MAX_BYTES {
        return Ok(None);
    }
    let facts = Facts {
        header,
        interventions: log.interventions.clone(),
        notices: log.notices.clone(),
        status: log.status.clone(),
    };
    let rows = Rows {
        steps: log.steps.clone(),
        times: log.times.clone(),
        values: log.metrics.iter().flat_map(|metric| &metric.values).copied().collect(),
    };
    Ok(Some([wire::encode(&facts)?, wire::encode(&rows)?]))
}

fn assemble(sections: [Vec<u8>; 4]) -> Vec<u8> {
    let mut bytes =
        Vec::with_capacity(HEAD + sections.iter().map(|section| 4 + section.len()).sum::<usize>());
    bytes.extend(MAGIC);
    bytes.extend(VERSION.to_le_bytes());
    bytes.extend([0; 8]);
    for section in sections {
        // `write` keeps all of them below MAX_BYTES.
        bytes.extend((section.len() as u32).to_le_bytes());
        bytes.extend(section);
    }
    let sum = checksum(&bytes[HEAD..]);
    bytes[12..HEAD].copy_from_slice(&sum.to_le_bytes());
    bytes
}

/// FNV-1a, 64 bits: finds what a disk or an interrupted write damages, not what somebody forges.
fn checksum(bytes: &[u8]) -> u64 {
    bytes
        .iter()
        .fold(0xCBF2_9CE4_8422_2325, |sum, byte| (sum ^ u64::from(*byte)).wrapping_mul(0x100_0000_01B3))
}

/// Reads a session back. Everything in it is held against its Spec.
///
/// # Errors
/// Bytes that are damaged, too many, or of another version.
pub fn read(bytes: &[u8]) -> Result<Stored, StoredError> {
    if bytes.len() > MAX_BYTES {
        return Err(StoredError::TooLarge(bytes.len()));
    }
    let [settings, facts, rows, checkpoint] = take_apart(bytes)?;
    let settings: Settings = decode("settings", settings)?;
    accept(&settings.spec).map_err(|refusal| corrupt(format!("settings.{refusal}")))?;
    let Settings { spec, executor, view, left_out } = settings;
    if view.speed.is_some_and(|speed| !(speed.is_finite() && speed > 0.0)) {
        return Err(corrupt("settings.view.speed".to_owned()));
    }
    if facts.is_empty() {
        return match (rows, checkpoint) {
            ([], []) => Ok(Stored { spec, executor, view, run: None, left_out }),
            _ => Err(corrupt("rows of no run".to_owned())),
        };
    }
    let facts: Facts = decode("facts", facts)?;
    let log = log(facts, decode("rows", rows)?).map_err(corrupt)?;
    let checkpoint = match checkpoint {
        [] => None,
        bytes => Some(decode("checkpoint", bytes)?),
    };
    if let (Some(checkpoint), Some(header)) = (&checkpoint, &log.header) {
        check_checkpoint(&header.spec, &log, checkpoint).map_err(corrupt)?;
    }
    Ok(Stored { spec, executor, view, run: Some((log, checkpoint)), left_out })
}

fn corrupt(what: String) -> StoredError {
    StoredError::Corrupt(what)
}

fn decode<T: DeserializeOwned>(section: &str, bytes: &[u8]) -> Result<T, StoredError> {
    wire::decode(bytes).map_err(|error| corrupt(super::toml::one_line(&format!("{section}: {error}"))))
}

/// The four sections, of lengths that are there and that each may have.
fn take_apart(bytes: &[u8]) -> Result<[&[u8]; 4], StoredError> {
    let short = || corrupt("it ends too early".to_owned());
    let (magic, rest) = bytes.split_first_chunk().ok_or_else(short)?;
    if *magic != MAGIC {
        return Err(corrupt("it does not begin as one".to_owned()));
    }
    let (version, rest) = rest.split_first_chunk().ok_or_else(short)?;
    match u32::from_le_bytes(*version) {
        VERSION => {}
        other => return Err(StoredError::Version(other)),
    }
    let (sum, mut rest) = rest.split_first_chunk().ok_or_else(short)?;
    if u64::from_le_bytes(*sum) != checksum(rest) {
        return Err(corrupt("its checksum does not hold".to_owned()));
    }
    let mut sections = [&[][..]; 4];
    for (section, limit) in sections.iter_mut().zip([MAX_SETTINGS, MAX_FACTS, MAX_BYTES, MAX_BYTES]) {
        let (len, after) = rest.split_first_chunk().ok_or_else(short)?;
        let len = u32::from_le_bytes(*len) as usize;
        if len > limit {
            return Err(corrupt(format!("a section of {len} bytes, where {limit} are the limit")));
        }
        (*section, rest) = after.split_at_checked(len).ok_or_else(short)?;
    }
    if rest.is_empty() { Ok(sections) } else { Err(corrupt("bytes after its end".to_owned())) }
}

/// The log, if its shapes are those of a run of its Spec.
fn log(facts: Facts, rows: Rows) -> Result<RunLog, String> {
    let Facts { header, interventions, notices, status } = facts;
    accept(&header.spec).map_err(|refusal| format!("spec.{refusal}"))?;
    check_metrics(&header.metrics)?;
    let shape = |metrics: &[crate::engine::protocol::MetricInfo]| -> Vec<(String, usize)> {
        metrics.iter().map(|info| (info.name.clone(), info.width)).collect()
    };
    if shape(&header.metrics) != shape(&models::metrics(&header.spec)) {
        return Err("metrics: not those of the run".to_owned());
    }
    for (i, intervention) in interventions.iter().enumerate() {
        admit_change(intervention.change).map_err(|refusal| format!("interventions[{i}]: {refusal}"))?;
    }
    check_timetable(&header.spec, &rows)?;
    let members = header.spec.ensemble.members as usize;
    let Rows { steps, times, values } = rows;
    let mut values = values.as_slice();
    let mut metrics = Vec::with_capacity(header.metrics.len());
    for info in &header.metrics {
        // Widths and members are admitted and the rows are there: this does not overflow.
        let (own, rest) = values
            .split_at_checked(steps.len() * members * info.width)
            .ok_or_else(|| format!("rows: too few values of {}", info.name))?;
        metrics.push(Metric { info: info.clone(), members, values: own.to_vec() });
        values = rest;
    }
    if !values.is_empty() {
        return Err(format!("rows: {} values too many", values.len()));
    }
    Ok(RunLog { header: Some(header), steps, times, metrics, interventions, notices, status })
}

/// Whether the rows are the first of those that a run of this Spec logs.
fn check_timetable(spec: &Spec, Rows { steps, times, .. }: &Rows) -> Result<(), String> {
    let (every, total) = (spec.measure.every, spec.training.steps);
    if steps.len() as u64 > rows(total, every) || times.len() != steps.len() {
        return Err(format!("rows: {} steps and {} times", steps.len(), times.len()));
    }
    let due = |row: usize| every.saturating_mul(row as u64).min(total);
    match (0..steps.len()).find(|row| steps[*row] != due(*row) || !times[*row].is_finite()) {
        Some(row) => Err(format!("rows: row {row} is of step {} and time {}", steps[row], times[row])),
        None => Ok(()),
    }
}

/// Whether the run can go on there without a gap in its rows.
fn check_checkpoint(spec: &Spec, log: &RunLog, checkpoint: &Checkpoint) -> Result<(), String> {
    admit_checkpoint(spec, checkpoint).map_err(|refusal| refusal.to_string())?;
    let due = rows(checkpoint.step, spec.measure.every)
        - u64::from(
            !checkpoint.step.is_multiple_of(spec.measure.every) && checkpoint.step < spec.training.steps,
        );
    if checkpoint.step > 0 && (log.steps.len() as u64) < due {
        return Err(format!("checkpoint: of step {}, where rows are missing", checkpoint.step));
    }
    Ok(())
}
