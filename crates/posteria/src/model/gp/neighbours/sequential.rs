//! Draw a function at many training rows, one after the other.

use posteria_linalg::{Cholesky, Matrix};

use super::Points;
use crate::model::gp::covariance::{Covariance, Evaluator};
use crate::random::Stream;
use crate::target::Infeasible;

/// Part of the largest variance that rounding may need on the diagonal.
const RELATIVE_JITTER: f64 = 1e-12;

/// Draws a function at some training rows jointly, as far as neighbours tell: every value given the
/// targets of the nearest training rows and the nearest of the values that were drawn before
/// [Katzfuss et al. 2020]. The effort is that of the density, rows × m³.
pub(in crate::model::gp) struct Sequential<'p> {
    covariance: Evaluator<'p>,
    jitter_variance: f64,
    rows: Vec<usize>,
    /// For every row: training rows whose targets count, and places of earlier rows.
    near: Vec<(Vec<usize>, Vec<usize>)>,
}

impl<'p> Sequential<'p> {
    /// Draws at `rows` of `inputs`, from `most` targets and as many earlier values.
    pub(in crate::model::gp) fn new(
        covariance: &'p Covariance,
        inputs: &'p Matrix,
        jitter: f64,
        most: usize,
        rows: &[usize],
    ) -> Self {
        let points = Points::new(inputs);
        let subset = Points::new(&Matrix::from_fn(rows.len(), inputs.columns(), |row, column| {
            inputs[(rows[row], column)]
        }));
        let mut room = Vec::new();
        let mut nearest = |points: &Points, row: usize, count: usize| -> Vec<usize> {
            let point: Vec<f64> = (0..inputs.columns()).map(|k| inputs[(row, k)]).collect();
            points.nearest(&point, 0..count, most, &mut room);
            room.iter().map(|(_, found)| *found).collect()
        };
        let near = rows.iter().enumerate().map(|(place, &row)| {
            (nearest(&points, row, inputs.rows()), nearest(&subset, row, place))
        });
        let near = near.collect();
        let covariance = covariance.evaluator(inputs);
        Sequential { covariance, jitter_variance: jitter * jitter, rows: rows.to_vec(), near }
    }

    /// Takes the log parameters of the covariance function.
    pub(in crate::model::gp) fn set(&mut self, log_parameters: &[f64]) {
        self.covariance.set(log_parameters);
    }

    /// Writes a draw given targets and residual variances of all training rows; jitter included.
    ///
    /// # Errors
    /// [`Infeasible`] if a covariance has no factor.
    pub(in crate::model::gp) fn draw(
        &mut self,
        (targets, variances): (&[f64], &[f64]),
        stream: &mut Stream,
        values: &mut [f64],
    ) -> Result<(), Infeasible> {
        for (place, (own, (observed, earlier))) in self.rows.iter().zip(&self.near).enumerate() {
            let mut members = observed.clone();
            members.extend(earlier.iter().map(|place| self.rows[*place]));
            members.push(*own);
            let known = members.len() - 1;
            let mut matrix = Matrix::zeros(known + 1, known + 1);
            self.covariance.fill_rows(&members, &mut matrix);
            let largest = (0..=known).fold(0.0_f64, |most, at| most.max(matrix[(at, at)]));
            for (at, row) in members.iter().enumerate() {
                let residual = observed.get(at).map_or(0.0, |row| variances[*row]);
                matrix[(at, at)] += self.jitter_variance + RELATIVE_JITTER * largest + residual;
                // The target of a row and the function there share the jitter.
                for (before, other) in members[..at].iter().enumerate() {
                    if other == row {
                        matrix[(at, before)] += self.jitter_variance;
                    }
                }
            }
            let factor = Cholesky::new(&matrix)
                .map_err(|error| Infeasible::NotPositiveDefinite { pivot: error.pivot })?;
            let mut whitened: Vec<f64> = observed.iter().map(|row| targets[*row]).collect();
            whitened.extend(earlier.iter().map(|place| values[*place]));
            whitened.push(0.0);
            // The first part of L⁻¹ (values, 0) is L₁₁⁻¹ of what is known; then L₂₁ z + L₂₂ ε.
            factor.solve_lower(&mut whitened);
            whitened[known] = stream.normal();
            factor.multiply_lower(&mut whitened);
            values[place] = whitened[known];
        }
        Ok(())
    }
}
