//! Twins of `shaders/elementwise.wgsl`.

use super::{Call, Scalar};
use crate::kernels::args::AxpbyArgs;

pub fn axpby<S: Scalar>(call: &mut Call<'_, S>) {
    let u: AxpbyArgs = call.args();
    let accumulate = call.flag("ACCUMULATE");
    let len = u.len as usize;
    let mut out = call.take_floats(2);
    let x = &call.floats(0)[u.x_offset as usize..][..len];
    let y = &call.floats(1)[u.y_offset as usize..][..len];
    combine(&u, accumulate, x, y, &mut out[u.out_offset as usize..][..len]);
    call.put_floats(2, out);
}

/// `out = alpha x + beta y (+ out)`.
fn combine<S: Scalar>(u: &AxpbyArgs, accumulate: bool, x: &[S], y: &[S], out: &mut [S]) {
    let (alpha, beta) = (S::of(f64::from(u.alpha)), S::of(f64::from(u.beta)));
    for ((out, &x), &y) in out.iter_mut().zip(x).zip(y) {
        let value = alpha * x + beta * y;
        *out = if accumulate { *out + value } else { value };
    }
}
