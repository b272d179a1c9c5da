//! Specs worth seeing, and what to look for in each.

use crate::scenarios::Preset;
use crate::spec::{Basis, Det, Ensemble, Linear, Measure, Model, Spec, Start, Training};

const SPECTRUM: [f64; 8] = [4.0, 2.8, 2.0, 1.4, 1.0, 0.7, 0.5, 0.35];

/// The standard case: `d = 8`, `tau = 8`, `eta = .01`, aligned, two layers.
pub fn standard() -> Spec {
    let linear = Linear {
        spectrum: SPECTRUM.to_vec(),
        depth: 2,
        start: Start::Aligned,
        tau: 8.0,
        imbalance: 1.0,
        basis: Basis::Random,
        det: Det::Any,
    };
    Spec {
        scenario: "saxe".into(),
        seed: 1,
        ensemble: Ensemble { members: 8 },
        training: Training { eta: 0.01, steps: 1_334 },
        measure: Measure { every: 2 },
        model: Model::Linear(linear),
    }
}

/// The standard case with another start (and sign of `det A`), run for `steps`.
pub fn from_start(start: Start, det: Det, steps: u64) -> Spec {
    variant(steps, |linear| {
        linear.start = start;
        linear.det = det;
    })
}

/// The one-layer contrast to the standard case.
pub fn shallow() -> Spec {
    variant(400, |linear| linear.depth = 1)
}

/// Three layers; a larger start, since the plateaus grow like `e^tau` rather than `tau`.
pub fn deep() -> Spec {
    variant(2_400, |linear| {
        linear.depth = 3;
        linear.tau = 2.5;
    })
}

/// The standard case with `steps` and a change; some 400 to 700 rows.
fn variant(steps: u64, change: impl FnOnce(&mut Linear)) -> Spec {
    let mut spec = standard();
    let Model::Linear(linear) = &mut spec.model;
    change(linear);
    spec.training.steps = steps;
    spec.measure.every = (steps / 400).max(1);
    spec
}

fn with_spectrum(steps: u64, spectrum: &[f64]) -> Spec {
    variant(steps, |linear| linear.spectrum = spectrum.to_vec())
}

fn unbalanced(steps: u64, tau: f64, imbalance: f64) -> Spec {
    variant(steps, |linear| {
        linear.start = Start::Unbalanced;
        linear.tau = tau;
        linear.imbalance = imbalance;
    })
}

/// Four modes with a large learning rate, every step seen.
fn large_eta(eta: f64) -> Spec {
    let mut spec = variant(399, |linear| {
        linear.spectrum = vec![1.0, 0.6, 0.35, 0.2];
        linear.tau = 4.0;
    });
    spec.training.eta = eta;
    spec
}

pub fn presets() -> Vec<Preset> {
    let mut list = starts();
    list.extend(tasks());
    list.extend(limits());
    list
}

fn preset(id: &'static str, title: &'static str, look_for: &'static str, spec: Spec) -> Preset {
    Preset { id, title, look_for, spec }
}

/// Where training starts.
fn starts() -> Vec<Preset> {
    vec![
        preset(
            "standard",
            "Eight modes, one after another",
            "The loss stands still, then drops, eight times: each drop is one mode being learned, the strongest first, at the step where theory puts its mark.",
            standard(),
        ),
        preset(
            "identity",
            "Identity start",
            "Both layers start as the same multiple of the identity, which knows nothing of the task, and still the modes come one after another, each seed a little later or earlier.",
            from_start(Start::Identity, Det::Positive, 2_000),
        ),
        preset(
            "missing-mode",
            "One missing mode",
            "Seven modes are learned and the eighth is not, so the loss stands still at s_8^2 = 0.1225; after t = 20 or so the rounding of float32 lets it escape, which exact arithmetic never would.",
            from_start(Start::Identity, Det::Negative, 4_000),
        ),
        preset(
            "random",
            "Random start",
            "From small random weights the modes come in the same order; chance moves each of them by some steps, and theory foretells by how many.",
            from_start(Start::Random, Det::Any, 2_400),
        ),
        preset(
            "large-start",
            "A large start: modes no longer in turn",
            "From a start of e^-1 all modes rise together and the plateaus are gone; the weakest overtakes stronger ones.",
            variant(400, |linear| linear.tau = 1.0),
        ),
        preset(
            "unbalanced",
            "One layer larger than the other",
            "The product of the layers starts as small as in the standard case, but one layer is 3,000 times larger than the other, and the plateaus last only a little over half as long.",
            unbalanced(1_000, 8.0, 54.6),
        ),
        preset(
            "lazy",
            "One layer so large that nothing waits",
            "With one layer near 1 from the start every mode rises at once: the half-times lie within a factor of three of each other, not ten, and the plateaus are gone.",
            unbalanced(400, 7.0, 1_000.0),
        ),
    ]
}

/// What is to be learned.
fn tasks() -> Vec<Preset> {
    vec![
        preset(
            "equal",
            "Equal modes",
            "Modes of equal strength are learned at the same moment, so eight modes give only three drops of the loss.",
            with_spectrum(1_200, &[3.0, 3.0, 3.0, 1.0, 1.0, 1.0, 0.4, 0.4]),
        ),
        preset(
            "close",
            "Close modes",
            "Modes that are nearly as strong as each other come so close together that their drops melt into two ramps, with one long plateau between.",
            with_spectrum(1_000, &[2.0, 1.9, 1.8, 1.7, 0.6, 0.57, 0.54, 0.5]),
        ),
        preset(
            "rank-deficient",
            "A task of rank four",
            "Four modes are learned and the loss goes to zero; the other four have nothing to learn and never rise.",
            with_spectrum(500, &[4.0, 2.8, 2.0, 1.4, 0.0, 0.0, 0.0, 0.0]),
        ),
    ]
}

/// Depth and learning rate.
fn limits() -> Vec<Preset> {
    vec![
        preset(
            "shallow",
            "One layer: all at once",
            "With a single layer there are no plateaus: every mode is half learned at the same step, 35, however strong or weak it is.",
            shallow(),
        ),
        preset(
            "three-layers",
            "Three layers",
            "With three layers the wait is longer and the drop sharper, from a start that is far larger.",
            deep(),
        ),
        preset(
            "eta-near-limit",
            "Learning rate near its limit",
            "At nine tenths of the largest learning rate, 1/(2 s_1), the strongest mode jumps above its value and below it before it settles.",
            large_eta(0.45),
        ),
        preset(
            "eta-beyond-limit",
            "Learning rate beyond its limit",
            "A tenth above the limit the strongest mode never settles: it jumps between 1.246 and 0.663 for ever, while the weaker modes are learned as if nothing were wrong.",
            large_eta(0.55),
        ),
    ]
}
