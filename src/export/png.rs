//! `figure.png`.

use super::figure::{SIZE, paint};
use crate::runlog::RunLog;
use crate::scenarios::Overlay;
use plotters::prelude::BitMapBackend;

/// The figure as the bytes of a PNG file, 8-bit RGB.
///
/// # Errors
/// One line, if drawing or encoding fails.
pub fn draw(log: &RunLog, theory: &Overlay) -> Result<Vec<u8>, String> {
    let (width, height) = SIZE;
    let mut pixels = vec![255; 3 * width as usize * height as usize];
    paint(BitMapBackend::with_buffer(&mut pixels, SIZE), log, theory)?;
    encode(&pixels).map_err(|error| error.to_string())
}

fn encode(pixels: &[u8]) -> Result<Vec<u8>, ::png::EncodingError> {
    let mut bytes = Vec::new();
    let mut encoder = ::png::Encoder::new(&mut bytes, SIZE.0, SIZE.1);
    encoder.set_color(::png::ColorType::Rgb);
    encoder.set_depth(::png::BitDepth::Eight);
    let mut writer = encoder.write_header()?;
    writer.write_image_data(pixels)?;
    writer.finish()?;
    Ok(bytes)
}
