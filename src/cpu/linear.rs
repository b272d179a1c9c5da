//! Twins of `shaders/linear.wgsl`.

use super::{Call, Scalar};
use crate::kernels::args::ModeProjectionArgs;

pub fn mode_projection<S: Scalar>(call: &mut Call<'_, S>) {
    let u: ModeProjectionArgs = call.args();
    let d = u.d as usize;
    let mut out = call.take_floats(3);
    project(d, call.floats(0), call.floats(1), call.floats(2), &mut out[u.out_offset as usize..][..d]);
    call.put_floats(3, out);
}

/// `out[i] = sum_ab U_ai P_ab V_bi`; `product`, `u`, `v` are `[d, d]`.
fn project<S: Scalar>(d: usize, product: &[S], u: &[S], v: &[S], out: &mut [S]) {
    out.fill(S::default());
    let mut inner = vec![S::default(); d];
    for row in 0..d {
        inner.fill(S::default());
        for column in 0..d {
            let p = product[row * d + column];
            for (sum, &v) in inner.iter_mut().zip(&v[column * d..]) {
                *sum += p * v;
            }
        }
        for ((out, &inner), &u) in out.iter_mut().zip(&inner).zip(&u[row * d..]) {
            *out += u * inner;
        }
    }
}
