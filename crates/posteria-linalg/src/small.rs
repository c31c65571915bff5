//! Factorise and invert small matrices, columns padded to full vectors.

use multiversion::multiversion;

use crate::panel::{fma, map};

const LANES: usize = 8;

/// Largest dimension for which this is faster than the backend.
pub(crate) const LARGEST: usize = 32;

/// `factor` ← L with A = L Lᵀ, column-major, zero above the diagonal; the lower half of
/// `matrix` is read.
///
/// # Errors
/// The index of the first pivot that is not positive and finite.
pub(crate) fn factorize(matrix: &[f64], factor: &mut [f64], dim: usize) -> Result<(), usize> {
    factorize_either(Some(matrix), factor, dim)
}

/// As [`factorize`], of a matrix that is overwritten by its factor.
pub(crate) fn factorize_in_place(matrix: &mut [f64], dim: usize) -> Result<(), usize> {
    factorize_either(None, matrix, dim)
}

fn factorize_either(matrix: Option<&[f64]>, factor: &mut [f64], dim: usize) -> Result<(), usize> {
    match dim.div_ceil(LANES) {
        0 | 1 => factorize_blocks::<1, 8>(matrix, factor, dim),
        2 => factorize_blocks::<2, 16>(matrix, factor, dim),
        3 => factorize_blocks::<3, 24>(matrix, factor, dim),
        _ => factorize_blocks::<4, 32>(matrix, factor, dim),
    }
}

/// `inverse` ← (L Lᵀ)⁻¹, both halves, from the factor L, column-major.
pub(crate) fn inverse(factor: &[f64], inverse: &mut [f64], dim: usize) {
    match dim.div_ceil(LANES) {
        0 | 1 => inverse_blocks::<1, 8>(factor, inverse, dim),
        2 => inverse_blocks::<2, 16>(factor, inverse, dim),
        3 => inverse_blocks::<3, 24>(factor, inverse, dim),
        _ => inverse_blocks::<4, 32>(factor, inverse, dim),
    }
}

/// `inverse` ← the inverse, row by row of [`LARGEST`] numbers, of the square of a lower triangular
/// matrix, column-major with `stride` rows, that has `dim` rows and starts at `start`.
pub(crate) fn invert_lower(
    (factor, stride, start): (&[f64], usize, usize),
    inverse: &mut [f64; LARGEST * LARGEST],
    dim: usize,
) {
    invert_lower_block(&factor[start..], stride, inverse, dim);
}

#[multiversion(targets("x86_64+avx512f", "x86_64+avx2+fma"))]
fn invert_lower_block(
    factor: &[f64],
    stride: usize,
    inverse: &mut [f64; LARGEST * LARGEST],
    dim: usize,
) {
    let rows = inverse_rows::<4, LARGEST>(factor, stride, dim);
    for (target, row) in inverse.as_chunks_mut::<LARGEST>().0.iter_mut().zip(&rows) {
        target.copy_from_slice(row.as_flattened());
    }
}

/// Rows of M = L⁻¹: row i = (e_i - Σ_{k<i} L_ik row k) / L_ii.
#[inline(always)]
fn inverse_rows<const B: usize, const D: usize>(
    factor: &[f64],
    stride: usize,
    dim: usize,
) -> [[[f64; LANES]; B]; D] {
    let mut rows = [[[0.0; LANES]; B]; D];
    for i in 0..dim {
        let (done, rest) = rows.split_at_mut(i);
        let row = &mut rest[0];
        row.as_flattened_mut()[i] = 1.0;
        for (k, other) in done.iter().enumerate() {
            // Row k ends with column k.
            let factor = -factor[k * stride + i];
            for block in 0..B {
                if block * LANES <= k {
                    row[block] = fma([factor; LANES], other[block], row[block]);
                }
            }
        }
        let scale = 1.0 / factor[i * stride + i];
        for block in row.iter_mut() {
            *block = map(*block, |entry| entry * scale);
        }
    }
    rows
}

