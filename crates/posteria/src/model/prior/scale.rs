//! The full conditional of a scale, given values that are normal.

use crate::density::{InverseGamma, ParameterError};

/// Where a log scale may be.
pub(super) const REAL_LINE: (f64, f64) = (f64::NEG_INFINITY, f64::INFINITY);

/// What normal values tell about their common variance.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Squares {
    /// Number of values.
    pub count: f64,
    /// Σ x².
    pub sum: f64,
}

impl Squares {
    /// Of values with mean zero.
    pub fn of(values: impl IntoIterator<Item = f64>) -> Self {
        let mut squares = Squares::default();
        for value in values {
            squares.count += 1.0;
            squares.sum += value * value;
        }
        squares
    }
}

/// The conditional of a variance v ~ Inv-gamma(s0², ν) given x_i ~ N(0, v), the normal density
/// raised to β: conjugate, Inv-gamma with ν' = ν + βn and ν's'² = ν s0² + β Σ x²
/// (`cond_norm_invgam` of the MCMCstuff manual; per group `cond_gnorm_invgam`; with a prior of
/// its own for each variance `cond_norm_ginvgam`).
///
/// # Errors
/// [`ParameterError`] if the sum of squares is not finite.
pub fn variance_given_normal(
    squares: Squares,
    prior: &InverseGamma,
    inverse_temperature: f64,
) -> Result<InverseGamma, ParameterError> {
    let dof = prior.dof() + inverse_temperature * squares.count;
    // Relative to s0², so that s0² itself need not be representable.
    let ratio = inverse_temperature * (squares.sum / prior.scale() / prior.scale());
    InverseGamma::new(prior.scale() * ((prior.dof() + ratio) / dof).sqrt(), dof)
}

#[cfg(test)]
mod tests {
    use super::super::student_t_scale::log_scale_given_student_t;
    use super::*;
    use crate::density::checks::{NumericCdf, assert_draws_follow, assert_relative};
    use crate::density::{Normal, StudentT};
    use crate::random::{Purpose, Seed, Stream};

    const VALUES: [f64; 5] = [0.3, -1.2, 2.5, 0.05, -0.4];

    /// prior × likelihood^β on l = log scale, straight from the two densities.
    fn product(prior: &InverseGamma, beta: f64, l: f64, likelihood: impl Fn(f64) -> f64) -> f64 {
        // Variance density times Jacobian dv/dl = 2v.
        let variance = (2.0 * l).exp();
        let log_jacobian = 2.0_f64.ln() + 2.0 * l;
        prior.log_density(variance) + log_jacobian + beta * likelihood(l.exp())
    }

    fn stream(part: u64, beta: f64) -> Stream {
        Seed(3).stream(Purpose::Data, [part, beta.to_bits()])
    }

    #[test]
    fn variance_of_normal_values_matches_quadrature() {
        let prior = InverseGamma::new(0.6, 3.0).unwrap();
        for beta in [1.0, 0.3] {
            let exact = NumericCdf::new(-5.0, 9.0, |l| {
                product(&prior, beta, l, |scale| {
                    let normal = Normal::new(0.0, scale).unwrap();
                    VALUES.iter().map(|x| normal.log_density(*x)).sum()
                })
            });
            let conditional = variance_given_normal(Squares::of(VALUES), &prior, beta).unwrap();
            let mut stream = stream(1, beta);
            let mut draws: Vec<f64> =
                (0..20_000).map(|_| conditional.draw_log_scale(&mut stream)).collect();
            assert_draws_follow(&mut draws, |l| exact.at(l));
        }
    }

    #[test]
    fn student_t_scale_matches_quadrature() {
        let prior = InverseGamma::new(0.6, 3.0).unwrap();
        for (beta, dof) in [(1.0, 4.0), (0.3, 4.0), (1.0, 0.7)] {
            let exact = NumericCdf::new(-7.0, 9.0, |l| {
                product(&prior, beta, l, |scale| {
                    let t = StudentT::new(0.0, scale, dof).unwrap();
                    VALUES.iter().map(|x| t.log_density(*x)).sum()
                })
            });
            let mut stream = stream(3, beta + dof);
            let mut log_scale = 5.0;
            let mut draws: Vec<f64> = (0..20_000)
                .map(|_| {
                    log_scale = log_scale_given_student_t(
                        &VALUES,
                        dof,
                        &prior,
                        beta,
                        log_scale,
                        &mut stream,
                    )
                    .unwrap();
                    log_scale
                })
                .collect();
            assert_draws_follow(&mut draws, |l| exact.at(l));
        }
    }

    #[test]
    fn without_values_or_at_zero_temperature_the_prior_is_drawn() {
        let prior = InverseGamma::new(0.05, 0.5).unwrap();
        for (values, beta) in [(&VALUES[..], 0.0), (&[][..], 1.0)] {
            let mut stream = stream(4, beta);
            let mut draws = [vec![], vec![]];
            let squares = Squares::of(values.iter().copied());
            for _ in 0..10_000 {
                let variance = variance_given_normal(squares, &prior, beta).unwrap();
                draws[0].push(variance.draw_log_scale(&mut stream));
                let t = log_scale_given_student_t(values, 4.0, &prior, beta, 0.0, &mut stream);
                draws[1].push(t.unwrap());
            }
            for draws in &mut draws {
                assert_draws_follow(draws, |l| prior.cdf((2.0 * l).exp()));
            }
        }
    }

    #[test]
    fn values_that_are_not_finite_are_refused_and_extreme_ones_are_not() {
        let prior = InverseGamma::new(1.0, 1.0).unwrap();
        let mut stream = stream(6, 1.0);
        let bad = [1.0, f64::NAN];
        assert!(variance_given_normal(Squares::of(bad), &prior, 1.0).is_err());
        assert_eq!(log_scale_given_student_t(&bad, 3.0, &prior, 1.0, 0.0, &mut stream), None);
        let tiny = InverseGamma::new(1e-100, 1.0).unwrap();
        let conditional = variance_given_normal(Squares::of([1e30; 3]), &tiny, 1.0).unwrap();
        assert_relative(conditional.scale(), 1e30 * 0.75_f64.sqrt(), 1e-12);
        let draw = log_scale_given_student_t(&[1e30; 3], 3.0, &tiny, 1.0, 0.0, &mut stream);
        assert!(draw.is_some_and(f64::is_finite));
    }
}
