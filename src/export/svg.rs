//! `figure.svg`.

use super::figure::{SIZE, paint};
use crate::runlog::RunLog;
use crate::scenarios::Overlay;
use plotters::prelude::SVGBackend;

/// Coordinates a unit: the library rounds them to whole ones, and curves would have steps.
const SCALE: u32 = 4;

/// The figure as SVG text, of [`SIZE`] in the units of whoever shows it.
///
/// # Errors
/// One line, if the drawing library refuses.
pub fn draw(log: &RunLog, theory: &Overlay) -> Result<String, String> {
    let fine = (SIZE.0 * SCALE, SIZE.1 * SCALE);
    let mut text = String::new();
    paint(SVGBackend::with_string(&mut text, fine), SCALE, log, theory)?;
    // The size on the page; what the coordinates mean stays in the viewBox.
    Ok(text.replacen(&size(fine), &size(SIZE), 1))
}

fn size((width, height): (u32, u32)) -> String {
    format!("width=\"{width}\" height=\"{height}\"")
}
