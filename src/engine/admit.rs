//! Admission: whether a Spec can run, said before it starts, with the figures.
//!
//! Every field has its limits here and nowhere else; the window's sliders and the terminal's
//! messages read them from the same constants. What a run would take is computed in `u128`, so
//! that a Spec asking for a billion members is answered with the true figure.

use super::protocol::{Change, Checkpoint, MemoryPlan};
use crate::kernels::{Role, Words};
use crate::models::{self, ROWS, linear};
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

const FLOAT: u128 = 4;
/// Words of a member's settings: its id and four counters.
const SETTINGS: usize = 5;
/// The part of the plan that lies with the host: the rows of the RunLog.
const HISTORY: &str = "history";

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

/// Whether a run of this admitted Spec can go on from there.
pub fn admit_checkpoint(spec: &Spec, checkpoint: &Checkpoint) -> Result<(), Refusal> {
    let Checkpoint { step, time, tensors } = checkpoint;
    // At step 0 the program makes its own start.
    let state = if *step == 0 { Vec::new() } else { models::state(spec) };
    let fits =
        |(words, len): (&Words, &usize)| matches!(words, Words::Floats(values) if values.len() == *len);
    let whole = tensors.len() == state.len() && tensors.iter().zip(&state).all(fits);
    if *step > spec.training.steps || !time.is_finite() || !whole {
        return refuse("checkpoint", "does not belong to this run".into());
    }
    Ok(())
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

/// The next number with two significant digits.
fn round_up(value: u128) -> u128 {
    let unit = 10_u128.pow(value.max(1).ilog10().saturating_sub(1));
    value.next_multiple_of(unit)
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
    // All but the first and the last row come every so many steps. The widest row allowed is
    // about a megabyte, so there is room for many.
    let affordable = u128::from(MAX_HISTORY) / (bytes / u128::from(rows)) - 2;
    let enough = round_up(u128::from(spec.training.steps).div_ceil(affordable));
    refuse(
        "measure.every",
        format!(
            "{rows} rows of {} members would take {}, the limit is {}: raise measure.every to {enough}",
            spec.ensemble.members,
            human_bytes(bytes),
            human_bytes(u128::from(MAX_HISTORY)),
        ),
    )
}

/// What each part takes, in bytes, for so many members. A test holds it against the tensors that
/// the model really makes.
fn parts(spec: &Spec, members: u64) -> Vec<(&'static str, u128)> {
    let Model::Linear(net) = &spec.model;
    let matrix = net.spectrum.len().pow(2);
    let depth = net.depth as usize;
    let arena = linear::arena(net);
    // The partial products W1 W2, …, P and the gradient of each partial product.
    let activations = (2 * depth - 1) * linear::padded(matrix);
    let width = row_width(net);
    let slots = linear::log_slots(usize::try_from(members).unwrap_or(usize::MAX / width), width) as usize;
    let ensemble = |floats: usize| FLOAT * floats as u128 * u128::from(members);
    vec![
        (Role::Parameters.name(), ensemble(arena)),
        (Role::Gradients.name(), ensemble(arena)),
        (Role::Activations.name(), ensemble(activations)),
        (Role::Task.name(), ensemble(3 * matrix)),
        (Role::Settings.name(), ensemble(SETTINGS) + FLOAT * ROWS as u128),
        (Role::Log.name(), ensemble(width * (1 + slots))),
        (HISTORY, history(spec, members)),
    ]
}

/// Values that one member logs in one row: the loss and the modes.
fn row_width(net: &Linear) -> usize {
    1 + net.spectrum.len()
}

fn history(spec: &Spec, members: u64) -> u128 {
    let Model::Linear(net) = &spec.model;
    let rows = u128::from(rows(spec.training.steps, spec.measure.every));
    // A step and a time are kept for each row besides the values.
    rows * (u128::from(members) * row_width(net) as u128 * FLOAT + 16)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spec::*;

    fn spec(members: u32, d: usize, depth: u32) -> Spec {
        Spec {
            scenario: "saxe".into(),
            seed: 1,
            ensemble: Ensemble { members },
            training: Training { eta: 0.01, steps: 1_000 },
            measure: Measure { every: 10 },
            model: Model::Linear(Linear {
                spectrum: (0..d).map(|i| 4.0 / (i + 1) as f64).collect(),
                depth,
                start: Start::Aligned,
                tau: 8.0,
                imbalance: 1.0,
                basis: Basis::Identity,
                det: Det::Any,
            }),
        }
    }

    fn edit(change: impl FnOnce(&mut Spec, &mut Linear)) -> Spec {
        let mut spec = spec(3, 4, 2);
        let Model::Linear(mut linear) = spec.model.clone();
        change(&mut spec, &mut linear);
        spec.model = Model::Linear(linear);
        spec
    }

    /// Path and reason of the refusal.
    fn refused(spec: &Spec) -> (String, String) {
        let refusal = admit(spec).expect_err("should be refused");
        assert!(!refusal.to_string().contains('\n'));
        (refusal.path, refusal.reason)
    }

    #[test]
    fn the_plan_is_what_the_model_makes() {
        for (members, d, depth) in [(1, 1, 1), (3, 5, 2), (67, 8, 3), (2, 64, 4)] {
            let spec = spec(members, d, depth);
            let plan = admit(&spec).expect("admitted");
            let tensors = crate::models::program(&spec).tensors;
            for (name, bytes) in plan.parts.iter().filter(|part| part.0 != HISTORY) {
                let made: usize = (0..tensors.list.len())
                    .filter(|i| tensors.list[*i].role.name() == name.as_str())
                    .map(|i| 4 * tensors.elements(crate::kernels::TensorId(i as u32)))
                    .sum();
                assert_eq!(*bytes, made as u64, "{name} at {members} x {d}, depth {depth}");
            }
        }
    }

    #[test]
    fn every_field_has_its_limits() {
        let path = |change: fn(&mut Spec, &mut Linear)| refused(&edit(change)).0;
        for eta in [0.0, -1.0, f64::NAN, f64::INFINITY, 1e4] {
            assert_eq!(refused(&edit(|s, _| s.training.eta = eta)).0, "training.eta");
            assert!(admit_change(Change::Eta(eta)).is_err());
        }
        for tau in [-0.1, f64::NAN, 41.0] {
            assert_eq!(refused(&edit(|_, l| l.tau = tau)).0, "model.tau");
        }
        assert_eq!(path(|s, _| s.training.steps = 0), "training.steps");
        assert_eq!(path(|s, _| s.training.steps = u64::MAX), "training.steps");
        assert_eq!(path(|s, _| s.measure.every = 0), "measure.every");
        assert_eq!(path(|s, _| s.ensemble.members = 0), "ensemble.members");
        assert_eq!(path(|_, l| l.depth = 0), "model.depth");
        assert_eq!(path(|_, l| l.depth = 5), "model.depth");
        assert_eq!(path(|_, l| l.imbalance = 0.0), "model.imbalance");
        assert_eq!(path(|_, l| l.spectrum.clear()), "model.spectrum");
        assert_eq!(path(|_, l| l.spectrum = vec![1.0; 1_000_000]), "model.spectrum");
        assert_eq!(path(|_, l| l.spectrum = vec![1.0, 2.0]), "model.spectrum");
        assert_eq!(path(|_, l| l.spectrum = vec![2.0, f64::NAN]), "model.spectrum[1]");
        assert_eq!(path(|_, l| l.spectrum = vec![2.0, -1.0]), "model.spectrum[1]");
        assert_eq!(path(|_, l| (l.start, l.depth) = (Start::Unbalanced, 3)), "model.start");
        assert!(admit(&edit(|_, l| l.spectrum = vec![1.0, 1.0, 0.0])).is_ok());
    }

    #[test]
    fn a_billion_members_are_told_what_they_would_take() {
        let reason = refused(&edit(|s, _| s.ensemble.members = 1_000_000_000)).1;
        assert!(reason.contains("limit of 4096") && reason.contains("TiB"), "{reason}");
        assert!(check_members(&spec(1, 4, 2), u64::MAX).is_err());
    }

    #[test]
    fn a_long_history_is_told_how_to_be_shorter() {
        let mut spec = spec(4_096, 64, 2);
        spec.training.steps = MAX_STEPS;
        spec.measure.every = 1;
        let (path, reason) = refused(&spec);
        assert_eq!(path, "measure.every");
        let every = reason.rsplit(' ').next().and_then(|word| word.parse().ok()).expect("a number");
        spec.measure.every = every;
        admit(&spec).expect("what the message proposes is admitted");
    }

    #[test]
    fn rows_are_the_first_the_regular_and_the_last() {
        assert_eq!(rows(10, 5), 3);
        assert_eq!(rows(11, 5), 4);
        assert_eq!(rows(3, 5), 2);
        assert_eq!(human_bytes(1_536), "1.5 KiB");
    }
}
