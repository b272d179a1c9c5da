//! The engine: admits a Spec, turns it into phases, drives an executor, and tells what happened.
//!
//! Knows no scenario and no picture. `protocol` is what passes in and out, `wire` the same as bytes, `admit` says whether a
//! Spec can run and what it takes, `session` advances a run a little at a time without clock or
//! thread, `driver` is the only home of both.

pub mod admit;
pub mod driver;
pub mod executor;
pub mod protocol;
pub mod session;
pub mod wire;
