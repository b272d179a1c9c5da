//! Twin of `shaders/matmul.wgsl`.

use super::scalar::Strided;
use super::{Call, Scalar};
use crate::kernels::args::MatmulArgs;

pub fn matmul<S: Scalar>(call: &mut Call<'_, S>) {
    let u: MatmulArgs = call.args();
    let flags = [call.flag("TRANSPOSE_A"), call.flag("TRANSPOSE_B"), call.flag("ACCUMULATE")];
    let mut out = call.take_floats(2);
    let a = &call.floats(0)[u.a_offset as usize..];
    let b = &call.floats(1)[u.b_offset as usize..];
    multiply(&u, flags, a, b, &mut out[u.out_offset as usize..]);
    call.put_floats(2, out);
}

/// `out = alpha op(A) op(B) (+ out)`; `a`, `b` and `out` begin at their first element.
fn multiply<S: Scalar>(u: &MatmulArgs, flags: [bool; 3], a: &[S], b: &[S], out: &mut [S]) {
    let [transpose_a, transpose_b, accumulate] = flags;
    let strided = |data, columns: u32, transposed: bool, rows: u32| match transposed {
        false => Strided { data, row: columns as isize, column: 1 },
        true => Strided { data, row: 1, column: rows as isize },
    };
    let beta = S::of(if accumulate { 1.0 } else { 0.0 });
    let size = [u.m as usize, u.n as usize, u.k as usize];
    let a = strided(a, u.k, transpose_a, u.m);
    let b = strided(b, u.n, transpose_b, u.k);
    S::matmul(size, S::of(f64::from(u.alpha)), a, b, beta, out);
}
