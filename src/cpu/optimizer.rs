//! Twins of `shaders/optimizer.wgsl`.

use super::counter::ROW;
use super::{Call, Scalar};
use crate::kernels::args::{AdamwUpdateArgs, SgdUpdateArgs};

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

pub fn adamw_update<S: Scalar>(call: &mut Call<'_, S>) {
    let u: AdamwUpdateArgs = call.args();
    let row = call.integers(1)[ROW] as usize * u.row_len as usize + call.member * u.row_member as usize;
    let [lr, decay, correction1, correction2] = [0, 1, 2, 3].map(|column| call.floats(0)[row + column]);
    let rates = Rates { lr, decay, correction1, correction2 };
    let scale = clip_scale(S::of(f64::from(u.clip)), call.floats(2)[u.norm_offset as usize]);
    let mut arenas = [3, 4, 5, 6].map(|binding| call.take_floats(binding));
    let [params, grads, first, second] = &mut arenas;
    let len = u.len as usize;
    adamw(&u, &rates, scale, [&mut params[..len], &mut grads[..len], &mut first[..len], &mut second[..len]]);
    for (binding, arena) in [3, 4, 5, 6].into_iter().zip(arenas) {
        call.put_floats(binding, arena);
    }
}

/// One row of the schedule.
struct Rates<S> {
    lr: S,
    decay: S,
    correction1: S,
    correction2: S,
}

/// `min(1, clip / (norm + 1e-6))`, or 1 where `clip` is 0.
fn clip_scale<S: Scalar>(clip: S, squared_norm: S) -> S {
    let scale = clip / (squared_norm.sqrt() + S::of(1e-6));
    if clip > S::default() && scale < S::of(1.0) { scale } else { S::of(1.0) }
}

/// AdamW (Loshchilov and Hutter 2019) on clipped gradients, which become 0; arenas are parameters,
/// gradients, first and second moments.
fn adamw<S: Scalar>(u: &AdamwUpdateArgs, rates: &Rates<S>, scale: S, arenas: [&mut [S]; 4]) {
    let [beta1, beta2, epsilon] = [u.beta1, u.beta2, u.epsilon].map(|value| S::of(f64::from(value)));
    let [rest1, rest2] = [beta1, beta2].map(|beta| S::of(1.0) - beta);
    let [params, grads, first, second] = arenas;
    let moments = first.iter_mut().zip(second);
    for (i, ((param, grad), (m, v))) in params.iter_mut().zip(grads).zip(moments).enumerate() {
        let g = *grad * scale;
        *m = beta1 * *m + rest1 * g;
        *v = beta2 * *v + rest2 * g * g;
        let decay = if i < u.decayed_len as usize { rates.decay } else { S::default() };
        let kept = *param - decay * *param;
        *param = kept - rates.lr * (*m * rates.correction1) / ((*v * rates.correction2).sqrt() + epsilon);
        *grad = S::default();
    }
}
