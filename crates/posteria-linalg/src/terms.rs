//! Turn outputs into the log likelihood of their targets and its slopes, row by row in lanes.

use crate::elementwise::exp_negative;
use crate::log_product::LogProduct;
use crate::panel::{fma, map, sum_lanes, zip};
use crate::scalar::Scalar;

/// Running sums and products of log likelihood terms, one per lane.
#[derive(Clone, Copy)]
struct Tally<T, const N: usize> {
    sum: [T; N],
    /// The products are these times 2^exponent altogether.
    product: [T; N],
    exponent: i64,
}

impl<T: Scalar, const N: usize> Tally<T, N> {
    #[inline(always)]
    fn new() -> Self {
        Tally { sum: [T::ZERO; N], product: [T::ONE; N], exponent: 0 }
    }

    /// Multiplies the products by factors that are at least 1. A factor that is not finite goes
    /// into the sum, where it stays.
    #[inline(always)]
    fn multiply(self, factors: [T; N]) -> Self {
        if !T::CARRIES_VALUES {
            return self;
        }
        let product = zip(self.product, factors, |product, factor| product * factor);
        let mut fits = true;
        for product in product {
            fits &= product < T::LARGE;
        }
        if fits { Tally { product, ..self } } else { self.carry(factors) }
    }

    /// Multiplies after powers of two have gone into the exponent, which rounds nothing.
    #[cold]
    #[inline(never)]
    fn carry(mut self, factors: [T; N]) -> Self {
        for (product, factor) in self.product.iter_mut().zip(factors) {
            let (mantissa, exponent) = product.split();
            let (mantissa, carry) = (mantissa * factor).split();
            *product = mantissa;
            self.exponent = self.exponent.wrapping_add(exponent).wrapping_add(carry);
        }
        self.sum = fma(factors, [T::ZERO; N], self.sum);
        self
    }

    // Not inlined: how lanes are combined here must not decide how they are kept in the loops.
    #[inline(never)]
    fn finish(self) -> Terms {
        let mut product = LogProduct::default();
        product.multiply(1.0, self.exponent);
        for lane in self.product {
            let (mantissa, exponent) = lane.split();
            product.multiply(mantissa.to_f64(), exponent);
        }
        Terms { product, ..self.finish_sum() }
    }

    /// The sums alone.
    #[inline(never)]
    fn finish_sum(&self) -> Terms {
        Terms { sum: sum_lanes(self.sum).to_f64(), product: LogProduct::default() }
    }
}

/// A sum of log likelihood terms: the sum of what is added as it is, and a product whose
/// logarithm is to be added with a factor that depends on the kind of terms.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Terms {
    /// Sum of terms.
    pub sum: f64,
    /// Product of numbers at least 1.
    pub product: LogProduct,
}

impl Terms {
    /// Adds the terms of further rows.
    pub fn add(&mut self, other: Terms) {
        self.sum += other.sum;
        self.product.multiply(other.product.mantissa, other.product.exponent);
    }
}

/// Sum: Σ p (y - f)². Slopes: p (y - f).
#[inline(always)]
pub(crate) fn squares<T: Scalar, const N: usize>(
    outputs: &mut [T],
    targets: &[T],
    precisions: &[T],
) -> Terms {
    let mut tally = Tally::<T, N>::new();
    let (targets, precisions) = (targets.as_chunks::<N>().0, precisions.as_chunks::<N>().0);
    let outputs = outputs.as_chunks_mut::<N>().0;
    for ((output, target), precision) in outputs.iter_mut().zip(targets).zip(precisions) {
        let residual = zip(*target, *output, |y, f| y - f);
        // In this order a precision of 0 takes out even a residual whose square overflows.
        let slope = zip(*precision, residual, |p, r| p * r);
        tally.sum = fma(slope, residual, tally.sum);
        *output = slope;
    }
    tally.finish_sum()
}

/// Product: Π (1 + z²/ν) with z = (y - f)/σ. Slopes: (ν + 1) z / (σ (ν + z²)).
#[inline(always)]
pub(crate) fn student_t<T: Scalar, const N: usize>(
    outputs: &mut [T],
    targets: &[T],
    inverse_scales: &[T],
    dof: T,
) -> Terms {
    let mut tally = Tally::<T, N>::new();
    let (inverse, more) = (T::ONE / dof, dof + T::ONE);
    if T::CARRIES_VALUES {
        let (targets, scales) = (targets.as_chunks::<N>().0, inverse_scales.as_chunks::<N>().0);
        let outputs = outputs.as_chunks::<N>().0;
        for ((output, target), scale) in outputs.iter().zip(targets).zip(scales) {
            let residual = zip(*target, *output, |y, f| y - f);
            let z = zip(residual, *scale, |r, s| r * s);
            tally = tally.multiply(map(z, |z| z.mul_add(z, dof) * inverse));
        }
    }
    for ((output, target), scale) in outputs.iter_mut().zip(targets).zip(inverse_scales) {
        let z = (*target - *output) * *scale;
        *output = more * *scale * z / z.mul_add(z, dof);
    }
    tally.finish()
}

