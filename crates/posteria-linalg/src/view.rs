//! Look at parts of matrices: any strides to read, whole columns to write.

/// A matrix to read, whose entry (i, j) is `values[i * row_stride + j * column_stride]`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct View<'a> {
    pub(crate) values: &'a [f64],
    pub(crate) rows: usize,
    pub(crate) columns: usize,
    pub(crate) row_stride: usize,
    pub(crate) column_stride: usize,
}

impl<'a> View<'a> {
    /// Columns of `rows` numbers, one after the other, `stride` numbers apart.
    pub(crate) fn by_columns(
        values: &'a [f64],
        rows: usize,
        columns: usize,
        stride: usize,
    ) -> Self {
        View { values, rows, columns, row_stride: 1, column_stride: stride }
    }

    /// The matrix with rows for columns.
    pub(crate) fn transposed(self) -> Self {
        View {
            rows: self.columns,
            columns: self.rows,
            row_stride: self.column_stride,
            column_stride: self.row_stride,
            ..self
        }
    }

    /// `rows` × `columns` entries from (`row`, `column`) on.
    pub(crate) fn block(
        self,
        (row, column): (usize, usize),
        (rows, columns): (usize, usize),
    ) -> Self {
        debug_assert!(row + rows <= self.rows && column + columns <= self.columns);
        // A block without entries may begin behind the last one.
        let start = (row * self.row_stride + column * self.column_stride).min(self.values.len());
        View { values: &self.values[start..], rows, columns, ..self }
    }
}

/// A matrix to write: columns of consecutive numbers, `stride` numbers apart.
#[derive(Debug)]
pub(crate) struct ViewMut<'a> {
    pub(crate) values: &'a mut [f64],
    pub(crate) rows: usize,
    pub(crate) columns: usize,
    pub(crate) stride: usize,
}

impl<'a> ViewMut<'a> {
    /// Columns of `rows` numbers, one after the other.
    pub(crate) fn dense(values: &'a mut [f64], rows: usize, columns: usize) -> Self {
        ViewMut { values, rows, columns, stride: rows }
    }

    /// The matrix to read.
    pub(crate) fn view(&self) -> View<'_> {
        View::by_columns(self.values, self.rows, self.columns, self.stride)
    }

    /// `rows` × `columns` entries from (`row`, `column`) on.
    pub(crate) fn block(
        &mut self,
        (row, column): (usize, usize),
        (rows, columns): (usize, usize),
    ) -> ViewMut<'_> {
        debug_assert!(row + rows <= self.rows && column + columns <= self.columns);
        let start = (row + column * self.stride).min(self.values.len());
        ViewMut { values: &mut self.values[start..], rows, columns, stride: self.stride }
    }

    /// The columns before `column`, and the others.
    pub(crate) fn split_at_column(self, column: usize) -> (ViewMut<'a>, ViewMut<'a>) {
        debug_assert!(column <= self.columns);
        let start = (column * self.stride).min(self.values.len());
        let (left, right) = self.values.split_at_mut(start);
        let columns = self.columns - column;
        (
            ViewMut { values: left, rows: self.rows, columns: column, stride: self.stride },
            ViewMut { values: right, rows: self.rows, columns, stride: self.stride },
        )
    }

    /// One column.
    #[inline]
    pub(crate) fn column(&mut self, column: usize) -> &mut [f64] {
        &mut self.values[column * self.stride..][..self.rows]
    }

    /// Takes the entries of a matrix of the same size.
    pub(crate) fn copy_from(&mut self, other: View<'_>) {
        debug_assert!(other.rows == self.rows && other.columns == self.columns);
        for column in 0..self.columns {
            let own = self.column(column);
            let source = &other.values[column * other.column_stride..];
            match other.row_stride {
                1 => own.copy_from_slice(&source[..own.len()]),
                stride => {
                    own.iter_mut().zip(source.iter().step_by(stride)).for_each(|(x, y)| *x = *y)
                }
            }
        }
    }
}
