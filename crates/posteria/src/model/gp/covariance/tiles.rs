//! Cut a matrix into tiles that stay in the fastest cache.

use posteria_linalg::Points;

/// Pairs in a tile: a few buffers of them together are smaller than the fastest cache.
pub(super) const TILE: usize = 512;

/// Part of a column: full vectors of rows. The first and the last may reach beyond the rows that
/// are wanted.
#[derive(Clone, Copy, Debug)]
pub(super) struct Piece {
    pub(super) column: usize,
    pub(super) start: usize,
    pub(super) len: usize,
    /// Where the piece lies in the tile.
    pub(super) offset: usize,
}

impl Piece {
    /// The rows from the diagonal down to the last of `rows`.
    pub(super) fn wanted(&self, rows: usize) -> (usize, usize) {
        (self.start.max(self.column), (self.start + self.len).min(rows))
    }
}

/// The tiles of a matrix, column after column.
pub(super) struct Tiles {
    columns: usize,
    padded_rows: usize,
    lower: bool,
    column: usize,
    start: usize,
}

impl Tiles {
    /// All of a matrix.
    pub(super) fn rectangle(rows: usize, columns: usize) -> Self {
        let padded_rows = rows.next_multiple_of(Points::LANES);
        Tiles { columns, padded_rows, lower: false, column: 0, start: 0 }
    }

    /// The lower half of a matrix with its diagonal.
    pub(super) fn lower(rows: usize) -> Self {
        Tiles { lower: true, ..Tiles::rectangle(rows, rows) }
    }

    /// Number of pairs of the lower half of a matrix, in all its tiles; all but the last are full.
    pub(super) fn lower_len(rows: usize) -> usize {
        let tiles = Tiles::lower(rows);
        (0..rows).map(|column| tiles.padded_rows - tiles.first(column)).sum()
    }

    /// The first row, of full vectors, of a column.
    fn first(&self, column: usize) -> usize {
        if self.lower { column - column % Points::LANES } else { 0 }
    }

    /// Writes the pieces of the next tile; returns how many pairs it has, 0 after the last.
    pub(super) fn next(&mut self, pieces: &mut Vec<Piece>) -> usize {
        pieces.clear();
        let mut offset = 0;
        while offset < TILE && self.column < self.columns && self.padded_rows > 0 {
            let len = (self.padded_rows - self.start).min(TILE - offset);
            pieces.push(Piece { column: self.column, start: self.start, len, offset });
            offset += len;
            self.start += len;
            if self.start == self.padded_rows {
                self.column += 1;
                self.start = self.first(self.column);
            }
        }
        offset
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tiles_cover_every_entry_once() {
        for rows in [0, 1, 7, 8, 9, 70, 600, 1100] {
            for lower in [true, false] {
                let columns = if lower { rows } else { 3 };
                let mut tiles =
                    if lower { Tiles::lower(rows) } else { Tiles::rectangle(rows, columns) };
                let mut seen = vec![0; rows * columns];
                let mut pieces = Vec::new();
                let mut total = 0;
                loop {
                    // Only the last is not full.
                    let len = tiles.next(&mut pieces);
                    assert!(len == 0 || total % TILE == 0);
                    total += len;
                    if len == 0 {
                        break;
                    }
                    for piece in &pieces {
                        for row in piece.start..(piece.start + piece.len).min(rows) {
                            seen[piece.column * rows + row] += 1;
                        }
                    }
                }
                assert!(!lower || total == Tiles::lower_len(rows));
                for column in 0..columns {
                    for row in 0..rows {
                        let before = lower && row < column;
                        assert!(seen[column * rows + row] == 1 || before);
                    }
                }
            }
        }
    }
}
