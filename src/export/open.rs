//! A file that somebody has, as what it is: a run or a Spec.
//!
//! What it is says the content, not the name, which may be anything.

use super::{json, toml, zip};
use crate::names::shown;
use crate::runlog::RunLog;
use crate::spec::Spec;

/// Most bytes of a file that is opened.
pub const MAX_BYTES: usize = 64 << 20;

/// What was in a file.
#[derive(Clone, Debug, PartialEq)]
pub enum Opened {
    Run(Box<RunLog>),
    /// Admitted.
    Spec(Box<Spec>),
}

/// Opens a zip of a run, a Spec in TOML, or a `run.json`, which without its rows is the Spec in it.
///
/// # Errors
/// One line that begins with the name.
pub fn open_bytes(name: &str, bytes: &[u8]) -> Result<Opened, String> {
    opened(bytes).map_err(|error| format!("{}: {error}", shown(name)))
}

fn opened(bytes: &[u8]) -> Result<Opened, String> {
    if bytes.len() > MAX_BYTES {
        return Err(format!("longer than the {MAX_BYTES} bytes that are read"));
    }
    if bytes.starts_with(b"PK") {
        return zip::read(bytes).map(|log| Opened::Run(Box::new(log)));
    }
    let text =
        std::str::from_utf8(bytes).map_err(|_| "neither a run nor a Spec: no zip, and no UTF-8 text")?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    if text.trim_start().starts_with('{') {
        let (log, _) = json::read(text)?;
        let header = log.header.ok_or("a run without a Spec")?;
        return Ok(Opened::Spec(Box::new(header.spec)));
    }
    if text.starts_with(&super::csv::COLUMNS.join(",")) {
        return Err("the rows of a run, which need its run.json: open its folder or a zip of it".to_owned());
    }
    toml::read(text).map(|spec| Opened::Spec(Box::new(spec))).map_err(|error| format!("no Spec: {error}"))
}
