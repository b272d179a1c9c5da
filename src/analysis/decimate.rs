//! Fewer points for a plot, without losing a peak.

/// At most `2 n` points of a curve: of each of `n` equal stretches of points the smallest and the largest, in order.
///
/// So a two-cycle keeps both its branches and a spike of one row stays visible. The first and the last
/// point are kept. A point whose `y` is not finite is dropped. A curve of at most `2 n` points comes back whole.
pub fn min_max(points: &[[f64; 2]], n: usize) -> Vec<[f64; 2]> {
    let points: Vec<[f64; 2]> = points.iter().copied().filter(|point| point[1].is_finite()).collect();
    if points.len() <= 2 * n || n < 2 {
        return points;
    }
    let mut kept = Vec::with_capacity(2 * n);
    for bucket in 0..n {
        let range = bucket * points.len() / n..(bucket + 1) * points.len() / n;
        let by_value = |a: &usize, b: &usize| points[*a][1].total_cmp(&points[*b][1]);
        // A bucket holds at least two points, since there are more than 2 n.
        let low = range.clone().min_by(by_value).unwrap_or(range.start);
        let high = range.clone().max_by(by_value).unwrap_or(range.start);
        let mut ends = [low.min(high), low.max(high)];
        if bucket == 0 {
            ends[0] = 0;
        }
        if bucket == n - 1 {
            ends[1] = points.len() - 1;
        }
        kept.push(points[ends[0]]);
        if ends[1] != ends[0] {
            kept.push(points[ends[1]]);
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keeps_spikes_ends_and_order() {
        let mut points: Vec<[f64; 2]> = (0..10_000).map(|k| [f64::from(k), f64::from(k % 2)]).collect();
        points[5_431][1] = 77.0;
        points[17][1] = f64::NAN;
        let kept = min_max(&points, 100);
        assert!(kept.len() <= 200 && kept.len() > 190);
        assert!(kept.iter().any(|point| point[1] == 77.0));
        assert_eq!((kept[0][0], kept[kept.len() - 1][0]), (0.0, 9_999.0));
        assert!(kept.windows(2).all(|pair| pair[0][0] < pair[1][0]));
        let zeros = kept.iter().filter(|point| point[1] == 0.0).count();
        assert!(zeros > 90, "both branches: {zeros}");
    }

    #[test]
    fn a_short_curve_comes_back_whole() {
        let points = [[0.0, 1.0], [1.0, 3.0], [2.0, 2.0]];
        assert_eq!(min_max(&points, 2), points);
        assert!(min_max(&[], 10).is_empty());
    }
}
