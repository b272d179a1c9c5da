//! Twins of `shaders/attention.wgsl`.

use super::loss::largest;
use super::{Call, Scalar};
use crate::kernels::args::{AttentionBackwardArgs, AttentionForwardArgs, AttentionScoresBackwardArgs};

/// The sizes all three kernels share.
#[derive(Clone, Copy)]
struct Shape {
    batch: usize,
    time: usize,
    heads: usize,
    head_width: usize,
}

/// One (sequence, head): where its parts begin.
#[derive(Clone, Copy)]
struct Head {
    /// Its `[time, time]` matrix.
    matrix: usize,
    /// Its row 0 in `[row][3][head][head_width]` and in `[row][head][head_width]`.
    qkv: usize,
    out: usize,
}

impl Shape {
    fn new([batch, time, heads, head_width]: [u32; 4]) -> Self {
        let [batch, time, heads, head_width] = [batch, time, heads, head_width].map(|size| size as usize);
        Self { batch, time, heads, head_width }
    }

    fn width(self) -> usize {
        self.heads * self.head_width
    }

    fn scale<S: Scalar>(self) -> S {
        S::of(1.0) / S::of(self.head_width as f64).sqrt()
    }

    fn each_head(self) -> impl Iterator<Item = Head> {
        (0..self.batch * self.heads).map(move |i| {
            let (row, channel) = (i / self.heads * self.time, i % self.heads * self.head_width);
            Head {
                matrix: i * self.time * self.time,
                qkv: row * 3 * self.width() + channel,
                out: row * self.width() + channel,
            }
        })
    }

    /// Query (`part` 0), key (1) or value (2) of one position.
    fn part<S>(self, qkv: &[S], head: Head, part: usize, t: usize) -> &[S] {
        &qkv[head.qkv + (3 * t + part) * self.width()..][..self.head_width]
    }

    fn part_mut<S>(self, qkv: &mut [S], head: Head, part: usize, t: usize) -> &mut [S] {
        &mut qkv[head.qkv + (3 * t + part) * self.width()..][..self.head_width]
    }

    fn out<S>(self, out: &[S], head: Head, t: usize) -> &[S] {
        &out[head.out + t * self.width()..][..self.head_width]
    }

    /// Row t of this head's matrix.
    fn row<S>(self, matrix: &[S], head: Head, t: usize) -> &[S] {
        &matrix[head.matrix + t * self.time..][..self.time]
    }

    fn row_mut<S>(self, matrix: &mut [S], head: Head, t: usize) -> &mut [S] {
        &mut matrix[head.matrix + t * self.time..][..self.time]
    }
}

fn dot<S: Scalar>(a: &[S], b: &[S]) -> S {
    let mut sum = S::default();
    for (&a, &b) in a.iter().zip(b) {
        sum += a * b;
    }
    sum
}

/// `out += factor x`.
fn add<S: Scalar>(factor: S, x: &[S], out: &mut [S]) {
    for (out, &x) in out.iter_mut().zip(x) {
        *out += factor * x;
    }
}

pub fn attention_forward<S: Scalar>(call: &mut Call<'_, S>) {
    let u: AttentionForwardArgs = call.args();
    let shape = Shape::new([u.batch, u.time, u.heads, u.head_width]);
    let [mut weights, mut out] = [1, 2].map(|binding| call.take_floats(binding));
    forward(shape, call.floats(0), &mut weights, &mut out);
    call.put_floats(1, weights);
    call.put_floats(2, out);
}

