//! `plateau adapters`.

use super::{Ending, Outcome, say};
use crate::engine::driver;

pub fn adapters() -> Ending {
    let adapters = driver::adapters();
    for adapter in &adapters {
        let kind = if adapter.software { "software" } else { "hardware" };
        let driver = if adapter.driver.is_empty() { String::new() } else { format!("  {}", adapter.driver) };
        say(&format!("{}  {}  {kind}{driver}", adapter.name, adapter.backend));
    }
    if adapters.is_empty() {
        say(
            "no graphics adapter; --executor cpu needs none (on Debian, mesa-vulkan-drivers brings a software one)",
        );
    }
    Ok(Outcome::Done)
}
