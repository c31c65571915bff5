//! The full conditional of a covariance matrix, given multivariate normal rows.

use posteria_linalg::{Matrix, dot};

use crate::density::{InverseWishart, ParameterError};

/// The conditional of Σ ~ Inv-Wishart given rows x_i ~ N(0, Σ), the normal density raised to
/// β: conjugate, ν' = ν + βn and Ψ' = Ψ + β Σ x_i x_iᵀ (`cond_mnorm_invwish`). Owns its room;
/// conditioning allocates nothing.
#[derive(Clone, Debug)]
pub struct CovarianceConditional {
    prior_scatter: Matrix,
    prior_dof: f64,
    scatter: Matrix,
    conditional: InverseWishart,
}

impl CovarianceConditional {
    /// Room for the conditionals under `prior`.
    pub fn new(prior: &InverseWishart) -> Self {
        let factor = prior.scatter().factor();
        let dim = prior.dim();
        let prior_scatter = Matrix::from_fn(dim, dim, |row, column| {
            (0..=row.min(column)).map(|k| factor[(row, k)] * factor[(column, k)]).sum()
        });
        CovarianceConditional {
            scatter: prior_scatter.clone(),
            prior_scatter,
            prior_dof: prior.dof(),
            conditional: prior.clone(),
        }
    }

    /// The conditional given `rows`, one observation with mean zero in each.
    ///
    /// # Errors
    /// [`ParameterError`] if the rows are not finite.
    ///
    /// # Panics
    /// If the rows have another dimension.
    pub fn given_normal(
        &mut self,
        rows: &Matrix,
        inverse_temperature: f64,
    ) -> Result<&InverseWishart, ParameterError> {
        let dim = self.conditional.dim();
        assert_eq!(rows.columns(), dim, "rows of dimension {dim}");
        for column in 0..dim {
            for row in column..dim {
                let products = dot(rows.column(row), rows.column(column));
                self.scatter[(row, column)] =
                    self.prior_scatter[(row, column)] + inverse_temperature * products;
            }
        }
        let dof = self.prior_dof + inverse_temperature * rows.rows() as f64;
        self.conditional.set_scatter(&self.scatter, dof)?;
        Ok(&self.conditional)
    }
}

#[cfg(test)]
mod tests {
    use posteria_linalg::Cholesky;

    use super::*;
    use crate::density::{MultivariateNormal, checks::assert_draws_follow};
    use crate::random::{Purpose, Seed};

    fn symmetric(a: f64, b: f64, c: f64) -> Matrix {
        Matrix::from_fn(2, 2, |row, column| [[a, b], [b, c]][row][column])
    }

    #[test]
    fn prior_times_likelihood_over_conditional_is_constant() {
        // An identity in Σ, so exact: no other density is proportional to the product.
        let prior = InverseWishart::new(&symmetric(1.0, 0.3, 0.5), 4.5).unwrap();
        let rows = Matrix::from_fn(4, 2, |i, j| [0.3, -1.2, 2.5, 0.1][i] * (j as f64 - 0.4) + 0.2);
        for beta in [1.0, 0.3, 0.0] {
            let mut room = CovarianceConditional::new(&prior);
            let conditional = room.given_normal(&rows, beta).unwrap();
            let excess = [(1.0, 0.0, 1.0), (3.0, -1.0, 0.6), (0.2, 0.15, 4.0)].map(|(a, b, c)| {
                let covariance = Cholesky::new(&symmetric(a, b, c)).unwrap();
                let mut workspace = [0.0; 2];
                let difference = prior.log_density(&covariance, &mut workspace)
                    - conditional.log_density(&covariance, &mut workspace);
                let normal = MultivariateNormal::new(vec![0.0; 2], covariance).unwrap();
                let likelihood: f64 = (0..4)
                    .map(|i| normal.log_density(&[rows[(i, 0)], rows[(i, 1)]], &mut workspace))
                    .sum();
                difference + beta * likelihood
            });
            assert!((excess[0] - excess[1]).abs() < 1e-11, "{excess:?}");
            assert!((excess[0] - excess[2]).abs() < 1e-11, "{excess:?}");
        }
    }

    #[test]
    fn rows_in_one_dimension_give_the_inverse_gamma() {
        let prior = InverseWishart::new(&Matrix::from_fn(1, 1, |_, _| 0.36), 3.0).unwrap();
        let values = [0.3, -1.2, 2.5];
        let rows = Matrix::from_fn(3, 1, |i, _| values[i]);
        let mut room = CovarianceConditional::new(&prior);
        let conditional = room.given_normal(&rows, 0.7).unwrap();
        let scalar = crate::density::InverseGamma::new(0.6, 3.0).unwrap();
        let squares = crate::model::prior::Squares::of(values);
        let exact = crate::model::prior::variance_given_normal(squares, &scalar, 0.7).unwrap();
        let mut stream = Seed(3).stream(Purpose::Data, [13, 0]);
        let mut draw = Matrix::zeros(1, 1);
        let mut draws: Vec<f64> = (0..20_000)
            .map(|_| {
                conditional.draw(&mut stream, &mut draw);
                draw[(0, 0)]
            })
            .collect();
        assert_draws_follow(&mut draws, |v| exact.cdf(v));
    }

    #[test]
    fn rows_that_are_not_finite_are_refused() {
        let prior = InverseWishart::new(&symmetric(1.0, 0.0, 1.0), 4.0).unwrap();
        let mut room = CovarianceConditional::new(&prior);
        let rows = Matrix::from_fn(1, 2, |_, _| f64::NAN);
        assert!(room.given_normal(&rows, 1.0).is_err());
    }
}