/// The column that starts at `start`, followed by whatever comes after it. Whole blocks are
/// copied where there are so many numbers left: a copy of unknown length costs more than all
/// arithmetic on it.
#[inline(always)]
fn load<const B: usize>(values: &[f64], start: usize) -> [[f64; LANES]; B] {
    let mut column = [[0.0; LANES]; B];
    for (block, lanes) in column.iter_mut().enumerate() {
        let rest = values.get(start + block * LANES..).unwrap_or(&[]);
        if let Some((first, _)) = rest.split_first_chunk::<LANES>() {
            *lanes = *first;
        } else {
            lanes[..rest.len()].copy_from_slice(rest);
        }
    }
    column
}

/// Writes a column at `start`, and padding over what comes after it.
#[inline(always)]
fn store<const B: usize>(values: &mut [f64], start: usize, column: &[[f64; LANES]; B]) {
    for (block, lanes) in column.iter().enumerate() {
        let rest = values.get_mut(start + block * LANES..).unwrap_or(&mut []);
        if let Some((first, _)) = rest.split_first_chunk_mut::<LANES>() {
            *first = *lanes;
        } else {
            rest.copy_from_slice(&lanes[..rest.len()]);
        }
    }
}

/// y ← y + factor x from the given block of lanes on.
#[inline(always)]
fn add_scaled<const B: usize>(
    y: &mut [[f64; LANES]; B],
    factor: f64,
    x: &[[f64; LANES]; B],
    start: usize,
) {
    for block in 0..B {
        if block >= start {
            y[block] = fma([factor; LANES], x[block], y[block]);
        }
    }
}

#[multiversion(targets("x86_64+avx512f", "x86_64+avx2+fma"))]
fn factorize_blocks<const B: usize, const D: usize>(
    matrix: Option<&[f64]>,
    factor: &mut [f64],
    dim: usize,
) -> Result<(), usize> {
    // Columns, eliminated one after the other. Lanes above the diagonal and beyond the last row
    // hold anything; no other lane ever depends on them.
    let mut columns = [[[0.0; LANES]; B]; D];
    let matrix = matrix.unwrap_or(factor);
    for (k, column) in columns[..dim].iter_mut().enumerate() {
        *column = load(matrix, k * dim);
    }
    for k in 0..dim {
        let (done, rest) = columns[..dim].split_at_mut(k + 1);
        let column = &done[k];
        let pivot = column.as_flattened()[k];
        if !(pivot > 0.0 && pivot.is_finite()) {
            return Err(k);
        }
        // Square roots wait until the end: the next pivot does not need them.
        let inverse = 1.0 / pivot;
        let mut factors = [[0.0; LANES]; B];
        for (factors, block) in factors.iter_mut().zip(column) {
            *factors = map(*block, |entry| -entry * inverse);
        }
        for (index, other) in rest.iter_mut().enumerate() {
            let row = k + 1 + index;
            add_scaled(other, factors.as_flattened()[row], column, row / LANES);
        }
    }
    for (k, column) in columns[..dim].iter_mut().enumerate() {
        let inverse = 1.0 / column.as_flattened()[k].sqrt();
        for (block, lanes) in column.iter_mut().enumerate() {
            for (lane, entry) in lanes.iter_mut().enumerate() {
                let below = block * LANES + lane >= k;
                *entry = if below { *entry * inverse } else { 0.0 };
            }
        }
        store(factor, k * dim, column);
    }
    Ok(())
}

#[multiversion(targets("x86_64+avx512f", "x86_64+avx2+fma"))]
fn inverse_blocks<const B: usize, const D: usize>(factor: &[f64], inverse: &mut [f64], dim: usize) {
    let rows = inverse_rows::<B, D>(factor, dim, dim);
    // Column j of MᵀM is Σ_{i≥j} M_ij row i.
    for j in 0..dim {
        let mut column = [[0.0; LANES]; B];
        for row in &rows[j..dim] {
            add_scaled(&mut column, row.as_flattened()[j], row, 0);
        }
        store(inverse, j * dim, &column);
    }
}
