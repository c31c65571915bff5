//! Integrate the exponential of a smooth function of one number.

use crate::density::special::log_sum_exp;

/// Values of the logarithm that far below the largest do not count.
const DEPTH: f64 = 42.0;
/// Intervals of a grid that narrows the range down.
const COARSE: usize = 64;
/// Change of the logarithm of the integral at which the step is small enough.
const TOLERANCE: f64 = 1e-12;
/// Most intervals.
const MOST: usize = 1 << 13;

/// The points of the trapezoidal rule with the logarithms of their shares of the integral.
#[derive(Clone, Debug, Default)]
pub(super) struct Grid {
    pub(super) points: Vec<f64>,
    pub(super) log_shares: Vec<f64>,
    pub(super) log_integral: f64,
}

/// log ∫ exp(f(t)) dt over `low` ≤ t ≤ `high`, by the trapezoidal rule where f is not negligible,
/// which for smooth functions that vanish at both ends gains digits exponentially. A first look
/// at `first` intervals must not miss a mode.
pub(super) fn log_integral(
    mut f: impl FnMut(f64) -> f64,
    (low, high): (f64, f64),
    first: usize,
) -> Grid {
    let (mut from, mut to, mut intervals) = (low, high, first.max(1));
    loop {
        let step = (to - from) / intervals as f64;
        let values: Vec<f64> = (0..=intervals).map(|i| f(from + step * i as f64)).collect();
        let largest = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let counts = |value: &f64| *value > largest - DEPTH;
        let begin = values.iter().position(counts).unwrap_or(0);
        let end = values.iter().rposition(counts).unwrap_or(intervals);
        // One interval more on both sides: the mode may lie there.
        let (a, b) = (from + step * (begin as f64 - 1.0), from + step * (end as f64 + 1.0));
        let (a, b) = (a.max(low), b.min(high));
        let settled = b - a > 0.7 * (to - from) && intervals == COARSE;
        (from, to, intervals) = (a, b, COARSE);
        if settled {
            break;
        }
    }
    let mut grid = trapezoid(&mut f, (from, to), intervals);
    while intervals < MOST {
        intervals *= 2;
        let finer = trapezoid(&mut f, (from, to), intervals);
        let change = (finer.log_integral - grid.log_integral).abs();
        // Twice the points that suffice cost memory: keep the fewer.
        if change < TOLERANCE || change.is_nan() {
            break;
        }
        grid = finer;
    }
    grid
}

fn trapezoid(f: &mut impl FnMut(f64) -> f64, (from, to): (f64, f64), intervals: usize) -> Grid {
    let step = (to - from) / intervals as f64;
    let points: Vec<f64> = (0..=intervals).map(|i| from + step * i as f64).collect();
    // The ends count half, which matters only where the range was cut off.
    let log_shares: Vec<f64> = points
        .iter()
        .enumerate()
        .map(|(i, t)| f(*t) + if i == 0 || i == intervals { (0.5 * step).ln() } else { step.ln() })
        .collect();
    let log_integral = log_sum_exp(&log_shares);
    Grid { points, log_shares, log_integral }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_integrals_are_found_wherever_their_mass_is() {
        let root = 0.5 * (2.0 * std::f64::consts::PI).ln();
        for (centre, width) in [(0.0, 1.0), (37.3, 1e-3), (-90.0, 4.0), (99.0, 0.01)] {
            let normal = |t: f64| -0.5 * ((t - centre) / width).powi(2);
            let grid = log_integral(normal, (-150.0, 150.0), 64);
            assert!((grid.log_integral - root - f64::ln(width)).abs() < 1e-11, "{centre}");
        }
        // Gamma of shape 1/4 on the log scale, whose left tail is long: Γ(1/4).
        let gamma = |t: f64| 0.25 * t - t.exp();
        let grid = log_integral(gamma, (-300.0, 300.0), 600);
        assert!((grid.log_integral - 3.625_609_908_221_908_f64.ln()).abs() < 1e-10);
        // Two modes, one a thousand times narrower.
        let two = |t: f64| {
            let a = -0.5 * (t - 2.0).powi(2);
            let b = -0.5 * ((t + 30.0) / 0.2).powi(2) + 1.0;
            log_sum_exp(&[a, b])
        };
        let grid = log_integral(two, (-100.0, 100.0), 800);
        let exact = root + (1.0 + 0.2 * 1_f64.exp()).ln();
        assert!((grid.log_integral - exact).abs() < 1e-10);
    }
}
