//! What identity and random starts are held against: effective starts, the missing mode.
//!
//! They meet approximations (modes learned one at a time, a small start), so the count of seeds that are off
//! decides, with a probability of a false alarm of at most `ALARM` a finding.

use super::judge::{Run, verdict};
use super::predict::{self, Law};
use crate::analysis::{crossing, stats};
use crate::runlog::Metric;
use crate::scenarios::{Finding, Verdict};
use crate::theory::{linear as closed, starts};

/// Probability that one of the counted findings fails though the claim holds.
const ALARM: f64 = 1e-5;
/// Chance of a seed to be off where the claim holds: at most .4% in 1,500 independent float32 runs of each start.
const OFF_CHANCE: f64 = 0.01;
/// Error of the log-odds beyond which a mode is off its effective start (a factor 1.35 in `sigma0`).
const OFF_ODDS: f64 = 0.3;
/// Least `R_ii`, in roundings of `sqrt(s_1)` in float32, for a mode to be judged: below, rounding adds to the start.
const ROUNDINGS: f64 = 200.0;
/// Half a unit in the last place of 1 in float32.
const ROUNDING: f64 = 6e-8;
/// Part of a run by which a mode must be due to be judged.
const DUE: f64 = 0.9;

/// `t` until which the missing mode must stay away; float32 lets it escape at 20 to 30.
const STAYS_UNTIL: f64 = 16.0;
/// How far the loss may be from `s_d^2` until then, relative.
const STAYS_WITHIN: f64 = 0.01;
/// Part of `s_d^2` that theory may leave to the other modes for the loss to be judged.
const OTHERS_LEFT: f64 = 1e-3;
/// Part of `s_d` that the last mode may still show in passing when its plateau begins.
const PASSING_LEFT: f64 = 2e-3;
/// How far the median escape may be from its estimate, relative.
const ESCAPE_WITHIN: f64 = 0.3;

/// Identity or random start: half-times and order by the effective starts.
pub fn effective(run: &Run<'_>) -> Vec<Finding> {
    run.judged(|run, _, sigma| {
        let modes = run.linear.spectrum.len();
        let judged: Vec<Member> = (0..run.members()).map(|member| Member::new(run, sigma, member)).collect();
        vec![on_effective_starts(run, &judged, modes), order_of_predicted(&judged)]
    })
}

/// Identity start with `det A < 0`: the last mode is not learned and the loss stays at its square.
pub fn missing(run: &Run<'_>) -> Vec<Finding> {
    run.judged(|run, loss, sigma| {
        let modes = run.linear.spectrum.len();
        let judged: Vec<Member> = (0..run.members()).map(|member| Member::new(run, sigma, member)).collect();
        let mut findings = vec![on_effective_starts(run, &judged, modes - 1), order_of_predicted(&judged)];
        findings.push(loss_stays(run, loss));
        findings.push(mode_stays_away(run, sigma));
        findings.extend(escape(run, sigma));
        findings
    })
}

/// Rows of a member from where theory has learned all other modes, and sent away what the last one
/// showed in passing, to `STAYS_UNTIL`.
fn quiet_rows(run: &Run<'_>, member: usize) -> Vec<usize> {
    let (spectrum, times) = (&run.linear.spectrum, run.times());
    let theory = run.predict(Law::Effective, member);
    let [.., stronger, s] = spectrum[..] else { return Vec::new() };
    let Some(learned) = theory.half[spectrum.len() - 2] else { return Vec::new() };
    let learned = learned * run.spec.training.eta;
    let size = predict::weakest_along(run.spec, run.linear, member as u32);
    // The last mode of theory stays at 0, so its loss is the square and what the others leave.
    let settled = |row: &usize| {
        theory.loss(spectrum, *row) - s * s <= OTHERS_LEFT * s * s
            && times[*row] > learned
            && starts::in_passing(size, [s, stronger], learned, times[*row]) <= PASSING_LEFT * s
    };
    (0..times.len()).skip_while(|row| !settled(row)).take_while(|&row| times[row] <= STAYS_UNTIL).collect()
}

