//! Sum up residuals of a linear model and what the spread of its weights adds, rows in lanes.
#![allow(
    clippy::needless_range_loop,
    reason = "lanes and blocks are addressed by the same index on both sides"
)]

use multiversion::multiversion;

use crate::panel::{fma, map, sum_lanes, zip};

const LANES: usize = 8;

/// outputs_j = weights ∘ panel_j for every column of the panel, a multiple of 8 rows.
#[multiversion(targets("x86_64+avx512f", "x86_64+avx2+fma"))]
pub fn scale_rows(panel: &[f64], weights: &[f64], outputs: &mut [f64]) {
    let rows = weights.len();
    if rows == 0 {
        return;
    }
    let weights = weights.as_chunks::<LANES>().0;
    for (column, output) in panel.chunks_exact(rows).zip(outputs.chunks_exact_mut(rows)) {
        let (column, output) = (column.as_chunks::<LANES>().0, output.as_chunks_mut::<LANES>().0);
        for ((output, value), weight) in output.iter_mut().zip(column).zip(weights) {
            *output = zip(*value, *weight, |value, weight| value * weight);
        }
    }
}

/// Rows with fits f, targets y and precisions p, a multiple of 8 of them.
#[derive(Clone, Copy, Debug)]
pub struct Residuals<'a> {
    /// Fits f.
    pub fits: &'a [f64],
    /// Targets y.
    pub targets: &'a [f64],
    /// Precisions p.
    pub precisions: &'a [f64],
}

impl<'a> Residuals<'a> {
    /// Σ p (y - f)².
    pub fn squares(&self) -> f64 {
        squares(*self)
    }

    /// Where fits are f = φᵀm and weights vary about m with covariance S: `squares` becomes
    /// p (r² + φᵀSφ) with r = y - f, and column j of `slopes`, as many as there are, becomes
    /// p (r m_j - (Sφ)_j) (1 - φ_j²), the derivative by x if φ_j = tanh x. `design` holds columns
    /// φ_j, `spread` columns (Sφ)_j. Returns Σ p r².
    ///
    /// # Panics
    /// If lengths do not fit together.
    pub fn expect(
        &self,
        (design, spread): (&[f64], &[f64]),
        mean: &[f64],
        squares: &mut [f64],
        slopes: &mut [f64],
    ) -> f64 {
        expect(*self, (design, spread), mean, (squares, slopes))
    }

    #[inline(always)]
    fn blocks(self) -> impl Iterator<Item = ([f64; LANES], [f64; LANES], [f64; LANES])> + 'a {
        let fits = self.fits.as_chunks::<LANES>().0;
        let targets = self.targets.as_chunks::<LANES>().0;
        let precisions = self.precisions.as_chunks::<LANES>().0;
        fits.iter().zip(targets).zip(precisions).map(|((fit, target), precision)| {
            let residual = zip(*target, *fit, |y, f| y - f);
            (residual, *precision, zip(*precision, residual, |p, r| p * r))
        })
    }
}

#[multiversion(targets("x86_64+avx512f", "x86_64+avx2+fma"))]
fn squares(residuals: Residuals<'_>) -> f64 {
    let mut sums = [0.0; LANES];
    for (residual, _, weighted) in residuals.blocks() {
        sums = fma(weighted, residual, sums);
    }
    total(&sums)
}

#[multiversion(targets("x86_64+avx512f", "x86_64+avx2+fma"))]
fn expect(
    residuals: Residuals<'_>,
    (design, spread): (&[f64], &[f64]),
    mean: &[f64],
    (squares, slopes): (&mut [f64], &mut [f64]),
) -> f64 {
    let stride = residuals.fits.len() / LANES;
    let (design, spread) = (design.as_chunks::<LANES>().0, spread.as_chunks::<LANES>().0);
    let (squares, slopes) = (squares.as_chunks_mut::<LANES>().0, slopes.as_chunks_mut::<LANES>().0);
    let columns = design.len().checked_div(stride).unwrap_or(0);
    let moved = slopes.len().checked_div(stride).unwrap_or(0);
    let mut sums = [0.0; LANES];
    for (block, (residual, precision, weighted)) in residuals.blocks().enumerate() {
        let mut quadratic = zip(residual, residual, |a, b| a * b);
        let negative = map(precision, |p| -p);
        for column in 0..moved {
            let at = column * stride + block;
            let (value, spread) = (design[at], spread[at]);
            quadratic = fma(value, spread, quadratic);
            let pull = zip(weighted, [mean[column]; LANES], |w, m| w * m);
            let slope = fma(negative, spread, pull);
            let derivative = fma(map(value, |value| -value), value, [1.0; LANES]);
            slopes[at] = zip(slope, derivative, |slope, derivative| slope * derivative);
        }
        for column in moved..columns {
            let at = column * stride + block;
            quadratic = fma(design[at], spread[at], quadratic);
        }
        squares[block] = zip(precision, quadratic, |p, q| p * q);
        sums = fma(weighted, residual, sums);
    }
    total(&sums)
}

// Not inlined: how lanes are combined here must not decide how they are kept in the loops.
#[inline(never)]
fn total(lanes: &[f64; LANES]) -> f64 {
    sum_lanes(*lanes)
}
