//! Multiply matrices: C ← A B or C ← C ± A B, on this thread.
//!
//! The inner loops work on copies of parts of A and B in the order in which they are needed
//! (Goto and van de Geijn 2008): columns of B in slivers of `U`, rows of A in slivers of `B` blocks
//! of lanes, so that a tile of C stays in registers over a whole slice of the sums.

mod tile;

use std::cell::RefCell;
use std::ops::Range;

use multiversion::multiversion;
use multiversion::target::target_cfg_f;

use self::tile::{tile, whole_tile, write};
use crate::view::{View, ViewMut};

const LANES: usize = 8;

/// Terms of the sums at a time: a sliver of B stays in the first cache.
const DEPTH: usize = 256;
/// Rows of A at a time: their copy stays in the second cache. A multiple of all slivers.
const TALL: usize = 192;
/// Columns of B at a time. A multiple of all slivers.
const WIDE: usize = 1536;

/// From this distance on the columns of A are copied together.
const NEAR: usize = 256;
/// For so few rows of A it does not pay to copy B, for so few columns of B not to copy A.
const FEW_ROWS: usize = 256;
const FEW_COLUMNS: usize = 24;
/// Columns of a narrow tile.
const FEW: usize = 4;

/// What becomes of the old entries of C, and the sign of the product.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Into {
    /// C ← A B.
    Replace,
    /// C ← C + A B.
    Add,
    /// C ← C - A B.
    TakeOff,
}

/// What is known of the matrices.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    /// Nothing.
    Full,
    /// Only entries of C on and below the diagonal are wanted; some above are overwritten.
    LowerProduct,
    /// A is lower triangular; whatever is above its diagonal is not read, or is zero.
    LowerLeft,
    /// B is upper triangular; whatever is below its diagonal is not read, or is zero.
    UpperRight,
}

impl Shape {
    /// The terms that a tile of C needs, whose entries are (`rows`, `columns`) of C.
    #[inline(always)]
    fn terms(self, rows: &Range<usize>, columns: &Range<usize>, depth: usize) -> usize {
        match self {
            Shape::Full => depth,
            Shape::LowerProduct => {
                if rows.end > columns.start {
                    depth
                } else {
                    0
                }
            }
            Shape::LowerLeft => rows.end.min(depth),
            Shape::UpperRight => columns.end.min(depth),
        }
    }
}

/// Copies of parts of A and of B.
#[derive(Default)]
struct Packed {
    a: Vec<f64>,
    b: Vec<f64>,
}

thread_local! {
    // One multiplication at a time on each thread; none calls another.
    static PACKED: RefCell<Packed> = RefCell::default();
}

/// C ← A B or C ← C ± A B. Sums run in an order that depends on nothing but the sizes.
pub(crate) fn gemm(mut c: ViewMut<'_>, into: Into, a: View<'_>, b: View<'_>, shape: Shape) {
    debug_assert!(a.columns == b.rows && c.rows == a.rows && c.columns == b.columns);
    if c.rows == 0 || c.columns == 0 {
        return;
    }
    if a.columns == 0 {
        if into == Into::Replace {
            (0..c.columns).for_each(|column| c.column(column).fill(0.0));
        }
        return;
    }
    PACKED.with_borrow_mut(|packed| multiply(&mut c, into, (a, b), shape, packed));
}

/// C ← C B for a square B of at most [`DEPTH`] columns.
pub(crate) fn multiply_right(mut c: ViewMut<'_>, b: View<'_>, shape: Shape) {
    debug_assert!(b.rows == b.columns && c.columns == b.rows && b.rows <= DEPTH);
    debug_assert!(matches!(shape, Shape::Full | Shape::UpperRight));
    if c.rows > 0 && c.columns > 0 {
        PACKED.with_borrow_mut(|packed| multiply_in_place(&mut c, (b, shape), packed));
    }
}

#[multiversion(targets("x86_64+avx512f", "x86_64+avx2+fma"))]
fn multiply(
    c: &mut ViewMut<'_>,
    into: Into,
    (a, b): (View<'_>, View<'_>),
    shape: Shape,
    packed: &mut Packed,
) {
    // Tiles that fill the registers: 24 of 32 with AVX-512, 12 of 16 pairs of lanes else.
    if target_cfg_f!(target_feature = "avx512f") {
        blocks::<16, 2, 12>(c, into, (a, b), shape, packed);
    } else {
        blocks::<8, 1, 6>(c, into, (a, b), shape, packed);
    }
}

