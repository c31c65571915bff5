//! The Student t distribution.

use std::f64::consts::PI;

use super::ParameterError;
use super::error::{finite, positive};
use super::root::increasing_root;
use super::special::{ln_gamma_half_step, regularized_beta};
use crate::random::Stream;

/// t_ν(location, scale²): density
/// Γ((ν+1)/2) / (Γ(ν/2) √(νπ) scale) · (1 + z²/ν)^(-(ν+1)/2) with z = (x - location)/scale.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StudentT {
    location: f64,
    scale: f64,
    dof: f64,
    log_constant: f64,
}

impl StudentT {
    /// The Student t distribution with the given location, scale and degrees of freedom.
    ///
    /// # Errors
    /// [`ParameterError`] unless the location is finite and the others positive and finite.
    pub fn new(location: f64, scale: f64, dof: f64) -> Result<Self, ParameterError> {
        let name = "a Student t distribution";
        let scale = positive(name, "scale", scale)?;
        let dof = positive(name, "degrees of freedom", dof)?;
        let log_constant = ln_gamma_half_step(0.5 * dof) - 0.5 * (PI * dof).ln() - scale.ln();
        Ok(StudentT { location: finite(name, "location", location)?, scale, dof, log_constant })
    }

    /// The location: median and mode.
    pub fn location(&self) -> f64 {
        self.location
    }

    /// The scale.
    pub fn scale(&self) -> f64 {
        self.scale
    }

    /// The degrees of freedom ν.
    pub fn dof(&self) -> f64 {
        self.dof
    }

    /// log p(x).
    pub fn log_density(&self, x: f64) -> f64 {
        self.log_constant - 0.5 * (self.dof + 1.0) * log1p_square(self.reduced(x))
    }

    /// d log p(x) / dx. The derivative in the location is its negative.
    pub fn derivative(&self, x: f64) -> f64 {
        let r = self.reduced(x);
        // r / (1 + r²) written so that neither a huge nor a zero r gives NaN.
        -(self.dof + 1.0) / (r.recip() + r) / (self.scale * self.dof.sqrt())
    }

    /// d log p(x) / d log scale.
    pub fn log_scale_derivative(&self, x: f64) -> f64 {
        // (ν+1) r²/(1 + r²) - 1
        let r = self.reduced(x);
        (self.dof + 1.0) / (1.0 + (r * r).recip()) - 1.0
    }

    /// (x - location) / (scale √ν).
    fn reduced(&self, x: f64) -> f64 {
        (x - self.location) / (self.scale * self.dof.sqrt())
    }

    /// P(X ≤ x), accurate in the left tail.
    pub fn cdf(&self, x: f64) -> f64 {
        let r = self.reduced(x);
        let square = r * r;
        if square < 1.0 {
            // Near the centre the distance from ½ is the small, accurate quantity.
            let beyond = 0.5 * regularized_beta(0.5, 0.5 * self.dof, square / (1.0 + square));
            0.5 + beyond.copysign(r)
        } else {
            let tail = 0.5 * regularized_beta(0.5 * self.dof, 0.5, 1.0 / (1.0 + square));
            if r < 0.0 { tail } else { 1.0 - tail }
        }
    }

    /// The x with P(X ≤ x) = `probability`.
    pub fn quantile(&self, probability: f64) -> f64 {
        self.location + self.scale * standard_quantile(self.dof, probability)
    }

    /// A draw.
    pub fn draw(&self, stream: &mut Stream) -> f64 {
        // A normal divided by the root of an independent mean-one gamma. A gamma of tiny shape
        // may underflow to zero; the draw must stay finite.
        let mixing = (stream.gamma(0.5 * self.dof) / (0.5 * self.dof)).max(f64::MIN_POSITIVE);
        self.location + self.scale * (stream.normal() / mixing.sqrt())
    }
}

/// log(1 + r²) without overflow.
fn log1p_square(r: f64) -> f64 {
    // Beyond this 1 + r² is r² to the last bit, and r² may overflow.
    const HUGE: f64 = 1e100;
    if r.abs() < HUGE { (r * r).ln_1p() } else { 2.0 * r.abs().ln() }
}

