//! Compare one point with many, several at a time.
#![allow(
    clippy::needless_range_loop,
    reason = "lanes and blocks are addressed by the same index on both sides"
)]

mod arcsine;

use std::ops::Range;

use multiversion::multiversion;

use crate::panel::{fma, load, map, store, zip};

const LANES: usize = 8;
type Lanes = [f64; LANES];

/// Pairs (x_i, y) of many points x_i with one point y.
///
/// Sums over pairs are kept in 8 partial sums each, one after the other; [`Pairs::totals`] adds
/// them up. All instruction sets give the same bits.
///
/// # Panics
/// All functions panic if a slice has not one number per pair, or too few for its sums.
#[derive(Clone, Copy, Debug)]
pub struct Pairs<'a> {
    values: &'a [f64],
    stride: usize,
    start: usize,
    len: usize,
    other: &'a [f64],
}

impl<'a> Pairs<'a> {
    pub(crate) fn new(
        values: &'a [f64],
        stride: usize,
        rows: Range<usize>,
        other: &'a [f64],
    ) -> Self {
        Pairs { values, stride, start: rows.start, len: rows.len(), other }
    }

    /// Number of pairs.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there is no pair.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The point y.
    pub fn other(&self) -> &'a [f64] {
        self.other
    }

    /// One column of the points x_i.
    pub fn column(&self, column: usize) -> &'a [f64] {
        &self.values[column * self.stride + self.start..][..self.len]
    }

    /// The same pairs, compared by the first `columns` columns only.
    pub fn first(self, columns: usize) -> Self {
        Pairs { other: &self.other[..columns], ..self }
    }

    /// out_i = Σ_k (x_ik - y_k)².
    pub fn squared_distances(self, out: &mut [f64]) {
        squared_distances(self, out);
    }

    /// out_i = Σ_k x_ik y_k.
    pub fn inner_products(self, out: &mut [f64]) {
        inner_products(self, out);
    }

    /// sums_k += Σ_i a_i b_i (x_ik - y_k)².
    pub fn add_weighted_squares(self, a: &[f64], b: &[f64], sums: &mut [f64]) {
        add_weighted_squares(self, a, b, sums);
    }

    /// sums_k += Σ_i a_i x_ik y_k.
    pub fn add_weighted_products(self, a: &[f64], sums: &mut [f64]) {
        add_weighted_products(self, a, sums);
    }

    /// out_i = Σ_k u_ik², u_ik = scale_k sin(α_ik - β_k). The points hold K columns of sin α_k, then
    /// K of cos α_k; y holds the same of β.
    pub fn squared_sines(self, scales: &[f64], out: &mut [f64]) {
        squared_sines(self, scales, out);
    }

    /// For points as in [`Pairs::squared_sines`] that also hold K columns of the angles α_k:
    /// sums_k += Σ_i a_i b_i u_ik² and sums_(K+k) += Σ_i a_i b_i u_ik v_ik (α_ik - β_k) with
    /// v_ik = scale_k cos(α_ik - β_k).
    pub fn add_weighted_sines(self, a: &[f64], b: &[f64], scales: &[f64], sums: &mut [f64]) {
        add_weighted_sines(self, a, b, scales, sums);
    }

    /// The sums whose partial sums are given.
    pub fn totals(sums: &[f64], totals: &mut [f64]) {
        crate::panel::totals::<f64, LANES>(sums, totals);
    }

    /// `B` neighbouring vectors of one column.
    #[inline(always)]
    fn lanes<const B: usize>(&self, column: usize, pair: usize) -> [Lanes; B] {
        load(self.values, column * self.stride + self.start + pair)
    }

    /// One column as vectors.
    #[inline(always)]
    fn blocks(&self, column: usize) -> &'a [Lanes] {
        &self.column(column).as_chunks::<LANES>().0[..self.len / LANES]
    }

    /// out_i = the fold of step(x_ik, y_k, sum) over the columns.
    #[inline(always)]
    fn fold(self, out: &mut [f64], step: impl Fn(Lanes, f64, Lanes) -> Lanes) {
        assert_eq!(out.len(), self.len, "one number per pair");
        let mut pair = 0;
        while pair + 4 * LANES <= self.len {
            self.fold_block::<4>(out, pair, &step);
            pair += 4 * LANES;
        }
        while pair < self.len {
            self.fold_block::<1>(out, pair, &step);
            pair += LANES;
        }
    }

    #[inline(always)]
    fn fold_block<const B: usize>(
        self,
        out: &mut [f64],
        pair: usize,
        step: &impl Fn(Lanes, f64, Lanes) -> Lanes,
    ) {
        let mut sums = [[0.0; LANES]; B];
        for (column, y) in self.other.iter().enumerate() {
            let x: [Lanes; B] = self.lanes(column, pair);
            for b in 0..B {
                sums[b] = step(x[b], *y, sums[b]);
            }
        }
        store(out, pair, sums);
    }

    /// sums_k += Σ_i step(weight_i, x_ik, y_k).
    #[inline(always)]
    fn accumulate(
        self,
        weights: impl Fn(usize) -> Lanes,
        sums: &mut [f64],
        step: impl Fn(Lanes, Lanes, f64, Lanes) -> Lanes,
    ) {
        let columns = self.other.len();
        let mut column = 0;
        while column + 8 <= columns {
            self.accumulate_columns::<8>(column, &weights, sums, &step);
            column += 8;
        }
        while column + 4 <= columns {
            self.accumulate_columns::<4>(column, &weights, sums, &step);
            column += 4;
        }
        while column + 2 <= columns {
            self.accumulate_columns::<2>(column, &weights, sums, &step);
            column += 2;
        }
        if column < columns {
            self.accumulate_columns::<1>(column, &weights, sums, &step);
        }
    }

    #[inline(always)]
    fn accumulate_columns<const K: usize>(
        self,
        column: usize,
        weights: &impl Fn(usize) -> Lanes,
        sums: &mut [f64],
        step: &impl Fn(Lanes, Lanes, f64, Lanes) -> Lanes,
    ) {
        let mut totals: [Lanes; K] = load(sums, column * LANES);
        let mut x: [&[Lanes]; K] = [&[]; K];
        let mut y = [0.0; K];
        for k in 0..K {
            x[k] = self.blocks(column + k);
            y[k] = self.other[column + k];
        }
        for block in 0..self.len / LANES {
            let weight = weights(block);
            for k in 0..K {
                totals[k] = step(weight, x[k][block], y[k], totals[k]);
            }
        }
        store(sums, column * LANES, totals);
    }
}

