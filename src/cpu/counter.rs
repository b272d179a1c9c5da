//! Twins of `shaders/counter.wgsl`.

use super::{Call, Scalar};
use crate::kernels::args::CounterAdvanceArgs;

/// Index of each counter in a member's `[step, row, slot, 0]`.
pub const ROW: usize = 1;
pub const SLOT: usize = 2;

pub fn counter_advance<S: Scalar>(call: &mut Call<'_, S>) {
    let u: CounterAdvanceArgs = call.args();
    advance(&u, call.integers_mut(0));
}

/// `step += u.step; row += u.step; slot += u.slot`.
fn advance(u: &CounterAdvanceArgs, counters: &mut [u32]) {
    counters[0] = counters[0].wrapping_add(u.step);
    counters[ROW] = counters[ROW].wrapping_add(u.step);
    counters[SLOT] = counters[SLOT].wrapping_add(u.slot);
}
