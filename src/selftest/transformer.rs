//! Random cases of the transformer's kernels.

use super::case::{Case, Maker};
use crate::kernels::args::*;
use crate::kernels::{Recording, TensorId};

/// A random case of one of the transformer's kernels; `None` for any other.
pub fn case(mut m: Maker, name: &str, seed: u64) -> Option<Case> {
    let mut r = Recording::new("case");
    let outputs = match name {
        "sum" => sum(&mut m, &mut r),
        "embedding_forward" => embedding_forward(&mut m, &mut r, seed),
        "embedding_backward" => embedding_backward(&mut m, &mut r, seed),
        "rmsnorm_forward" => rmsnorm_forward(&mut m, &mut r),
        "rmsnorm_backward" => rmsnorm_backward(&mut m, &mut r, seed),
        "rmsnorm_gain_backward" => rmsnorm_gain_backward(&mut m, &mut r),
        "attention_forward" | "attention_scores_backward" | "attention_backward" => {
            attention(&mut m, &mut r, name)
        }
        "bias_relu_forward" => bias_relu_forward(&mut m, &mut r),
        "bias_relu_backward" => bias_relu_backward(&mut m, &mut r),
        "cross_entropy_forward" => cross_entropy(&mut m, &mut r, seed),
        "adamw_update" => adamw(&mut m, &mut r, seed),
        _ => return None,
    };
    let mut case = m.case(r, &outputs);
    case.cancels = true;
    Some(case)
}

fn sum(m: &mut Maker, r: &mut Recording) -> Vec<TensorId> {
    let len = m.below(1000);
    let (x, out) = (m.floats("x", len + 4, false), m.floats("out", 3, false));
    let args = SumArgs { len, x_offset: 4, x_stride: len + 4, out_offset: 2, out_stride: 3, divisor: 3.0 };
    r.dispatch(args, &[], &[x, out], [1, 1]);
    vec![out]
}

/// `[sequences, time, width, vocab]`, and the tokens: one member's or everyone's.
fn words(m: &mut Maker, seed: u64) -> ([u32; 4], TensorId, u32) {
    let [batch, time, width, vocab] = [m.below(5), m.below(9), m.below(19), m.below(13)];
    let shared = seed % 3 == 1;
    let tokens = m.choices("tokens", batch * time, vocab, shared);
    ([batch, time, width, vocab], tokens, if shared { 0 } else { batch * time })
}

fn embedding_forward(m: &mut Maker, r: &mut Recording, seed: u64) -> Vec<TensorId> {
    let ([batch, time, width, vocab], tokens, tokens_stride) = words(m, seed);
    let params_stride = 3 + (vocab + time) * width;
    let (rows, params) = (batch * time, m.floats("params", params_stride, false));
    let out = m.floats("out", rows * width, false);
    let position_offset = 3 + vocab * width;
    let args = EmbeddingForwardArgs {
        rows,
        time,
        width,
        tokens_stride,
        params_stride,
        token_offset: 3,
        position_offset,
    };
    r.dispatch(args, &[], &[tokens, params, out], [rows * width, 1]);
    vec![out]
}

fn embedding_backward(m: &mut Maker, r: &mut Recording, seed: u64) -> Vec<TensorId> {
    let ([batch, time, width, vocab], tokens, tokens_stride) = words(m, seed);
    let grads_stride = 3 + (vocab + time) * width;
    let (rows, grads) = (batch * time, m.floats("grads", grads_stride, false));
    let d_out = m.floats("d_out", rows * width, false);
    let position_offset = 3 + vocab * width;
    let args = EmbeddingBackwardArgs {
        rows,
        time,
        width,
        vocab,
        tokens_stride,
        grads_stride,
        token_offset: 3,
        position_offset,
    };
    r.dispatch(args, &[], &[tokens, d_out, grads], [(vocab + time) * width, 1]);
    vec![grads]
}

/// Rows and width of an activation, and the stride of an arena with a vector of that width at 5.
fn activation(m: &mut Maker) -> (u32, u32, u32) {
    let (rows, width) = (m.below(150), m.below(70));
    (rows, width, width + 7)
}

fn rmsnorm_forward(m: &mut Maker, r: &mut Recording) -> Vec<TensorId> {
    let (rows, width, params_stride) = activation(m);
    let (x, params) = (m.floats("x", rows * width, false), m.floats("params", params_stride, false));
    let (out, inverse) = (m.floats("out", rows * width, false), m.floats("inverse_rms", rows, false));
    // A large epsilon, so that its place in the formula matters.
    let args = RmsnormForwardArgs { rows, width, gain_offset: 5, params_stride, epsilon: 0.1 };
    r.dispatch(args, &[], &[x, params, out, inverse], [rows, 1]);
    vec![out, inverse]
}

fn rmsnorm_backward(m: &mut Maker, r: &mut Recording, seed: u64) -> Vec<TensorId> {
    let (rows, width, params_stride) = activation(m);
    let (x, params) = (m.floats("x", rows * width, false), m.floats("params", params_stride, false));
    let (inverse, d_out) = (m.floats("inverse_rms", rows, false), m.floats("d_out", rows * width, false));
    let d_x = m.floats("d_x", rows * width, false);
    let args = RmsnormBackwardArgs { rows, width, gain_offset: 5, params_stride };
    let flags: &[_] = if seed.is_multiple_of(2) { &["ACCUMULATE"] } else { &[] };
    r.dispatch(args, flags, &[x, params, inverse, d_out, d_x], [rows, 1]);
    vec![d_x]
}

