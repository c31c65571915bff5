//! A dense column-major matrix.

use std::ops::{Index, IndexMut, Range};

use crate::view::{View, ViewMut};

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

    /// Some rows, copied.
    ///
    /// # Panics
    /// If there are no such rows.
    pub fn rows_in(&self, rows: Range<usize>) -> Matrix {
        let mut part = Matrix::zeros(rows.len(), self.columns);
        for column in 0..self.columns {
            part.column_mut(column).copy_from_slice(&self.column(column)[rows.clone()]);
        }
        part
    }

    /// All entries, column by column.
    pub fn values(&self) -> &[f64] {
        &self.values
    }

    /// All entries, column by column, mutable.
    pub fn values_mut(&mut self) -> &mut [f64] {
        &mut self.values
    }

    /// Makes the matrix symmetric: the half above the diagonal becomes the mirror image of the
    /// half below.
    ///
    /// # Panics
    /// If the matrix is not square.
    pub fn mirror_lower(&mut self) {
        assert_eq!(self.rows, self.columns, "a square matrix");
        for column in 1..self.columns {
            for row in 0..column {
                self.values[column * self.rows + row] = self.values[row * self.rows + column];
            }
        }
    }

    /// The matrix becomes its transpose.
    ///
    /// # Panics
    /// If the matrix is not square.
    pub fn transpose(&mut self) {
        assert_eq!(self.rows, self.columns, "a square matrix");
        for column in 1..self.columns {
            for row in 0..column {
                self.values.swap(column * self.rows + row, row * self.rows + column);
            }
        }
    }

    /// The matrix to read.
    pub(crate) fn view(&self) -> View<'_> {
        View::by_columns(&self.values, self.rows, self.columns, self.rows)
    }

    /// The matrix to write.
    pub(crate) fn view_mut(&mut self) -> ViewMut<'_> {
        ViewMut::dense(&mut self.values, self.rows, self.columns)
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

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// Entries between -1 and 1 from a small congruential generator.
    pub(crate) fn random(rows: usize, columns: usize, seed: u64) -> Matrix {
        let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
        Matrix::from_fn(rows, columns, |_, _| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 11) as f64 / (1u64 << 52) as f64 - 1.0
        })
    }

    #[test]
    fn rows_are_copied_out() {
        let matrix = random(5, 3, 2);
        assert_eq!(matrix.rows_in(1..4), Matrix::from_fn(3, 3, |i, j| matrix[(i + 1, j)]));
        assert_eq!(matrix.rows_in(0..5), matrix);
    }

    #[test]
    fn transposing_swaps_rows_and_columns() {
        let matrix = random(5, 5, 3);
        let mut transposed = matrix.clone();
        transposed.transpose();
        assert_eq!(transposed, Matrix::from_fn(5, 5, |row, column| matrix[(column, row)]));
    }

    #[test]
    fn mirroring_copies_the_lower_half_up() {
        let mut matrix = random(5, 5, 1);
        let lower = matrix.clone();
        matrix.mirror_lower();
        for row in 0..5 {
            for column in 0..5 {
                let expected = lower[(row.max(column), row.min(column))];
                assert_eq!(matrix[(row, column)].to_bits(), expected.to_bits());
            }
        }
    }
}
