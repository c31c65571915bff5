//! Estimate densities of draws for drawing.

use std::f64::consts::PI;

use crate::scale::Kind;

/// Points of a curve.
const POINTS: usize = 128;
/// Draws that a curve is made of at most, evenly chosen.
const MOST_DRAWS: usize = 4000;
/// How many bandwidths beyond the extreme draws the curve runs.
const BEYOND: f64 = 3.0;

/// A density at increasing places.
#[derive(Clone, Debug, PartialEq)]
pub struct Curve {
    /// The places.
    pub x: Vec<f64>,
    /// The density there, per unit of x, or per unit of ln x on a logarithmic axis.
    pub y: Vec<f64>,
}

/// A Gaussian kernel estimate with the bandwidth 0.9 min(sd, IQR/1.34) n^(-1/5) [Silverman 1986,
/// eq. 3.31], of ln x on a logarithmic axis. `None` where fewer than two draws, or all draws the
/// same, leave nothing to draw; draws that the axis cannot show are left out.
pub fn estimate(draws: &[f64], kind: Kind) -> Option<Curve> {
    let mut values: Vec<f64> = match kind {
        Kind::Log => draws.iter().filter(|d| **d > 0.0).map(|d| d.ln()).collect(),
        Kind::Linear => draws.to_vec(),
    };
    values.retain(|value| value.is_finite());
    if values.len() > MOST_DRAWS {
        let count = values.len();
        values = (0..MOST_DRAWS).map(|i| values[i * count / MOST_DRAWS]).collect();
    }
    let n = values.len() as f64;
    let mean = values.iter().map(|v| v / n).sum::<f64>();
    let variance = values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / (n - 1.0).max(1.0);
    values.sort_by(f64::total_cmp);
    let quartile = |p: f64| values.get((p * (n - 1.0)).round() as usize).copied();
    let (low, high) = (*values.first()?, *values.last()?);
    let spread = (quartile(0.75)? - quartile(0.25)?) / 1.34;
    let sd = variance.sqrt();
    let width = if spread > 0.0 { sd.min(spread) } else { sd };
    let bandwidth = 0.9 * width * n.powf(-0.2);
    let usable = bandwidth > 1e-12 * low.abs().max(high.abs()) && bandwidth.is_finite();
    if values.len() < 2 || !usable {
        return None;
    }
    let (from, to) = (low - BEYOND * bandwidth, high + BEYOND * bandwidth);
    let norm = 1.0 / (n * bandwidth * (2.0 * PI).sqrt());
    let mut curve = Curve { x: Vec::with_capacity(POINTS), y: Vec::with_capacity(POINTS) };
    for point in 0..POINTS {
        let at = from + (to - from) * point as f64 / (POINTS - 1) as f64;
        // Beyond six bandwidths a kernel is below 1e-8.
        let near = values.partition_point(|v| *v < at - 6.0 * bandwidth)
            ..values.partition_point(|v| *v <= at + 6.0 * bandwidth);
        let sum: f64 =
            values[near].iter().map(|v| (-0.5 * ((at - v) / bandwidth).powi(2)).exp()).sum();
        curve.x.push(if kind == Kind::Log { at.exp() } else { at });
        curve.y.push(norm * sum);
    }
    Some(curve)
}

/// The `p` quantile of numbers that are there, by linear interpolation; NaN of none.
pub fn quantile(values: &[f64], p: f64) -> f64 {
    let mut sorted: Vec<f64> = values.iter().copied().filter(|v| v.is_finite()).collect();
    sorted.sort_by(f64::total_cmp);
    let Some(last) = sorted.len().checked_sub(1) else { return f64::NAN };
    let at = p.clamp(0.0, 1.0) * last as f64;
    let (below, rest) = (at.floor() as usize, at.fract());
    sorted[below] + rest * (sorted[(below + 1).min(last)] - sorted[below])
}

/// The ranks that every number takes up among all of them, as fractions from 0 to 1: equal numbers
/// share a range, so that values on a grid are spread as evenly as others. NaN ranks last.
pub fn rank_ranges(values: &[f64]) -> Vec<[f64; 2]> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let count = values.len() as f64;
    let range = |value: &f64| {
        let below = sorted.partition_point(|other| other.total_cmp(value).is_lt());
        let up_to = sorted.partition_point(|other| other.total_cmp(value).is_le());
        [below as f64 / count, up_to as f64 / count]
    };
    values.iter().map(range).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Values of the normal quantile function at the middles of 1000 equal parts, by bisection of
    /// a logistic approximation good to 1e-2: enough to know the density by eye.
    fn normal_draws() -> Vec<f64> {
        (0..1000).map(|i| (i as f64 + 0.5) / 1000.0).map(|p| (p / (1.0 - p)).ln() / 1.702).collect()
    }

    fn integral(curve: &Curve, place: impl Fn(f64) -> f64) -> f64 {
        let steps = curve.x.windows(2).zip(curve.y.windows(2));
        steps.map(|(x, y)| (place(x[1]) - place(x[0])) * (y[0] + y[1]) / 2.0).sum()
    }

    #[test]
    fn a_density_integrates_to_one_on_its_axis() {
        let curve = estimate(&normal_draws(), Kind::Linear).expect("a curve");
        assert!((integral(&curve, |x| x) - 1.0).abs() < 5e-3);
        // The logistic distribution with this scale has density 1.702/4 at 0; smoothing takes a
        // few per cent away.
        let top = curve.y.iter().copied().fold(0.0, f64::max);
        assert!((0.38..0.4255).contains(&top), "{top}");
        let positive: Vec<f64> = normal_draws().iter().map(|z| z.exp()).collect();
        let curve = estimate(&positive, Kind::Log).expect("a curve");
        assert!((integral(&curve, f64::ln) - 1.0).abs() < 5e-3);
        assert!(curve.x.iter().all(|x| *x > 0.0));
    }

    #[test]
    fn nothing_is_drawn_of_nothing() {
        for draws in [vec![], vec![1.0], vec![3.0; 50], vec![f64::NAN; 9], vec![f64::INFINITY; 3]] {
            assert_eq!(estimate(&draws, Kind::Linear), None);
            assert_eq!(estimate(&draws, Kind::Log), None);
        }
        assert_eq!(estimate(&[-1.0, -2.0, -3.0], Kind::Log), None);
    }

    #[test]
    fn ties_share_their_ranks() {
        let ranges = rank_ranges(&[3.0, 1.0, 3.0, 2.0]);
        assert_eq!(ranges, [[0.5, 1.0], [0.0, 0.25], [0.5, 1.0], [0.25, 0.5]]);
        assert!(rank_ranges(&[]).is_empty());
        assert!((quantile(&[4.0, 1.0, f64::NAN, 2.0], 0.5) - 2.0).abs() < 1e-12);
        assert!(quantile(&[], 0.5).is_nan());
    }
}
