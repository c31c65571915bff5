//! Factorise, solve and invert block by block, several blocks at a time where that is allowed.

use std::cell::Cell;

use super::NotPositiveDefinite;
use crate::gemm::{Into, Shape, gemm, multiply_right};
use crate::small::{self, LARGEST};
use crate::threads::{BLOCK, LARGE, for_each_block, for_each_chunk, threads};
use crate::view::{View, ViewMut};

/// Columns that are eliminated at a time; two slivers of the product.
const NARROW: usize = 24;
/// Rows that are worked on together, by one thread.
const ROWS: usize = 192;

/// The inverse of a small lower triangular matrix, row by row.
type Inverse = [f64; LARGEST * LARGEST];

/// Room for what is worked on beside the matrix.
#[derive(Clone, Debug)]
pub(super) struct Room {
    /// A diagonal block, unless there is only one.
    corner: Vec<f64>,
    /// Inverses of the small blocks on its diagonal.
    inverses: Vec<Inverse>,
    /// What is below it, [`ROWS`] rows after the other.
    below: Vec<f64>,
}

impl Room {
    pub(super) fn new(dim: usize) -> Self {
        let (square, below) = if dim < LARGE { (0, 0) } else { (BLOCK * BLOCK, dim - BLOCK) };
        let small = if dim <= LARGEST { 0 } else { dim.min(LARGE).div_ceil(NARROW) };
        Room {
            corner: vec![0.0; square],
            inverses: vec![[0.0; LARGEST * LARGEST]; small],
            below: vec![0.0; BLOCK * below],
        }
    }
}

/// A ← L. What is above the diagonal is overwritten.
pub(super) fn factorize(
    mut matrix: ViewMut<'_>,
    room: &mut Room,
) -> Result<(), NotPositiveDefinite> {
    let dim = matrix.rows;
    if dim < LARGE {
        return factorize_one(matrix, &mut room.inverses)
            .map_err(|pivot| NotPositiveDefinite { pivot });
    }
    // One block of columns after the other is factorised and taken off all that follow.
    for start in (0..dim).step_by(BLOCK) {
        let (size, width) = (dim - start, BLOCK.min(dim - start));
        let rest = matrix.block((start, start), (size, size));
        let (mut panel, mut rest) = rest.split_at_column(width);
        let mut corner = ViewMut::dense(&mut room.corner[..width * width], width, width);
        corner.copy_from(panel.view().block((0, 0), (width, width)));
        factorize_one(corner.block((0, 0), (width, width)), &mut room.inverses)
            .map_err(|pivot| NotPositiveDefinite { pivot: start + pivot })?;
        panel.block((0, 0), (width, width)).copy_from(corner.view());
        let below = size - width;
        solve_panel(
            panel.block((0, 0), (size, width)),
            (corner.view(), &room.inverses),
            &mut room.below[..below * width],
        );
        let rows = panel.view().block((width, 0), (below, width));
        for_each_block(
            rest.block((width, 0), (below, below)),
            |first| (below - first) as f64,
            |mut columns, first| {
                let (size, own) = (below - first, columns.columns);
                let rows = rows.block((first, 0), (size, width));
                let right = rows.block((0, 0), (own, width)).transposed();
                let columns = columns.block((first, 0), (size, own));
                gemm(columns, Into::TakeOff, rows, right, Shape::LowerProduct);
            },
        );
    }
    Ok(())
}

/// A ← L, on this thread: what is left of them is taken off a few columns, and they are
/// factorised. Keeps the inverses of the small blocks on the diagonal.
///
/// # Errors
/// The index of the first pivot that is not positive and finite.
fn factorize_one(mut matrix: ViewMut<'_>, inverses: &mut [Inverse]) -> Result<(), usize> {
    let dim = matrix.rows;
    let mut corner = [0.0; NARROW * NARROW];
    for (start, inverse) in (0..dim).step_by(NARROW).zip(inverses) {
        let (size, width) = (dim - start, NARROW.min(dim - start));
        let (mut done, mut rest) = matrix.block((0, 0), (dim, dim)).split_at_column(start);
        let done = done.block((start, 0), (size, start));
        let done = done.view();
        let own = done.block((0, 0), (width, start)).transposed();
        let mut columns = rest.block((start, 0), (size, width));
        let target = columns.block((0, 0), (size, width));
        gemm(target, Into::TakeOff, done, own, Shape::LowerProduct);
        let corner = &mut corner[..width * width];
        ViewMut::dense(corner, width, width)
            .copy_from(columns.view().block((0, 0), (width, width)));
        small::factorize_in_place(corner, width).map_err(|pivot| start + pivot)?;
        let factor = View::by_columns(corner, width, width, width);
        columns.block((0, 0), (width, width)).copy_from(factor);
        small::invert_lower((corner, width, 0), inverse, width);
        let transposed = View::by_columns(inverse, width, width, LARGEST);
        let below = columns.block((width, 0), (size - width, width));
        multiply_right(below, transposed, Shape::UpperRight);
    }
    Ok(())
}

