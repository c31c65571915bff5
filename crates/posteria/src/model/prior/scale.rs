//! Full conditionals of a scale, given values that are normal or Student t.

use crate::density::{InverseGamma, ParameterError};
use crate::random::Stream;
use crate::sample::draw_log_concave;

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

/// Draws the variances v_i of a scale mixture, x_i ~ N(0, v_i) and v_i ~ `prior`: Student t
/// values with the prior's scale and degrees of freedom, case by case [Geweke 1993]. The normal
/// density is raised to β; the v_i belong to the prior.
///
/// # Errors
/// [`ParameterError`] if a residual's square is not finite; variances before it are drawn.
///
/// # Panics
/// If the lengths differ.
pub fn draw_case_variances(
    residuals: &[f64],
    prior: &InverseGamma,
    inverse_temperature: f64,
    variances: &mut [f64],
    stream: &mut Stream,
) -> Result<(), ParameterError> {
    assert_eq!(residuals.len(), variances.len(), "one variance per residual");
    for (&residual, variance) in residuals.iter().zip(variances) {
        let squares = Squares::of([residual]);
        *variance = variance_given_normal(squares, prior, inverse_temperature)?.draw(stream);
    }
    Ok(())
}

/// Draws log s, exactly, for x_i ~ t_ν(0, s²) raised to β with ν = `dof` given, and
/// s² ~ `prior` (`cond_t_invgam`; per group `cond_gt_invgam`). `log_scale` is a guess, best the
/// present value: it changes the cost (about ten passes over the values), not the distribution.
/// `None` if a value is not finite.
///
/// In t = log s, Jacobian included, the log density is
/// g(t) = -(βn + ν0) t - β (ν+1)/2 Σ log(1 + x_i² e^(-2t)/ν) - (ν0 s0²/2) e^(-2t). It is
/// strictly concave: log(1 + q e^(-2t)) is a log of a sum of exponentials of linear functions
/// of t, hence convex, and e^(-2t) is strictly convex.
pub fn log_scale_given_student_t(
    values: &[f64],
    dof: f64,
    prior: &InverseGamma,
    inverse_temperature: f64,
    log_scale: f64,
    stream: &mut Stream,
) -> Option<f64> {
    let power = inverse_temperature * values.len() as f64 + prior.dof();
    let exponent = inverse_temperature * (dof + 1.0);
    let log_prior_scale = prior.scale().ln();
    // The information about log s is 2nν/(ν+3) from the values and 2ν0 from the prior.
    let information = inverse_temperature * values.len() as f64 * dof / (dof + 3.0) + prior.dof();
    draw_log_concave(
        REAL_LINE,
        log_scale,
        (2.0 * information).sqrt().recip(),
        |t| {
            let unit = (-t).exp() / dof.sqrt();
            let (mut logs, mut fractions) = (0.0, 0.0);
            for value in values {
                let square = (value * unit).powi(2);
                logs += square.ln_1p();
                // q/(1 + q), 1 where q overflows.
                fractions += 1.0 / (1.0 + square.recip());
            }
            let tail = prior.dof() * (-2.0 * (t - log_prior_scale)).exp();
            let value = -power * t - 0.5 * (exponent * logs + tail);
            (value, -power + exponent * fractions + tail)
        },
        stream,
    )
    .ok()
    .map(|draw| draw.value)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::density::checks::{NumericCdf, assert_draws_follow, assert_relative};
    use crate::density::{Normal, StudentT};
    use crate::random::{Purpose, Seed};

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
    fn case_variances_are_drawn_one_by_one() {
        let prior = InverseGamma::new(0.6, 3.0).unwrap();
        let mut stream = stream(5, 1.0);
        let mut variances = [0.0; 2];
        let mut draws = [vec![], vec![]];
        for _ in 0..10_000 {
            draw_case_variances(&[0.1, 4.0], &prior, 1.0, &mut variances, &mut stream).unwrap();
            draws.iter_mut().zip(variances).for_each(|(draws, v)| draws.push(v));
        }
        for (draws, x) in draws.iter_mut().zip([0.1, 4.0]) {
            // Inv-gamma(ν + 1, (ν s0² + x²)/(ν + 1)), written out anew.
            let scale = ((3.0 * 0.36 + x * x) / 4.0_f64).sqrt();
            let exact = InverseGamma::new(scale, 4.0).unwrap();
            assert_draws_follow(draws, |v| exact.cdf(v));
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
