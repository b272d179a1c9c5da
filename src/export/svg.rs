//! `figure.svg`.

use super::figure::{SIZE, paint};
use crate::runlog::RunLog;
use crate::scenarios::Overlay;
use plotters::prelude::SVGBackend;

/// The figure as SVG text.
///
/// # Errors
/// One line, if the drawing library refuses.
pub fn draw(log: &RunLog, theory: &Overlay) -> Result<String, String> {
    let mut text = String::new();
    paint(SVGBackend::with_string(&mut text, SIZE), 1, log, theory)?;
    Ok(text)
}
