//! What an executor gave for a case against the twins in f64: the one tolerance for all kernels.

use super::case::Case;
use crate::cpu::CpuExecutor;
use crate::engine::executor::{Executor, ExecutorError, Finished};
use crate::kernels::args::AxpbyArgs;
use crate::kernels::{Batch, Op, Recording, TensorId, Tensors, Words};
use std::mem::discriminant;
use std::sync::Arc;

/// What the twins give for a case.
pub struct Expected {
    pub exact: Vec<Words>,
    /// The same for the absolute values of all inputs.
    scale: Vec<Words>,
}

/// How far an executor is from the twins.
#[derive(Clone, Debug, Default)]
pub struct Disagreement {
    /// The largest error over its bound: at most 1 where they agree, infinite for NaN and for values
    /// that are missing.
    pub times: f64,
    /// That value, in words.
    pub what: String,
}

impl Expected {
    /// Runs the twins on a case, in f64.
    ///
    /// # Errors
    /// None that a case of ours could cause.
    pub fn of(case: &Case) -> Result<Self, ExecutorError> {
        let batch = case.batch(0);
        let absolute = Batch {
            uploads: absolute(&batch.uploads, &case.tensors),
            runs: vec![(Arc::new(positive(&case.recording)), 1)],
            readbacks: batch.readbacks.clone(),
        };
        Ok(Self { exact: twin(&case.tensors, batch)?, scale: twin(&case.tensors, absolute)? })
    }

    /// Compares the outputs of an executor, in the order of the case's.
    ///
    /// The bound of a value is 32 eps times what the twin gives for the absolute values of all inputs
    /// (for a product sum |a||b|), which no cancellation can make small. Gaussians have 8,192 eps,
    /// since WGSL promises no more of a cosine than 2^-11 (adapters seen so far keep to 2^-20).
    pub fn against(&self, case: &Case, ours: &[Words]) -> Disagreement {
        let mut worst = Disagreement::default();
        for (i, (exact, scale)) in self.exact.iter().zip(&self.scale).enumerate() {
            let name = case.tensors.get(case.outputs[i]).name;
            let whole =
                |ours: &&Words| ours.len() == exact.len() && discriminant(*ours) == discriminant(exact);
            let Some(ours) = ours.get(i).filter(whole) else {
                let what = format!("`{name}` does not come back whole");
                return Disagreement { times: f64::INFINITY, what };
            };
            let errors = values(ours).into_iter().zip(values(exact)).map(|(a, b)| (a - b).abs());
            for (at, (error, bound)) in errors.zip(bounds(case, exact, scale)).enumerate() {
                let times = match error {
                    0.0 => 0.0,
                    error if error.is_finite() => error / bound,
                    _ => f64::INFINITY,
                };
                if times > worst.times {
                    let what = sentence(case, i, at, (ours, exact), times);
                    worst = Disagreement { times, what };
                }
            }
        }
        worst
    }
}

/// One value in words: what the executor gave, what the twin gives, the error over its bound.
fn sentence(case: &Case, output: usize, at: usize, (ours, exact): (&Words, &Words), times: f64) -> String {
    let value = |words: &Words| match words {
        Words::Floats(values) => format!("{:?}", values[at]),
        Words::Integers(values) => values[at].to_string(),
    };
    let tensor = case.tensors.get(case.outputs[output]);
    let (member, element) = (at / tensor.len, at % tensor.len);
    let far =
        if times.is_finite() { format!(", {times:.1} times the tolerance away") } else { String::new() };
    let (name, ours, exact) = (tensor.name, value(ours), value(exact));
    format!("`{name}` of member {member} is {ours} at {element}, its twin gives {exact}{far}")
}

/// The bound of every value; integers must be equal.
fn bounds(case: &Case, exact: &Words, scale: &Words) -> Vec<f64> {
    let Words::Floats(scale) = scale else { return vec![0.0; exact.len()] };
    let Op::Dispatch(dispatch) = &case.recording.ops[0];
    let eps = f64::from(f32::EPSILON) * if dispatch.kernel.name == "gaussian_fill" { 8192.0 } else { 32.0 };
    let largest = values(exact).iter().fold(0.0, |largest: f64, value| largest.max(value.abs()));
    let floor = if case.cancels { largest.max(1e-3) } else { 1e-3 };
    scale.iter().map(|scale| eps * f64::from(scale.abs()).max(floor)).collect()
}

/// The words as f64, which holds every f32 and every u32.
fn values(words: &Words) -> Vec<f64> {
    match words {
        Words::Floats(values) => values.iter().map(|&value| f64::from(value)).collect(),
        Words::Integers(values) => values.iter().map(|&value| f64::from(value)).collect(),
    }
}

fn twin(tensors: &Tensors, batch: Batch) -> Result<Vec<Words>, ExecutorError> {
    let mut twin = CpuExecutor::<f64>::new();
    twin.load(tensors)?;
    twin.submit(batch)?;
    let finished = twin.poll(true)?.pop();
    Ok(finished.map(|Finished { readbacks }| readbacks).unwrap_or_default())
}

/// All values positive, but for the schedule, which the updates subtract with.
fn absolute(uploads: &[(TensorId, Words)], tensors: &Tensors) -> Vec<(TensorId, Words)> {
    let absolute = |tensor: TensorId, words: &Words| match words {
        Words::Floats(values) => {
            let sign = if tensors.get(tensor).name == "rows" { -1.0 } else { 1.0 };
            Words::Floats(values.iter().map(|value| sign * value.abs()).collect())
        }
        other => other.clone(),
    };
    uploads.iter().map(|(tensor, words)| (*tensor, absolute(*tensor, words))).collect()
}

/// The same with the sign taken off `beta`, the one negative factor of the cases.
fn positive(recording: &Recording) -> Recording {
    let mut out = Recording::new("positive");
    out.ops = recording.ops.clone();
    for Op::Dispatch(dispatch) in &mut out.ops {
        if dispatch.kernel.name == "axpby" {
            let mut args: AxpbyArgs = bytemuck::pod_read_unaligned(&dispatch.args);
            args.beta = args.beta.abs();
            dispatch.args = bytemuck::bytes_of(&args).to_vec();
        }
    }
    out
}
