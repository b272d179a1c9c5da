//! Pure functions on arrays: statistics over seeds, crossings. Imports nothing of ours.

pub mod crossing;
pub mod stats;
