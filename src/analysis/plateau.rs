//! Plateaus of a positive curve, such as a loss.

/// A stretch of rows `from..=to` over which the curve hardly moves, and its mean value there.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Plateau {
    pub from: usize,
    pub to: usize,
    pub value: f64,
}

/// The stretches, from the left, on which `max/min ≤ 1 + tolerance` for at least `rows ≥ 2` rows.
///
/// Each is as long as it can be from where it begins; they do not overlap. Values that are not
/// positive and finite belong to none.
pub fn plateaus(values: &[f64], tolerance: f64, rows: usize) -> Vec<Plateau> {
    let mut found = Vec::new();
    let mut from = 0;
    while from < values.len() {
        let to = stretch_end(values, from, tolerance);
        if to - from >= rows.max(2) {
            let value = values[from..to].iter().sum::<f64>() / (to - from) as f64;
            found.push(Plateau { from, to: to - 1, value });
            from = to;
        } else {
            from += 1;
        }
    }
    found
}

/// One past the last row that belongs with `from`.
fn stretch_end(values: &[f64], from: usize, tolerance: f64) -> usize {
    let (mut low, mut high) = (f64::INFINITY, 0.0_f64);
    for (row, &value) in values.iter().enumerate().skip(from) {
        (low, high) = (low.min(value), high.max(value));
        let flat = value.is_finite() && value > 0.0 && high <= low * (1.0 + tolerance);
        if !flat {
            return row;
        }
    }
    values.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_the_steps_of_a_staircase() {
        let values: Vec<f64> = (0..300)
            .map(|k| match k {
                0..100 => 21.0 + 1e-3 * f64::from(k % 3),
                100..120 => 21.0 - f64::from(k - 100),
                120..220 => 1.0,
                _ => (-f64::from(k - 220)).exp(),
            })
            .collect();
        let found = plateaus(&values, 0.01, 20);
        assert_eq!(found.len(), 2, "{found:?}");
        assert_eq!((found[0].from, found[0].to), (0, 100));
        assert_eq!((found[1].from, found[1].to), (120, 220));
        assert!((found[0].value - 21.0).abs() < 0.01 && found[1].value == 1.0);
    }

    #[test]
    fn a_steady_fall_has_none_and_nan_belongs_to_none() {
        let fall: Vec<f64> = (0..200).map(|k| (-0.01 * f64::from(k)).exp()).collect();
        assert!(plateaus(&fall, 0.01, 5).is_empty());
        assert_eq!(plateaus(&[1.0, 1.0, f64::NAN, 1.0, 1.0], 0.1, 2).len(), 2);
    }
}
