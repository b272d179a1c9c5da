//! S1, incremental learning: a two-layer linear network learns its singular modes one after another.
//!
//! Saxe, McClelland, Ganguli 2014 (arXiv:1312.6120), 2019 (PNAS 116, 11537); Gidel, Bach, Lacoste-Julien 2019
//! (arXiv:1904.13262); the setting is that of Springer et al. 2025, section 4.

mod check;
mod judge;
mod judge_starts;
mod overlay;
pub mod predict;
mod presets;

use super::Scenario;

pub const SCENARIO: Scenario = Scenario {
    id: "saxe",
    title: "Modes one after another",
    claims: &["S1"],
    citation: "Saxe, McClelland, Ganguli 2014, 2019; Gidel, Bach, Lacoste-Julien 2019",
    sentence: "A two-layer linear network from a small aligned start learns the singular modes of its task in the order of their singular values, each at the half-time of the closed form.",
    presets: presets::presets,
    overlay: overlay::overlay,
    check: check::check,
};