#[multiversion(targets("x86_64+avx512f", "x86_64+avx2+fma"))]
fn multiply_in_place(c: &mut ViewMut<'_>, b: (View<'_>, Shape), packed: &mut Packed) {
    if target_cfg_f!(target_feature = "avx512f") {
        in_place::<16, 2, 12>(c, b, packed);
    } else {
        in_place::<8, 1, 6>(c, b, packed);
    }
}

#[inline(always)]
fn blocks<const R: usize, const B: usize, const U: usize>(
    c: &mut ViewMut<'_>,
    into: Into,
    (a, b): (View<'_>, View<'_>),
    shape: Shape,
    packed: &mut Packed,
) {
    let (rows, columns, depth) = (a.rows, b.columns, a.columns);
    for first_column in (0..columns).step_by(WIDE) {
        let width = WIDE.min(columns - first_column);
        for first_term in (0..depth).step_by(DEPTH) {
            let terms = DEPTH.min(depth - first_term);
            let right = b.block((first_term, first_column), (terms, width)).transposed();
            let right = Slivers::<U>::new(right, rows > FEW_ROWS, &mut packed.b);
            // The rest of the sums comes on top.
            let into = if into == Into::Replace && first_term > 0 { Into::Add } else { into };
            for first_row in (0..rows).step_by(TALL) {
                let height = TALL.min(rows - first_row);
                let left = a.block((first_row, first_term), (height, terms));
                let far = left.column_stride > NEAR && width > FEW_COLUMNS;
                let left = Slivers::<R>::new(left, far, &mut packed.a);
                let own = c.block((first_row, first_column), (height, width));
                let needed = |rows: Range<usize>, columns: Range<usize>| {
                    let rows = first_row + rows.start..first_row + rows.end;
                    let columns = first_column + columns.start..first_column + columns.end;
                    shape.terms(&rows, &columns, depth).saturating_sub(first_term).min(terms)
                };
                // Entries without terms must still be written once.
                let all = first_term == 0 && shape != Shape::LowerProduct;
                tiles::<R, B, U>(own, into, (left, right), terms, |rows, columns| {
                    let needed = needed(rows, columns);
                    (needed > 0 || all).then_some(needed)
                });
            }
        }
    }
}

#[inline(always)]
fn in_place<const R: usize, const B: usize, const U: usize>(
    c: &mut ViewMut<'_>,
    (b, shape): (View<'_>, Shape),
    packed: &mut Packed,
) {
    let (rows, width) = (c.rows, c.columns);
    let right = Slivers::<U>::new(b.transposed(), rows > FEW_ROWS, &mut packed.b);
    for first in (0..rows).step_by(TALL) {
        let height = TALL.min(rows - first);
        let mut own = c.block((first, 0), (height, width));
        // Whatever is overwritten has been copied before.
        let left = Slivers::<R>::packed(own.view(), &mut packed.a);
        let own = own.block((0, 0), (height, width));
        tiles::<R, B, U>(own, Into::Replace, (left, right), width, |rows, columns| {
            Some(shape.terms(&rows, &columns, width))
        });
    }
}

/// All tiles of a block of C. `needed` says how many of the `terms` a tile needs; none if it is
/// not wanted.
#[inline(always)]
fn tiles<const R: usize, const B: usize, const U: usize>(
    mut c: ViewMut<'_>,
    into: Into,
    (a, b): (Slivers<'_, R>, Slivers<'_, U>),
    terms: usize,
    needed: impl Fn(Range<usize>, Range<usize>) -> Option<usize>,
) {
    let (rows, columns) = (c.rows, c.columns);
    let (tall, wide) = (rows.div_ceil(R), columns.div_ceil(U));
    let mut sums = [[[0.0; LANES]; B]; U];
    for index in 0..tall * wide {
        // The sliver that stays in the first cache is that of B, unless there are few of them.
        let (row, column) = match columns <= FEW_COLUMNS {
            true => (index / wide * R, index % wide * U),
            false => (index % tall * R, index / tall * U),
        };
        let (height, width) = (R.min(rows - row), U.min(columns - column));
        let Some(needed) = needed(row..row + height, column..column + width) else { continue };
        let (left, right) = (a.sliver(row / R, terms), b.sliver(column / U, terms));
        if height == R && width == U {
            let tile = &mut c.values[row + column * c.stride..];
            match into {
                Into::TakeOff => {
                    whole_tile::<B, U, true>((left, right), needed, (tile, c.stride), true)
                }
                _ => whole_tile::<B, U, false>(
                    (left, right),
                    needed,
                    (tile, c.stride),
                    into == Into::Add,
                ),
            }
            continue;
        }
        // The last rows may need one block of lanes only, the last columns a few.
        match (B > 1 && height <= LANES, width <= FEW) {
            (false, false) => tile::<B, U, B, U>(left, right, needed, &mut sums),
            (true, false) => tile::<B, U, 1, U>(left, right, needed, &mut sums),
            (false, true) => tile::<B, U, B, FEW>(left, right, needed, &mut sums),
            (true, true) => tile::<B, U, 1, FEW>(left, right, needed, &mut sums),
        }
        let mut block = c.block((row, column), (height, width));
        for (u, sums) in sums.iter().enumerate().take(width) {
            write::<B>(block.column(u), sums, into);
        }
    }
}

/// A sliver from its first number on, and the distance of its columns.
type Sliver<'a> = (&'a [f64], usize);

