//! Multiply small matrices with panels: columns of many rows, the rows in vector lanes.
//!
//! A panel holds its columns one after the other, `rows` numbers each; `rows` is a multiple of
//! the number of lanes. Every sum runs in one fixed order, whatever the blocking.
#![allow(
    clippy::needless_range_loop,
    reason = "lanes and blocks are addressed by the same index on both sides"
)]

use crate::scalar::Scalar;

// Whole blocks go in and out by value: only so does the compiler keep them in registers.
#[inline(always)]
pub(crate) fn map<T: Scalar, const N: usize>(a: [T; N], f: impl Fn(T) -> T) -> [T; N] {
    let mut result = [T::ZERO; N];
    for lane in 0..N {
        result[lane] = f(a[lane]);
    }
    result
}

#[inline(always)]
pub(crate) fn zip<T: Scalar, const N: usize>(
    a: [T; N],
    b: [T; N],
    f: impl Fn(T, T) -> T,
) -> [T; N] {
    let mut result = [T::ZERO; N];
    for lane in 0..N {
        result[lane] = f(a[lane], b[lane]);
    }
    result
}

#[inline(always)]
pub(crate) fn fma<T: Scalar, const N: usize>(a: [T; N], b: [T; N], c: [T; N]) -> [T; N] {
    let mut sum = [T::ZERO; N];
    for lane in 0..N {
        sum[lane] = a[lane].mul_add(b[lane], c[lane]);
    }
    sum
}

/// `B` neighbouring blocks of lanes from `start` on.
#[inline(always)]
pub(crate) fn load<T: Scalar, const N: usize, const B: usize>(
    panel: &[T],
    start: usize,
) -> [[T; N]; B] {
    let mut lanes = [[T::ZERO; N]; B];
    for (lanes, block) in lanes.iter_mut().zip(panel[start..start + B * N].as_chunks::<N>().0) {
        *lanes = *block;
    }
    lanes
}

/// Writes `B` neighbouring blocks of lanes from `start` on.
#[inline(always)]
pub(crate) fn store<T: Scalar, const N: usize, const B: usize>(
    panel: &mut [T],
    start: usize,
    lanes: [[T; N]; B],
) {
    let blocks = panel[start..start + B * N].as_chunks_mut::<N>().0;
    for (block, lanes) in blocks.iter_mut().zip(lanes) {
        *block = lanes;
    }
}

/// A panel of `columns` columns times a small matrix of weights.
#[derive(Clone, Copy)]
struct Product<'a, T> {
    inputs: &'a [T],
    weights: &'a [T],
    kind: Kind<'a, T>,
    columns: usize,
    units: usize,
    rows: usize,
}

/// What is done beside the product.
#[derive(Clone, Copy)]
enum Kind<'a, T> {
    /// A bias is added.
    Affine(&'a [T]),
    /// The product is added to the outputs.
    Add,
}

impl<T: Scalar> Product<'_, T> {
    /// `U` units in `B` blocks of rows.
    #[inline(always)]
    fn block<const N: usize, const U: usize, const B: usize>(
        self,
        outputs: &mut [T],
        unit: usize,
        row: usize,
    ) {
        let mut sums = [[[T::ZERO; N]; B]; U];
        for u in 0..U {
            sums[u] = match self.kind {
                Kind::Affine(bias) => [[bias[unit + u]; N]; B],
                Kind::Add => load(outputs, (unit + u) * self.rows + row),
            };
        }
        for k in 0..self.columns {
            let x: [[T; N]; B] = load(self.inputs, k * self.rows + row);
            let weights = &self.weights[k * self.units + unit..][..U];
            for u in 0..U {
                for b in 0..B {
                    sums[u][b] = fma(x[b], [weights[u]; N], sums[u][b]);
                }
            }
        }
        for u in 0..U {
            store(outputs, (unit + u) * self.rows + row, sums[u]);
        }
    }

    /// All units in `B` blocks of rows.
    #[inline(always)]
    fn blocks<const N: usize, const B: usize>(self, outputs: &mut [T], row: usize) {
        let mut unit = 0;
        while unit + 4 <= self.units {
            self.block::<N, 4, B>(outputs, unit, row);
            unit += 4;
        }
        while unit + 2 <= self.units {
            self.block::<N, 2, B>(outputs, unit, row);
            unit += 2;
        }
        if unit < self.units {
            self.block::<N, 1, B>(outputs, unit, row);
        }
    }

    #[inline(always)]
    fn run<const N: usize>(self, outputs: &mut [T]) {
        let mut row = 0;
        // One unit alone needs more blocks to hide the latency of the additions; wider blocks
        // would not stay in registers.
        while self.units == 1 && N <= 8 && row + 8 * N <= self.rows {
            self.block::<N, 1, 8>(outputs, 0, row);
            row += 8 * N;
        }
        while row + 4 * N <= self.rows {
            self.blocks::<N, 4>(outputs, row);
            row += 4 * N;
        }
        while row < self.rows {
            self.blocks::<N, 1>(outputs, row);
            row += N;
        }
    }
}