/// A slice with one number per pair, as vectors.
#[inline(always)]
fn vectors<'a>(pairs: &Pairs<'_>, values: &'a [f64]) -> &'a [Lanes] {
    assert_eq!(values.len(), pairs.len, "one number per pair");
    &values.as_chunks::<LANES>().0[..pairs.len / LANES]
}

#[inline(always)]
fn product(a: Lanes, b: Lanes) -> Lanes {
    zip(a, b, |a, b| a * b)
}

#[multiversion(targets("x86_64+avx512f", "x86_64+avx2+fma"))]
fn squared_distances(pairs: Pairs<'_>, out: &mut [f64]) {
    pairs.fold(out, |x, y, sum| {
        let difference = map(x, |x| x - y);
        fma(difference, difference, sum)
    });
}

#[multiversion(targets("x86_64+avx512f", "x86_64+avx2+fma"))]
fn inner_products(pairs: Pairs<'_>, out: &mut [f64]) {
    pairs.fold(out, |x, y, sum| fma(x, [y; LANES], sum));
}

#[multiversion(targets("x86_64+avx512f", "x86_64+avx2+fma"))]
fn add_weighted_squares(pairs: Pairs<'_>, a: &[f64], b: &[f64], sums: &mut [f64]) {
    let (a, b) = (vectors(&pairs, a), vectors(&pairs, b));
    pairs.accumulate(
        |block| product(a[block], b[block]),
        sums,
        |weight, x, y, total| {
            let difference = map(x, |x| x - y);
            fma(product(weight, difference), difference, total)
        },
    );
}

#[multiversion(targets("x86_64+avx512f", "x86_64+avx2+fma"))]
fn add_weighted_products(pairs: Pairs<'_>, a: &[f64], sums: &mut [f64]) {
    let a = vectors(&pairs, a);
    pairs.accumulate(
        |block| a[block],
        sums,
        |weight, x, y, total| fma(product(weight, x), [y; LANES], total),
    );
}

// Products rounded one by one, so that the sine of a point with itself is 0 and that of (x, y) the
// negative of that of (y, x), to the last bit.
#[inline(always)]
fn sine(x: (Lanes, Lanes), y: (f64, f64), scale: f64) -> Lanes {
    zip(x.0, x.1, |sine, cosine| scale * (sine * y.1 - cosine * y.0))
}

#[multiversion(targets("x86_64+avx512f", "x86_64+avx2+fma"))]
fn squared_sines(pairs: Pairs<'_>, scales: &[f64], out: &mut [f64]) {
    assert_eq!(out.len(), pairs.len, "one number per pair");
    let inputs = scales.len();
    for (block, out) in out.as_chunks_mut::<LANES>().0.iter_mut().enumerate() {
        let mut sum = [0.0; LANES];
        for (k, scale) in scales.iter().enumerate() {
            let [x] = pairs.lanes(k, block * LANES);
            let [x_cosine] = pairs.lanes(inputs + k, block * LANES);
            let u = sine((x, x_cosine), (pairs.other[k], pairs.other[inputs + k]), *scale);
            sum = fma(u, u, sum);
        }
        *out = sum;
    }
}

#[multiversion(targets("x86_64+avx512f", "x86_64+avx2+fma"))]
fn add_weighted_sines(pairs: Pairs<'_>, a: &[f64], b: &[f64], scales: &[f64], sums: &mut [f64]) {
    let (a, b) = (vectors(&pairs, a), vectors(&pairs, b));
    let inputs = scales.len();
    for (k, scale) in scales.iter().enumerate() {
        let [mut square]: [Lanes; 1] = load(sums, k * LANES);
        let [mut slope]: [Lanes; 1] = load(sums, (inputs + k) * LANES);
        let columns = [k, inputs + k, 2 * inputs + k];
        let [x_sine, x_cosine, x_angle] = columns.map(|column| pairs.blocks(column));
        let [y_sine, y_cosine, y_angle] = columns.map(|column| pairs.other[column]);
        for block in 0..pairs.len / LANES {
            let weight = product(a[block], b[block]);
            let u = sine((x_sine[block], x_cosine[block]), (y_sine, y_cosine), *scale);
            let v = zip(x_sine[block], x_cosine[block], |sine, cosine| {
                scale * sine.mul_add(y_sine, cosine * y_cosine)
            });
            let angle = map(x_angle[block], |angle| angle - y_angle);
            let weighted = product(weight, u);
            square = fma(weighted, u, square);
            slope = fma(product(weighted, v), angle, slope);
        }
        store(sums, k * LANES, [square]);
        store(sums, (inputs + k) * LANES, [slope]);
    }
}

#[cfg(test)]
mod tests;
