//! Admission: whether a Spec can run, said before it starts, with the figures.
//!
//! Every field has its limits here and nowhere else; the window's sliders and the terminal's
//! messages read them from the same constants. What a run would take is computed in `u128`, so
//! that a Spec asking for a billion members is answered with the true figure.

use super::protocol::{Change, MemoryPlan};
use crate::spec::{Linear, Model, Spec, Start};

/// Most members of one ensemble.
pub const MAX_MEMBERS: u32 = 4_096;
/// Longest run, in optimizer steps.
pub const MAX_STEPS: u64 = 100_000_000;
/// Largest learning rate.
pub const MAX_ETA: f64 = 1e3;
/// Largest width `d` of a linear network.
pub const MAX_WIDTH: usize = 64;
/// Largest singular value of a task.
pub const MAX_SINGULAR_VALUE: f64 = 1e3;
/// Deepest linear network.
pub const MAX_DEPTH: u32 = 4;
/// Smallest start, as `tau` of the scale `e^-tau`.
pub const MAX_TAU: f64 = 40.0;
/// Bounds of the factor between the layers of an unbalanced start.
pub const IMBALANCE: [f64; 2] = [1e-3, 1e3];
/// Most bytes that the rows of measurements may take.
pub const MAX_HISTORY: u64 = 512 << 20;

/// Rows of a log on the device between two copies to the host.
const LOG_SLOTS: u128 = 64;
const FLOAT: u128 = 4;

/// Why a Spec is refused: the field as a path (`model.tau`) and one line.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{path}: {reason}")]
pub struct Refusal {
    pub path: String,
    pub reason: String,
}

/// Checks every field against its limits and plans the memory.
pub fn admit(spec: &Spec) -> Result<MemoryPlan, Refusal> {
    let Model::Linear(linear) = &spec.model;
    check_linear(linear)?;
    check_training(spec)?;
    check_members(spec, u64::from(spec.ensemble.members))?;
    check_history(spec)?;
    let parts = parts(spec, u64::from(spec.ensemble.members))
        .into_iter()
        .map(|(name, bytes)| (name.to_owned(), u64::try_from(bytes).unwrap_or(u64::MAX)))
        .collect();
    Ok(MemoryPlan { parts })
}

/// Whether a change may act on a running run.
pub fn admit_change(change: Change) -> Result<(), Refusal> {
    let Change::Eta(eta) = change;
    check_eta(eta)
}

/// Whether the ensemble may have so many members; takes more than a Spec can hold, so that what
/// was typed is what is answered.
pub fn check_members(spec: &Spec, members: u64) -> Result<(), Refusal> {
    if members == 0 {
        return refuse("ensemble.members", "must be at least 1".into());
    }
    if members <= u64::from(MAX_MEMBERS) {
        return Ok(());
    }
    let bytes: u128 = parts(spec, members).iter().map(|part| part.1).sum();
    refuse(
        "ensemble.members",
        format!(
            "{members} is more than the limit of {MAX_MEMBERS} (it would take {} of memory)",
            human_bytes(bytes)
        ),
    )
}

/// Number of rows a run logs: step 0, every so many, and the end.
pub fn rows(steps: u64, every: u64) -> u64 {
    let every = every.max(1);
    1 + steps / every + u64::from(!steps.is_multiple_of(every))
}