/// The rows of `panel` below its corner ← themselves times L⁻ᵀ; `room` is as large as they are.
fn solve_panel(
    mut panel: ViewMut<'_>,
    (corner, inverses): (View<'_>, &[Inverse]),
    room: &mut [f64],
) {
    let width = panel.columns;
    let below = panel.rows - width;
    if threads().get() == 1 || below <= ROWS {
        return solve_rows(panel.block((width, 0), (below, width)), corner, inverses);
    }
    // Rows cannot be shared between threads where they are: their columns lie between each other.
    let (chunk, source) = (ROWS * width, panel.view());
    for_each_chunk(
        (&mut *room, chunk),
        |_| 1.0,
        |rows, index| {
            let height = rows.len() / width;
            let mut rows = ViewMut::dense(rows, height, width);
            rows.copy_from(source.block((width + index * ROWS, 0), (height, width)));
            solve_rows(rows, corner, inverses);
        },
    );
    for (index, rows) in room.chunks(chunk).enumerate() {
        let height = rows.len() / width;
        let mut target = panel.block((width + index * ROWS, 0), (height, width));
        target.copy_from(View::by_columns(rows, height, width, height));
    }
}

/// X ← X L⁻ᵀ: X_j = (X_j - Σ_{i<j} X_i L_jiᵀ) L_jj⁻ᵀ.
fn solve_rows(mut x: ViewMut<'_>, corner: View<'_>, inverses: &[Inverse]) {
    let (rows, dim) = (x.rows, x.columns);
    for (start, inverse) in (0..dim).step_by(NARROW).zip(inverses) {
        let width = NARROW.min(dim - start);
        let (done, mut rest) = x.block((0, 0), (rows, dim)).split_at_column(start);
        let factor = corner.block((start, 0), (width, start)).transposed();
        gemm(rest.block((0, 0), (rows, width)), Into::TakeOff, done.view(), factor, Shape::Full);
        let transposed = View::by_columns(inverse, width, width, LARGEST);
        multiply_right(rest.block((0, 0), (rows, width)), transposed, Shape::UpperRight);
    }
}

/// `inverse`, of zeros ← L⁻¹ = M, on this thread. M L = I, so from right to left
/// M_J = -(M_K L_KJ) L_JJ⁻¹ below the diagonal block, K the columns right of J.
pub(super) fn invert(factor: View<'_>, mut inverse: ViewMut<'_>) {
    let dim = factor.rows;
    let mut corner = [0.0; LARGEST * LARGEST];
    for start in (0..dim).step_by(NARROW).rev() {
        let width = NARROW.min(dim - start);
        let (end, below) = (start + width, dim - start - width);
        let at = start * (factor.row_stride + factor.column_stride);
        small::invert_lower((factor.values, factor.column_stride, at), &mut corner, width);
        let own = View::by_columns(&corner, width, width, LARGEST).transposed();
        let (mut columns, mut rest) = inverse.block((0, 0), (dim, dim)).split_at_column(end);
        columns.block((start, start), (width, width)).copy_from(own);
        let left = rest.block((end, 0), (below, below));
        let right = factor.block((end, start), (below, width));
        let mut target = columns.block((end, start), (below, width));
        let product = target.block((0, 0), (below, width));
        gemm(product, Into::Replace, left.view(), right, Shape::LowerLeft);
        corner.iter_mut().for_each(|entry| *entry = -*entry);
        let own = View::by_columns(&corner, width, width, LARGEST).transposed();
        multiply_right(target, own, Shape::Full);
    }
}

/// Room on this thread, beside where results are written.
#[derive(Default)]
struct Solved {
    rows: Vec<f64>,
    corner: Vec<f64>,
    product: Vec<f64>,
}

thread_local! {
    // Taken by whoever needs it, so that work which waits for other threads may do theirs.
    static SOLVED: Cell<Solved> = Cell::default();
}

/// The first `length` numbers of a room that grows where it must.
fn room(values: &mut Vec<f64>, length: usize) -> &mut [f64] {
    if values.len() < length {
        values.resize(length, 0.0);
    }
    &mut values[..length]
}

/// `inverse` ← A⁻¹ = P, both halves. P L = L⁻ᵀ, so from right to left
/// P_J = (L⁻ᵀ_J - P_K L_KJ) L_JJ⁻¹, K the columns right of J; L⁻ᵀ_J ends with the diagonal block.
pub(super) fn inverse(factor: View<'_>, mut inverse: ViewMut<'_>) {
    let dim = factor.rows;
    let most = if dim < LARGE { NARROW } else { BLOCK };
    let mut solved = SOLVED.take();
    for start in (0..dim).step_by(most).rev() {
        let width = most.min(dim - start);
        let (end, below) = (start + width, dim - start - width);
        let own = room(&mut solved.corner, width * width);
        own.fill(0.0);
        invert(factor.block((start, start), (width, width)), ViewMut::dense(own, width, width));
        let own = View::by_columns(own, width, width, width);
        let right = factor.block((end, start), (below, width));
        let (mut columns, mut rest) = inverse.block((0, 0), (dim, dim)).split_at_column(end);
        let left = rest.block((end, 0), (below, below));
        let left = left.view();
        // Below the diagonal block, -P_J.
        let (rows, chunk) = (room(&mut solved.rows, below * width), ROWS * width);
        for_each_chunk(
            (&mut *rows, chunk),
            |_| 1.0,
            |rows, index| {
                let height = rows.len() / width;
                let left = left.block((index * ROWS, 0), (height, below));
                let mut rows = ViewMut::dense(rows, height, width);
                let product = rows.block((0, 0), (height, width));
                gemm(product, Into::Replace, left, right, Shape::Full);
                multiply_right(rows, own, Shape::Full);
            },
        );
        let product = room(&mut solved.product, width * width);
        let mut diagonal = ViewMut::dense(product, width, width);
        diagonal.copy_from(own.transposed());
        for (index, rows) in rows.chunks(chunk).enumerate() {
            let (height, first) = (rows.len() / width, index * ROWS);
            let rows = View::by_columns(rows, height, width, height);
            let right = right.block((first, 0), (height, width));
            let sum = diagonal.block((0, 0), (width, width));
            gemm(sum, Into::Add, rows.transposed(), right, Shape::Full);
            let mut target = columns.block((end + first, start), (height, width));
            for column in 0..width {
                let source = &rows.values[column * height..][..height];
                let target = target.column(column).iter_mut().zip(source);
                target.for_each(|(target, value)| *target = -value);
            }
            for row in 0..height {
                let source = rows.values[row..].iter().step_by(height);
                let target = &mut rest.column(first + row)[start..end];
                target.iter_mut().zip(source).for_each(|(target, value)| *target = -value);
            }
        }
        multiply_right(diagonal.block((0, 0), (width, width)), own, Shape::Full);
        for column in 0..width {
            for row in 0..column {
                diagonal.column(column)[row] = diagonal.column(row)[column];
            }
        }
        columns.block((start, start), (width, width)).copy_from(diagonal.view());
    }
    SOLVED.set(solved);
}

/// A lower triangular matrix L or its transpose.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    /// L.
    Lower,
    /// Lᵀ.
    Upper,
}

