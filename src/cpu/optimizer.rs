//! Twins of `shaders/optimizer.wgsl`.

use super::counter::ROW;
use super::{Call, Scalar};
use crate::kernels::args::SgdUpdateArgs;

pub fn sgd_update<S: Scalar>(call: &mut Call<'_, S>) {
    let u: SgdUpdateArgs = call.args();
    let row = call.integers(1)[ROW] as usize * u.row_len as usize + call.member * u.row_member as usize;
    let lr = call.floats(0)[row];
    let mut params = call.take_floats(2);
    let mut grads = call.take_floats(3);
    update(lr, &mut params[..u.len as usize], &mut grads[..u.len as usize]);
    call.put_floats(2, params);
    call.put_floats(3, grads);
}

/// `params -= lr grads; grads = 0`.
fn update<S: Scalar>(lr: S, params: &mut [S], grads: &mut [S]) {
    for (param, grad) in params.iter_mut().zip(grads) {
        *param -= lr * *grad;
        *grad = S::default();
    }
}
