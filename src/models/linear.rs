//! Deep linear networks: task, start and Recordings.

use crate::spec::{Linear, Spec};
use nalgebra::DMatrix;

/// The task of one member: `A = U diag(s) V^T`, all `[d, d]`, in f64.
pub struct Task {
    pub u: DMatrix<f64>,
    pub v: DMatrix<f64>,
    pub a: DMatrix<f64>,
}

/// The task of `member`, drawn from `(seed, member)`; pure.
pub fn task(_spec: &Spec, _linear: &Linear, _member: u32) -> Task {
    todo!("task")
}

/// The layers `W1 … WN` of `member` at step 0, in f64.
pub fn start(_spec: &Spec, _linear: &Linear, _member: u32) -> Vec<DMatrix<f64>> {
    todo!("start")
}