/// X ← L⁻¹ X or X ← L⁻ᵀ X, on this thread.
pub(super) fn solve(factor: View<'_>, side: Side, mut x: ViewMut<'_>) {
    let (dim, width) = (factor.rows, x.columns);
    if dim == 0 || width == 0 {
        return;
    }
    let mut solved = SOLVED.take();
    let room = room(&mut solved.rows, BLOCK * width);
    let blocks = dim.div_ceil(BLOCK);
    for block in 0..blocks {
        let block = if side == Side::Lower { block } else { blocks - 1 - block };
        let start = block * BLOCK;
        let size = BLOCK.min(dim - start);
        let corner = factor.block((start, start), (size, size));
        solve_corner((corner, side), x.block((start, 0), (size, width)), room);
        let own = &mut room[..size * width];
        ViewMut::dense(own, size, width).copy_from(x.view().block((start, 0), (size, width)));
        let own = View::by_columns(own, size, width, size);
        let (first, left, rows) = match side {
            Side::Lower => {
                let rows = dim - start - size;
                (start + size, factor.block((start + size, start), (rows, size)), rows)
            }
            Side::Upper => (0, factor.block((start, 0), (size, start)).transposed(), start),
        };
        gemm(x.block((first, 0), (rows, width)), Into::TakeOff, left, own, Shape::Full);
    }
    SOLVED.set(solved);
}

/// The same for one diagonal block, by small ones: X_i = L_ii⁻¹ (X_i - Σ L_ik X_k).
fn solve_corner((corner, side): (View<'_>, Side), mut x: ViewMut<'_>, room: &mut [f64]) {
    let (dim, width) = (corner.rows, x.columns);
    let mut inverse = [0.0; LARGEST * LARGEST];
    let blocks = dim.div_ceil(LARGEST);
    for block in 0..blocks {
        let block = if side == Side::Lower { block } else { blocks - 1 - block };
        let start = block * LARGEST;
        let size = LARGEST.min(dim - start);
        let at = start * (corner.row_stride + corner.column_stride);
        small::invert_lower((corner.values, corner.column_stride, at), &mut inverse, size);
        let by_columns = View::by_columns(&inverse, size, size, LARGEST);
        let sums = &mut room[..size * width];
        ViewMut::dense(sums, size, width).copy_from(x.view().block((start, 0), (size, width)));
        let (inverse, left, done) = match side {
            Side::Lower => {
                let left = corner.block((start, 0), (size, start));
                (by_columns.transposed(), left, x.view().block((0, 0), (start, width)))
            }
            Side::Upper => {
                let (after, rows) = (start + size, dim - start - size);
                let left = corner.block((after, start), (rows, size)).transposed();
                (by_columns, left, x.view().block((after, 0), (rows, width)))
            }
        };
        gemm(ViewMut::dense(sums, size, width), Into::TakeOff, left, done, Shape::Full);
        let sums = View::by_columns(sums, size, width, size);
        gemm(x.block((start, 0), (size, width)), Into::Replace, inverse, sums, Shape::Full);
    }
}
