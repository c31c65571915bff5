//! Loops over vectors, compiled for several instruction sets and chosen at run time.
//!
//! Every version performs the same operations in the same order, so the bits do not depend on the
//! machine.

use multiversion::multiversion;

/// Partial sums of a reduction: enough for two vector registers of any instruction set.
const LANES: usize = 8;

fn total(lanes: [f64; LANES]) -> f64 {
    ((lanes[0] + lanes[4]) + (lanes[1] + lanes[5]))
        + ((lanes[2] + lanes[6]) + (lanes[3] + lanes[7]))
}

/// Σ a_i b_i, over the shorter of the two.
#[multiversion(targets("x86_64+avx512f", "x86_64+avx2"))]
pub fn dot(a: &[f64], b: &[f64]) -> f64 {
    let len = a.len().min(b.len());
    let (a_blocks, a_rest) = a[..len].as_chunks::<LANES>();
    let (b_blocks, b_rest) = b[..len].as_chunks::<LANES>();
    let mut sums = [0.0; LANES];
    for (a, b) in a_blocks.iter().zip(b_blocks) {
        for lane in 0..LANES {
            sums[lane] += a[lane] * b[lane];
        }
    }
    let rest: f64 = a_rest.iter().zip(b_rest).map(|(a, b)| a * b).sum();
    total(sums) + rest
}

/// Σ a_i b_i as [`dot`], faster for hundreds of numbers, in another order.
///
/// # Panics
/// If the vectors differ in length.
#[multiversion(targets("x86_64+avx512f", "x86_64+avx2+fma"))]
pub fn sum_products(a: &[f64], b: &[f64]) -> f64 {
    assert_eq!(a.len(), b.len(), "vectors of one length");
    let (a_blocks, a_rest) = a.as_chunks::<{ 4 * LANES }>();
    let (b_blocks, b_rest) = b.as_chunks::<{ 4 * LANES }>();
    let mut sums = [0.0; 4 * LANES];
    for (a, b) in a_blocks.iter().zip(b_blocks) {
        for lane in 0..4 * LANES {
            sums[lane] = a[lane].mul_add(b[lane], sums[lane]);
        }
    }
    let rest: f64 = a_rest.iter().zip(b_rest).map(|(a, b)| a * b).sum();
    crate::panel::sum_lanes(sums) + rest
}

/// y ← y + factor x.
#[multiversion(targets("x86_64+avx512f", "x86_64+avx2"))]
pub fn add_scaled(y: &mut [f64], factor: f64, x: &[f64]) {
    for (y, x) in y.iter_mut().zip(x) {
        *y += factor * x;
    }
}

/// y ← y ∘ x, component by component.
#[multiversion(targets("x86_64+avx512f", "x86_64+avx2"))]
pub fn multiply_by(y: &mut [f64], x: &[f64]) {
    for (y, x) in y.iter_mut().zip(x) {
        *y *= x;
    }
}

/// y ← y + factor s ∘ x, component by component.
#[multiversion(targets("x86_64+avx512f", "x86_64+avx2"))]
pub fn add_weighted(y: &mut [f64], factor: f64, weights: &[f64], x: &[f64]) {
    for ((y, weight), x) in y.iter_mut().zip(weights).zip(x) {
        *y += factor * weight * x;
    }
}

/// The products of d = a + b - c - ½ (left + right) with `left` and with `right`.
///
/// # Panics
/// If the vectors differ in length.
#[multiversion(targets("x86_64+avx512f", "x86_64+avx2"))]
pub fn end_products(
    left: &[f64],
    right: &[f64],
    (a, b, c): (&[f64], &[f64], &[f64]),
) -> (f64, f64) {
    let len = left.len();
    let (left, left_rest) = left.as_chunks::<LANES>();
    let (right, right_rest) = right[..len].as_chunks::<LANES>();
    let (a, a_rest) = a[..len].as_chunks::<LANES>();
    let (b, b_rest) = b[..len].as_chunks::<LANES>();
    let (c, c_rest) = c[..len].as_chunks::<LANES>();
    let (mut at_left, mut at_right) = ([0.0; LANES], [0.0; LANES]);
    for ((((left, right), a), b), c) in left.iter().zip(right).zip(a).zip(b).zip(c) {
        for lane in 0..LANES {
            let d = a[lane] + b[lane] - c[lane] - 0.5 * (left[lane] + right[lane]);
            at_left[lane] += d * left[lane];
            at_right[lane] += d * right[lane];
        }
    }
    for (i, (left, right)) in left_rest.iter().zip(right_rest).enumerate() {
        let d = a_rest[i] + b_rest[i] - c_rest[i] - 0.5 * (left + right);
        at_left[i] += d * left;
        at_right[i] += d * right;
    }
    (total(at_left), total(at_right))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_length_is_summed_completely() {
        for len in (0..40).chain([64, 97]) {
            let a: Vec<f64> = (0..len).map(|i| f64::from(i) + 1.0).collect();
            let b: Vec<f64> = (0..len).map(|i| 2.0 - f64::from(i)).collect();
            // Small integers: every order of summation is exact.
            let expected: f64 = a.iter().zip(&b).map(|(a, b)| a * b).sum();
            assert!((dot(&a, &b) - expected).abs() < f64::EPSILON);
            assert!((sum_products(&a, &b) - expected).abs() < f64::EPSILON);
            let zeros = vec![0.0; a.len()];
            let (left, right) = end_products(&a, &b, (&a, &b, &zeros));
            let half =
                |end: &[f64]| -> f64 { (0..a.len()).map(|i| 0.5 * (a[i] + b[i]) * end[i]).sum() };
            assert!((left - half(&a)).abs() < 1e-12 && (right - half(&b)).abs() < 1e-12);
        }
    }

    #[test]
    fn scaled_vectors_are_added() {
        let mut y = vec![1.0; 11];
        add_scaled(&mut y, 2.0, &[3.0; 11]);
        add_weighted(&mut y, 0.5, &[4.0; 11], &[10.0; 11]);
        assert!(y.iter().all(|y| (y - 27.0).abs() < f64::EPSILON));
        multiply_by(&mut y, &[2.0; 11]);
        assert!(y.iter().all(|y| (y - 54.0).abs() < f64::EPSILON));
    }
}
