//! Products of small f32 matrices, for which packing and allocating cost a GEMM crate more than the
//! product itself; on processors with AVX2 and FMA.
//!
//! Tiles of 4 rows and 16 columns of the output in registers; the right operand is copied to the
//! stack with its rows padded to 16, where it is not already laid out so.

use super::scalar::Strided;
use std::arch::x86_64::*;

/// The longest row (columns `n`) and inner dimension `k` taken here.
const LIMIT: usize = 32;
/// Values of a right operand of at most 16 by 16.
const FEW: usize = 256;
/// Columns of a tile: two vectors.
const TILE: usize = 16;

/// What becomes of the sums: `out = alpha sum (+ out)`.
#[derive(Clone, Copy)]
pub struct Write {
    pub alpha: f32,
    pub accumulate: bool,
}

/// `out[m, n] = alpha a[m, k] b[k, n] (+ out)`, out row-major; says whether it was done: not where
/// the sizes are too large or the processor lacks the instructions.
pub fn product(
    [m, n, k]: [usize; 3],
    a: Strided<'_, f32>,
    b: Strided<'_, f32>,
    write: Write,
    out: &mut [f32],
) -> bool {
    let fits = (1..=LIMIT).contains(&n) && (1..=LIMIT).contains(&k);
    if !fits || !is_x86_feature_detected!("avx2") || !is_x86_feature_detected!("fma") {
        return false;
    }
    // SAFETY: the processor has what the function was compiled for.
    unsafe { tiles([m, n, k], a, b, write, out) };
    true
}

#[target_feature(enable = "avx2,fma")]
fn tiles([m, n, k]: [usize; 3], a: Strided<'_, f32>, b: Strided<'_, f32>, write: Write, out: &mut [f32]) {
    let width = n.next_multiple_of(TILE);
    // Clearing the larger buffer would cost a small product as much as its sums.
    let (mut few, mut many);
    let packed: &mut [f32] = if width * k <= FEW {
        few = [0.0; FEW];
        &mut few
    } else {
        many = [0.0; LIMIT * LIMIT];
        &mut many
    };
    let whole = b.column == 1 && width == n;
    if !whole {
        pack(b, n, k, width, packed);
    }
    let b = if whole { b.data } else { &*packed };
    for i in (0..m).step_by(4) {
        for j in (0..n).step_by(TILE) {
            // Past the last row a tile repeats it, and is not written there.
            let rows = [0, 1, 2, 3].map(|r| (i + r).min(m - 1) * a.row as usize);
            let sums = sum(k, (a.data, rows, a.column as usize), (&b[j..], width));
            for (r, sum) in sums.into_iter().enumerate().take(m - i) {
                put(sum, write, &mut out[(i + r) * n + j..][..TILE.min(n - j)]);
            }
        }
    }
}

/// `out = alpha sum (+ out)` for up to 16 values.
#[target_feature(enable = "avx2,fma")]
fn put(sum: [__m256; 2], write: Write, out: &mut [f32]) {
    let mut values = [0.0; TILE];
    let whole = out.len() == TILE;
    if write.accumulate {
        values[..out.len()].copy_from_slice(out);
    }
    let to = if whole { &mut *out } else { &mut values };
    let alpha = _mm256_set1_ps(write.alpha);
    for (half, sum) in to.chunks_exact_mut(8).zip(sum) {
        // SAFETY: each half holds one vector; loads and stores need no alignment.
        unsafe {
            let before = if write.accumulate { _mm256_loadu_ps(half.as_ptr()) } else { _mm256_setzero_ps() };
            _mm256_storeu_ps(half.as_mut_ptr(), _mm256_fmadd_ps(alpha, sum, before));
        }
    }
    if !whole {
        out.copy_from_slice(&values[..out.len()]);
    }
}

/// `[r][c] = sum over l of a[rows[r] + l column] b[l width + c]`, in the order of `l`.
#[target_feature(enable = "avx2,fma")]
fn sum(
    k: usize,
    (a, rows, column): (&[f32], [usize; 4], usize),
    (b, width): (&[f32], usize),
) -> [[__m256; 2]; 4] {
    let mut sums = [[_mm256_setzero_ps(); 2]; 4];
    for l in 0..k {
        let row = &b[l * width..][..TILE];
        // SAFETY: the slice holds both vectors; loads need no alignment.
        let (b0, b1) = unsafe { (_mm256_loadu_ps(row.as_ptr()), _mm256_loadu_ps(row[8..].as_ptr())) };
        for (sums, row) in sums.iter_mut().zip(rows) {
            let x = _mm256_set1_ps(a[row + l * column]);
            *sums = [_mm256_fmadd_ps(x, b0, sums[0]), _mm256_fmadd_ps(x, b1, sums[1])];
        }
    }
    sums
}

/// Copies `b` into rows `width` apart, row-major whatever it was.
fn pack(b: Strided<'_, f32>, n: usize, k: usize, width: usize, packed: &mut [f32]) {
    if b.column == 1 {
        for (to, from) in packed.chunks_exact_mut(width).zip(b.data.chunks(b.row as usize)).take(k) {
            to[..n].copy_from_slice(&from[..n]);
        }
        return;
    }
    for (j, column) in b.data.chunks(b.column as usize).take(n).enumerate() {
        for (row, &value) in packed.chunks_exact_mut(width).zip(&column[..k]) {
            row[j] = value;
        }
    }
}
