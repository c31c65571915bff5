//! Compare points by the angle between them, for the covariance of a wide network.

use multiversion::multiversion;

use super::{LANES, Lanes, Pairs, vectors};
use crate::panel::zip;

impl Pairs<'_> {
    /// out_i = 2 s_i / √((1 + 2|x_i|²)(1 + 2|y|²)), s_i = Σ_k x_ik y_k. The last column and the
    /// last number of y hold |x_i|² and |y|².
    pub fn arcsine_arguments(self, out: &mut [f64]) {
        let columns = self.other.len() - 1;
        self.first(columns).inner_products(out);
        arguments(self.column(columns), self.other[columns], out);
    }

    /// As [`Pairs::arcsine_arguments`], with inner products s_i and slopes 1/√Δ_i,
    /// Δ_i = (1 + 2|x_i|²)(1 + 2|y|²) - 4 s_i², which is never below 1.
    pub fn arcsine_arguments_with_slopes(
        self,
        out: &mut [f64],
        slopes: &mut [f64],
        inner: &mut [f64],
    ) {
        let columns = self.other.len() - 1;
        self.first(columns).inner_products(inner);
        slopes_of(self.column(columns), self.other[columns], inner, slopes);
        out.copy_from_slice(inner);
        arguments(self.column(columns), self.other[columns], out);
    }

    /// sums_k += Σ_i a_i b_i (x_ik y_k - s_i x_ik²/(1 + 2|x_i|²) - s_i y_k²/(1 + 2|y|²)), for
    /// points and inner products s_i as in [`Pairs::arcsine_arguments_with_slopes`].
    pub fn add_weighted_arcsines(self, a: &[f64], b: &[f64], inner: &[f64], sums: &mut [f64]) {
        add_weighted_arcsines(self, a, b, inner, sums);
    }
}

#[multiversion(targets("x86_64+avx512f", "x86_64+avx2+fma"))]
fn arguments(norms: &[f64], norm: f64, out: &mut [f64]) {
    let root = (1.0 + 2.0 * norm).sqrt();
    for (out, other) in out.iter_mut().zip(norms) {
        // Products commute: the two orders of a pair give the same bits.
        *out = 2.0 * *out / ((1.0 + 2.0 * other).sqrt() * root);
    }
}

#[multiversion(targets("x86_64+avx512f", "x86_64+avx2+fma"))]
fn slopes_of(norms: &[f64], norm: f64, inner: &[f64], slopes: &mut [f64]) {
    for ((slope, other), inner) in slopes.iter_mut().zip(norms).zip(inner) {
        // By Schwarz's inequality only rounding can make the last difference negative.
        let sines = other * norm - inner * inner;
        let sines = if sines > 0.0 { sines } else { 0.0 };
        *slope = 1.0 / (1.0 + 2.0 * (other + norm) + 4.0 * sines).sqrt();
    }
}

#[multiversion(targets("x86_64+avx512f", "x86_64+avx2+fma"))]
fn add_weighted_arcsines(pairs: Pairs<'_>, a: &[f64], b: &[f64], inner: &[f64], sums: &mut [f64]) {
    let columns = pairs.other.len() - 1;
    let share = 1.0 / (1.0 + 2.0 * pairs.other[columns]);
    let (a, b) = (vectors(&pairs, a), vectors(&pairs, b));
    let (inner, norms) = (vectors(&pairs, inner), pairs.blocks(columns));
    let sums = &mut sums.as_chunks_mut::<LANES>().0[..columns];
    for block in 0..pairs.len / LANES {
        let weight: Lanes = zip(a[block], b[block], |a, b| a * b);
        let with_inner = zip(weight, inner[block], |weight, inner| weight * inner);
        let with_square = zip(with_inner, norms[block], |w, norm| w / (1.0 + 2.0 * norm));
        for (column, sums) in sums.iter_mut().enumerate() {
            let [x] = pairs.lanes(column, block * LANES);
            let y = pairs.other[column];
            for lane in 0..LANES {
                let product = weight[lane].mul_add(y, -with_square[lane] * x[lane]);
                sums[lane] += product.mul_add(x[lane], -with_inner[lane] * (y * y * share));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Points;
    use crate::matrix::tests::random;

    #[test]
    fn arguments_slopes_and_sums_are_the_formulas() {
        for columns in [1, 2, 5, 9] {
            let values = random(40, columns, 3);
            let mut points = Points::new(40, columns + 1);
            let norm = |row: usize| (0..columns).map(|k| values[(row, k)].powi(2)).sum::<f64>();
            for k in 0..columns {
                points.column_mut(k).copy_from_slice(values.column(k));
            }
            for (row, out) in points.column_mut(columns).iter_mut().enumerate() {
                *out = norm(row);
            }
            let mut y = vec![0.0; columns + 1];
            points.read_row(11, &mut y);
            let pairs = points.pairs(0..40, &y);
            let mut out = vec![[f64::NAN; 40]; 3];
            let mut alone = [f64::NAN; 40];
            pairs.arcsine_arguments(&mut alone);
            let [arguments, slopes, inner] = &mut out[..] else { unreachable!("three") };
            pairs.arcsine_arguments_with_slopes(arguments, slopes, inner);
            let [a, b] = [5, 6].map(|seed| random(40, 1, seed));
            let mut sums = vec![0.0; columns * LANES];
            pairs.add_weighted_arcsines(a.values(), b.values(), inner, &mut sums);
            let mut totals = vec![f64::NAN; columns];
            Pairs::totals(&sums, &mut totals);
            let s = |row: usize| -> f64 { (0..columns).map(|k| values[(row, k)] * y[k]).sum() };
            let (d, other) = (|row: usize| 1.0 + 2.0 * norm(row), 1.0 + 2.0 * y[columns]);
            for row in 0..40 {
                assert!((alone[row] - 2.0 * s(row) / (d(row) * other).sqrt()).abs() < 1e-14);
                assert_eq!(alone[row].to_bits(), arguments[row].to_bits());
                let expected = 1.0 / (d(row) * other - 4.0 * s(row).powi(2)).sqrt();
                assert!((slopes[row] - expected).abs() < 1e-13);
            }
            for (k, total) in totals.iter().enumerate() {
                let expected = (0..40).map(|row| {
                    let x = values[(row, k)];
                    let lost = s(row) * (x * x / d(row) + y[k] * y[k] / other);
                    a.values()[row] * b.values()[row] * (x * y[k] - lost)
                });
                assert!((total - expected.sum::<f64>()).abs() < 1e-13);
            }
        }
    }
}