/// Slivers of `W` rows of a matrix: column by column in a copy, or where they are. The last, if it
/// has fewer rows, is always a copy, with zeros in place of the others.
#[derive(Clone, Copy)]
struct Slivers<'a, const W: usize> {
    /// Slivers that are where they were, and their stride; none if all are copies.
    own: Option<(&'a [f64], usize)>,
    copied: &'a [f64],
    /// Number of the first sliver that is a copy.
    first: usize,
}

impl<'a, const W: usize> Slivers<'a, W> {
    #[inline(always)]
    fn new(matrix: View<'a>, copy: bool, packed: &'a mut Vec<f64>) -> Self {
        if copy || matrix.row_stride != 1 || matrix.column_stride < W {
            return Slivers::packed(matrix, packed);
        }
        let whole = matrix.rows / W;
        let rest = matrix.block((whole * W, 0), (matrix.rows - whole * W, matrix.columns));
        pack::<W>(rest, packed);
        Slivers { own: Some((matrix.values, matrix.column_stride)), copied: packed, first: whole }
    }

    #[inline(always)]
    fn packed(matrix: View<'_>, packed: &'a mut Vec<f64>) -> Self {
        pack::<W>(matrix, packed);
        Slivers { own: None, copied: packed, first: 0 }
    }

    #[inline(always)]
    fn sliver(&self, index: usize, terms: usize) -> Sliver<'a> {
        match self.own {
            Some((values, stride)) if index < self.first => (&values[index * W..], stride),
            _ => (&self.copied[(index - self.first) * terms * W..], W),
        }
    }
}

/// Slivers of `W` rows of a matrix, column by column; zeros beyond the last row.
#[inline(always)]
fn pack<const W: usize>(matrix: View<'_>, packed: &mut Vec<f64>) {
    let (rows, terms) = (matrix.rows, matrix.columns);
    let size = rows.div_ceil(W) * W * terms;
    if packed.len() < size {
        packed.resize(size, 0.0);
    }
    let slivers = packed[..size].as_chunks_mut::<W>().0.chunks_exact_mut(terms);
    for (row, sliver) in (0..rows).step_by(W).zip(slivers) {
        let values = &matrix.values[row * matrix.row_stride..];
        let height = W.min(rows - row);
        if height < W {
            sliver.fill([0.0; W]);
        }
        if matrix.row_stride == 1 && height == W {
            for (term, target) in sliver.iter_mut().enumerate() {
                let source = &values[term * matrix.column_stride..];
                *target = *source.first_chunk().expect("a column of the sliver");
            }
        } else if matrix.column_stride == 1 && height == W {
            let lanes: [&[f64]; W] =
                std::array::from_fn(|lane| &values[lane * matrix.row_stride..][..terms]);
            for (term, target) in sliver.iter_mut().enumerate() {
                for lane in 0..W {
                    target[lane] = lanes[lane][term];
                }
            }
        } else {
            for (term, target) in sliver.iter_mut().enumerate() {
                let source =
                    values[term * matrix.column_stride..].iter().step_by(matrix.row_stride);
                target[..height]
                    .iter_mut()
                    .zip(source)
                    .for_each(|(target, value)| *target = *value);
            }
        }
    }
}

#[cfg(test)]
mod tests;
