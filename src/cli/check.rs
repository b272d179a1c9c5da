//! `plateau check`: for each claim what was measured, over how many seeds, the interval, the
//! oracle it was held against, and the verdict.

use super::progress::Progress;
use super::summary::figures;
use super::{CheckArguments, Ending, Outcome, choose, interrupt, say};
use crate::engine::driver::{self, Stopwatch};
use crate::runlog::RunLog;
use crate::scenarios::{self, CheckContext, Finding, Report, Verdict};
use crate::spec::Spec;
use serde::Serialize;

/// Seeds of a check, and of a quick one.
const SEEDS: [u32; 2] = [16, 4];
/// Most seeds of a check.
const MAX_SEEDS: u64 = 1_024;

/// One element of `--json`. The first four fields are those of the finding that decides.
#[derive(Serialize)]
struct Entry {
    claim: String,
    verdict: Verdict,
    measured: f64,
    interval: [f64; 2],
    oracle: String,
    seeds: u32,
    seconds: f64,
    findings: Vec<Finding>,
}

pub fn check(arguments: &CheckArguments, quiet: bool) -> Ending {
    let claims = choose::claims(&arguments.claims)?;
    let seeds = seeds(arguments)?;
    interrupt::install();
    let mut entries = Vec::new();
    for claim in claims {
        let stopwatch = Stopwatch::start();
        match report(claim, seeds, arguments, quiet) {
            Ok(report) => entries.push(entry(report, stopwatch.seconds())),
            Err(_) if interrupt::asked() => break,
            Err(error) => return Err(format!("{claim}: {error:#}")),
        }
        if !arguments.json
            && let Some(entry) = entries.last()
        {
            print(entry, quiet);
        }
    }
    if arguments.json {
        say(&serde_json::to_string_pretty(&entries).map_err(|error| error.to_string())?);
    }
    Ok(outcome(&entries))
}

fn outcome(entries: &[Entry]) -> Outcome {
    if interrupt::asked() {
        Outcome::Interrupted
    } else if entries.iter().all(|entry| entry.verdict == Verdict::Holds) {
        Outcome::Done
    } else {
        Outcome::DoesNotHold
    }
}

fn seeds(arguments: &CheckArguments) -> Result<u32, String> {
    let [full, quick] = SEEDS;
    match arguments.seeds {
        None => Ok(if arguments.quick { quick } else { full }),
        Some(seeds) if (1..=MAX_SEEDS).contains(&seeds) => Ok(seeds as u32),
        Some(seeds) => Err(format!("--seeds {seeds}: not between 1 and {MAX_SEEDS}")),
    }
}

/// Runs one claim's check; an error after Ctrl-C means that it was cut short.
fn report(claim: &str, seeds: u32, arguments: &CheckArguments, quiet: bool) -> anyhow::Result<Report> {
    let Some(scenario) = scenarios::of_claim(claim) else { anyhow::bail!("no scenario checks it") };
    let mut runs = 0;
    let mut run = |spec: &Spec| -> anyhow::Result<RunLog> {
        runs += 1;
        let mut progress = Progress::new(&format!("{claim} run {runs}"), quiet);
        let executor = &arguments.executor;
        let log = driver::run_headless(
            spec,
            executor.executor.into(),
            executor.adapter.as_deref(),
            &mut |event| progress.watch(event),
        )?;
        if interrupt::asked() {
            anyhow::bail!("stopped");
        }
        Ok(log)
    };
    (scenario.check)(claim, &mut CheckContext { seeds, quick: arguments.quick, run: &mut run })
}

fn entry(report: Report, seconds: f64) -> Entry {
    let deciding = report.findings.iter().find(|finding| finding.verdict == report.verdict);
    let deciding = deciding.or(report.findings.first());
    Entry {
        measured: deciding.map_or(f64::NAN, |finding| finding.measured),
        interval: deciding.map_or([f64::NAN; 2], |finding| finding.interval),
        oracle: deciding.map_or_else(String::new, |finding| finding.oracle.clone()),
        claim: report.claim,
        verdict: report.verdict,
        seeds: report.seeds,
        seconds,
        findings: report.findings,
    }
}

fn print(entry: &Entry, quiet: bool) {
    let time = if quiet { String::new() } else { format!(", {:.1} s", entry.seconds) };
    say(&format!("{}  {}  ({} seeds{time})", entry.claim, name(entry.verdict), entry.seeds));
    for finding in &entry.findings {
        let [low, high] = finding.interval.map(figures);
        say(&format!("    {:<12} {}", name(finding.verdict), finding.what));
        let measured = figures(finding.measured);
        say(&format!("{:17}measured {measured} [{low}, {high}], against {}", "", finding.oracle));
    }
}

fn name(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Holds => "holds",
        Verdict::Fails => "fails",
        Verdict::NotResolved => "not resolved",
    }
}
