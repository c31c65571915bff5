//! Pack input rows into tiles that fit the caches, in both precisions.

use std::ops::Range;

use posteria_linalg::{Buffer, Matrix, Real};

/// Largest number of rows of a tile.
const TILE: usize = 256;

/// Numbers of rows of all tiles but the last are multiples of this, the lanes of either
/// precision.
const STEP: usize = 16;

/// Input rows packed for the network, shared by all chains.
#[derive(Clone, Debug)]
pub struct Rows {
    double: Tiles<f64>,
    single: Tiles<f32>,
}

impl Rows {
    /// Packs the rows of `inputs` (one column per input).
    pub fn new(inputs: &Matrix) -> Self {
        Rows { double: Tiles::new(inputs), single: Tiles::new(inputs) }
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        self.double.rows
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Number of inputs.
    pub fn inputs(&self) -> usize {
        self.double.inputs
    }

    /// These rows alone, in this order.
    ///
    /// # Panics
    /// If there is no such row.
    pub fn subset(&self, rows: &[usize]) -> Self {
        let entry = |row: usize, input: usize| self.double.value(rows[row], input);
        Rows::new(&Matrix::from_fn(rows.len(), self.inputs(), entry))
    }

    /// The rows in double precision.
    pub(in crate::model::mlp) fn double(&self) -> &Tiles<f64> {
        &self.double
    }

    /// The rows in single precision.
    pub(in crate::model::mlp) fn single(&self) -> &Tiles<f32> {
        &self.single
    }
}

/// Input rows in panels of up to [`TILE`] rows, each with a last column of ones. Rows are padded
/// to full lanes by copies of the last row, so that nothing can go wrong in the padding that
/// does not go wrong in a row.
#[derive(Clone, Debug)]
pub(in crate::model::mlp) struct Tiles<T: Real> {
    pub(in crate::model::mlp) rows: usize,
    pub(in crate::model::mlp) inputs: usize,
    /// Rows of all tiles but the last.
    size: usize,
    panels: Buffer<T>,
}

/// One tile.
#[derive(Clone, Debug)]
pub(in crate::model::mlp) struct Tile<'p, T: Real> {
    /// Which rows these are.
    pub(in crate::model::mlp) range: Range<usize>,
    /// How many with padding.
    pub(in crate::model::mlp) rows: usize,
    /// The inputs, then a column of ones.
    pub(in crate::model::mlp) panel: &'p [T],
}

impl<T: Real> Tiles<T> {
    fn new(inputs: &Matrix) -> Self {
        let rows = inputs.rows();
        let count = rows.div_ceil(TILE).max(1);
        let size = rows.div_ceil(count).next_multiple_of(STEP);
        let columns = inputs.columns() + 1;
        let len = rows.next_multiple_of(T::LANES) * columns;
        let mut tiles = Tiles { rows, inputs: inputs.columns(), size, panels: Buffer::new(len) };
        for index in 0..rows.div_ceil(size.max(1)) {
            let Tile { range, rows: padded, .. } = tiles.tile(index);
            let panel = &mut tiles.panels[index * size * columns..][..padded * columns];
            for (k, column) in panel.chunks_exact_mut(padded).enumerate() {
                let last = range.end - 1;
                for (slot, row) in column.iter_mut().zip(range.start..) {
                    let known = k < inputs.columns();
                    *slot = T::from_f64(if known { inputs[(row.min(last), k)] } else { 1.0 });
                }
            }
        }
        tiles
    }

    /// One input of one row.
    pub(in crate::model::mlp) fn value(&self, row: usize, input: usize) -> T {
        assert!(row < self.rows && input < self.inputs, "no input {input} of row {row}");
        let tile = self.tile(row / self.size);
        tile.panel[input * tile.rows + row - tile.range.start]
    }

    fn tile(&self, index: usize) -> Tile<'_, T> {
        let start = index * self.size;
        let range = start..(start + self.size).min(self.rows);
        let rows = range.len().next_multiple_of(T::LANES);
        let columns = self.inputs + 1;
        Tile { range, rows, panel: &self.panels[start * columns..][..rows * columns] }
    }

    /// All tiles in order.
    pub(in crate::model::mlp) fn iter(&self) -> impl Iterator<Item = Tile<'_, T>> {
        (0..self.rows.div_ceil(self.size.max(1))).map(|index| self.tile(index))
    }

    /// The most rows of a tile, with padding.
    pub(in crate::model::mlp) fn height(&self) -> usize {
        self.size.min(self.rows.next_multiple_of(T::LANES))
    }
}
