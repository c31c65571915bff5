//! Factorise and invert small matrices, rows padded to full vectors.

use multiversion::multiversion;

use crate::panel::{fma, map};

const LANES: usize = 8;

/// Largest dimension for which this is faster than the backend.
pub(crate) const LARGEST: usize = 32;

type Row<const B: usize> = [[f64; LANES]; B];

/// A ← L, column-major, zero above the diagonal; the lower half is read.
///
/// # Errors
/// The index of the first pivot that is not positive and finite.
pub(crate) fn factorize(matrix: &mut [f64], dim: usize) -> Result<(), usize> {
    match dim.div_ceil(LANES) {
        0 | 1 => factorize_blocks::<1>(matrix, dim),
        2 => factorize_blocks::<2>(matrix, dim),
        3 => factorize_blocks::<3>(matrix, dim),
        _ => factorize_blocks::<4>(matrix, dim),
    }
}

/// `inverse` ← (L Lᵀ)⁻¹, both halves, from the factor L, column-major.
pub(crate) fn inverse(factor: &[f64], inverse: &mut [f64], dim: usize) {
    match dim.div_ceil(LANES) {
        0 | 1 => inverse_blocks::<1>(factor, inverse, dim),
        2 => inverse_blocks::<2>(factor, inverse, dim),
        3 => inverse_blocks::<3>(factor, inverse, dim),
        _ => inverse_blocks::<4>(factor, inverse, dim),
    }
}

/// y ← y + factor x from the given block of lanes on.
#[inline(always)]
fn add_scaled<const B: usize>(y: &mut Row<B>, factor: f64, x: &Row<B>, start: usize) {
    for block in 0..B {
        if block >= start {
            y[block] = fma([factor; LANES], x[block], y[block]);
        }
    }
}

#[multiversion(targets("x86_64+avx512f", "x86_64+avx2+fma"))]
fn factorize_blocks<const B: usize>(matrix: &mut [f64], dim: usize) -> Result<(), usize> {
    // Columns of the lower half, eliminated one after the other.
    let mut columns = [[[0.0; LANES]; B]; LARGEST];
    let columns = &mut columns[..dim];
    for (k, column) in columns.iter_mut().enumerate() {
        let lanes = column.as_flattened_mut();
        lanes[k..dim].copy_from_slice(&matrix[k * dim + k..(k + 1) * dim]);
    }
    for k in 0..dim {
        let (done, rest) = columns.split_at_mut(k + 1);
        let column = &mut done[k];
        let pivot = column.as_flattened()[k];
        if !(pivot > 0.0 && pivot.is_finite()) {
            return Err(k);
        }
        let inverse = 1.0 / pivot.sqrt();
        for block in column.iter_mut() {
            *block = map(*block, |entry| entry * inverse);
        }
        let column = &done[k];
        let entries = column.as_flattened();
        for (index, other) in rest.iter_mut().enumerate() {
            let row = k + 1 + index;
            add_scaled(other, -entries[row], column, row / LANES);
        }
    }
    for (k, column) in columns.iter().enumerate() {
        let target = &mut matrix[k * dim..(k + 1) * dim];
        target[..k].fill(0.0);
        target[k..].copy_from_slice(&column.as_flattened()[k..dim]);
    }
    Ok(())
}

#[multiversion(targets("x86_64+avx512f", "x86_64+avx2+fma"))]
fn inverse_blocks<const B: usize>(factor: &[f64], inverse: &mut [f64], dim: usize) {
    // Rows of M = L⁻¹: row i = (e_i - Σ_{k<i} L_ik row k) / L_ii.
    let mut rows = [[[0.0; LANES]; B]; LARGEST];
    for i in 0..dim {
        let (done, rest) = rows.split_at_mut(i);
        let row = &mut rest[0];
        row.as_flattened_mut()[i] = 1.0;
        for (k, other) in done.iter().enumerate() {
            add_scaled(row, -factor[k * dim + i], other, 0);
        }
        let scale = 1.0 / factor[i * dim + i];
        for block in row.iter_mut() {
            *block = map(*block, |entry| entry * scale);
        }
    }
    // Column j of MᵀM is Σ_{i≥j} M_ij row i.
    for j in 0..dim {
        let mut column = [[0.0; LANES]; B];
        for row in &rows[j..dim] {
            add_scaled(&mut column, row.as_flattened()[j], row, 0);
        }
        inverse[j * dim..(j + 1) * dim].copy_from_slice(&column.as_flattened()[..dim]);
    }
}
