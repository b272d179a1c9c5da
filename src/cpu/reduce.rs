//! Twins of `shaders/reduce.wgsl`.

use super::{Call, Scalar};
use crate::kernels::args::SumSquaresArgs;

pub fn sum_squares<S: Scalar>(call: &mut Call<'_, S>) {
    let u: SumSquaresArgs = call.args();
    let sum = squares(&call.floats(0)[u.x_offset as usize..][..u.len as usize]);
    let mut out = call.take_floats(1);
    out[u.out_offset as usize] = sum;
    call.put_floats(1, out);
}

/// Sum of squares in the order of the shader: 64 strided partial sums, then a tree.
fn squares<S: Scalar>(x: &[S]) -> S {
    let mut partial = [S::default(); 64];
    for chunk in x.chunks(64) {
        for (sum, &value) in partial.iter_mut().zip(chunk) {
            *sum += value * value;
        }
    }
    let mut half = 32;
    while half > 0 {
        for thread in 0..half {
            partial[thread] = partial[thread] + partial[thread + half];
        }
        half /= 2;
    }
    partial[0]
}