/// Sum: Σ |y - f|/s. Slopes: sign(y - f)/s, 0 at y = f.
#[inline(always)]
pub(crate) fn absolute<T: Scalar, const N: usize>(
    outputs: &mut [T],
    targets: &[T],
    inverse_scales: &[T],
) -> Terms {
    let mut tally = Tally::<T, N>::new();
    let (targets, scales) = (targets.as_chunks::<N>().0, inverse_scales.as_chunks::<N>().0);
    let outputs = outputs.as_chunks_mut::<N>().0;
    for ((output, target), scale) in outputs.iter_mut().zip(targets).zip(scales) {
        let residual = zip(*target, *output, |y, f| y - f);
        let z = zip(residual, *scale, |r, s| r * s);
        // z itself is 0 where there is no slope, and NaN for NaN.
        *output = zip(z, *scale, |z, s| if z.abs() > T::ZERO { s.copysign(z) } else { z });
        tally.sum = zip(tally.sum, z, |sum, z| sum + z.abs());
    }
    tally.finish_sum()
}

/// Sum: Σ max(0, -s f); product: Π (1 + exp(-|s f|)). Slopes: s / (1 + exp(s f)). A sign of 0
/// takes the row out.
#[inline(always)]
pub(crate) fn logistic<T: Scalar, const N: usize>(outputs: &mut [T], signs: &[T]) -> Terms {
    let mut tally = Tally::<T, N>::new();
    let (outputs, signs) = (outputs.as_chunks_mut::<N>().0, signs.as_chunks::<N>().0);
    for (output, sign) in outputs.iter_mut().zip(signs) {
        let (mut slope, mut factor, mut excess) = ([T::ZERO; N], [T::ZERO; N], [T::ZERO; N]);
        for lane in 0..N {
            let margin = sign[lane] * output[lane];
            let small = exp_negative(margin.abs());
            let wrong = if margin < T::ZERO { T::ONE } else { small };
            slope[lane] = sign[lane] * wrong / (T::ONE + small);
            factor[lane] = small.mul_add(sign[lane].abs(), T::ONE);
            excess[lane] = if margin < T::ZERO { -margin } else { T::ZERO };
        }
        *output = slope;
        tally.sum = zip(tally.sum, excess, |sum, excess| sum + excess);
        tally = tally.multiply(factor);
    }
    tally.finish()
}

/// Sum: Σ_i f_max - f_c, product: Π_i Σ_o exp(f_o - f_max), for the class c of every row as a
/// number; a negative class takes the row out. Slopes: [o = c] - exp f_o / Σ exp f.
#[inline(always)]
pub(crate) fn softmax<T: Scalar, const N: usize>(outputs: &mut [T], classes: &[T]) -> Terms {
    let mut tally = Tally::<T, N>::new();
    let rows = classes.len();
    let columns = outputs.len().checked_div(rows).unwrap_or(0);
    let outputs = outputs.as_chunks_mut::<N>().0;
    let stride = rows / N;
    for (block, class) in classes.as_chunks::<N>().0.iter().enumerate() {
        let mut top = outputs[block];
        for column in 1..columns {
            let output = outputs[column * stride + block];
            top = zip(top, output, |top, f| if f > top { f } else { top });
        }
        for column in 0..columns {
            let below = zip(top, outputs[column * stride + block], |top, f| top - f);
            tally.sum = fma(is_own(*class, column), below, tally.sum);
            outputs[column * stride + block] = below;
        }
    }
    // Flat, so that the loop is made of whole vectors.
    for below in outputs.as_flattened_mut() {
        *below = exp_negative(*below);
    }
    for (block, class) in classes.as_chunks::<N>().0.iter().enumerate() {
        let mut sum = [T::ZERO; N];
        for column in 0..columns {
            sum = zip(sum, outputs[column * stride + block], |sum, power| sum + power);
        }
        let used = map(*class, |class| if class >= T::ZERO { T::ONE } else { T::ZERO });
        let inverse = zip(used, sum, |used, sum| used / sum);
        tally =
            tally.multiply(zip(used, sum, |used, sum| if used > T::ZERO { sum } else { T::ONE }));
        for column in 0..columns {
            let power = map(outputs[column * stride + block], |power| -power);
            outputs[column * stride + block] = fma(power, inverse, is_own(*class, column));
        }
    }
    tally.finish()
}

/// 1 in the lanes whose class is `column`, 0 in others.
#[inline(always)]
fn is_own<T: Scalar, const N: usize>(class: [T; N], column: usize) -> [T; N] {
    let number = T::from_f64(column as f64);
    map(class, |class| if class == number { T::ONE } else { T::ZERO })
}
