//! What the ascent needs of the rows: their number, mean and scatter.

use posteria_linalg::{Matrix, symmetric_rank_k};

/// Number, mean and scatter Σ (x - x̄)(x - x̄)ᵀ of rows.
#[derive(Clone, Debug)]
pub(super) struct Scatter {
    pub(super) count: f64,
    pub(super) mean: Vec<f64>,
    pub(super) matrix: Matrix,
}

impl Scatter {
    pub(super) fn of(inputs: &Matrix) -> Self {
        let (rows, dim) = (inputs.rows(), inputs.columns());
        let count = rows as f64;
        let mean: Vec<f64> =
            (0..dim).map(|column| inputs.column(column).iter().sum::<f64>() / count).collect();
        let centred =
            Matrix::from_fn(rows, dim, |row, column| inputs[(row, column)] - mean[column]);
        let mut matrix = Matrix::zeros(dim, dim);
        symmetric_rank_k(&centred, &mut matrix);
        Scatter { count, mean, matrix }
    }

    pub(super) fn dim(&self) -> usize {
        self.mean.len()
    }

    pub(super) fn trace(&self) -> f64 {
        (0..self.dim()).map(|column| self.matrix[(column, column)]).sum()
    }
}
