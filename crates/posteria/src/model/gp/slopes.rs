//! Moments of sums of a function, and of its slopes, at new rows.

use posteria_linalg::{Matrix, dot, matrix_vector, symmetric_rank_k, transposed_matrix_vector};

use super::covariance::Covariance;

/// Points of a block whose covariances with all others are held at a time.
const BLOCK: usize = 64;

/// A function given what is known of it at some points S.
pub(super) struct Known<'a> {
    pub(super) covariance: &'a Covariance,
    pub(super) log_parameters: &'a [f64],
    /// S, one row each.
    pub(super) points: &'a Matrix,
    /// α with E f(x) = k(x, S) α.
    pub(super) alpha: &'a [f64],
    /// Turns k(x, S), one row each, into columns whose inner products are what is known of the
    /// covariances.
    pub(super) whiten: &'a dyn Fn(&Matrix) -> Matrix,
}

/// Means and the lower half of the covariances of numbers that are jointly normal.
pub(super) struct Normal {
    pub(super) means: Vec<f64>,
    pub(super) covariances: Matrix,
    /// The largest variance before anything was known.
    pub(super) largest: f64,
}

impl Known<'_> {
    /// Mean and variance of Σ_i w_i f(x_i), without jitter, which belongs to no point.
    pub(super) fn sum(&self, inputs: &Matrix, weights: &[f64]) -> (f64, f64) {
        let mut evaluator = self.covariance.evaluator(self.points);
        evaluator.set(self.log_parameters);
        let mut own = self.covariance.evaluator(inputs);
        own.set(self.log_parameters);
        let known = self.points.rows();
        let mut summed = Matrix::zeros(1, known);
        let (mut part, mut variance) = (vec![0.0; known], 0.0);
        for first in (0..inputs.rows()).step_by(BLOCK) {
            let block = first..inputs.rows().min(first + BLOCK);
            let here = inputs.rows_in(block.clone());
            let mut cross = Matrix::zeros(block.len(), known);
            evaluator.cross(&here, &mut cross);
            transposed_matrix_vector(&cross, &weights[block.clone()], &mut part);
            part.iter().enumerate().for_each(|(row, value)| summed[(0, row)] += value);
            // The block with itself and all points after it, which count twice.
            let rest: Vec<usize> = (first..inputs.rows()).collect();
            let mut among = Matrix::zeros(rest.len(), block.len());
            own.cross_rows(&rest, &here, &mut among);
            for (column, weight) in weights[block.clone()].iter().enumerate() {
                let (within, after) = among.column(column).split_at(block.len());
                let (own, later) = weights[first..].split_at(block.len());
                variance += weight * (dot(within, own) + 2.0 * dot(after, later));
            }
        }
        let mean = (0..known).map(|row| summed[(0, row)] * self.alpha[row]).sum();
        let column = (self.whiten)(&summed);
        let column = column.column(0);
        (mean, (variance - dot(column, column)).max(0.0))
    }

    /// The function at every row, then its slopes by `input` there, without jitter. The function
    /// must be differentiable.
    pub(super) fn with_slopes(&self, inputs: &Matrix, input: usize) -> Normal {
        let (rows, known) = (inputs.rows(), self.points.rows());
        let row = |matrix: &Matrix, row: usize| -> Vec<f64> {
            (0..matrix.columns()).map(|column| matrix[(row, column)]).collect()
        };
        let new: Vec<Vec<f64>> = (0..rows).map(|at| row(inputs, at)).collect();
        let mut cross = Matrix::zeros(2 * rows, known);
        for at in 0..known {
            let point = row(self.points, at);
            for (index, x) in new.iter().enumerate() {
                let jet = self.covariance.jet(self.log_parameters, x, &point, input);
                cross[(index, at)] = jet.value;
                cross[(rows + index, at)] = jet.first;
            }
        }
        let mut covariances = Matrix::zeros(2 * rows, 2 * rows);
        for (j, y) in new.iter().enumerate() {
            for (i, x) in new.iter().enumerate() {
                let jet = self.covariance.jet(self.log_parameters, x, y, input);
                covariances[(rows + i, j)] = jet.first;
                if i >= j {
                    covariances[(i, j)] = jet.value;
                    covariances[(rows + i, rows + j)] = jet.mixed;
                }
            }
        }
        let largest = (0..2 * rows).fold(0.0_f64, |most, at| most.max(covariances[(at, at)]));
        let mut means = vec![0.0; 2 * rows];
        matrix_vector(&cross, self.alpha, &mut means);
        let mut taken = Matrix::zeros(2 * rows, 2 * rows);
        symmetric_rank_k(&(self.whiten)(&cross), &mut taken);
        for column in 0..2 * rows {
            let pairs = covariances.column_mut(column).iter_mut().zip(taken.column(column));
            pairs.for_each(|(value, known)| *value -= known);
        }
        Normal { means, covariances, largest }
    }
}
