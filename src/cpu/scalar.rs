//! The scalars a twin runs in.

use std::ops::{Add, AddAssign, Div, Mul, Neg, Sub, SubAssign};

/// A matrix operand: slice, row step and column step in elements.
#[derive(Clone, Copy)]
pub struct Strided<'a, S> {
    pub data: &'a [S],
    pub row: isize,
    pub column: isize,
}

/// f32 (mirrors the GPU) and f64 (the oracle).
pub trait Scalar:
    Copy
    + Default
    + PartialOrd
    + Send
    + Sync
    + 'static
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + Neg<Output = Self>
    + AddAssign
    + SubAssign
{
    fn of(value: f64) -> Self;
    fn value(self) -> f64;
    fn sqrt(self) -> Self;
    fn exp(self) -> Self;
    fn ln(self) -> Self;
    fn cos(self) -> Self;
    fn tanh(self) -> Self;

    /// `out[m, n] = alpha a[m, k] b[k, n] + beta out`, out row-major.
    fn matmul(
        size: [usize; 3],
        alpha: Self,
        a: Strided<'_, Self>,
        b: Strided<'_, Self>,
        beta: Self,
        out: &mut [Self],
    );
}

macro_rules! scalar {
    ($ty:ty, $gemm:path, $small:path) => {
        impl Scalar for $ty {
            fn of(value: f64) -> Self {
                value as $ty
            }
            fn value(self) -> f64 {
                f64::from(self)
            }
            fn sqrt(self) -> Self {
                self.sqrt()
            }
            fn exp(self) -> Self {
                self.exp()
            }
            fn ln(self) -> Self {
                self.ln()
            }
            fn cos(self) -> Self {
                self.cos()
            }
            fn tanh(self) -> Self {
                self.tanh()
            }
            fn matmul(
                [m, n, k]: [usize; 3],
                alpha: Self,
                a: Strided<'_, Self>,
                b: Strided<'_, Self>,
                beta: Self,
                out: &mut [Self],
            ) {
                assert!(a.data.len() >= m * k && b.data.len() >= k * n && out.len() >= m * n);
                if $small([m, n, k], alpha, a, b, beta, out) {
                    return;
                }
                // SAFETY: the operands are dense m x k, k x n and m x n matrices (row-major or its
                // transpose) and the assertion above has checked that each slice holds all of its own.
                unsafe {
                    $gemm(
                        m,
                        k,
                        n,
                        alpha,
                        a.data.as_ptr(),
                        a.row,
                        a.column,
                        b.data.as_ptr(),
                        b.row,
                        b.column,
                        beta,
                        out.as_mut_ptr(),
                        n as isize,
                        1,
                    );
                }
            }
        }
    };
}

/// Takes a product that is too small for the GEMM crate; says whether it did.
fn small_f32(
    size: [usize; 3],
    alpha: f32,
    a: Strided<'_, f32>,
    b: Strided<'_, f32>,
    beta: f32,
    out: &mut [f32],
) -> bool {
    #[cfg(target_arch = "x86_64")]
    if beta == 0.0 || beta == 1.0 {
        let write = super::small::Write { alpha, accumulate: beta == 1.0 };
        return super::small::product(size, a, b, write, out);
    }
    let _ = (size, alpha, a, b, beta, out);
    false
}

/// The oracle has no need of speed.
fn small_f64(_: [usize; 3], _: f64, _: Strided<'_, f64>, _: Strided<'_, f64>, _: f64, _: &mut [f64]) -> bool {
    false
}

scalar!(f32, matrixmultiply::sgemm, small_f32);
scalar!(f64, matrixmultiply::dgemm, small_f64);