fn rmsnorm_gain_backward(m: &mut Maker, r: &mut Recording) -> Vec<TensorId> {
    let (rows, width, grads_stride) = activation(m);
    let (x, inverse) = (m.floats("x", rows * width, false), m.floats("inverse_rms", rows, false));
    let d_out = m.floats("d_out", rows * width, false);
    let grads = m.floats("grads", grads_stride, false);
    let args = RmsnormGainBackwardArgs { rows, width, gain_offset: 5, grads_stride };
    r.dispatch(args, &[], &[x, inverse, d_out, grads], [width, 1]);
    vec![grads]
}

fn attention(m: &mut Maker, r: &mut Recording, name: &str) -> Vec<TensorId> {
    let [batch, time, heads, head_width] = [m.below(3), m.below(17), m.below(3), m.below(7)];
    let (rows, width) = (batch * time, heads * head_width);
    let items = [rows * heads, 1];
    let qkv = m.floats("qkv", rows * 3 * width, false);
    let weights = m.floats("weights", rows * heads * time, false);
    let out = m.floats("out", rows * width, false);
    let d_scores = m.floats("d_scores", rows * heads * time, false);
    let d_qkv = m.floats("d_qkv", rows * 3 * width, false);
    match name {
        "attention_forward" => {
            let args = AttentionForwardArgs { batch, time, heads, head_width };
            r.dispatch(args, &[], &[qkv, weights, out], items);
            vec![weights, out]
        }
        "attention_scores_backward" => {
            let args = AttentionScoresBackwardArgs { batch, time, heads, head_width };
            r.dispatch(args, &[], &[qkv, weights, out, d_scores], items);
            vec![d_scores]
        }
        _ => {
            let args = AttentionBackwardArgs { batch, time, heads, head_width };
            r.dispatch(args, &[], &[qkv, weights, d_scores, out, d_qkv], items);
            vec![d_qkv]
        }
    }
}

fn bias_relu_forward(m: &mut Maker, r: &mut Recording) -> Vec<TensorId> {
    let (rows, width, params_stride) = activation(m);
    let (x, params) = (m.floats("x", rows * width, false), m.floats("params", params_stride, false));
    let out = m.floats("out", rows * width, false);
    let args = BiasReluForwardArgs { rows, width, bias_offset: 5, params_stride };
    r.dispatch(args, &[], &[x, params, out], [rows * width, 1]);
    vec![out]
}

fn bias_relu_backward(m: &mut Maker, r: &mut Recording) -> Vec<TensorId> {
    let (rows, width, grads_stride) = activation(m);
    let [activated, d_out, d_x] =
        ["activated", "d_out", "d_x"].map(|name| m.floats(name, rows * width, false));
    let grads = m.floats("grads", grads_stride, false);
    let args = BiasReluBackwardArgs { rows, width, bias_offset: 5, grads_stride };
    r.dispatch(args, &[], &[activated, d_out, d_x, grads], [width, 1]);
    vec![d_x, grads]
}

fn cross_entropy(m: &mut Maker, r: &mut Recording, seed: u64) -> Vec<TensorId> {
    let (rows, classes, shared) = (m.below(150), m.below(40), seed % 3 == 1);
    let logits = m.floats("logits", rows * classes, false);
    let targets = m.choices("targets", rows, classes, shared);
    let (losses, d_logits) = (m.floats("losses", rows, false), m.floats("d_logits", rows * classes, false));
    let targets_stride = if shared { 0 } else { rows };
    let args = CrossEntropyForwardArgs { rows, classes, targets_stride };
    r.dispatch(args, &[], &[logits, targets, losses, d_logits], [rows, 1]);
    vec![losses, d_logits]
}

/// Rates in (0, 1), some with clipping and some without; squares are positive.
fn adamw(m: &mut Maker, r: &mut Recording, seed: u64) -> Vec<TensorId> {
    let (len, members) = (m.below(300), m.members());
    let stride = len + 7;
    let rows = m.positive("rows", 3 * members * 4, true);
    let counters = m.integers("counters", &[40, 2, 0, 0]);
    let norm = m.positive("squared_norm", 3, false);
    let [params, grads, first] = ["params", "grads", "first"].map(|name| m.floats(name, stride, false));
    let second = m.positive("second", stride, false);
    let args = AdamwUpdateArgs {
        len,
        decayed_len: len / 2,
        stride,
        row_len: members * 4,
        row_member: 4,
        norm_offset: 2,
        norm_stride: 3,
        beta1: 0.9,
        beta2: 0.99,
        // Large enough that its place in the formula matters.
        epsilon: 0.1,
        clip: [0.0, 0.3, 10.0][seed as usize % 3],
    };
    r.dispatch(args, &[], &[rows, counters, norm, params, grads, first, second], [len, 1]);
    vec![params, grads, first, second]
}
