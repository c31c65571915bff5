//! Average the probability of a class over the normal distribution of its log odds.

use posteria_linalg::{Matrix, SymmetricEigen};

use crate::density::special::{log_sum_exp, logistic, normal_quantile};

/// Steps of the exact average to either side, in standard deviations of 0.1.
const STEPS: i32 = 90;

/// The factor κ(s²) = 1/√(1 + πs²/8) by which log odds with variance s² count less
/// [MacKay 1992c, eq. 10; MacKay 2003, eq. 41.30].
pub fn moderation(variance: f64) -> f64 {
    (1.0 + std::f64::consts::FRAC_PI_8 * variance).sqrt().recip()
}

/// The moderated probability σ(κ(s²) a) of a class whose log odds are N(a, s²), which is within
/// 0.02 of [`average_probability`].
pub fn moderated_probability(log_odds: f64, variance: f64) -> f64 {
    logistic(moderation(variance) * log_odds)
}

/// The probability ∫ σ(f) N(f; a, s²) df of a class whose log odds are N(a, s²), by the trapezoid
/// rule, for which the integrand is smooth enough to be exact to 1e-9 for s up to 10.
pub fn average_probability(log_odds: f64, variance: f64) -> f64 {
    let sd = variance.sqrt();
    // Finer where the logistic is the narrower factor.
    let finer = (2.0 * sd).ceil().max(1.0) as i32;
    let width = 0.1 / f64::from(finer);
    let sum: f64 = (-STEPS * finer..=STEPS * finer)
        .map(|step| {
            let z = f64::from(step) * width;
            (-0.5 * z * z).exp() * logistic(log_odds + sd * z)
        })
        .sum();
    sum * width / std::f64::consts::TAU.sqrt()
}

/// Points of the lattice that several classes are averaged on.
const POINTS: u32 = 1021;

/// The probabilities ∫ softmax(f) N(f; m, V) df of classes whose outputs are normal together: the
/// mean over a Kronecker lattice of 1021 points and their mirror images, always the same, which is
/// exact to about 1e-3. For two classes [`average_probability`] is exact.
///
/// # Panics
/// If `covariance` has another size than `means`.
pub(super) fn average_probabilities(means: &[f64], covariance: &Matrix) -> Vec<f64> {
    let count = means.len();
    assert!(covariance.rows() == count && covariance.columns() == count, "one row per class");
    // A softmax does not see what classes have in common: V may well be singular.
    let Ok(eigen) = SymmetricEigen::new(covariance) else { return vec![f64::NAN; count] };
    let deviations: Vec<f64> = eigen.values().iter().map(|value| value.max(0.0).sqrt()).collect();
    let generators = (0..count).map(|axis| root_of_prime(axis).fract());
    let generators: Vec<f64> = generators.collect();
    let mut sums = vec![0.0; count];
    let (mut off, mut shares) = (vec![0.0; count], vec![0.0; count]);
    for point in 0..POINTS {
        off.fill(0.0);
        for (axis, generator) in generators.iter().enumerate() {
            let place = ((f64::from(point) + 0.5) * generator).fract();
            let step = deviations[axis] * normal_quantile(place.clamp(1e-12, 1.0 - 1e-12));
            let along = eigen.vectors().column(axis);
            off.iter_mut().zip(along).for_each(|(off, along)| *off += step * along);
        }
        for sign in [1.0, -1.0] {
            let outputs = means.iter().zip(&off).map(|(mean, off)| mean + sign * off);
            shares.iter_mut().zip(outputs).for_each(|(share, output)| *share = output);
            let total = log_sum_exp(&shares);
            sums.iter_mut().zip(&shares).for_each(|(sum, f)| *sum += (f - total).exp());
        }
    }
    sums.iter().map(|sum| sum / f64::from(2 * POINTS)).collect()
}

