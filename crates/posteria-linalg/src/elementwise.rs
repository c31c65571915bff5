//! Apply exp and tanh to every number of a slice, several at a time.

use crate::panel::map;
use crate::scalar::Scalar;

/// Horner's scheme.
#[inline(always)]
pub(crate) fn polynomial<T: Scalar>(coefficients: &[T], x: T) -> T {
    let mut sum = T::ZERO;
    let mut first = true;
    for &coefficient in coefficients.iter().rev() {
        sum = if first { coefficient } else { sum.mul_add(x, coefficient) };
        first = false;
    }
    sum
}

/// Numerator and denominator of tanh x. With 2x = (r + f) ln 2, r an integer, s = 2^r and
/// w = tanh(½ f ln 2), tanh x = ((s - 1) + w (s + 1)) / ((s + 1) + w (s - 1)), which loses no
/// digits near 0 and is odd to the last bit.
#[inline(always)]
pub(crate) fn tanh_ratio<T: Scalar>(x: T) -> (T, T) {
    // Comparisons in this direction keep NaN.
    let x = if x > T::TANH_LIMIT { T::TANH_LIMIT } else { x };
    let x = if x < -T::TANH_LIMIT { -T::TANH_LIMIT } else { x };
    let rounded = x.mul_add(T::TANH_SCALE, T::ROUND);
    let f = x.mul_add(T::TANH_SCALE, T::ROUND - rounded);
    let s = rounded.power();
    let w = f * polynomial(T::TANH, f * f);
    let (less, more) = (s - T::ONE, s + T::ONE);
    (w.mul_add(more, less), w.mul_add(less, more))
}

/// exp(-x) for x ≥ 0; stops falling where normal numbers end. The relative error grows as
/// x times the rounding unit, so that the absolute error is always below it.
#[inline(always)]
pub(crate) fn exp_negative<T: Scalar>(x: T) -> T {
    let x = if x > T::EXP_LIMIT { T::EXP_LIMIT } else { x };
    let rounded = x.mul_add(-T::EXP_SCALE, T::ROUND);
    let f = x.mul_add(-T::EXP_SCALE, T::ROUND - rounded);
    let s = rounded.power();
    s.mul_add(f * polynomial(T::EXP, f), s)
}

#[inline(always)]
fn exp_one<T: Scalar>(x: T) -> T {
    let (lowest, highest) = T::EXP_RANGE;
    let bounded = if x < lowest { lowest } else { x };
    let bounded = if bounded > highest { highest } else { bounded };
    let rounded = bounded.mul_add(T::EXP_SCALE, T::ROUND);
    let r = rounded - T::ROUND;
    let rest = r.mul_add(-T::LN_2.1, r.mul_add(-T::LN_2.0, bounded));
    let f = rest * T::EXP_SCALE;
    // Two factors, so that results next to overflow and among subnormal numbers are right.
    let (low, high) = rounded.half_powers();
    low.mul_add(f * polynomial(T::EXP, f), low) * high
}

/// Maps blocks of lanes, the last one padded with zeros.
#[inline(always)]
pub(crate) fn map_all<T: Scalar, const N: usize>(values: &mut [T], f: impl Fn(T) -> T) {
    let (blocks, rest) = values.as_chunks_mut::<N>();
    for block in blocks {
        *block = map(*block, &f);
    }
    if !rest.is_empty() {
        let mut lanes = [T::ZERO; N];
        lanes[..rest.len()].copy_from_slice(rest);
        rest.copy_from_slice(&map(lanes, f)[..rest.len()]);
    }
}

#[inline(always)]
pub(crate) fn exp<T: Scalar, const N: usize>(values: &mut [T]) {
    map_all::<T, N>(values, exp_one);
}

#[inline(always)]
pub(crate) fn tanh<T: Scalar, const N: usize>(values: &mut [T]) {
    map_all::<T, N>(values, |x| {
        let (numerator, denominator) = tanh_ratio(x);
        numerator / denominator
    });
}

/// tanh of two blocks of lanes with one division: a/b and c/d from 1/(bd).
#[inline(always)]
pub(crate) fn tanh_two<T: Scalar, const N: usize>(left: &mut [T; N], right: &mut [T; N]) {
    let (mut a, mut b) = (*left, *right);
    for lane in 0..N {
        let (a_numerator, a_denominator) = tanh_ratio(a[lane]);
        let (b_numerator, b_denominator) = tanh_ratio(b[lane]);
        let inverse = T::ONE / (a_denominator * b_denominator);
        a[lane] = a_numerator * (inverse * b_denominator);
        b[lane] = b_numerator * (inverse * a_denominator);
    }
    (*left, *right) = (a, b);
}

/// The same of four blocks. The product of four denominators is below e^164 (single precision:
/// e^77), far from overflow.
#[inline(always)]
pub(crate) fn tanh_four<T: Scalar, const N: usize>(
    first: &mut [T; N],
    second: &mut [T; N],
    third: &mut [T; N],
    fourth: &mut [T; N],
) {
    let (mut a, mut b, mut c, mut d) = (*first, *second, *third, *fourth);
    for lane in 0..N {
        let (a_numerator, a_denominator) = tanh_ratio(a[lane]);
        let (b_numerator, b_denominator) = tanh_ratio(b[lane]);
        let (c_numerator, c_denominator) = tanh_ratio(c[lane]);
        let (d_numerator, d_denominator) = tanh_ratio(d[lane]);
        let (left, right) = (a_denominator * b_denominator, c_denominator * d_denominator);
        let inverse = T::ONE / (left * right);
        let (left, right) = (inverse * right, inverse * left);
        a[lane] = a_numerator * (left * b_denominator);
        b[lane] = b_numerator * (left * a_denominator);
        c[lane] = c_numerator * (right * d_denominator);
        d[lane] = d_numerator * (right * c_denominator);
    }
    (*first, *second, *third, *fourth) = (a, b, c, d);
}
