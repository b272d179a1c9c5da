//! The models: what a Spec's `model` means, as tensors and Recordings.

pub mod linear;
pub mod transformer;

use crate::engine::protocol::MetricInfo;
use crate::kernels::{Recording, TensorId, Tensors, Words};
use crate::spec::{Model, Spec};
use std::sync::Arc;

/// A model, ready to be run: what a session needs and no more.
pub struct Program {
    pub tensors: Tensors,
    /// Uploaded once, before the first step and again after a device was lost.
    pub uploads: Vec<(TensorId, Words)>,
    /// Run once at step 0, after the uploads: draws made on the device.
    pub init: Option<Arc<Recording>>,
    /// One optimizer step, `counter_advance` included.
    pub step: Arc<Recording>,
    /// One row of the log, slot advance included.
    pub measure: Arc<Recording>,
    pub metrics: Vec<MetricInfo>,
    /// What makes a run resume where it was: read back for a checkpoint, uploaded to resume.
    pub state: Vec<TensorId>,
    pub counters: TensorId,
    /// The schedule, `[row]`, shared by all members: the learning rate of each step of a batch.
    pub rows: TensorId,
    pub log: TensorId,
    /// Rows the log holds between two readbacks.
    pub log_slots: u32,
    pub pictures: Vec<PictureSource>,
}

/// A tensor that can be watched, and the dispatches that make it current.
pub struct PictureSource {
    pub name: &'static str,
    pub tensor: TensorId,
    pub shape: Vec<usize>,
    pub refresh: Arc<Recording>,
}

/// Steps whose schedule fits one batch.
pub const ROWS: usize = 4096;

/// The Program of a Spec that was admitted.
pub fn program(spec: &Spec) -> Program {
    match &spec.model {
        Model::Linear(linear) => linear::program(spec, linear),
    }
}

/// The metrics of an admitted Spec's program, without making it.
pub fn metrics(spec: &Spec) -> Vec<MetricInfo> {
    match &spec.model {
        Model::Linear(linear) => linear::metrics(linear),
    }
}

/// Floats of each tensor of the state of an admitted Spec's program, over all members, without making it.
pub fn state(spec: &Spec) -> Vec<usize> {
    let members = spec.ensemble.members as usize;
    match &spec.model {
        Model::Linear(linear) => vec![linear::arena(linear) * members],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_said_of_a_program_is_what_it_has() {
        for preset in crate::scenarios::ALL.iter().flat_map(|scenario| (scenario.presets)()) {
            let program = program(&preset.spec);
            let elements = program.state.iter().map(|id| program.tensors.elements(*id));
            assert_eq!(state(&preset.spec), elements.collect::<Vec<_>>());
            assert_eq!(metrics(&preset.spec), program.metrics);
            assert!(program.state.iter().all(|id| !program.tensors.get(*id).integer));
        }
    }
}