/// Bytes in the largest unit that leaves at least one whole, to two or three digits.
pub fn human_bytes(bytes: u128) -> String {
    const UNITS: [&str; 7] = ["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
    let mut value = bytes as f64;
    let mut unit = 0;
    while value >= 1024.0 && unit + 1 < UNITS.len() {
        value /= 1024.0;
        unit += 1;
    }
    if unit == 0 || value >= 100.0 {
        format!("{value:.0} {}", UNITS[unit])
    } else {
        format!("{value:.1} {}", UNITS[unit])
    }
}

fn refuse<T>(path: &str, reason: String) -> Result<T, Refusal> {
    Err(Refusal { path: path.to_owned(), reason })
}

/// A finite value within `[low, high]`.
fn within(path: &str, value: f64, [low, high]: [f64; 2]) -> Result<(), Refusal> {
    if value.is_finite() && (low..=high).contains(&value) {
        return Ok(());
    }
    refuse(path, format!("{value} is not a number between {low} and {high}"))
}

fn check_linear(linear: &Linear) -> Result<(), Refusal> {
    check_spectrum(&linear.spectrum)?;
    if !(1..=MAX_DEPTH).contains(&linear.depth) {
        return refuse("model.depth", format!("{} is not between 1 and {MAX_DEPTH}", linear.depth));
    }
    within("model.tau", linear.tau, [0.0, MAX_TAU])?;
    within("model.imbalance", linear.imbalance, IMBALANCE)?;
    if linear.start == Start::Unbalanced && linear.depth != 2 {
        return refuse(
            "model.start",
            format!("unbalanced needs depth 2, the two layers it scales; depth is {}", linear.depth),
        );
    }
    Ok(())
}

fn check_spectrum(spectrum: &[f64]) -> Result<(), Refusal> {
    let width = spectrum.len();
    if width == 0 || width > MAX_WIDTH {
        let layer = human_bytes(FLOAT * (width as u128).pow(2));
        return refuse(
            "model.spectrum",
            format!("{width} singular values, the limit is 1 to {MAX_WIDTH} (one layer would take {layer})"),
        );
    }
    for (i, value) in spectrum.iter().enumerate() {
        within(&format!("model.spectrum[{i}]"), *value, [0.0, MAX_SINGULAR_VALUE])?;
    }
    match spectrum.windows(2).position(|pair| pair[0] < pair[1]) {
        None => Ok(()),
        Some(i) => refuse(
            "model.spectrum",
            format!("must not rise, but {} is followed by {}", spectrum[i], spectrum[i + 1]),
        ),
    }
}

fn check_training(spec: &Spec) -> Result<(), Refusal> {
    check_eta(spec.training.eta)?;
    let steps = spec.training.steps;
    if !(1..=MAX_STEPS).contains(&steps) {
        return refuse("training.steps", format!("{steps} is not between 1 and {MAX_STEPS}"));
    }
    if spec.measure.every == 0 {
        return refuse("measure.every", "must be at least 1".into());
    }
    Ok(())
}

fn check_eta(eta: f64) -> Result<(), Refusal> {
    if eta.is_finite() && eta > 0.0 && eta <= MAX_ETA {
        return Ok(());
    }
    refuse("training.eta", format!("{eta} is not a number above 0 and at most {MAX_ETA}"))
}

fn check_history(spec: &Spec) -> Result<(), Refusal> {
    let rows = rows(spec.training.steps, spec.measure.every);
    let bytes = history(spec, u64::from(spec.ensemble.members));
    if bytes <= u128::from(MAX_HISTORY) {
        return Ok(());
    }
    let factor = bytes / u128::from(MAX_HISTORY) + 1;
    let enough = u128::from(spec.measure.every) * factor;
    refuse(
        "measure.every",
        format!(
            "{rows} rows of {} members would take {}, the limit is {}: raise measure.every to about {enough}",
            spec.ensemble.members,
            human_bytes(bytes),
            human_bytes(u128::from(MAX_HISTORY)),
        ),
    )
}

/// What each part takes, in bytes, for so many members.
fn parts(spec: &Spec, members: u64) -> Vec<(&'static str, u128)> {
    let Model::Linear(linear) = &spec.model;
    let matrix = (linear.spectrum.len() as u128).pow(2);
    let layers = u128::from(linear.depth);
    let members_wide = u128::from(members);
    // One buffer each for all layers, `[member][offset]`, padded to 64 floats.
    let arena = (layers * matrix).next_multiple_of(64);
    // Prefix products W1…Wn (the last is P), and the backward signal that starts as the residual.
    let activations = (layers + 1) * matrix;
    let task = 3 * matrix;
    let per_float = FLOAT * members_wide;
    vec![
        ("parameters", per_float * arena),
        ("gradients", per_float * arena),
        ("activations", per_float * activations),
        ("task", per_float * task),
        ("log", per_float * LOG_SLOTS * row_width(linear)),
        ("history", history(spec, members)),
    ]
}

/// Values that one member logs in one row: the modes and the loss.
fn row_width(linear: &Linear) -> u128 {
    linear.spectrum.len() as u128 + 1
}

fn history(spec: &Spec, members: u64) -> u128 {
    let Model::Linear(linear) = &spec.model;
    let rows = u128::from(rows(spec.training.steps, spec.measure.every));
    // A step and a time are kept for each row besides the values.
    rows * (u128::from(members) * row_width(linear) * FLOAT + 16)
}
