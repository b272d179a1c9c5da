//! Twins of `shaders/random.wgsl`, and the counter-based generator itself.

use super::{Call, Scalar};
use crate::kernels::args::GaussianFillArgs;

/// Threefry-2x32-20 (Salmon et al. 2011): two words from a key and a counter.
pub fn threefry(key: [u32; 2], counter: [u32; 2]) -> [u32; 2] {
    const ROTATIONS: [[u32; 4]; 2] = [[13, 15, 26, 6], [17, 29, 16, 24]];
    let keys = [key[0], key[1], 0x1BD1_1BDA ^ key[0] ^ key[1]];
    let mut x = [counter[0].wrapping_add(key[0]), counter[1].wrapping_add(key[1])];
    for group in 0..5 {
        for rotation in ROTATIONS[group % 2] {
            x[0] = x[0].wrapping_add(x[1]);
            x[1] = x[1].rotate_left(rotation) ^ x[0];
        }
        let next = group + 1;
        x[0] = x[0].wrapping_add(keys[next % 3]);
        x[1] = x[1].wrapping_add(keys[(next + 1) % 3]).wrapping_add(next as u32);
    }
    x
}

/// The key of one stream of draws at one step of a run.
pub fn stream_key(seed: u32, stream: u32, step: u32) -> [u32; 2] {
    threefry([seed, stream], [step, 0])
}

/// A number in the open interval (0, 1) from the top 24 bits.
pub fn open_unit<S: Scalar>(bits: u32) -> S {
    // Exact in f32 too: 24 bits and a half, scaled by a power of two.
    S::of((f64::from(bits >> 8) + 0.5) / 16_777_216.0)
}

/// One standard Gaussian from two words (Box and Muller 1958); finite for every input.
pub fn gaussian<S: Scalar>(bits: [u32; 2]) -> S {
    let radius = (S::of(-2.0) * open_unit::<S>(bits[0]).ln()).sqrt();
    radius * (S::of(std::f64::consts::TAU) * open_unit::<S>(bits[1])).cos()
}

pub fn gaussian_fill<S: Scalar>(call: &mut Call<'_, S>) {
    let u: GaussianFillArgs = call.args();
    let id = call.integers(0)[0];
    let mut out = call.take_floats(1);
    fill(&u, id, &mut out[u.offset as usize..][..u.len as usize]);
    call.put_floats(1, out);
}

/// `out[i] = deviation * N(0, 1)`, a function of (seed, stream, step; id, i).
fn fill<S: Scalar>(u: &GaussianFillArgs, id: u32, out: &mut [S]) {
    let key = stream_key(u.seed, u.stream, u.step);
    let deviation = S::of(f64::from(u.deviation));
    for (i, value) in out.iter_mut().enumerate() {
        *value = deviation * gaussian::<S>(threefry(key, [id, i as u32]));
    }
}
