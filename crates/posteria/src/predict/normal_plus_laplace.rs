//! A normal function value plus a Laplace residual.

use std::f64::consts::FRAC_1_SQRT_2;

use crate::density::special::{normal_cdf, scaled_erfc};

/// X + E with X ~ N(0, `spread`²) and E ~ Laplace(0, `scale`), independent.
///
/// With σ = spread, b = scale and
/// S(y) = ½ exp(σ²/2b² - y/b) erfc((σ/b - y/σ)/√2), the part of E > y on one side, the density is
/// (S(y) + S(-y))/2b and the distribution function Φ(y/σ) + ½ (S(-y) - S(y)). Below 0 that
/// difference never takes more than half of Φ(y/σ), so tails keep their digits.
#[derive(Clone, Copy, Debug)]
pub(super) struct NormalPlusLaplace {
    spread: f64,
    scale: f64,
}

impl NormalPlusLaplace {
    pub(super) fn new(spread: f64, scale: f64) -> Self {
        NormalPlusLaplace { spread, scale }
    }

    /// Logarithm of S(y).
    fn log_side(&self, y: f64) -> f64 {
        // y/σ of a σ near 0 is beyond all numbers; 0/0 would be none.
        let z = y / self.spread.max(f64::MIN_POSITIVE);
        let ratio = self.spread / self.scale;
        let argument = (ratio - z) * FRAC_1_SQRT_2;
        if argument > 0.0 {
            // exp of the product would over- and erfc underflow.
            -0.5 * z * z + (0.5 * scaled_erfc(argument)).ln()
        } else {
            ratio * (0.5 * ratio) - y / self.scale + (0.5 * libm::erfc(argument)).ln()
        }
    }

    /// Log density at `y`.
    pub(super) fn log_density(&self, y: f64) -> f64 {
        let (one, other) = (self.log_side(y), self.log_side(-y));
        let largest = one.max(other);
        if !largest.is_finite() {
            return largest;
        }
        let sum = (one - largest).exp() + (other - largest).exp();
        largest + (0.5 * sum / self.scale).ln()
    }

    /// Distribution function and density at `y`.
    pub(super) fn at(&self, y: f64) -> (f64, f64) {
        let below = -y.abs();
        let (near, far) = (self.log_side(-below).exp(), self.log_side(below).exp());
        let density = 0.5 * (near + far) / self.scale;
        let z = below / self.spread.max(f64::MIN_POSITIVE);
        let tail = normal_cdf(z) + 0.5 * (near - far);
        (if y > 0.0 { 1.0 - tail } else { tail }, density)
    }
}
