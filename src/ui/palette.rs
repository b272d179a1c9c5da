//! Colours that hold for colour-blind eyes, on light and dark ground.

use eframe::egui::Color32;

/// Okabe and Ito 2008, yellow and black changed for what reads on the ground.
const LIGHT: [Color32; 8] = [
    Color32::from_rgb(0x00, 0x72, 0xB2),
    Color32::from_rgb(0xD5, 0x5E, 0x00),
    Color32::from_rgb(0x00, 0x9E, 0x73),
    Color32::from_rgb(0xCC, 0x79, 0xA7),
    Color32::from_rgb(0xE6, 0x9F, 0x00),
    Color32::from_rgb(0x3C, 0xA8, 0xDD),
    Color32::from_rgb(0x8A, 0x7B, 0x10),
    Color32::from_rgb(0x60, 0x60, 0x60),
];
const DARK: [Color32; 8] = [
    Color32::from_rgb(0x3D, 0xA5, 0xE8),
    Color32::from_rgb(0xF0, 0x7C, 0x2A),
    Color32::from_rgb(0x1F, 0xBF, 0x92),
    Color32::from_rgb(0xDE, 0x92, 0xBD),
    Color32::from_rgb(0xE6, 0x9F, 0x00),
    Color32::from_rgb(0x8C, 0xD0, 0xF5),
    Color32::from_rgb(0xF0, 0xE4, 0x42),
    Color32::from_rgb(0xB4, 0xB4, 0xB4),
];

/// Viridis (van der Walt, Smith 2015) at nine places; for more modes than there are hues.
const VIRIDIS: [[u8; 3]; 9] = [
    [0x44, 0x01, 0x54],
    [0x48, 0x28, 0x78],
    [0x3E, 0x4A, 0x89],
    [0x31, 0x68, 0x8E],
    [0x26, 0x82, 0x8E],
    [0x1F, 0x9E, 0x89],
    [0x35, 0xB7, 0x79],
    [0x6D, 0xCD, 0x59],
    [0xB4, 0xDE, 0x2C],
];

/// Negative and positive ends of the heat map: blue and orange, told apart by everybody.
const NEGATIVE: [u8; 3] = [0x1F, 0x5F, 0xA8];
const POSITIVE: [u8; 3] = [0xD0, 0x5A, 0x00];
const NEGATIVE_DARK: [u8; 3] = [0x5A, 0xB4, 0xF5];
const POSITIVE_DARK: [u8; 3] = [0xFF, 0x9A, 0x3C];

/// The colour of mode `index` of `count`.
pub fn mode(index: usize, count: usize, dark: bool) -> Color32 {
    if count <= LIGHT.len() {
        return if dark { DARK[index % DARK.len()] } else { LIGHT[index % LIGHT.len()] };
    }
    // The end that drowns in the ground is left out.
    let (from, to) = if dark { (0.22, 1.0) } else { (0.0, 0.88) };
    let place = index as f32 / (count - 1) as f32;
    let place = if dark { 1.0 - place } else { place };
    sampled(from + (to - from) * place)
}

fn sampled(place: f32) -> Color32 {
    let at = place.clamp(0.0, 1.0) * (VIRIDIS.len() - 1) as f32;
    let low = (at as usize).min(VIRIDIS.len() - 2);
    mix(VIRIDIS[low], VIRIDIS[low + 1], at - low as f32)
}

fn mix(a: [u8; 3], b: [u8; 3], part: f32) -> Color32 {
    let channel = |i: usize| (f32::from(a[i]) + (f32::from(b[i]) - f32::from(a[i])) * part).round() as u8;
    Color32::from_rgb(channel(0), channel(1), channel(2))
}

/// A colour of the heat map for a value in `[-1, 1]`; beyond, the end; not a number, magenta.
pub fn heat(value: f32, dark: bool) -> Color32 {
    if !value.is_finite() {
        return Color32::from_rgb(0xFF, 0x00, 0xC8);
    }
    let (zero, negative, positive) =
        if dark { ([0x20; 3], NEGATIVE_DARK, POSITIVE_DARK) } else { ([0xF7; 3], NEGATIVE, POSITIVE) };
    let end = if value < 0.0 { negative } else { positive };
    mix(zero, end, value.abs().min(1.0))
}

/// The theory's colour over a measured curve: the same hue, nearer to the ink.
pub fn theory(measured: Color32, dark: bool) -> Color32 {
    let ink = if dark { [0xFF; 3] } else { [0x00; 3] };
    mix([measured.r(), measured.g(), measured.b()], ink, 0.55)
}

/// A mode's colour for letters, which need more contrast than lines.
pub fn label(measured: Color32, dark: bool) -> Color32 {
    let ink = if dark { [0xFF; 3] } else { [0x00; 3] };
    mix([measured.r(), measured.g(), measured.b()], ink, 0.3)
}

/// The colour of the loss.
pub fn loss(dark: bool) -> Color32 {
    if dark { DARK[0] } else { LIGHT[0] }
}

/// The ground of a band around a curve.
pub fn band(colour: Color32) -> Color32 {
    colour.gamma_multiply(0.25)
}

pub fn error(dark: bool) -> Color32 {
    if dark { Color32::from_rgb(0xFF, 0x7B, 0x72) } else { Color32::from_rgb(0xB8, 0x1D, 0x13) }
}

pub fn warning(dark: bool) -> Color32 {
    if dark { Color32::from_rgb(0xF0, 0xB4, 0x4C) } else { Color32::from_rgb(0x8A, 0x55, 0x00) }
}
