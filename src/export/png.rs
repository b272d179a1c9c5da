//! `figure.png`.

use super::figure::{SIZE, paint};
use crate::runlog::RunLog;
use crate::scenarios::Overlay;
use plotters::prelude::BitMapBackend;

/// Pixels a unit: enough for a slide.
const SCALE: u32 = 2;

/// The figure as the bytes of a PNG file, 8-bit RGB.
///
/// # Errors
/// One line, if drawing or encoding fails.
pub fn draw(log: &RunLog, theory: &Overlay) -> Result<Vec<u8>, String> {
    let size = (SIZE.0 * SCALE, SIZE.1 * SCALE);
    let mut pixels = vec![255; 3 * size.0 as usize * size.1 as usize];
    paint(BitMapBackend::with_buffer(&mut pixels, size), SCALE, log, theory)?;
    encode(&pixels, size).map_err(|error| error.to_string())
}

fn encode(pixels: &[u8], (width, height): (u32, u32)) -> Result<Vec<u8>, ::png::EncodingError> {
    let mut bytes = Vec::new();
    let mut encoder = ::png::Encoder::new(&mut bytes, width, height);
    encoder.set_color(::png::ColorType::Rgb);
    encoder.set_depth(::png::BitDepth::Eight);
    let mut writer = encoder.write_header()?;
    writer.write_image_data(pixels)?;
    writer.finish()?;
    Ok(bytes)
}
