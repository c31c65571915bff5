//! The full conditional of a mean, given normal values.

use crate::density::{Normal, ParameterError};

/// What normal values tell about their common mean: sums weighted by precision.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct WeightedSum {
    /// Σ 1/v_i.
    pub precision: f64,
    /// Σ x_i/v_i.
    pub sum: f64,
}

impl WeightedSum {
    /// Adds values that share the variance `variance`; call once per group.
    pub fn add(&mut self, values: impl IntoIterator<Item = f64>, variance: f64) {
        for value in values {
            self.precision += 1.0 / variance;
            self.sum += value / variance;
        }
    }
}

/// The conditional of a mean m ~ `prior` given x_i ~ N(m, v_i), the normal density of the
/// values raised to β: conjugate, with precision 1/s0² + β Σ 1/v_i and mean
/// (m0/s0² + β Σ x_i/v_i) / precision (`cond_gnorm_norm`).
///
/// # Errors
/// [`ParameterError`] if the sums are not finite.
pub fn mean_given_normal(
    values: WeightedSum,
    prior: &Normal,
    inverse_temperature: f64,
) -> Result<Normal, ParameterError> {
    let prior_precision = prior.scale().powi(-2);
    let precision = prior_precision + inverse_temperature * values.precision;
    // Correction to the prior mean: exact where there are no values.
    let gain = inverse_temperature * (values.sum - values.precision * prior.mean());
    Normal::new(prior.mean() + gain / precision, precision.sqrt().recip())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::density::checks::{NumericCdf, assert_draws_follow};
    use crate::random::{Purpose, Seed};

    #[test]
    fn mean_of_groups_matches_quadrature() {
        let prior = Normal::new(1.5, 0.8).unwrap();
        let groups: [(&[f64], f64); 2] = [(&[0.3, -1.2, 0.8], 0.5), (&[2.5], 4.0)];
        for beta in [1.0, 0.3, 0.0] {
            let mut values = WeightedSum::default();
            for (group, variance) in groups {
                values.add(group.iter().copied(), variance);
            }
            let exact = NumericCdf::new(-6.0, 9.0, |mean| {
                let likelihood: f64 = groups
                    .iter()
                    .flat_map(|(group, variance)| group.iter().map(move |x| (x, variance.sqrt())))
                    .map(|(x, scale)| Normal::new(mean, scale).unwrap().log_density(*x))
                    .sum();
                prior.log_density(mean) + beta * likelihood
            });
            let conditional = mean_given_normal(values, &prior, beta).unwrap();
            let mut stream = Seed(3).stream(Purpose::Data, [7, beta.to_bits()]);
            let mut draws: Vec<f64> = (0..20_000).map(|_| conditional.draw(&mut stream)).collect();
            assert_draws_follow(&mut draws, |mean| exact.at(mean));
        }
    }
}
