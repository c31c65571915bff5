//! Draw the slopes of the log residual scale from their full conditional.

use posteria_linalg::{Cholesky, Matrix};

use super::likelihood::log_kernel;
use super::{Residual, Slopes};
use crate::random::Stream;
use crate::sample::slice_sample;

/// Width of a slice in standard deviations, and most steps out.
const WIDTH: f64 = 2.0;
const STEPS_OUT: usize = 30;

/// Slices along fixed directions in which the slopes are about independent and of deviation one:
/// the columns of L⁻ᵀ with LLᵀ = 2β Σ z_i z_iᵀ + I/τ², the expected curvature of normal
/// residuals. Given a, latent κ integrated out, the log density is
/// Σ_i β log p(r_i e^-(a + b·z_i)) - β Σ_i b·z_i - |b|²/2τ², which is log-concave for normal
/// residuals.
pub(super) struct SlopesConditional {
    /// Directions, columns; and how far z of every row is along each, rows × columns.
    directions: Matrix,
    along: Matrix,
    /// Residuals in units of their scales with their degrees of freedom: of rows and targets that
    /// share the slopes at hand.
    ratios: Vec<(f64, f64)>,
}

impl SlopesConditional {
    pub(super) fn new(slopes: &Slopes, inverse_temperature: f64) -> Self {
        let (z, count) = (slopes.values(), slopes.count());
        let prior = slopes.sd().powi(-2);
        let precision = Matrix::from_fn(count, count, |j, k| {
            let products = z.column(j).iter().zip(z.column(k)).map(|(a, b)| a * b);
            let own = if j == k { prior } else { 0.0 };
            2.0 * inverse_temperature.max(0.0) * products.sum::<f64>() + own
        });
        let mut directions = Matrix::identity(count);
        match Cholesky::new(&precision) {
            Ok(factor) => {
                for k in 0..count {
                    factor.solve_lower_transposed(directions.column_mut(k));
                }
            }
            // Any directions do, only more slowly.
            Err(_) => directions.values_mut().iter_mut().for_each(|d| *d *= slopes.sd()),
        }
        let along = Matrix::from_fn(z.rows(), count, |row, k| {
            (0..count).map(|j| z[(row, j)] * directions[(j, k)]).sum()
        });
        SlopesConditional { directions, along, ratios: Vec::new() }
    }

    /// Moves the slopes along every direction, given `residuals` o·n + i.
    pub(super) fn draw(
        &mut self,
        (residual, slopes): (&Residual, &Slopes),
        residuals: &[f64],
        beta: f64,
        state: &mut [f64],
        stream: &mut Stream,
    ) {
        let (rows, sets) = (residual.rows, slopes.sets());
        let family = residual.family;
        let precision = slopes.sd().powi(-2);
        for set in 0..sets {
            // Without slopes of their own all targets are in the first set.
            let of_set = |index: &usize| index / rows % sets == set;
            for k in 0..self.directions.columns() {
                let own = (0..residuals.len()).filter(of_set);
                self.ratios.clear();
                // At β = 0 the data do not count, even where they are infinitely far off.
                if beta > 0.0 {
                    self.ratios.extend(own.map(|index| {
                        let unit = (-residual.log_scale(state, index)).exp();
                        (residuals[index] * unit, residual.dof_of(state, index))
                    }));
                }
                let along = self.along.column(k);
                let direction = self.directions.column(k);
                let places = slopes.of_target(set);
                let (mut across, mut square, mut total) = (0.0, 0.0, 0.0);
                for (b, d) in state[places.clone()].iter().zip(direction) {
                    across += b * d;
                    square += d * d;
                }
                let targets = self.ratios.len() / rows;
                if targets > 0 {
                    total = targets as f64 * along.iter().sum::<f64>();
                }
                let log_density = |t: f64| {
                    let prior = -precision * t * (across + 0.5 * t * square);
                    let by_row = self.ratios.iter().zip(along.iter().cycle());
                    let kernels = by_row
                        .map(|((ratio, dof), z)| log_kernel(family, *dof, ratio * (-t * z).exp()));
                    prior + beta * (kernels.sum::<f64>() - t * total)
                };
                let step = slice_sample(0.0, log_density, WIDTH, STEPS_OUT, stream).value;
                for (b, d) in state[places].iter_mut().zip(direction) {
                    *b += step * d;
                }
            }
        }
    }
}
