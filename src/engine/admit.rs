//! Admission: whether a Spec can run, said before it starts, with the figures.

use super::protocol::MemoryPlan;
use crate::spec::Spec;

/// Why a Spec is refused: the field as a path (`model.tau`) and one line.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{path}: {reason}")]
pub struct Refusal {
    pub path: String,
    pub reason: String,
}

/// Checks every field against its limits and plans the memory.
pub fn admit(_spec: &Spec) -> Result<MemoryPlan, Refusal> {
    todo!("admission")
}
