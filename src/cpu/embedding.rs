//! Twins of `shaders/embedding.wgsl`.

use super::{Call, Scalar};
use crate::kernels::args::{EmbeddingBackwardArgs, EmbeddingForwardArgs};

pub fn embedding_forward<S: Scalar>(call: &mut Call<'_, S>) {
    let u: EmbeddingForwardArgs = call.args();
    let mut out = call.take_floats(2);
    forward(&u, call.integers(0), call.floats(1), &mut out);
    call.put_floats(2, out);
}

/// `out[row] = token_table[tokens[row]] + position_table[t]`.
fn forward<S: Scalar>(u: &EmbeddingForwardArgs, tokens: &[u32], params: &[S], out: &mut [S]) {
    let width = u.width as usize;
    let entry = |offset: u32, entry: usize| &params[offset as usize + entry * width..][..width];
    let rows = out.chunks_exact_mut(width).zip(tokens).take(u.rows as usize);
    for (row, (out, &token)) in rows.enumerate() {
        let word = entry(u.token_offset, token as usize);
        let position = entry(u.position_offset, row % u.time as usize);
        for ((out, &word), &position) in out.iter_mut().zip(word).zip(position) {
            *out = word + position;
        }
    }
}

pub fn embedding_backward<S: Scalar>(call: &mut Call<'_, S>) {
    let u: EmbeddingBackwardArgs = call.args();
    let mut grads = call.take_floats(2);
    backward(&u, call.integers(0), call.floats(1), &mut grads);
    call.put_floats(2, grads);
}

/// `d_token_table[tokens[row]] += d_out[row]`, `d_position_table[t] += d_out[row]`. Every entry
/// receives its rows in order, as in the shader, which gathers them.
fn backward<S: Scalar>(u: &EmbeddingBackwardArgs, tokens: &[u32], d_out: &[S], grads: &mut [S]) {
    let width = u.width as usize;
    let rows = d_out.chunks_exact(width).zip(tokens).take(u.rows as usize);
    for (row, (d_out, &token)) in rows.enumerate() {
        let word = u.token_offset as usize + token as usize * width;
        let position = u.position_offset as usize + (row % u.time as usize) * width;
        for at in [word, position] {
            for (grad, &d_out) in grads[at..][..width].iter_mut().zip(d_out) {
                *grad += d_out;
            }
        }
    }
}
