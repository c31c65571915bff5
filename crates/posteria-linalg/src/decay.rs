//! Turn squared distances into correlations that decay with them, several at a time.
//!
//! Slopes are what derivatives by logarithms of relevances are made of. Slices must hold full
//! vectors of 8 numbers; absolute errors are a few rounding units of 1.

use multiversion::multiversion;

use crate::elementwise::{exp_negative, polynomial};

const LANES: usize = 8;
type Lanes = [f64; LANES];

/// Maps vectors of a slice.
#[inline(always)]
fn map_all(values: &mut [f64], f: impl Fn(f64) -> f64) {
    // Four vectors at a time: none waits for its own last operation.
    let (blocks, rest) = values.as_chunks_mut::<{ 4 * LANES }>();
    for block in blocks {
        *block = crate::panel::map(*block, &f);
    }
    let (blocks, rest) = rest.as_chunks_mut::<LANES>();
    assert!(rest.is_empty(), "full vectors");
    for block in blocks {
        *block = crate::panel::map(*block, &f);
    }
}

/// Maps vectors of a slice, and writes second results beside them.
#[inline(always)]
fn map_both(values: &mut [f64], seconds: &mut [f64], f: impl Fn(f64) -> (f64, f64)) {
    assert_eq!(values.len(), seconds.len(), "as many slopes as values");
    let (blocks, rest) = values.as_chunks_mut::<LANES>();
    assert!(rest.is_empty(), "full vectors");
    for (block, second) in blocks.iter_mut().zip(seconds.as_chunks_mut::<LANES>().0) {
        let (mut a, mut b): (Lanes, Lanes) = (*block, [0.0; LANES]);
        for lane in 0..LANES {
            (a[lane], b[lane]) = f(a[lane]);
        }
        (*block, *second) = (a, b);
    }
}

/// r² → exp(-r²).
#[multiversion(targets("x86_64+avx512f", "x86_64+avx2+fma"))]
pub fn squared_exponential(values: &mut [f64]) {
    map_all(values, exp_negative);
}

#[inline(always)]
fn exponential_one(square: f64) -> (f64, f64) {
    let distance = square.sqrt();
    let value = exp_negative(distance);
    // The derivative by a log relevance, -slope (ρ_k (x_k - x'_k))², tends to 0 with the distance.
    (value, if square > 0.0 { value / distance } else { 0.0 })
}

/// r² → exp(-r).
#[multiversion(targets("x86_64+avx512f", "x86_64+avx2+fma"))]
pub fn exponential(values: &mut [f64]) {
    map_all(values, |square| exp_negative(square.sqrt()));
}

/// As [`exponential`], with slopes exp(-r)/r, 0 at r = 0.
#[multiversion(targets("x86_64+avx512f", "x86_64+avx2+fma"))]
pub fn exponential_with_slopes(values: &mut [f64], slopes: &mut [f64]) {
    map_both(values, slopes, exponential_one);
}

#[inline(always)]
fn matern_3_2_one(square: f64) -> (f64, f64) {
    let distance = (3.0 * square).sqrt();
    let slope = exp_negative(distance);
    (slope.mul_add(distance, slope), slope)
}

/// r² → (1 + a) exp(-a), a = √3 r.
#[multiversion(targets("x86_64+avx512f", "x86_64+avx2+fma"))]
pub fn matern_3_2(values: &mut [f64]) {
    map_all(values, |square| matern_3_2_one(square).0);
}

/// As [`matern_3_2`], with slopes exp(-a).
#[multiversion(targets("x86_64+avx512f", "x86_64+avx2+fma"))]
pub fn matern_3_2_with_slopes(values: &mut [f64], slopes: &mut [f64]) {
    map_both(values, slopes, matern_3_2_one);
}

#[inline(always)]
fn matern_5_2_one(square: f64) -> (f64, f64) {
    let third = square * (5.0 / 3.0);
    let distance = (5.0 * square).sqrt();
    let decay = exp_negative(distance);
    (((1.0 + distance) + third) * decay, (1.0 + distance) * decay)
}

/// r² → (1 + a + a²/3) exp(-a), a = √5 r.
#[multiversion(targets("x86_64+avx512f", "x86_64+avx2+fma"))]
pub fn matern_5_2(values: &mut [f64]) {
    map_all(values, |square| matern_5_2_one(square).0);
}