/// outputs_u = bias_u + Σ_k weights[k·U + u] inputs_k.
#[inline(always)]
pub(crate) fn affine<T: Scalar, const N: usize>(
    inputs: &[T],
    weights: &[T],
    bias: &[T],
    outputs: &mut [T],
    rows: usize,
) {
    product::<T, N>((inputs, weights), Kind::Affine(bias), outputs, rows);
}

/// outputs_u += Σ_k weights[k·U + u] inputs_k.
#[inline(always)]
pub(crate) fn add_product<T: Scalar, const N: usize>(
    inputs: &[T],
    weights: &[T],
    outputs: &mut [T],
    rows: usize,
) {
    product::<T, N>((inputs, weights), Kind::Add, outputs, rows);
}

#[inline(always)]
fn product<T: Scalar, const N: usize>(
    (inputs, weights): (&[T], &[T]),
    kind: Kind<'_, T>,
    outputs: &mut [T],
    rows: usize,
) {
    if rows == 0 || outputs.is_empty() {
        return;
    }
    let (columns, units) = (inputs.len() / rows, outputs.len() / rows);
    Product { inputs, weights, kind, columns, units, rows }.run::<N>(outputs);
}

/// Sums over rows of the products of `A` columns with `B` columns.
#[inline(always)]
fn cross_block<T: Scalar, const N: usize, const A: usize, const B: usize>(
    (left, a): (&[T], usize),
    (right, b): (&[T], usize),
    (sums, stride, add): (&mut [T], usize, bool),
    rows: usize,
) {
    let at = |i: usize| ((a + i) * stride + b) * N;
    let mut totals = [[[T::ZERO; N]; B]; A];
    if add {
        for i in 0..A {
            totals[i] = load(sums, at(i));
        }
    }
    let blocks = rows / N;
    let mut left_blocks: [&[[T; N]]; A] = [&[]; A];
    for i in 0..A {
        left_blocks[i] = &left[(a + i) * rows..][..rows].as_chunks::<N>().0[..blocks];
    }
    let mut right_blocks: [&[[T; N]]; B] = [&[]; B];
    for j in 0..B {
        right_blocks[j] = &right[(b + j) * rows..][..rows].as_chunks::<N>().0[..blocks];
    }
    for block in 0..blocks {
        for j in 0..B {
            let y = right_blocks[j][block];
            for i in 0..A {
                totals[i][j] = fma(left_blocks[i][block], y, totals[i][j]);
            }
        }
    }
    for i in 0..A {
        store(sums, at(i), totals[i]);
    }
}

/// `A` columns of the left panel with the first `end` of the right.
#[inline(always)]
fn cross_rows<T: Scalar, const N: usize, const A: usize>(
    (left, a): (&[T], usize),
    right: &[T],
    (sums, stride, end, add): (&mut [T], usize, usize, bool),
    rows: usize,
) {
    let mut b = 0;
    while b + 4 <= end {
        cross_block::<T, N, A, 4>((left, a), (right, b), (sums, stride, add), rows);
        b += 4;
    }
    while b + 2 <= end {
        cross_block::<T, N, A, 2>((left, a), (right, b), (sums, stride, add), rows);
        b += 2;
    }
    if b < end {
        cross_block::<T, N, A, 1>((left, a), (right, b), (sums, stride, add), rows);
    }
}

/// sums[i·B + j] = Σ over rows of left_i right_j, one vector of partial sums each; with `add`
/// they are added to. `lower`: only where j ≤ i (and a few neighbours).
#[inline(always)]
pub(crate) fn cross_products<T: Scalar, const N: usize>(
    left: &[T],
    right: &[T],
    sums: &mut [T],
    rows: usize,
    (add, lower): (bool, bool),
) {
    if rows == 0 || right.is_empty() {
        if !add {
            sums.fill(T::ZERO);
        }
        return;
    }
    let (columns, stride) = (left.len() / rows, right.len() / rows);
    let end = |a: usize| if lower { stride.min(a) } else { stride };
    let mut a = 0;
    while stride == 1 && a + 8 <= columns {
        cross_block::<T, N, 8, 1>((left, a), (right, 0), (sums, stride, add), rows);
        a += 8;
    }
    while a + 4 <= columns {
        cross_rows::<T, N, 4>((left, a), right, (sums, stride, end(a + 4), add), rows);
        a += 4;
    }
    while a + 2 <= columns {
        cross_rows::<T, N, 2>((left, a), right, (sums, stride, end(a + 2), add), rows);
        a += 2;
    }
    if a < columns {
        cross_rows::<T, N, 1>((left, a), right, (sums, stride, end(a + 1), add), rows);
    }
}

/// totals_i = the sum of the i-th vector of partial sums, halves added to halves.
#[inline(always)]
pub(crate) fn totals<T: Scalar, const N: usize>(sums: &[T], totals: &mut [f64]) {
    for (total, lanes) in totals.iter_mut().zip(sums.as_chunks::<N>().0) {
        *total = sum_lanes(*lanes).to_f64();
    }
}

#[inline(always)]
pub(crate) fn sum_lanes<T: Scalar, const N: usize>(mut lanes: [T; N]) -> T {
    let mut half = N / 2;
    while half > 0 {
        for lane in 0..half {
            lanes[lane] = lanes[lane] + lanes[lane + half];
        }
        half /= 2;
    }
    lanes[0]
}
