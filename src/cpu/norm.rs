//! Twins of `shaders/norm.wgsl`.

use super::{Call, Scalar};
use crate::kernels::args::{RmsnormBackwardArgs, RmsnormForwardArgs, RmsnormGainBackwardArgs};

pub fn rmsnorm_forward<S: Scalar>(call: &mut Call<'_, S>) {
    let u: RmsnormForwardArgs = call.args();
    let [mut out, mut inverse_rms] = [2, 3].map(|binding| call.take_floats(binding));
    let gain = &call.floats(1)[u.gain_offset as usize..][..u.width as usize];
    forward(&u, call.floats(0), gain, &mut out, &mut inverse_rms);
    call.put_floats(2, out);
    call.put_floats(3, inverse_rms);
}

/// `inverse_rms = (mean x^2 + epsilon)^-1/2`, `out = gain inverse_rms x`, row by row.
fn forward<S: Scalar>(u: &RmsnormForwardArgs, x: &[S], gain: &[S], out: &mut [S], inverse_rms: &mut [S]) {
    let width = u.width as usize;
    let (count, epsilon) = (S::of(f64::from(u.width)), S::of(f64::from(u.epsilon)));
    let rows = x.chunks_exact(width).zip(out.chunks_exact_mut(width)).zip(inverse_rms);
    for ((x, out), inverse_rms) in rows.take(u.rows as usize) {
        let mut sum = S::default();
        for &x in x {
            sum += x * x;
        }
        let inverse = S::of(1.0) / (sum / count + epsilon).sqrt();
        for ((out, &x), &gain) in out.iter_mut().zip(x).zip(gain) {
            *out = gain * (inverse * x);
        }
        *inverse_rms = inverse;
    }
}

pub fn rmsnorm_backward<S: Scalar>(call: &mut Call<'_, S>) {
    let u: RmsnormBackwardArgs = call.args();
    let accumulate = call.flag("ACCUMULATE");
    let mut d_x = call.take_floats(4);
    let gain = &call.floats(1)[u.gain_offset as usize..][..u.width as usize];
    backward(&u, accumulate, [call.floats(0), gain, call.floats(2), call.floats(3)], &mut d_x);
    call.put_floats(4, d_x);
}

/// `d_x = r (gain d_out - x r^2 mean(gain d_out x)) (+ d_x)`; operands are x, gain, r, d_out.
fn backward<S: Scalar>(u: &RmsnormBackwardArgs, accumulate: bool, operands: [&[S]; 4], d_x: &mut [S]) {
    let [x, gain, inverse_rms, d_out] = operands;
    let width = u.width as usize;
    let count = S::of(f64::from(u.width));
    let rows = x.chunks_exact(width).zip(d_out.chunks_exact(width));
    let rows = rows.zip(d_x.chunks_exact_mut(width)).zip(inverse_rms);
    for (((x, d_out), d_x), &r) in rows.take(u.rows as usize) {
        let mut sum = S::default();
        for ((&x, &d_out), &gain) in x.iter().zip(d_out).zip(gain) {
            sum += gain * d_out * x;
        }
        let mean = sum / count * r * r;
        for (((d_x, &x), &d_out), &gain) in d_x.iter_mut().zip(x).zip(d_out).zip(gain) {
            let value = r * (gain * d_out - mean * x);
            *d_x = if accumulate { *d_x + value } else { value };
        }
    }
}

pub fn rmsnorm_gain_backward<S: Scalar>(call: &mut Call<'_, S>) {
    let u: RmsnormGainBackwardArgs = call.args();
    let mut grads = call.take_floats(3);
    let d_gain = &mut grads[u.gain_offset as usize..][..u.width as usize];
    gain_backward(&u, call.floats(0), call.floats(1), call.floats(2), d_gain);
    call.put_floats(3, grads);
}

/// `d_gain += sum over rows of d_out inverse_rms x`.
fn gain_backward<S: Scalar>(
    u: &RmsnormGainBackwardArgs,
    x: &[S],
    inverse_rms: &[S],
    d_out: &[S],
    d_gain: &mut [S],
) {
    let width = u.width as usize;
    // The sum is complete before it is added, as in the shader.
    let mut sums = vec![S::default(); width];
    let rows = x.chunks_exact(width).zip(d_out.chunks_exact(width)).zip(inverse_rms);
    for ((x, d_out), &inverse) in rows.take(u.rows as usize) {
        for ((sum, &x), &d_out) in sums.iter_mut().zip(x).zip(d_out) {
            *sum += d_out * (x * inverse);
        }
    }
    for (d_gain, sum) in d_gain.iter_mut().zip(sums) {
        *d_gain += sum;
    }
}
