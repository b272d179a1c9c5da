//! Pure functions on arrays: statistics over seeds, crossings, decimation. Imports nothing of ours.

pub mod crossing;
pub mod decimate;
pub mod stats;
