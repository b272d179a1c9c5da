//! Twins of `shaders/log.wgsl`.

use super::counter::SLOT;
use super::{Call, Scalar};
use crate::kernels::args::LogRowArgs;

pub fn log_row<S: Scalar>(call: &mut Call<'_, S>) {
    let u: LogRowArgs = call.args();
    let slot = call.integers(1)[SLOT] as usize;
    if slot >= u.slots as usize {
        return;
    }
    let width = u.width as usize;
    let mut rows = call.take_floats(2);
    rows[slot * width..][..width].copy_from_slice(&call.floats(0)[..width]);
    call.put_floats(2, rows);
}
