//! The density of real targets, every row given its neighbours.

use posteria_linalg::{Cholesky, Matrix};

use super::Neighbours;
use crate::density::special::LOG_SQRT_2PI;
use crate::model::gp::covariance::{Covariance, Evaluator};
use crate::target::Infeasible;

/// Room for the density of targets that share a covariance function.
pub(in crate::model::gp) struct NeighbourMarginal<'p> {
    neighbours: &'p Neighbours,
    covariance: Evaluator<'p>,
    jitter_variance: f64,
    /// One for every number of rows in a set.
    rooms: Vec<Room>,
}

struct Room {
    matrix: Matrix,
    factor: Cholesky,
    /// z = L⁻¹ y, then α_N = L_N⁻ᵀ z_N.
    solved: Vec<f64>,
    /// The last row of L⁻¹.
    last: Vec<f64>,
}

/// Where derivatives go.
pub(in crate::model::gp) struct Derivatives<'a> {
    /// With respect to the log parameters of the covariance function; added to.
    pub(in crate::model::gp) parameters: &'a mut [f64],
    /// With respect to the logarithm of every row's residual standard deviation; added to.
    pub(in crate::model::gp) log_scales: &'a mut [f64],
}

impl<'p> NeighbourMarginal<'p> {
    pub(in crate::model::gp) fn new(
        neighbours: &'p Neighbours,
        covariance: &'p Covariance,
        inputs: &'p Matrix,
        jitter: f64,
    ) -> Self {
        let room = |size: usize| Room {
            matrix: Matrix::zeros(size, size),
            factor: Cholesky::identity(size),
            solved: vec![0.0; size],
            last: vec![0.0; size],
        };
        NeighbourMarginal {
            neighbours,
            covariance: covariance.evaluator(inputs),
            jitter_variance: jitter * jitter,
            rooms: (0..=neighbours.most + 1).map(room).collect(),
        }
    }

    /// Takes the log parameters of the covariance function.
    pub(in crate::model::gp) fn set(&mut self, log_parameters: &[f64]) {
        self.covariance.set(log_parameters);
    }

    /// log p(y_i | y_N(i)) given residual variances: of every row into `rows` (with no other
    /// factor), and their sum.
    ///
    /// The derivatives: with L Lᵀ = C the covariance of a set, u the last row of L⁻¹, z = uᵀy and
    /// α_N = C_N⁻¹ y_N, the derivative with respect to C is half of
    /// z (α_N uᵀ + u α_Nᵀ) + (z² - 1) u uᵀ.
    ///
    /// # Errors
    /// [`Infeasible`] if a covariance is not positive definite.
    pub(in crate::model::gp) fn log_density(
        &mut self,
        targets: &[f64],
        variances: &[f64],
        rows: &mut [f64],
        mut derivatives: Option<Derivatives<'_>>,
    ) -> Result<f64, Infeasible> {
        let mut sum = 0.0;
        for (set, slot) in self.neighbours.sets.iter().zip(rows) {
            let size = set.len();
            let Room { matrix, factor, solved, last } = &mut self.rooms[size];
            self.covariance.fill_rows(set, matrix);
            for (place, row) in set.iter().enumerate() {
                matrix[(place, place)] += self.jitter_variance + variances[*row];
                solved[place] = targets[*row];
            }
            factor
                .factorize(matrix)
                .map_err(|error| Infeasible::NotPositiveDefinite { pivot: error.pivot })?;
            factor.solve_lower(solved);
            let (z, deviation) = (solved[size - 1], factor.factor()[(size - 1, size - 1)]);
            *slot = -0.5 * z * z - deviation.ln() - LOG_SQRT_2PI;
            sum += *slot;
            let Some(derivatives) = &mut derivatives else { continue };
            last.fill(0.0);
            last[size - 1] = 1.0;
            factor.solve_lower_transposed(last);
            // L⁻ᵀ (z_N, 0) = (α_N, 0).
            solved[size - 1] = 0.0;
            factor.solve_lower_transposed(solved);
            let square = z * z - 1.0;
            let mut column = |index: usize, out: &mut [f64]| {
                let of_u = 0.5 * (z * solved[index] + square * last[index]);
                let of_alpha = 0.5 * z * last[index];
                for ((slot, u), alpha) in out.iter_mut().zip(&last[index..]).zip(&solved[index..]) {
                    *slot = of_u * u + of_alpha * alpha;
                }
            };
            self.covariance.gradient_rows(set, &mut column, derivatives.parameters);
            for (place, row) in set.iter().enumerate() {
                // d variance / d log σ = 2 variance.
                let (u, alpha) = (last[place], solved[place]);
                derivatives.log_scales[*row] +=
                    (2.0 * z * alpha + square * u) * u * variances[*row];
            }
        }
        Ok(sum)
    }
}
