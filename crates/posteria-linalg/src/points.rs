//! Hold many points column by column, rows padded to full vectors.

use std::ops::Range;

use crate::{Buffer, Pairs};

/// Many points: a matrix whose columns are padded with zeros to full vectors and lie where vector
/// loads never cross a cache line.
#[derive(Clone, Debug, Default)]
pub struct Points {
    values: Buffer<f64>,
    rows: usize,
    columns: usize,
    stride: usize,
}

impl Points {
    /// Rows computed together.
    pub const LANES: usize = 8;

    /// Points at zero.
    pub fn new(rows: usize, columns: usize) -> Self {
        let mut points = Points { columns, ..Points::default() };
        points.resize(rows);
        points
    }

    /// Room for `rows` rows; all points are at zero then. Allocates only where there was never so
    /// much room.
    pub fn resize(&mut self, rows: usize) {
        self.rows = rows;
        self.stride = rows.next_multiple_of(Self::LANES);
        // Columns a multiple of 512 bytes apart would fight for the same lines of the cache.
        if self.stride.is_multiple_of(64) {
            self.stride += Self::LANES;
        }
        let len = self.stride * self.columns;
        if self.values.len() < len {
            self.values = Buffer::new(len);
        } else {
            self.values.fill(0.0);
        }
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Number of columns.
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// Number of rows, padded to full vectors.
    pub fn padded_rows(&self) -> usize {
        self.rows.next_multiple_of(Self::LANES)
    }

    /// One column, without padding.
    pub fn column(&self, column: usize) -> &[f64] {
        &self.values[column * self.stride..][..self.rows]
    }

    /// One column, without padding, mutable.
    pub fn column_mut(&mut self, column: usize) -> &mut [f64] {
        let start = column * self.stride;
        &mut self.values[start..start + self.rows]
    }

    /// Copies one row out.
    ///
    /// # Panics
    /// If there is no such row, or `out` has not one entry per column.
    pub fn read_row(&self, row: usize, out: &mut [f64]) {
        assert!(row < self.rows && out.len() == self.columns, "a row of the points");
        for (column, out) in out.iter_mut().enumerate() {
            *out = self.values[column * self.stride + row];
        }
    }

    /// These points become the given rows of `from`.
    ///
    /// # Panics
    /// If there are no such rows, or the columns differ.
    pub fn gather(&mut self, from: &Points, rows: &[usize]) {
        assert_eq!(self.columns, from.columns, "as many columns");
        self.resize(rows.len());
        for column in 0..self.columns {
            let source = from.column(column);
            for (value, row) in self.column_mut(column).iter_mut().zip(rows) {
                *value = source[*row];
            }
        }
    }

    /// The pairs of each of `rows` with one other point.
    ///
    /// # Panics
    /// If `rows` is not a range of full vectors within [`Points::padded_rows`], or the other point
    /// has more numbers than there are columns.
    pub fn pairs<'a>(&'a self, rows: Range<usize>, other: &'a [f64]) -> Pairs<'a> {
        let full = rows.start.is_multiple_of(Self::LANES) && rows.end.is_multiple_of(Self::LANES);
        assert!(full && rows.end <= self.padded_rows(), "full vectors of rows");
        assert!(other.len() <= self.columns, "at most one number per column");
        Pairs::new(&self.values, self.stride, rows, other)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_can_be_read_and_gathered_and_padding_is_zero() {
        for rows in [0, 1, 7, 8, 9, 64, 130] {
            let mut points = Points::new(rows, 3);
            for column in 0..3 {
                for (row, value) in points.column_mut(column).iter_mut().enumerate() {
                    *value = (10 * row + column) as f64;
                }
            }
            let picked: Vec<usize> = (0..rows).rev().step_by(2).collect();
            let mut part = Points::new(200, 3);
            part.gather(&points, &picked);
            assert_eq!((part.rows(), part.columns()), (picked.len(), 3));
            let mut row = [0.0; 3];
            for (index, source) in picked.iter().enumerate() {
                part.read_row(index, &mut row);
                assert_eq!(row.map(|value| value as usize), [0, 1, 2].map(|k| 10 * source + k));
            }
            let padding = part.values[..part.padded_rows()].iter().skip(picked.len());
            assert!(padding.into_iter().all(|value| value.to_bits() == 0));
        }
    }
}
