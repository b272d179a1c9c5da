//! Twins of `shaders/loss.wgsl`.

use super::{Call, Scalar};
use crate::kernels::args::CrossEntropyForwardArgs;

pub fn cross_entropy_forward<S: Scalar>(call: &mut Call<'_, S>) {
    let u: CrossEntropyForwardArgs = call.args();
    let [mut losses, mut d_logits] = [2, 3].map(|binding| call.take_floats(binding));
    forward(&u, call.floats(0), call.integers(1), &mut losses, &mut d_logits);
    call.put_floats(2, losses);
    call.put_floats(3, d_logits);
}

/// `losses = log sum exp(logits) - logits[target]`, `d_logits = (softmax - onehot) / rows`.
fn forward<S: Scalar>(
    u: &CrossEntropyForwardArgs,
    logits: &[S],
    targets: &[u32],
    losses: &mut [S],
    d_logits: &mut [S],
) {
    let classes = u.classes as usize;
    let count = S::of(f64::from(u.rows));
    let rows = logits.chunks_exact(classes).zip(d_logits.chunks_exact_mut(classes));
    for (((logits, d_logits), loss), &target) in rows.zip(losses).zip(targets).take(u.rows as usize) {
        let largest = largest(logits);
        let mut sum = S::default();
        for (d_logit, &logit) in d_logits.iter_mut().zip(logits) {
            *d_logit = (logit - largest).exp();
            sum += *d_logit;
        }
        *loss = sum.ln() - (logits[target as usize] - largest);
        for (c, d_logit) in d_logits.iter_mut().enumerate() {
            let hit = S::of(if c == target as usize { 1.0 } else { 0.0 });
            *d_logit = (*d_logit / sum - hit) / count;
        }
    }
}

/// The largest of at least one value.
pub fn largest<S: Scalar>(values: &[S]) -> S {
    let mut largest = values[0];
    for &value in values {
        if value > largest {
            largest = value;
        }
    }
    largest
}
