//! Twins of `shaders/activation.wgsl`.

use super::{Call, Scalar};
use crate::kernels::args::{BiasReluBackwardArgs, BiasReluForwardArgs};

pub fn bias_relu_forward<S: Scalar>(call: &mut Call<'_, S>) {
    let u: BiasReluForwardArgs = call.args();
    let mut out = call.take_floats(2);
    let bias = &call.floats(1)[u.bias_offset as usize..][..u.width as usize];
    forward(&u, call.floats(0), bias, &mut out);
    call.put_floats(2, out);
}

/// `out = max(x + bias, 0)`.
fn forward<S: Scalar>(u: &BiasReluForwardArgs, x: &[S], bias: &[S], out: &mut [S]) {
    let width = u.width as usize;
    let rows = x.chunks_exact(width).zip(out.chunks_exact_mut(width)).take(u.rows as usize);
    for (x, out) in rows {
        for ((out, &x), &bias) in out.iter_mut().zip(x).zip(bias) {
            let value = x + bias;
            *out = if value > S::default() { value } else { S::default() };
        }
    }
}

pub fn bias_relu_backward<S: Scalar>(call: &mut Call<'_, S>) {
    let u: BiasReluBackwardArgs = call.args();
    let [mut d_x, mut grads] = [2, 3].map(|binding| call.take_floats(binding));
    let d_bias = &mut grads[u.bias_offset as usize..][..u.width as usize];
    backward(&u, call.floats(0), call.floats(1), &mut d_x, d_bias);
    call.put_floats(2, d_x);
    call.put_floats(3, grads);
}

/// `d_x = d_out where activated > 0, else 0`; `d_bias += sum over rows of d_x`.
fn backward<S: Scalar>(
    u: &BiasReluBackwardArgs,
    activated: &[S],
    d_out: &[S],
    d_x: &mut [S],
    d_bias: &mut [S],
) {
    let width = u.width as usize;
    // The sum is complete before it is added, as in the shader.
    let mut sums = vec![S::default(); width];
    let rows = activated.chunks_exact(width).zip(d_out.chunks_exact(width));
    for ((activated, d_out), d_x) in rows.zip(d_x.chunks_exact_mut(width)).take(u.rows as usize) {
        for (((sum, &activated), &d_out), d_x) in sums.iter_mut().zip(activated).zip(d_out).zip(d_x) {
            *d_x = if activated > S::default() { d_out } else { S::default() };
            *sum += *d_x;
        }
    }
    for (d_bias, sum) in d_bias.iter_mut().zip(sums) {
        *d_bias += sum;
    }
}
