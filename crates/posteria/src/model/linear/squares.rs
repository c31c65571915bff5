//! Sum the squares of normal residuals without looking at every row.

use posteria_linalg::{Cholesky, Matrix, dot, matrix_vector, transposed_matrix_vector};

/// Rows above which residuals are summed by their moments. Of fewer the sum itself takes no longer
/// than a sweep does anyway.
pub(super) const MANY_ROWS: usize = 2000;

/// Ridge of the weights that squares are expanded about, by the mean diagonal of XᵀX: they need
/// not be the best, but must exist where columns are collinear.
const RIDGE: f64 = 1e-10;

/// |y - Xw|² as a function of the weights w, expanded about weights c close to the least squares:
/// |r|² - 2 (w - c)ᵀXᵀr + (w - c)ᵀXᵀX(w - c) with r = y - Xc. No large numbers cancel, which they
/// would in |y|² - 2 wᵀXᵀy + wᵀXᵀXw where the targets are known well.
pub(super) struct Squares {
    centre: Vec<f64>,
    /// Xᵀr.
    slopes: Vec<f64>,
    /// |r|².
    at_centre: f64,
}

impl Squares {
    /// From the columns, XᵀX and Xᵀy of many rows; `None` if they are not usable.
    pub(super) fn new(
        x: &Matrix,
        targets: &[f64],
        (gram, moment): (&Matrix, &[f64]),
    ) -> Option<Self> {
        let dim = moment.len();
        let mut ridge = gram.clone();
        let mean = (0..dim).map(|k| gram[(k, k)]).sum::<f64>() / dim.max(1) as f64;
        (0..dim).for_each(|k| ridge[(k, k)] += RIDGE * mean);
        let mut centre = moment.to_vec();
        Cholesky::new(&ridge).ok()?.solve(&mut centre);
        let mut residuals = vec![0.0; x.rows()];
        matrix_vector(x, &centre, &mut residuals);
        for (residual, target) in residuals.iter_mut().zip(targets) {
            *residual = target - *residual;
        }
        let mut slopes = vec![0.0; dim];
        transposed_matrix_vector(x, &residuals, &mut slopes);
        let at_centre = dot(&residuals, &residuals);
        at_centre.is_finite().then_some(Squares { centre, slopes, at_centre })
    }

    /// |y - Xw|² for these weights; `room` is as long.
    pub(super) fn at(&self, gram: &Matrix, weights: &[f64], room: &mut [f64]) -> f64 {
        for ((slot, weight), centre) in room.iter_mut().zip(weights).zip(&self.centre) {
            *slot = weight - centre;
        }
        let offset = &*room;
        let mut sum = self.at_centre - 2.0 * dot(offset, &self.slopes);
        for (k, value) in offset.iter().enumerate() {
            sum += value * dot(gram.column(k), offset);
        }
        sum.max(0.0)
    }
}

#[cfg(test)]
mod tests {
    use posteria_linalg::symmetric_rank_k;

    use super::*;
    use crate::density::checks::assert_relative;
    use crate::random::{Purpose, Seed};

    #[test]
    fn squares_are_those_of_the_rows_also_where_little_is_left_of_the_targets() {
        let mut stream = Seed(4).stream(Purpose::Data, [0, 0]);
        let (rows, dim) = (3000, 4);
        let mut x = Matrix::zeros(rows, dim);
        for column in 0..3 {
            x.column_mut(column).iter_mut().for_each(|value| *value = stream.normal());
        }
        // Collinear: least squares do not tell the last two apart.
        let copy = x.column(2).to_vec();
        x.column_mut(3).copy_from_slice(&copy);
        for noise in [1.0, 1e-5] {
            let targets: Vec<f64> = (0..rows)
                .map(|row| 3.0 * x[(row, 0)] - 2.0 * x[(row, 2)] + noise * stream.normal())
                .collect();
            let mut gram = Matrix::zeros(dim, dim);
            symmetric_rank_k(&x, &mut gram);
            let mut moment = vec![0.0; dim];
            transposed_matrix_vector(&x, &targets, &mut moment);
            let squares = Squares::new(&x, &targets, (&gram, &moment)).expect("usable");
            for weights in [[3.0, 0.0, -1.0, -1.0], [3.0, noise, -2.0, 0.0], [0.0; 4]] {
                let mut outputs = vec![0.0; rows];
                matrix_vector(&x, &weights, &mut outputs);
                let pairs = outputs.iter().zip(&targets);
                let expected: f64 = pairs.map(|(output, target)| (target - output).powi(2)).sum();
                let found = squares.at(&gram, &weights, &mut [0.0; 4]);
                assert_relative(found, expected, 1e-8);
            }
        }
    }
}
