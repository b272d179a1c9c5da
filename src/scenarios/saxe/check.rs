//! The check of S1: which runs, held against what.

use super::{judge, judge_starts, presets};
use crate::scenarios::{CheckContext, Finding, Report, Verdict};
use crate::spec::{Det, Spec, Start};

pub fn check(claim: &str, context: &mut CheckContext<'_>) -> anyhow::Result<Report> {
    anyhow::ensure!(claim.eq_ignore_ascii_case("S1"), "no claim {claim} in the scenario saxe");
    anyhow::ensure!(context.seeds > 0, "a check needs at least one seed");
    let mut findings = Vec::new();
    for case in cases(context.quick) {
        let mut spec = case.spec;
        spec.ensemble.members = context.seeds;
        let log = (context.run)(&spec)?;
        for mut finding in (case.judge)(&judge::Run::new(&log, &spec)) {
            finding.what = format!("{}: {}", case.name, finding.what);
            findings.push(finding);
        }
    }
    Ok(Report { claim: "S1".into(), verdict: overall(&findings), seeds: context.seeds, findings })
}

/// The worst of the findings.
fn overall(findings: &[Finding]) -> Verdict {
    let any = |verdict| findings.iter().any(|finding| finding.verdict == verdict);
    match () {
        () if any(Verdict::Fails) => Verdict::Fails,
        () if any(Verdict::NotResolved) || findings.is_empty() => Verdict::NotResolved,
        () => Verdict::Holds,
    }
}

/// A run and what is asked of it.
struct Case {
    name: &'static str,
    spec: Spec,
    judge: fn(&judge::Run<'_>) -> Vec<Finding>,
}

/// The quick check leaves out what takes long (the escape, three layers); its tolerances are the same.
fn cases(quick: bool) -> Vec<Case> {
    let missing = if quick { 1_600 } else { 4_000 };
    let case = |name, spec, every, judge| Case { name, spec: measured_every(spec, every), judge };
    let mut cases = vec![
        case("aligned start", presets::standard(), 1, judge::aligned as fn(&judge::Run<'_>) -> _),
        case(
            "identity start, det A > 0",
            start(Start::Identity, Det::Positive, 2_000),
            2,
            judge_starts::effective,
        ),
        case(
            "identity start, det A < 0",
            start(Start::Identity, Det::Negative, missing),
            2,
            judge_starts::missing,
        ),
        case("random start", start(Start::Random, Det::Any, 2_000), 2, judge_starts::effective),
        case("one layer", presets::shallow(), 1, judge::shallow),
    ];
    if !quick {
        cases.push(case("three layers", presets::deep(), 1, judge::deep));
    }
    cases
}

fn start(start: Start, det: Det, steps: u64) -> Spec {
    presets::from_start(start, det, steps)
}

fn measured_every(mut spec: Spec, every: u64) -> Spec {
    spec.measure.every = every;
    spec
}
