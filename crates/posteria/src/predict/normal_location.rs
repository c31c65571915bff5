//! Average over a location that is normal: integrals of densities and of distribution functions.

use super::draw_mixture::normal_density;
use crate::density::LocationTerms;
use crate::density::special::LOG_SQRT_2PI;

/// Spacing of the trapezoid rule about the mode, in units of the width there: the error is some
/// exp(-2π²/spacing²) of the whole, and where the location is wide that of exp(-exp z), which
/// oscillates at distances of π/2 from the real line.
const SPACING: f64 = 0.25;
/// Terms are left out where they are smaller than the largest by exp of this.
const DEPTH: f64 = 36.0;
/// Most terms to either side.
const MOST_TERMS: usize = 2000;
/// Most steps to the mode, and how many of them are Newton's alone.
const STEPS: usize = 100;
const NEWTON_STEPS: usize = 12;
/// Deviations of the location beyond which nothing is left, and the spacing there.
const DEVIATIONS: f64 = 7.5;
const DEVIATION_SPACING: f64 = 0.5;

/// log ∫ exp(log f(z)) N(z; 0, 1) dz, z the deviations of a location of standard deviation `spread`, by the
/// trapezoid rule about the mode of the integrand, whose logarithm is concave; `of` has its derivatives
/// by the location. The mode is in `bracket`, and terms are no wider apart than `widest`.
pub(super) fn log_average(
    of: impl Fn(f64) -> LocationTerms,
    spread: f64,
    bracket: (f64, f64),
    widest: f64,
) -> f64 {
    let (mode, width) = mode(&of, spread, bracket);
    let term = |z: f64| of(z).value - 0.5 * z * z;
    let spacing = (SPACING * width).min(widest.max(DEVIATIONS / MOST_TERMS as f64));
    let largest = term(mode);
    let side = |sign: f64| -> f64 {
        let each = (1..MOST_TERMS).map(|k| term(mode + sign * spacing * k as f64) - largest);
        each.take_while(|log| *log > -DEPTH).map(f64::exp).sum()
    };
    let sum = 1.0 + side(1.0) + side(-1.0);
    largest + (sum * spacing).ln() - LOG_SQRT_2PI
}

/// Where the integrand is largest, in deviations, and its width there.
pub(super) fn mode(
    of: &impl Fn(f64) -> LocationTerms,
    spread: f64,
    (mut low, mut high): (f64, f64),
) -> (f64, f64) {
    let derivatives = |z: f64| {
        let terms = of(z);
        (spread * terms.slope - z, 1.0 + spread.powi(2) * terms.curvature)
    };
    let mut z = 0.0;
    for step_number in 0..STEPS {
        let (slope, curvature) = derivatives(z);
        if slope > 0.0 {
            low = z
        } else {
            high = z
        }
        let step = slope / curvature;
        if step.abs() < 1e-3 / curvature.sqrt() {
            break;
        }
        let newton = z + step;
        // In the far tail of an exponential Newton's steps all have the same small length.
        let is_newton = step_number < NEWTON_STEPS || step_number % 2 == 0;
        let is_inside = newton > low && newton < high;
        z = if is_newton && is_inside { newton } else { 0.5 * low + 0.5 * high };
    }
    (z, derivatives(z).1.sqrt().recip())
}

/// Spacing and number to either side of the terms of an average of something that changes with the
/// location over no less than so many deviations, by the trapezoid rule.
pub(super) fn rule(over: f64) -> (f64, i32) {
    let spacing = DEVIATION_SPACING.min(over).max(DEVIATIONS / MOST_TERMS as f64);
    (spacing, (DEVIATIONS / spacing).ceil() as i32)
}

/// The average of something that changes as [`rule`] says.
pub(super) fn average(of: impl Fn(f64) -> f64, over: f64) -> f64 {
    let (spacing, count) = rule(over);
    let (mut sum, mut total) = (0.0, 0.0);
    for k in -count..=count {
        let z = f64::from(k) * spacing;
        let weight = normal_density(z);
        total += weight;
        sum += weight * of(z);
    }
    sum / total
}
