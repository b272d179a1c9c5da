//! The files of a run, listed once: what a run folder holds, and a zip of one.

use super::{csv, figure, json, png, svg, toml};
use crate::runlog::RunLog;
use std::io::{self, Write};

/// The file without which there is no run.
pub const RUN: &str = "run.json";
/// The rows, beside it.
pub const METRICS: &str = "metrics.csv";

/// Writes what belongs into one file.
pub type Body<'a> = dyn FnMut(&mut dyn Write) -> io::Result<()> + 'a;

/// Hands every file of a run, its name and what writes it, to `put`.
///
/// # Errors
/// One line: what `put` says, or why a file cannot be made.
pub fn each(
    log: &RunLog,
    put: &mut dyn FnMut(&'static str, &mut Body<'_>) -> Result<(), String>,
) -> Result<(), String> {
    put(RUN, &mut |out| json::write(log, out))?;
    put(METRICS, &mut |out| csv::write(log, out))?;
    if let Some(header) = &log.header {
        let text = toml::write(&header.spec)?;
        put("spec.toml", &mut |out| out.write_all(text.as_bytes()))?;
    }
    let theory = figure::theory(log);
    let drawing = svg::draw(log, &theory)?;
    put("figure.svg", &mut |out| out.write_all(drawing.as_bytes()))?;
    let picture = png::draw(log, &theory)?;
    put("figure.png", &mut |out| out.write_all(&picture))
}