/// The root of prime number `index`: roots of different primes are independent over the rationals, so that
/// their multiples fill the cube evenly [Niederreiter 1978].
fn root_of_prime(index: usize) -> f64 {
    let is_prime = |n: &u32| (2..*n).take_while(|d| d * d <= *n).all(|d| !n.is_multiple_of(d));
    (2..).filter(is_prime).nth(index).map_or(f64::NAN, |prime| f64::from(prime).sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::{Purpose, Seed};

    #[test]
    fn moderated_probabilities_are_near_the_exact_average() {
        let mut worst = 0.0_f64;
        for a in [-8.0, -3.0, -1.0, 0.0, 0.5, 2.0, 5.0] {
            for variance in [0.0, 0.1, 1.0, 4.0, 25.0, 100.0] {
                let (near, exact) =
                    (moderated_probability(a, variance), average_probability(a, variance));
                worst = worst.max((near - exact).abs());
                // Uncertainty pulls towards one half, never beyond.
                let plain = logistic(a);
                assert!((exact - 0.5).abs() <= (plain - 0.5).abs() + 1e-12);
            }
        }
        assert!(worst < 0.02 && worst > 0.005, "{worst}");
        assert!((average_probability(1.3, 0.0) - logistic(1.3)).abs() < 1e-12);
        assert!((average_probability(0.0, 9.0) - 0.5).abs() < 1e-12);
    }

    /// Two classes with independent outputs by their log odds, and more by many draws; without spread the
    /// softmax itself.
    #[test]
    fn several_classes_are_averaged_over_all_their_outputs() {
        let diagonal = |count: usize, variance: f64| {
            Matrix::from_fn(count, count, |i, j| if i == j { variance } else { 0.0 })
        };
        for (a, variance) in [(0.4, 0.5), (-2.0, 4.0), (3.0, 9.0)] {
            let found = average_probabilities(&[a, 0.0], &diagonal(2, variance))[0];
            let exact = average_probability(a, 2.0 * variance);
            assert!((found - exact).abs() < 2e-3, "{a} {variance}: {found} {exact}");
        }
        let plain = average_probabilities(&[1.0, 0.0, -1.0], &diagonal(3, 0.0));
        let total = log_sum_exp(&[1.0, 0.0, -1.0]);
        assert!((plain[0] - (1.0 - total).exp()).abs() < 1e-12);
        let means = [0.7, -0.2, 0.1, -1.0];
        let root =
            Matrix::from_fn(4, 4, |i, j| if i >= j { 1.5 - 0.4 * (i + 2 * j) as f64 } else { 0.0 });
        let product = |i: usize, j: usize| (0..4).map(|k| root[(i, k)] * root[(j, k)]).sum();
        let found = average_probabilities(&means, &Matrix::from_fn(4, 4, product));
        assert!((found.iter().sum::<f64>() - 1.0).abs() < 1e-12);
        let (mut stream, count) = (Seed(4).stream(Purpose::Data, [1, 0]), 40_000);
        let mut sums = [0.0; 4];
        for _ in 0..count {
            let z: Vec<f64> = (0..4).map(|_| stream.normal()).collect();
            let f: Vec<f64> = (0..4)
                .map(|i| means[i] + (0..4).map(|k| root[(i, k)] * z[k]).sum::<f64>())
                .collect();
            let total = log_sum_exp(&f);
            sums.iter_mut()
                .zip(&f)
                .for_each(|(sum, f)| *sum += (f - total).exp() / f64::from(count));
        }
        // 4.5 standard errors of means of numbers between 0 and 1, and the error of the lattice.
        let error = 4.5 * 0.5 / f64::from(count).sqrt() + 2e-3;
        for (found, sum) in found.iter().zip(sums) {
            assert!((found - sum).abs() < error, "{found} {sum}");
        }
    }

    #[test]
    fn draws_average_to_the_same() {
        let (a, sd) = (1.5, 2.0);
        let mut stream = Seed(4).stream(Purpose::Data, [0, 0]);
        let count = 40_000;
        let draws: Vec<f64> = (0..count).map(|_| logistic(a + sd * stream.normal())).collect();
        let mean = draws.iter().sum::<f64>() / f64::from(count);
        let variance = draws.iter().map(|p| (p - mean).powi(2)).sum::<f64>() / f64::from(count);
        let error = (variance / f64::from(count)).sqrt();
        // 4.5 standard errors: a false alarm in 1e5.
        assert!((mean - average_probability(a, sd * sd)).abs() < 4.5 * error, "{mean}");
    }
}
