//! Closed forms to lay over measurements and to hold them against. Imports nothing of ours.
//!
//! Conventions throughout: `P = W1 … WN`, `A = U diag(s) V^T`, loss `L = ||P - A||_F^2` (no 1/2),
//! plain gradient descent `W1 -= 2 eta (P - A) W2^T`, `W2 -= 2 eta W1^T (P - A)`; `sigma_i` is the
//! i-th diagonal entry of `U^T P V`, `k` counts steps and `t` is the sum of the learning rates.

pub mod linear;
pub mod recursion;
pub mod schedule;
pub mod starts;
