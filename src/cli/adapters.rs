//! `plateau adapters`: the list, and with `--check` whether each computes right.

use super::{AdaptersArguments, Ending, Outcome, say};
use crate::engine::driver::{self, Adapter, Stopwatch};
use crate::engine::executor::ExecutorError;
use crate::gpu::GpuExecutor;
use crate::kernels::KERNELS;
use crate::names::shown;
use crate::selftest::{self, Wrong};

pub fn adapters(arguments: &AdaptersArguments) -> Ending {
    let adapters = driver::adapters();
    let mut right = true;
    for adapter in &adapters {
        let kind = if adapter.software { "software" } else { "hardware" };
        let driver = if adapter.driver.is_empty() { String::new() } else { format!("  {}", adapter.driver) };
        say(&format!("{}  {}  {kind}{driver}", adapter.name, adapter.backend));
        right &= !arguments.check || computes_right(adapter);
    }
    if adapters.is_empty() {
        say(
            "no graphics adapter; --executor cpu needs none (on Debian, mesa-vulkan-drivers brings a software one)",
        );
    }
    Ok(if right { Outcome::Done } else { Outcome::DoesNotHold })
}

/// Tests every kernel on an adapter and says what was found.
fn computes_right(adapter: &Adapter) -> bool {
    match self_test(adapter) {
        Ok((wrong, seconds)) if wrong.is_empty() => {
            say(&format!("  computes right: {} kernels, {:.0} ms", KERNELS.len(), 1e3 * seconds));
            return true;
        }
        Ok((wrong, _)) => wrong.iter().for_each(|wrong| say(&format!("  computes wrong: {wrong}"))),
        Err(error) => say(&format!("  cannot be tested: {}", shown(&error.to_string()))),
    }
    false
}

/// What is wrong, and the seconds it took to find out.
fn self_test(adapter: &Adapter) -> Result<(Vec<Wrong>, f64), ExecutorError> {
    let mut gpu = GpuExecutor::open(Some(&adapter.text()), 0)?;
    let stopwatch = Stopwatch::start();
    let test = selftest::run(&mut gpu, KERNELS, async || Ok(()), |_, _, _| ());
    Ok((pollster::block_on(test)?, stopwatch.seconds()))
}
