//! A small causal transformer: parameter table, tensors, and the Recordings of a training step.
//!
//! Pre-RMSNorm, ReLU, learned positions, untied head, no biases but the feed-forward's first (preset
//! P1). Activations are `[member][row][channel]`, row = sequence * time + t; what backward needs of a
//! layer is kept in tensors of the layer's own, everything else is scratch shared by all layers.

mod record;
mod table;

pub use table::{LayerOffsets, Offsets, Param, Table};

use super::linear::padded;
use crate::kernels::{Role, Tensor, TensorId, Tensors};

/// Sizes and the settings all members share.
#[derive(Clone, Debug)]
pub struct Config {
    pub members: u32,
    pub vocab: u32,
    pub time: u32,
    pub width: u32,
    pub layers: u32,
    pub heads: u32,
    pub hidden: u32,
    /// Sequences of one member in a step.
    pub batch: u32,
    pub beta1: f32,
    pub beta2: f32,
    pub epsilon: f32,
    /// Largest global norm of a member's gradient; 0 for no clipping.
    pub clip: f32,
    /// Steps whose schedule fits one submit.
    pub schedule_rows: u32,
}

/// Values of one member in one row of the schedule.
pub const ROW_WIDTH: u32 = 4;

impl Config {
    /// Rows of an activation.
    pub fn rows(&self) -> u32 {
        self.batch * self.time
    }

    /// One member's part of the schedule's row for `step` (from 0): learning rate, decay, and the two
    /// bias corrections, in f64 on the host since f32 is too coarse for `1 - beta^t`.
    pub fn schedule_row(&self, lr: f64, weight_decay: f64, step: u32) -> [f64; ROW_WIDTH as usize] {
        let correction = |beta: f32| 1.0 / (1.0 - f64::from(beta).powi(step as i32 + 1));
        [lr, lr * weight_decay, correction(self.beta1), correction(self.beta2)]
    }
}

/// Index of each measurement in `scalars`.
pub mod scalar {
    pub const LOSS: u32 = 0;
    pub const SQUARED_NORM: u32 = 1;
}

/// What backward needs of one layer.
#[derive(Clone, Copy, Debug)]
struct LayerTensors {
    attention: NormTensors,
    qkv: TensorId,
    /// Attention weights, `[sequence][head][t][s]`.
    weights: TensorId,
    /// Attention's output before its matrix.
    mixed: TensorId,
    /// The residual stream between the layer's two halves.
    middle: TensorId,
    feed_forward: NormTensors,
    /// The feed-forward's hidden activations, after ReLU.
    hidden: TensorId,
    /// The residual stream after the layer.
    stream: TensorId,
}

/// A normalised residual stream.
#[derive(Clone, Copy, Debug)]
struct NormTensors {
    normed: TensorId,
    inverse_rms: TensorId,
}

/// What is overwritten by one layer after the other.
#[derive(Clone, Copy, Debug)]
struct Scratch {
    branch: TensorId,
    before_relu: TensorId,
    d_logits: TensorId,
    d_stream: TensorId,
    d_normed: TensorId,
    d_hidden: TensorId,
    d_before_relu: TensorId,
    d_mixed: TensorId,
    d_scores: TensorId,
    d_qkv: TensorId,
}

/// A transformer: its tensors, and the Recordings that run on them.
pub struct Transformer {
    pub config: Config,
    pub table: Table,
    pub tensors: Tensors,
    pub params: TensorId,
    pub grads: TensorId,
    pub first_moment: TensorId,
    pub second_moment: TensorId,
    /// `[sequence][t]`: what the model reads, and what it is to predict at each position.
    pub tokens: TensorId,
    pub targets: TensorId,
    pub counters: TensorId,
    /// The schedule, `[step][member][ROW_WIDTH]`, shared.
    pub rows: TensorId,
    pub logits: TensorId,
    /// Cross-entropy of each row, in nats.
    pub losses: TensorId,
    /// Measurements of a step, indexed by `scalar`.
    pub scalars: TensorId,
    offsets: Offsets,
    embedded: TensorId,
    layers: Vec<LayerTensors>,
    last: NormTensors,
    scratch: Scratch,
}

