//! `run.json`: everything about a run but its rows: Spec, executor, versions, changes, notices.

use super::toml::accept;
use crate::engine::admit::admit_change;
use crate::engine::protocol::{ExecutorInfo, Header, Intervention, MemoryPlan, MetricInfo, Notice, Status};
use crate::names::shown;
use crate::runlog::{Metric, RunLog};
use crate::spec::Spec;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::io::{self, Write};

/// First field of the file; the number rises when an older reader would misread a newer file.
pub const FORMAT: &str = "plateau run 1";

/// Longest text read, in bytes: a run with a hundred thousand changes and notices.
pub const MAX_BYTES: u64 = 32 << 20;

/// The file.
#[derive(Serialize, Deserialize)]
struct Run {
    format: String,
    /// Repeats `spec.seed`, for readers that look for nothing else.
    seed: u32,
    /// Rows in `metrics.csv`.
    rows: usize,
    /// Whether the run reached the Spec's last step.
    complete: bool,
    /// Versions of this program and of the crates that decide what is computed.
    versions: BTreeMap<String, String>,
    executor: ExecutorInfo,
    spec: Spec,
    metrics: Vec<MetricInfo>,
    interventions: Vec<Intervention>,
    notices: Vec<Notice>,
    memory: MemoryPlan,
    /// Wall-clock facts, outside what is compared between runs.
    status: Status,
}

/// Crates that stand between a shader and its result, with the version that the manifest pins.
pub const PINNED: [(&str, &str); 2] = [("wgpu", "30.0.2"), ("naga", "30.0.2")];

/// The key of this program's own version.
const OURS: &str = "plateau";

/// Writes the file.
///
/// # Errors
/// Whatever the stream says; a log without a header has no run to write.
pub fn write(log: &RunLog, mut out: impl Write) -> io::Result<()> {
    let Some(header) = log.header.clone() else {
        return Err(io::Error::other("there is no run to write"));
    };
    let mut status = log.status.clone();
    // JSON has no NaN, and a rate over no time is one.
    for rate in [&mut status.steps_per_second, &mut status.submit_seconds] {
        *rate = if rate.is_finite() { *rate } else { 0.0 };
    }
    let run = Run {
        format: FORMAT.to_owned(),
        seed: header.spec.seed,
        rows: log.steps.len(),
        complete: log.last_step() >= header.spec.training.steps,
        versions: versions(header.version),
        executor: header.executor,
        spec: header.spec,
        metrics: header.metrics,
        interventions: log.interventions.clone(),
        notices: log.notices.clone(),
        memory: header.memory,
        status,
    };
    serde_json::to_writer_pretty(&mut out, &run)?;
    writeln!(out)
}

/// A log without its rows, and their number.
///
/// # Errors
/// One line: where the text is no JSON or not ours, or what in it cannot be.
pub fn read(text: &str) -> Result<(RunLog, usize), String> {
    let run: Run = serde_json::from_str(text).map_err(|error| super::toml::one_line(&error.to_string()))?;
    if run.format != FORMAT {
        return Err(format!("format is `{}`, this program reads `{FORMAT}`", shown(&run.format)));
    }
    accept(&run.spec).map_err(|refusal| format!("spec.{refusal}"))?;
    for (i, intervention) in run.interventions.iter().enumerate() {
        admit_change(intervention.change).map_err(|refusal| format!("interventions[{i}]: {refusal}"))?;
    }
    if run.seed != run.spec.seed {
        return Err(format!("seed is {}, spec.seed {}", run.seed, run.spec.seed));
    }
    check_metrics(&run.metrics)?;
    let members = run.spec.ensemble.members as usize;
    let metrics =
        run.metrics.iter().map(|info| Metric { info: info.clone(), members, values: Vec::new() }).collect();
    let header = Header {
        spec: run.spec,
        executor: run.executor,
        metrics: run.metrics,
        memory: run.memory,
        version: run.versions.get(OURS).cloned().unwrap_or_default(),
    };
    let (interventions, notices, status) = (run.interventions, run.notices, run.status);
    let log = RunLog { header: Some(header), metrics, interventions, notices, status, ..RunLog::default() };
    Ok((log, run.rows))
}

fn versions(ours: String) -> BTreeMap<String, String> {
    let pinned = PINNED.iter().map(|(name, version)| ((*name).to_owned(), (*version).to_owned()));
    pinned.chain([(OURS.to_owned(), ours)]).collect()
}

/// Metrics that a run can have: some, each with a name of its own and a width within reason.
pub(super) fn check_metrics(metrics: &[MetricInfo]) -> Result<(), String> {
    if metrics.is_empty() || metrics.len() > 64 {
        return Err(format!("metrics: {} of them, a run has 1 to 64", metrics.len()));
    }
    for (i, info) in metrics.iter().enumerate() {
        if info.width == 0 || info.width > 4_096 {
            return Err(format!("metrics[{i}].width: {} is not between 1 and 4096", info.width));
        }
        if metrics[..i].iter().any(|other| other.name == info.name) {
            return Err(format!("metrics[{i}].name: `{}` comes twice", shown(&info.name)));
        }
    }
    Ok(())
}
