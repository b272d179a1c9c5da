//! `plateau list`.

use super::{Ending, Outcome, say};
use crate::scenarios;

pub fn list() -> Ending {
    for scenario in scenarios::ALL {
        say(&format!("{}  {}  (claims: {})", scenario.id, scenario.title, scenario.claims.join(", ")));
        say(&format!("    {}", scenario.sentence));
        say(&format!("    {}", scenario.citation));
        let presets = (scenario.presets)();
        let width = presets.iter().map(|preset| preset.id.len()).max().unwrap_or(0);
        for preset in presets {
            say(&format!("    --preset {:width$}  {}: {}", preset.id, preset.title, preset.look_for));
        }
    }
    Ok(Outcome::Done)
}
