//! S1, incremental learning.

use super::{Overlay, Scenario};

pub const SCENARIO: Scenario = Scenario {
    id: "saxe",
    title: "Modes one after another",
    claims: &["S1"],
    citation: "Saxe, McClelland, Ganguli 2014, 2019; Gidel, Bach, Lacoste-Julien 2019",
    sentence: "A two-layer linear network from a small aligned start learns the singular modes of its task in the order of their singular values, each at the half-time of the closed form.",
    presets: Vec::new,
    overlay: |_| Overlay::default(),
    check: |_, _| anyhow::bail!("not written yet"),
};
