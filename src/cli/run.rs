//! `plateau run`.

use super::choose::{self, Choice};
use super::progress::Progress;
use super::{Ending, Outcome, RunArguments, interrupt, say, summary};
use crate::engine::driver::{self, Stopwatch};
use crate::export::folder::RunFolder;

pub fn run(arguments: &RunArguments, quiet: bool) -> Ending {
    let spec = choose::spec(&Choice {
        what: &arguments.what,
        preset: arguments.preset.as_deref(),
        sets: &arguments.sets,
        seeds: arguments.seeds,
    })?;
    // Claimed before the work starts: a place that cannot be written is found now.
    let folder = arguments.out.as_deref().map(RunFolder::claim).transpose()?;
    interrupt::install();
    let stopwatch = Stopwatch::start();
    let mut progress = Progress::new(&spec.scenario, quiet);
    let executor = &arguments.executor;
    let log =
        driver::run_headless(&spec, executor.executor.into(), executor.adapter.as_deref(), &mut |event| {
            progress.watch(event)
        })
        .map_err(|error| format!("{error:#}"))?;
    drop(progress);
    let interrupted = interrupt::asked();
    let kept = folder.map(|folder| folder.keep(&log)).transpose()?;
    for line in summary::lines(&log) {
        say(&line);
    }
    if !quiet {
        say(&format!("  time      {:.1} s", stopwatch.seconds()));
    }
    match (&kept, interrupted) {
        (Some(folder), false) => say(&format!("written to {}", folder.display())),
        (Some(folder), true) => say(&format!("stopped; what there is was written to {}", folder.display())),
        (None, true) => say("stopped"),
        (None, false) if !quiet => say("nothing was written; --out DIR keeps a run"),
        (None, false) => {}
    }
    Ok(if interrupted { Outcome::Interrupted } else { Outcome::Done })
}
