//! The Spec: everything that is said about a run, as plain serde data without behaviour.
//!
//! What a Spec may contain (ranges, memory) is decided in `engine::admit`; what it means is
//! decided by the models. Units: `eta` is the learning rate of the loss as written in the
//! model's page, `steps` and every cadence count optimizer steps.

use serde::{Deserialize, Serialize};

/// A complete description of a run. Equal Specs (with equal interventions, executor and
/// instruction set) give equal runs, bit for bit.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Spec {
    /// Id of the scenario this run belongs to, as listed by `plateau list`.
    pub scenario: String,
    /// Key of every random draw of the run.
    pub seed: u32,
    pub ensemble: Ensemble,
    pub training: Training,
    pub measure: Measure,
    pub model: Model,
}

/// The members trained side by side in the same dispatches.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ensemble {
    /// Number of members; member `m` draws its task and start from `(seed, m)`.
    pub members: u32,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Training {
    /// Learning rate of plain gradient descent.
    pub eta: f64,
    /// Length of the run in optimizer steps.
    pub steps: u64,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Measure {
    /// A row of measurements is logged at step 0, then every so many steps, and at the end.
    pub every: u64,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Model {
    Linear(Linear),
}

/// A deep linear network `P = W1 W2 … WN` (all `d × d`) and its task `A = U diag(s) V^T`;
/// loss `||P - A||_F^2`, the population loss for isotropic inputs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Linear {
    /// Singular values `s_1 ≥ s_2 ≥ … ≥ 0` of the task; their number is the width `d`.
    pub spectrum: Vec<f64>,
    /// Number of layers `N`: 1 is the shallow contrast, 2 the two-layer network.
    pub depth: u32,
    pub start: Start,
    /// Scale of the start, `e^-tau` per layer.
    pub tau: f64,
    /// Factor between the layers of an unbalanced start: `W1 = r e^-tau U`, `W2 = e^-tau/r V^T`.
    pub imbalance: f64,
    /// Orthogonal bases of the task.
    pub basis: Basis,
    /// Sign of `det U det V`, which decides what the identity start can learn.
    pub det: Det,
}

/// Where gradient descent starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Start {
    /// `W1 = e^-tau U`, middle layers `e^-tau I`, `WN = e^-tau V^T`.
    Aligned,
    /// Every layer `e^-tau I`.
    Identity,
    /// Every entry `e^-tau N(0, 1)`.
    Random,
    /// Aligned, with the two layers scaled by `imbalance` and its inverse (depth 2 only).
    Unbalanced,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Basis {
    /// Haar-distributed orthogonal matrices, drawn per member.
    Random,
    /// `U = V = I` (but for the sign asked for by `det`).
    Identity,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Det {
    /// As drawn.
    Any,
    /// The last right singular vector is flipped where needed.
    Positive,
    Negative,
}