/// As [`matern_5_2`], with slopes (1 + a) exp(-a).
#[multiversion(targets("x86_64+avx512f", "x86_64+avx2+fma"))]
pub fn matern_5_2_with_slopes(values: &mut [f64], slopes: &mut [f64]) {
    map_both(values, slopes, matern_5_2_one);
}

/// log(1 + x) for x ≥ 0, right to 3 units of the last place.
#[inline(always)]
fn log_1p(x: f64) -> f64 {
    // Minimax polynomial of (2 artanh(s)/s - 2)/s² in s² for |s| ≤ (√2 - 1)/(√2 + 1), by Remez
    // exchange in 50 digits.
    const ARTANH: &[f64] = &[
        0.666_666_666_666_667,
        0.399_999_999_998_985_06,
        0.285_714_286_263_723_7,
        0.222_222_110_771_319_45,
        0.181_828_929_085_119_72,
        0.153_316_072_526_483_38,
        0.146_177_453_691_201_22,
    ];
    const FRACTION: u64 = (1 << 52) - 1;
    const TWO_52: f64 = (1u64 << 52) as f64;
    let sum = 1.0 + x;
    // What rounding took from the sum, relative to it.
    let lost = (x - (sum - 1.0)) / sum;
    // sum = 2^e m with m in [√½, √2): the bits of √½ are taken off before the exponent is read.
    let shifted = sum.to_bits().wrapping_sub(std::f64::consts::FRAC_1_SQRT_2.to_bits());
    // Not negative, so that it can be put into the last places of 2^52.
    let exponent = f64::from_bits((shifted >> 52) | TWO_52.to_bits()) - TWO_52;
    let mantissa = f64::from_bits(
        (shifted & FRACTION).wrapping_add(std::f64::consts::FRAC_1_SQRT_2.to_bits()),
    );
    let f = mantissa - 1.0;
    let s = f / (2.0 + f);
    let square = s * s;
    let log = s.mul_add(2.0, s * square * polynomial(ARTANH, square));
    exponent.mul_add(std::f64::consts::LN_2, log + lost)
}

/// r² → (1 + r²/α)^(-α).
#[multiversion(targets("x86_64+avx512f", "x86_64+avx2+fma"))]
pub fn rational_quadratic(values: &mut [f64], shape: f64) {
    let inverse = 1.0 / shape;
    map_all(values, |square| exp_negative(shape * log_1p(square * inverse)));
}

/// As [`rational_quadratic`], with slopes k/(1 + q) and derivatives by log α,
/// α k (q/(1 + q) - log(1 + q)), q = r²/α.
#[multiversion(targets("x86_64+avx512f", "x86_64+avx2+fma"))]
pub fn rational_quadratic_with_slopes(
    values: &mut [f64],
    shape: f64,
    slopes: &mut [f64],
    shape_slopes: &mut [f64],
) {
    let inverse = 1.0 / shape;
    shape_slopes.copy_from_slice(values);
    map_both(shape_slopes, slopes, |square| {
        let q = square * inverse;
        let log = log_1p(q);
        let value = exp_negative(shape * log);
        let shrunk = 1.0 / (1.0 + q);
        (shape * value * q.mul_add(shrunk, -log), value * shrunk)
    });
    for (value, slope) in values.iter_mut().zip(slopes) {
        *value = *slope * value.mul_add(inverse, 1.0);
    }
}

/// asin x for |x| ≤ 1; absolute error below 3e-16. What rounding put beyond 1 counts as 1.
#[inline(always)]
fn arcsine_one(x: f64) -> f64 {
    // Minimax polynomial of (asin(x)/x - 1)/x² in x² for |x| ≤ ½, by Remez exchange in 50 digits.
    const ARCSINE: &[f64] = &[
        0.166_666_666_666_666_69,
        0.074_999_999_999_982_41,
        0.044_642_857_146_723_19,
        0.030_381_944_110_974_397,
        0.022_372_174_008_364_273,
        0.017_352_368_391_788_893,
        0.013_971_564_763_646_277,
        0.011_475_829_978_809_408,
        0.010_344_056_988_540_158,
        0.005_368_488_081_014_261,
        0.017_637_401_928_071_592,
        -0.015_212_845_309_783_547,
        0.028_998_823_109_212_903,
    ];
    let size = if x.abs() > 1.0 { 1.0 } else { x.abs() };
    let far = size > 0.5;
    // Beyond ½: asin x = π/2 - 2 asin √((1 - x)/2).
    let square = if far { 0.5 * (1.0 - size) } else { size * size };
    let near = if far { square.sqrt() } else { size };
    let arcsine = (near * square).mul_add(polynomial(ARCSINE, square), near);
    let angle = if far { std::f64::consts::FRAC_PI_2 - 2.0 * arcsine } else { arcsine };
    angle.copysign(x)
}