/// `weights[t, s <= t] = softmax(q_t . k_s / sqrt(head_width))`, `out_t = sum weights[t, s] v_s`.
fn forward<S: Scalar>(shape: Shape, qkv: &[S], weights: &mut [S], out: &mut [S]) {
    for head in shape.each_head() {
        for t in 0..shape.time {
            let (row, future) = shape.row_mut(weights, head, t).split_at_mut(t + 1);
            let q = shape.part(qkv, head, 0, t);
            for (s, score) in row.iter_mut().enumerate() {
                *score = dot(q, shape.part(qkv, head, 1, s)) * shape.scale();
            }
            softmax(row);
            future.fill(S::default());
            let out = &mut out[head.out + t * shape.width()..][..shape.head_width];
            out.fill(S::default());
            for (s, &weight) in row.iter().enumerate() {
                add(weight, shape.part(qkv, head, 2, s), out);
            }
        }
    }
}

fn softmax<S: Scalar>(row: &mut [S]) {
    let largest = largest(row);
    let mut sum = S::default();
    for value in row.iter_mut() {
        *value = (*value - largest).exp();
        sum += *value;
    }
    for value in row {
        *value = *value / sum;
    }
}

pub fn attention_scores_backward<S: Scalar>(call: &mut Call<'_, S>) {
    let u: AttentionScoresBackwardArgs = call.args();
    let shape = Shape::new([u.batch, u.time, u.heads, u.head_width]);
    let mut d_scores = call.take_floats(3);
    scores_backward(shape, call.floats(0), call.floats(1), call.floats(2), &mut d_scores);
    call.put_floats(3, d_scores);
}

/// `d_scores[t, s] = weights[t, s] (d_out_t . v_s - sum weights[t] (d_out_t . v)) / sqrt(head_width)`.
fn scores_backward<S: Scalar>(shape: Shape, qkv: &[S], weights: &[S], d_out: &[S], d_scores: &mut [S]) {
    for head in shape.each_head() {
        for t in 0..shape.time {
            let (row, future) = shape.row_mut(d_scores, head, t).split_at_mut(t + 1);
            let (weights, d_out) = (shape.row(weights, head, t), shape.out(d_out, head, t));
            let mut sum = S::default();
            for (s, (d_weight, &weight)) in row.iter_mut().zip(weights).enumerate() {
                *d_weight = dot(d_out, shape.part(qkv, head, 2, s));
                sum += weight * *d_weight;
            }
            for (value, &weight) in row.iter_mut().zip(weights) {
                *value = shape.scale::<S>() * weight * (*value - sum);
            }
            future.fill(S::default());
        }
    }
}

pub fn attention_backward<S: Scalar>(call: &mut Call<'_, S>) {
    let u: AttentionBackwardArgs = call.args();
    let shape = Shape::new([u.batch, u.time, u.heads, u.head_width]);
    let mut d_qkv = call.take_floats(4);
    let operands = [0, 1, 2, 3].map(|binding| call.floats(binding));
    backward(shape, operands, &mut d_qkv);
    call.put_floats(4, d_qkv);
}

/// `dq_t = sum d_scores[t, s] k_s`, `dk_s = sum d_scores[t, s] q_t`, `dv_s = sum weights[t, s] d_out_t`,
/// each in the order of the index summed over; operands are qkv, weights, d_scores, d_out.
fn backward<S: Scalar>(shape: Shape, operands: [&[S]; 4], d_qkv: &mut [S]) {
    let [qkv, weights, d_scores, d_out] = operands;
    let rows = shape.batch * shape.time;
    d_qkv[..rows * 3 * shape.width()].fill(S::default());
    for head in shape.each_head() {
        for t in 0..shape.time {
            let (weights, d_scores) = (shape.row(weights, head, t), shape.row(d_scores, head, t));
            let (q, d_out) = (shape.part(qkv, head, 0, t), shape.out(d_out, head, t));
            for s in 0..=t {
                let k = shape.part(qkv, head, 1, s);
                add(d_scores[s], k, shape.part_mut(d_qkv, head, 0, t));
                add(d_scores[s], q, shape.part_mut(d_qkv, head, 1, s));
                add(weights[s], d_out, shape.part_mut(d_qkv, head, 2, s));
            }
        }
    }
}