fn standard_quantile(dof: f64, probability: f64) -> f64 {
    if probability > 0.5 {
        return -standard_quantile(dof, 1.0 - probability);
    }
    if probability <= 0.0 || probability.is_nan() {
        return if probability < 0.0 || probability.is_nan() {
            f64::NAN
        } else {
            f64::NEG_INFINITY
        };
    }
    let standard = StudentT {
        location: 0.0,
        scale: 1.0,
        dof,
        log_constant: ln_gamma_half_step(0.5 * dof) - 0.5 * (PI * dof).ln(),
    };
    // In t = -sinh(y) power tails become straight lines of log cdf.
    let target = probability.ln();
    let y = increasing_root(-700.0, 0.0, -1.0, |y| {
        let cdf = standard.cdf(y.sinh());
        let slope = standard.log_density(y.sinh()).exp() * y.cosh() / cdf;
        (cdf.ln() - target, slope)
    });
    y.sinh()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::density::checks::{
        assert_derivative, assert_draws_follow, assert_relative, integral,
    };
    use crate::random::{Purpose, Seed};

    // References: mpmath, 50 digits.

    #[test]
    fn density_matches_references_far_out_and_for_any_dof() {
        for (x, location, scale, dof, expected) in [
            (0.3, 1.0, 2.0, 4.0, -1.749_389_969_400_987_3),
            (1e6, 0.0, 1.0, 0.5, -22.553_659_148_278_253),
            (-50.0, 0.0, 0.5, 3.0, -16.531_797_745_697_705),
            (2.0, 0.0, 1.0, 1e9, -2.918_938_531_454_673),
            (1e200, 0.0, 1.0, 2.0, -1_381.551_055_796_427_4),
        ] {
            let t = StudentT::new(location, scale, dof).unwrap();
            assert_relative(t.log_density(x), expected, 1e-13);
        }
    }

    #[test]
    fn distribution_function_matches_references_and_quantile_inverts_it() {
        for (x, location, scale, dof, expected) in [
            (-1.0, 0.5, 2.0, 4.0, 0.247_479_716_665_882_7),
            (-1e6, 0.0, 1.0, 0.5, 0.000_320_700_975_414_198_84),
            (-50.0, 0.0, 0.5, 3.0, 1.102_260_961_592_455_5e-6),
            (3.0, 0.0, 1.0, 7.0, 0.990_028_936_934_003_7),
        ] {
            let t = StudentT::new(location, scale, dof).unwrap();
            assert_relative(t.cdf(x), expected, 1e-12);
            assert_relative(t.quantile(expected), x, 1e-12);
        }
        let t = StudentT::new(1.0, 2.0, 3.0).unwrap();
        assert_relative(t.quantile(0.5), 1.0, 1e-15);
        assert!(t.quantile(0.0) == f64::NEG_INFINITY && t.quantile(1.0) == f64::INFINITY);
    }

    #[test]
    fn density_is_normalised_and_derivatives_agree() {
        for dof in [0.8, 4.0, 200.0] {
            let t = StudentT::new(0.2, 0.7, dof).unwrap();
            assert_relative(integral(0.2, 0.7, |x| t.log_density(x).exp()), 1.0, 1e-12);
            for x in [-30.0, 0.1, 0.2, 2.0] {
                assert_derivative(t.derivative(x), x, |x| t.log_density(x));
                assert_derivative(t.log_scale_derivative(x), 0.7_f64.ln(), |l| {
                    StudentT::new(0.2, l.exp(), dof).unwrap().log_density(x)
                });
            }
        }
    }

    #[test]
    fn draws_follow_the_distribution_function() {
        for dof in [0.3, 1.0, 5.0] {
            let t = StudentT::new(-3.0, 2.5, dof).unwrap();
            let mut stream = Seed(1).stream(Purpose::Data, [3, dof.to_bits()]);
            let mut draws: Vec<f64> = (0..20_000).map(|_| t.draw(&mut stream)).collect();
            assert_draws_follow(&mut draws, |x| t.cdf(x));
        }
    }

    #[test]
    fn parameters_are_checked() {
        assert!(StudentT::new(f64::NAN, 1.0, 1.0).is_err());
        assert!(StudentT::new(0.0, 0.0, 1.0).is_err());
        assert!(StudentT::new(0.0, 1.0, f64::INFINITY).is_err());
    }
}
