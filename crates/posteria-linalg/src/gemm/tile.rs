//! Compute one tile of a product, held in registers.

use super::{Into, LANES, Sliver};
use crate::panel::{fma, load, map, store, zip};

/// A tile of C, whose columns are `stride` apart, ← Σ_k a_k b_kᵀ, or that added to it, or taken off.
#[inline(always)]
pub(super) fn whole_tile<const B: usize, const U: usize, const OFF: bool>(
    ((a, a_stride), (b, b_stride)): (Sliver<'_>, Sliver<'_>),
    terms: usize,
    (tile, stride): (&mut [f64], usize),
    add: bool,
) {
    let mut sums = [[[0.0; LANES]; B]; U];
    if add {
        for (u, sums) in sums.iter_mut().enumerate() {
            *sums = load(tile, u * stride);
        }
    }
    for (a, b) in a.chunks(a_stride).zip(b.chunks(b_stride)).take(terms) {
        let a = a.as_chunks::<LANES>().0.first_chunk::<B>();
        let (Some(a), Some(b)) = (a, b.first_chunk::<U>()) else { break };
        for u in 0..U {
            for block in 0..B {
                let a = if OFF { map(a[block], |entry| -entry) } else { a[block] };
                sums[u][block] = fma(a, [b[u]; LANES], sums[u][block]);
            }
        }
    }
    for (u, sums) in sums.into_iter().enumerate() {
        store(tile, u * stride, sums);
    }
}

/// `tile` ← Σ_k a_k b_kᵀ, of the first `H` blocks of lanes and `V` columns. The sums are copied as a
/// whole at the end: only so does the compiler keep them in registers.
#[inline(always)]
pub(super) fn tile<const B: usize, const U: usize, const H: usize, const V: usize>(
    (a, a_stride): Sliver<'_>,
    (b, b_stride): Sliver<'_>,
    terms: usize,
    tile: &mut [[[f64; LANES]; B]; U],
) {
    let mut sums = [[[0.0; LANES]; H]; V];
    for (a, b) in a.chunks(a_stride).zip(b.chunks(b_stride)).take(terms) {
        let a = a.as_chunks::<LANES>().0.first_chunk::<H>();
        let (Some(a), Some(b)) = (a, b.first_chunk::<V>()) else { break };
        for u in 0..V {
            for block in 0..H {
                sums[u][block] = fma(a[block], [b[u]; LANES], sums[u][block]);
            }
        }
    }
    for u in 0..V {
        for block in 0..H {
            tile[u][block] = sums[u][block];
        }
    }
}

#[inline(always)]
pub(super) fn write<const B: usize>(column: &mut [f64], sums: &[[f64; LANES]; B], into: Into) {
    let (blocks, rest) = column.as_chunks_mut::<LANES>();
    if blocks.len() == B {
        for block in 0..B {
            blocks[block] = combined(blocks[block], sums[block], into);
        }
        return;
    }
    for (block, sums) in blocks.iter_mut().zip(sums) {
        *block = combined(*block, *sums, into);
    }
    let done = blocks.len();
    for (entry, sum) in rest.iter_mut().zip(sums[done]) {
        *entry = combined([*entry], [sum], into)[0];
    }
}

/// What entries of C become.
#[inline(always)]
fn combined<const N: usize>(old: [f64; N], sums: [f64; N], into: Into) -> [f64; N] {
    match into {
        Into::Replace => sums,
        Into::Add => zip(old, sums, |old, sum| old + sum),
        Into::TakeOff => zip(old, sums, |old, sum| old - sum),
    }
}