impl Transformer {
    /// Sizes must be at least 1 and `heads` divide `width`.
    pub fn new(config: Config) -> Self {
        let (table, offsets) = Table::new(&config);
        let mut tensors = Tensors::new(config.members);
        let t = &mut tensors;
        let arena = padded(table.len());
        let rows = config.rows() as usize;
        let [width, hidden, vocab] = [config.width, config.hidden, config.vocab].map(|size| size as usize);
        let schedule = (config.schedule_rows * config.members * ROW_WIDTH) as usize;
        let layers = (0..config.layers).map(|_| layer_tensors(t, &config)).collect();
        Self {
            params: t.floats("params", Role::Parameters, arena),
            grads: t.floats("grads", Role::Gradients, arena),
            first_moment: t.floats("first_moment", Role::Moments, arena),
            second_moment: t.floats("second_moment", Role::Moments, arena),
            tokens: t.integers("tokens", Role::Task, rows),
            targets: t.integers("targets", Role::Task, rows),
            counters: t.integers("counters", Role::Settings, 4),
            rows: t.add(Tensor {
                name: "rows",
                role: Role::Settings,
                len: schedule,
                shared: true,
                integer: false,
            }),
            logits: t.floats("logits", Role::Activations, rows * vocab),
            losses: t.floats("losses", Role::Activations, rows),
            scalars: t.floats("scalars", Role::Log, 2),
            embedded: t.floats("embedded", Role::Activations, rows * width),
            layers,
            last: norm_tensors(t, rows, width),
            scratch: scratch(t, &config, [rows, width, hidden, vocab]),
            offsets,
            table,
            tensors,
            config,
        }
    }
}

fn norm_tensors(t: &mut Tensors, rows: usize, width: usize) -> NormTensors {
    NormTensors {
        normed: t.floats("normed", Role::Activations, rows * width),
        inverse_rms: t.floats("inverse_rms", Role::Activations, rows),
    }
}

/// Elements of the attention matrices of one layer.
fn matrices(config: &Config) -> usize {
    (config.heads * config.rows() * config.time) as usize
}

fn layer_tensors(t: &mut Tensors, config: &Config) -> LayerTensors {
    let [rows, width, hidden] = [config.rows(), config.width, config.hidden].map(|size| size as usize);
    LayerTensors {
        attention: norm_tensors(t, rows, width),
        qkv: t.floats("qkv", Role::Activations, rows * 3 * width),
        weights: t.floats("attention_weights", Role::Activations, matrices(config)),
        mixed: t.floats("mixed", Role::Activations, rows * width),
        middle: t.floats("middle", Role::Activations, rows * width),
        feed_forward: norm_tensors(t, rows, width),
        hidden: t.floats("hidden", Role::Activations, rows * hidden),
        stream: t.floats("stream", Role::Activations, rows * width),
    }
}

fn scratch(t: &mut Tensors, config: &Config, [rows, width, hidden, vocab]: [usize; 4]) -> Scratch {
    let mut floats = |name, len| t.floats(name, Role::Activations, len);
    Scratch {
        branch: floats("branch", rows * width),
        before_relu: floats("before_relu", rows * hidden),
        d_logits: floats("d_logits", rows * vocab),
        d_stream: floats("d_stream", rows * width),
        d_normed: floats("d_normed", rows * width),
        d_hidden: floats("d_hidden", rows * hidden),
        d_before_relu: floats("d_before_relu", rows * hidden),
        d_mixed: floats("d_mixed", rows * width),
        d_scores: floats("d_scores", matrices(config)),
        d_qkv: floats("d_qkv", rows * 3 * width),
    }
}
