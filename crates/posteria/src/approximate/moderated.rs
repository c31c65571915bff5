//! Average the probability of a class over the normal distribution of its log odds.

use crate::density::special::logistic;

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
