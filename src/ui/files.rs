//! Run folders, where there is a file system.

use crate::runlog::RunLog;
use std::path::Path;

/// The run kept in a folder; the error is one line saying what and where.
#[cfg(not(target_arch = "wasm32"))]
pub fn read(folder: &Path) -> Result<RunLog, String> {
    crate::export::folder::read(folder)
}

/// Writes a run into a new folder beside the working directory's others; returns its name.
#[cfg(not(target_arch = "wasm32"))]
pub fn export(log: &RunLog) -> Result<String, String> {
    let header = log.header.as_ref().ok_or("there is no run yet")?;
    let free = (1..10_000)
        .map(|number| format!("{}-{number}", header.spec.scenario))
        .find(|name| !Path::new(name).exists())
        .ok_or("too many run folders here already")?;
    let folder = crate::export::folder::RunFolder::claim(Path::new(&free))?.keep(log)?;
    Ok(folder.display().to_string())
}

#[cfg(target_arch = "wasm32")]
pub fn read(_folder: &Path) -> Result<RunLog, String> {
    Err("a page cannot read folders".to_owned())
}

#[cfg(target_arch = "wasm32")]
pub fn export(_log: &RunLog) -> Result<String, String> {
    Err("a page cannot write folders".to_owned())
}
