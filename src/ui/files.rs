//! Runs and Specs from files and into files: folders here, downloads in a page.

use crate::export::open::Opened;
use crate::runlog::RunLog;
use std::path::Path;

/// What is kept there; the error is one line saying what and where.
#[cfg(not(target_arch = "wasm32"))]
pub fn open(path: &Path) -> Result<Opened, String> {
    crate::export::folder::open(path)
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
pub fn open(_path: &Path) -> Result<Opened, String> {
    Err("a page cannot read folders".to_owned())
}

/// Downloads a run as a zip; returns its name.
#[cfg(target_arch = "wasm32")]
pub fn export(log: &RunLog) -> Result<String, String> {
    if log.header.is_none() {
        return Err("there is no run yet".to_owned());
    }
    let name = "run.zip";
    super::page::host::download(name, "application/zip", &crate::export::zip::write(log)?)?;
    Ok(name.to_owned())
}