/// x → (2/π) asin x for |x| ≤ 1.
#[multiversion(targets("x86_64+avx512f", "x86_64+avx2+fma"))]
pub fn arcsine(values: &mut [f64]) {
    map_all(values, |x| std::f64::consts::FRAC_2_PI * arcsine_one(x));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers() -> Vec<f64> {
        (-1280..320).map(|i| (f64::from(i) * 0.02).exp()).collect()
    }

    #[test]
    fn logarithms_and_arcsines_are_right_to_the_last_places() {
        for x in numbers().into_iter().chain([0.0, 1e-300, 1e15, 1e300]) {
            let expected = x.ln_1p();
            assert!((log_1p(x) - expected).abs() <= 3.0 * f64::EPSILON * expected, "{x}");
        }
        for i in -1000..=1000 {
            let x = f64::from(i) * 1e-3;
            assert!((arcsine_one(x) - x.asin()).abs() < 3e-16, "{x}");
        }
        let most = arcsine_one(1.0_f64.next_up());
        assert!((most - std::f64::consts::FRAC_PI_2).abs() < 3e-16);
    }

    #[test]
    fn correlations_and_slopes_are_the_formulas() {
        let squares = numbers();
        let check = |name: &str,
                     values: &dyn Fn(&mut [f64]),
                     with_slopes: &dyn Fn(&mut [f64], &mut [f64]),
                     formula: &dyn Fn(f64) -> (f64, f64)| {
            let (mut alone, mut beside) = (squares.clone(), squares.clone());
            let mut slopes = vec![f64::NAN; squares.len()];
            values(&mut alone);
            with_slopes(&mut beside, &mut slopes);
            for (i, square) in squares.iter().enumerate() {
                let (value, slope) = formula(square.sqrt());
                assert!((alone[i] - value).abs() < 1e-15, "{name} {square}");
                assert!((beside[i] - value).abs() < 1e-15, "{name} {square}");
                assert!((slopes[i] - slope).abs() < 4e-15 * slope.max(1.0), "{name} {square}");
            }
        };
        check("exponential", &exponential, &exponential_with_slopes, &|r| {
            ((-r).exp(), (-r).exp() / r)
        });
        check("matern 3/2", &matern_3_2, &matern_3_2_with_slopes, &|r| {
            let a = 3.0_f64.sqrt() * r;
            ((1.0 + a) * (-a).exp(), (-a).exp())
        });
        check("matern 5/2", &matern_5_2, &matern_5_2_with_slopes, &|r| {
            let a = 5.0_f64.sqrt() * r;
            ((1.0 + a + a * a / 3.0) * (-a).exp(), (1.0 + a) * (-a).exp())
        });
        for shape in [0.1, 1.0, 7.0, 1e8] {
            check(
                "rational quadratic",
                &|values| rational_quadratic(values, shape),
                &|values, slopes| {
                    let mut shape_slopes = vec![f64::NAN; slopes.len()];
                    rational_quadratic_with_slopes(values, shape, slopes, &mut shape_slopes);
                    for (square, slope) in squares.iter().zip(shape_slopes) {
                        let q = square / shape;
                        let value = (-shape * q.ln_1p()).exp();
                        let expected = shape * value * (q / (1.0 + q) - q.ln_1p());
                        assert!((slope - expected).abs() < 1e-13);
                    }
                },
                &|r| {
                    let q = r * r / shape;
                    let value = (-shape * q.ln_1p()).exp();
                    (value, value / (1.0 + q))
                },
            );
        }
        let mut values = squares.clone();
        squared_exponential(&mut values);
        for (value, square) in values.iter().zip(&squares) {
            assert!((value - (-square).exp()).abs() < 1e-15);
        }
    }

    #[test]
    fn nothing_breaks_at_the_ends() {
        let mut ends = [0.0, 1e-320, 1e-300, 1.0, 1e100, 1e200, 1e300, f64::MAX];
        let mut slopes = [f64::NAN; 8];
        exponential_with_slopes(&mut ends, &mut slopes);
        assert!(ends.iter().chain(&slopes).all(|value| value.is_finite()));
        assert!((ends[0] - 1.0).abs() < f64::EPSILON && slopes[0].abs() < f64::EPSILON);
        assert!(ends[7] < 1e-300);
    }
}