/// The largest `value(row, member)` on the last plateau of each member that reaches it in time.
fn worst_when_quiet(run: &Run<'_>, value: impl Fn(usize, usize) -> f64) -> Vec<f64> {
    let worst = |member: usize| {
        let rows = quiet_rows(run, member);
        (!rows.is_empty()).then(|| rows.iter().map(|&row| value(row, member)).fold(0.0, f64::max))
    };
    (0..run.members()).filter_map(worst).collect()
}

fn loss_stays(run: &Run<'_>, loss: &Metric) -> Finding {
    let square = run.linear.spectrum.last().map_or(0.0, |s| s * s);
    let worst =
        worst_when_quiet(run, |row, member| (f64::from(loss.at(row, member, 0)) / square - 1.0).abs());
    let bad: Vec<bool> = worst.iter().map(|&deviation| deviation > STAYS_WITHIN).collect();
    counted(
        "largest relative distance of the loss from s_d^2 on the last plateau, median seed",
        stats::quantile(&worst, 0.5),
        stats::range(&worst),
        &format!("s_d^2 = {square:.4} within {STAYS_WITHIN} until t = {STAYS_UNTIL}, of seeds on it by then"),
        &bad,
    )
}

fn mode_stays_away(run: &Run<'_>, sigma: &Metric) -> Finding {
    let (last, limit) = (run.linear.spectrum.len() - 1, STAYS_WITHIN / 2.0);
    let share = |row, member| f64::from(sigma.at(row, member, last)).abs() / run.linear.spectrum[last];
    let shares = worst_when_quiet(run, share);
    let bad: Vec<bool> = shares.iter().map(|&share| share > limit).collect();
    counted(
        "largest sigma_d over s_d on the last plateau, median seed",
        stats::quantile(&shares, 0.5),
        stats::range(&shares),
        &format!("0: never learned; at most {limit} until t = {STAYS_UNTIL}, of seeds on it by then"),
        &bad,
    )
}

/// When float32 lets the last mode escape: rounding of size `ROUNDING` grown by `e^{2 s_d t}` to `sqrt(s_d/2)`.
///
/// `None` for a run too short to see it.
fn escape(run: &Run<'_>, sigma: &Metric) -> Option<Finding> {
    let (last, s) = (run.linear.spectrum.len() - 1, *run.linear.spectrum.last()?);
    let estimate = ((s / 2.0).sqrt() / ROUNDING).ln() / (2.0 * s);
    if *run.times().last()? < 1.5 * estimate {
        return None;
    }
    let time = |member| {
        let series: Vec<f64> = sigma.series(member, last).map(f64::from).collect();
        // From its last row below half: before, it may have been above in passing.
        let from = series.iter().rposition(|&value| value < s / 2.0).unwrap_or(0);
        let step = crossing::half_crossing(&run.steps()[from..], &series[from..], s);
        step.map_or(f64::INFINITY, |step| step * run.spec.training.eta)
    };
    let times: Vec<f64> = (0..run.members()).map(time).collect();
    let mut sorted = times.clone();
    sorted.sort_by(f64::total_cmp);
    // The median counts seeds that never escape as late; quantile() would leave them out.
    let median = f64::midpoint(sorted[(sorted.len() - 1) / 2], sorted[sorted.len() / 2]);
    Some(Finding {
        what: "time t at which rounding lets mode d escape, median seed".into(),
        verdict: verdict((median / estimate - 1.0).abs() <= ESCAPE_WITHIN),
        measured: median,
        interval: stats::range(&times),
        oracle: format!("{estimate:.1} within {:.0}%: ln(sqrt(s_d/2)/6e-8)/(2 s_d)", 100.0 * ESCAPE_WITHIN),
    })
}

/// Whether a start this large is well above the rounding of the learned modes.
fn above_rounding(run: &Run<'_>, sigma0: f64) -> bool {
    sigma0.sqrt() > ROUNDINGS * ROUNDING * run.linear.spectrum[0].sqrt()
}

