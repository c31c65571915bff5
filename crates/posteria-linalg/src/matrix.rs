//! A dense column-major matrix.

use std::ops::{Index, IndexMut};

/// A dense matrix of `f64`, column-major.
#[derive(Clone, Debug, PartialEq)]
pub struct Matrix {
    rows: usize,
    columns: usize,
    values: Vec<f64>,
}

impl Matrix {
    /// A matrix of zeros.
    pub fn zeros(rows: usize, columns: usize) -> Self {
        Matrix { rows, columns, values: vec![0.0; rows * columns] }
    }

    /// The identity matrix.
    pub fn identity(dim: usize) -> Self {
        Matrix::from_fn(dim, dim, |row, column| if row == column { 1.0 } else { 0.0 })
    }

    /// The matrix whose entries are `entry(row, column)`.
    pub fn from_fn(
        rows: usize,
        columns: usize,
        mut entry: impl FnMut(usize, usize) -> f64,
    ) -> Self {
        let mut matrix = Matrix::zeros(rows, columns);
        for column in 0..columns {
            for row in 0..rows {
                matrix[(row, column)] = entry(row, column);
            }
        }
        matrix
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Number of columns.
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// One column.
    pub fn column(&self, column: usize) -> &[f64] {
        &self.values[column * self.rows..(column + 1) * self.rows]
    }

    /// One column, mutable.
    pub fn column_mut(&mut self, column: usize) -> &mut [f64] {
        &mut self.values[column * self.rows..(column + 1) * self.rows]
    }

    /// All entries, column by column.
    pub fn values(&self) -> &[f64] {
        &self.values
    }

    /// All entries, column by column, mutable.
    pub fn values_mut(&mut self) -> &mut [f64] {
        &mut self.values
    }
}

impl Index<(usize, usize)> for Matrix {
    type Output = f64;

    #[inline]
    fn index(&self, (row, column): (usize, usize)) -> &f64 {
        debug_assert!(row < self.rows);
        &self.values[column * self.rows + row]
    }
}

impl IndexMut<(usize, usize)> for Matrix {
    #[inline]
    fn index_mut(&mut self, (row, column): (usize, usize)) -> &mut f64 {
        debug_assert!(row < self.rows);
        &mut self.values[column * self.rows + row]
    }
}
