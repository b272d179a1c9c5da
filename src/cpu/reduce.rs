//! Twins of `shaders/reduce.wgsl`.

use super::{Call, Scalar};
use crate::kernels::args::{SumArgs, SumSquaresArgs};

pub fn sum_squares<S: Scalar>(call: &mut Call<'_, S>) {
    let u: SumSquaresArgs = call.args();
    let sum = ordered_sum(&call.floats(0)[u.x_offset as usize..][..u.len as usize], |value| value * value);
    let mut out = call.take_floats(1);
    out[u.out_offset as usize] = sum;
    call.put_floats(1, out);
}

pub fn sum<S: Scalar>(call: &mut Call<'_, S>) {
    let u: SumArgs = call.args();
    let sum = ordered_sum(&call.floats(0)[u.x_offset as usize..][..u.len as usize], |value| value);
    let mut out = call.take_floats(1);
    out[u.out_offset as usize] = sum / S::of(f64::from(u.divisor));
    call.put_floats(1, out);
}

/// The sum of `f(x)` in the order of the shaders: 64 strided partial sums, then a tree.
fn ordered_sum<S: Scalar>(x: &[S], f: impl Fn(S) -> S) -> S {
    let mut partial = [S::default(); 64];
    for chunk in x.chunks(64) {
        for (sum, &value) in partial.iter_mut().zip(chunk) {
            *sum += f(value);
        }
    }
    let mut half = 32;
    while half > 0 {
        for thread in 0..half {
            partial[thread] += partial[thread + half];
        }
        half /= 2;
    }
    partial[0]
}
