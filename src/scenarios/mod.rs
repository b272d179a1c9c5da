//! The scenarios: one file per claim or lesson, listed once in `ALL`.
//!
//! A scenario opens with its citation and one sentence that could be proved false; it says which
//! Specs show it (presets), what theory predicts for a run (overlay) and how the claim is checked.

pub mod saxe;

use crate::names::{nearest, shown};
use crate::runlog::RunLog;
use crate::spec::Spec;
use serde::Serialize;

/// Every scenario, in the order shown.
pub const ALL: &[&Scenario] = &[&saxe::SCENARIO];

pub struct Scenario {
    /// Id used in Specs and on the command line.
    pub id: &'static str,
    pub title: &'static str,
    /// Claim ids, as `plateau check` takes them.
    pub claims: &'static [&'static str],
    pub citation: &'static str,
    /// One sentence that could be proved false.
    pub sentence: &'static str,
    pub presets: fn() -> Vec<Preset>,
    /// What theory says about this run, over the steps it has.
    pub overlay: fn(&RunLog) -> Overlay,
    pub check: fn(&str, &mut CheckContext<'_>) -> anyhow::Result<Report>,
}

/// A Spec worth seeing, with what to look for.
pub struct Preset {
    pub id: &'static str,
    pub title: &'static str,
    pub look_for: &'static str,
    pub spec: Spec,
}

/// Theory drawn over a run. Curves are `[step, value]`.
#[derive(Clone, Debug, Default)]
pub struct Overlay {
    pub curves: Vec<Curve>,
    /// Steps at which theory says a mode is half learned, `(metric index, step)`.
    pub half_steps: Vec<(usize, f64)>,
    /// What the theory does not cover in this run, in one line; empty where it does.
    pub caveat: String,
}

#[derive(Clone, Debug)]
pub struct Curve {
    /// The metric and index this curve lies over.
    pub metric: &'static str,
    pub index: usize,
    pub formula: &'static str,
    pub points: Vec<[f64; 2]>,
}

/// What a check may use: how many seeds, and a way to run a Spec to its end.
pub struct CheckContext<'a> {
    pub seeds: u32,
    pub quick: bool,
    /// Runs a Spec headless; the executor is the caller's choice.
    pub run: &'a mut dyn FnMut(&Spec) -> anyhow::Result<RunLog>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub enum Verdict {
    #[serde(rename = "holds")]
    Holds,
    #[serde(rename = "fails")]
    Fails,
    #[serde(rename = "not resolved")]
    NotResolved,
}

/// One line of evidence; a claim's report has several.
#[derive(Clone, Debug, Serialize)]
pub struct Finding {
    pub what: String,
    pub verdict: Verdict,
    pub measured: f64,
    /// Interval over seeds of the measured value.
    pub interval: [f64; 2],
    /// The value or bound it was held against.
    pub oracle: String,
}

#[derive(Clone, Debug, Serialize)]
pub struct Report {
    pub claim: String,
    pub verdict: Verdict,
    pub seeds: u32,
    pub findings: Vec<Finding>,
}

impl Scenario {
    /// The Spec of the preset of that id, or of the first.
    ///
    /// # Errors
    /// One line with the nearest names.
    pub fn preset(&self, id: Option<&str>) -> Result<Spec, String> {
        let presets = (self.presets)();
        let wanted = id.or(presets.first().map(|preset| preset.id)).unwrap_or_default();
        let found = presets.iter().find(|preset| preset.id == wanted);
        found.map(|preset| preset.spec.clone()).ok_or_else(|| {
            let names = nearest(wanted, presets.iter().map(|preset| preset.id));
            format!("{} has no preset `{}`; nearest: {names}", self.id, shown(wanted))
        })
    }
}

/// The scenario of that id.
///
/// # Errors
/// One line with the nearest names.
pub fn named(id: &str) -> Result<&'static Scenario, String> {
    find(id).ok_or_else(|| {
        let names = nearest(id, ALL.iter().map(|scenario| scenario.id));
        format!("no scenario is called `{}`; nearest: {names}", shown(id))
    })
}

/// The scenario of that id.
pub fn find(id: &str) -> Option<&'static Scenario> {
    ALL.iter().copied().find(|scenario| scenario.id == id)
}

/// The scenario a claim belongs to.
pub fn of_claim(claim: &str) -> Option<&'static Scenario> {
    ALL.iter().copied().find(|scenario| scenario.claims.iter().any(|c| c.eq_ignore_ascii_case(claim)))
}