/// One member of an identity or random start: measured and predicted half-times of the modes that can be judged.
struct Member {
    /// `(mode, measured, predicted)`; infinite where the mode was not learned.
    modes: Vec<(usize, f64, f64)>,
}

impl Member {
    fn new(run: &Run<'_>, sigma: &Metric, member: usize) -> Self {
        let predicted = run.predict(Law::Effective, member).half;
        let starts = predict::effective(run.spec, run.linear, member as u32);
        let due = DUE * run.spec.training.steps as f64;
        let modes = run
            .linear
            .spectrum
            .iter()
            .enumerate()
            .filter_map(|(mode, &s)| Some((mode, s, predicted[mode]?)))
            .filter(|&(mode, _, half)| half <= due && above_rounding(run, starts[mode]))
            .map(|(mode, s, half)| {
                let series: Vec<f64> = sigma.series(member, mode).map(f64::from).collect();
                let measured = crossing::half_crossing(run.steps(), &series, s);
                (mode, measured.unwrap_or(f64::INFINITY), half)
            })
            .collect();
        Self { modes }
    }

    /// The largest error of the log-odds over the judged modes, the closed form's own lateness taken out.
    fn odds_error(&self, run: &Run<'_>) -> f64 {
        let growth = |mode: usize| closed::growth_per_step(run.linear.spectrum[mode], run.spec.training.eta);
        let error = |&(mode, measured, predicted): &(usize, f64, f64)| {
            (measured - predicted + closed::LATE_AT_HALF).abs() * growth(mode)
        };
        self.modes.iter().map(error).fold(0.0, f64::max)
    }

    fn in_predicted_order(&self) -> bool {
        let mut by_theory = self.modes.clone();
        by_theory.sort_by(|a, b| a.2.total_cmp(&b.2));
        // Pairs that theory has within 1% of each other are left out.
        by_theory.windows(2).all(|pair| pair[1].2 < 1.01 * pair[0].2 || pair[0].1 < pair[1].1)
    }
}

/// A finding that holds if at most a few of `bad.len()` seeds are bad: see `ALARM`.
fn counted(what: &str, measured: f64, interval: [f64; 2], oracle: &str, bad: &[bool]) -> Finding {
    let (n, off) = (bad.len() as u64, bad.iter().filter(|&&bad| bad).count() as u64);
    let limit = stats::binomial_limit(n, OFF_CHANCE, ALARM);
    Finding {
        what: what.into(),
        // With so few seeds that all of them may be off, nothing is shown.
        verdict: if limit >= n { Verdict::NotResolved } else { verdict(off <= limit) },
        measured,
        interval,
        oracle: format!("{oracle}; {off} of {n} seeds off, at most {limit} may be"),
    }
}

fn on_effective_starts(run: &Run<'_>, members: &[Member], modes: usize) -> Finding {
    let errors: Vec<f64> = members.iter().map(|member| member.odds_error(run)).collect();
    let bad: Vec<bool> = errors.iter().map(|&error| error > OFF_ODDS).collect();
    let judged: usize = members.iter().map(|member| member.modes.len()).sum();
    counted(
        "error of the half-times in log-odds, worst mode, median seed",
        stats::quantile(&errors, 0.5),
        stats::range(&errors),
        &format!(
            "closed form from R_ii^2, within {OFF_ODDS} ({judged} of {} modes due in time and above rounding)",
            members.len() * modes
        ),
        &bad,
    )
}

fn order_of_predicted(members: &[Member]) -> Finding {
    let bad: Vec<bool> = members.iter().map(|member| !member.in_predicted_order()).collect();
    let hits = bad.iter().filter(|&&bad| !bad).count() as u64;
    let n = bad.len() as u64;
    counted(
        "share of seeds that learn the modes in the predicted order",
        hits as f64 / n as f64,
        stats::share_interval(hits, n, 0.95),
        "order of the predicted half-times",
        &bad,
    )
}
