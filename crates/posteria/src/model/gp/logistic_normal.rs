//! Average the probability of a class over a normal function.

use crate::density::special::{log_normal_cdf, log1m_exp, log1p_exp};
use crate::model::outcome::two_classes::average_probit;
use crate::model::spec::Link;
use crate::predict::LogSum;

/// Beyond this deviation of the function the logistic is the narrower of the two factors.
const WIDE: f64 = 4.0;
/// Largest spacing of the rules: the logistic has poles at ±iπ, so that the error is
/// exp(-2π²/spacing).
const SPACING: f64 = 0.5;
/// Terms are left out where they are smaller than the largest by exp of this, or where a normal
/// density is, at this many deviations.
const DEPTH: f64 = 40.0;
const DEVIATIONS: f64 = 8.9;

/// Log odds of the average probability of the second class, ∫ p(f) N(f; mean, variance) df.
///
/// Both logarithms keep their digits whatever the variance: the smaller probability is the one
/// that is integrated, by the trapezoid rule with positive terms. For the probit it is
/// Φ(mean/√(1 + variance)).
pub(super) fn log_odds(link: Link, mean: f64, variance: f64) -> f64 {
    match link {
        Link::Probit => average_probit(mean, variance),
        Link::Logit if variance <= 0.0 => mean,
        Link::Logit => {
            let smaller = log_average_logistic(-mean.abs(), variance.sqrt());
            // Rounding must not lift a half over ½.
            let odds = log1m_exp(smaller) - smaller;
            if odds < 0.0 { 0.0 } else { odds.copysign(mean) }
        }
    }
}

/// log ∫ σ(f) N(f; mean, sd²) df for a mean of at most 0, σ the logistic.
fn log_average_logistic(mean: f64, sd: f64) -> f64 {
    if !(mean.is_finite() && sd.is_finite()) {
        return f64::NAN;
    }
    let variance = sd * sd;
    let mut sum = LogSum::EMPTY;
    if sd < WIDE {
        // σ(f) is nearly exp(f) to the left, which moves the largest term up by the variance at
        // most. Counted in deviations: those of a large mean would round.
        let spacing = (SPACING / sd).min(0.7);
        let count = ((sd + 2.0 * DEVIATIONS) / spacing).ceil() as usize;
        for index in 0..=count {
            let z = index as f64 * spacing - DEVIATIONS;
            sum.add(-0.5 * z * z - log1p_exp(-(mean + sd * z)));
        }
        return sum.value() + (spacing / std::f64::consts::TAU.sqrt()).ln();
    }
    // The logistic is a distribution function: σ averaged is P(L < f) = ∫ Φ((mean - l)/sd) dσ(l).
    // Its logarithm is concave; the largest term is at mean + variance, or near 0 if that is above.
    let top = (mean + variance).min(0.0);
    let mut reach = DEVIATIONS * sd;
    if top >= 0.0 {
        reach = reach.min(-log_normal_cdf(mean / sd));
    }
    let lowest = top - reach - DEPTH;
    let highest = (top + DEVIATIONS * sd).min(DEPTH);
    let count = ((highest - lowest) / SPACING).ceil() as usize;
    for index in 0..=count {
        let l = lowest + index as f64 * SPACING;
        let log_density = -l.abs() - 2.0 * log1p_exp(-l.abs());
        sum.add(log_density + log_normal_cdf((mean - l) / sd));
    }
    sum.value() + SPACING.ln()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::density::checks::{assert_relative, integral};
    use crate::density::special::{logistic, normal_cdf};

    /// The average by the double exponential rule, in two pieces at the largest term.
    fn reference(mean: f64, sd: f64) -> f64 {
        let log_term = |f: f64| -0.5 * ((f - mean) / sd).powi(2) - log1p_exp(-f);
        let (mut low, mut high) = (mean, mean + sd * sd);
        for _ in 0..200 {
            let f = 0.5 * (low + high);
            if logistic(-f) > (f - mean) / (sd * sd) { low = f } else { high = f }
        }
        let largest = log_term(low);
        let value = integral(low, sd.min(1.0), |f| (log_term(f) - largest).exp());
        largest + (value / (sd * std::f64::consts::TAU.sqrt())).ln()
    }

    #[test]
    fn averages_keep_their_digits_for_every_mean_and_deviation() {
        for sd in [1e-6, 0.01, 0.3, 1.0, 2.5, 3.99, 4.01, 9.0, 30.0] {
            for mean in [0.0, -0.3, -2.0, -15.0, -90.0, -700.0, -4000.0] {
                let (found, expected) = (log_average_logistic(mean, sd), reference(mean, sd));
                // Relative error of the probability; of a logarithm of thousands, of that.
                let error = (found - expected).abs() / expected.abs().max(1.0);
                assert!(error < 1e-11, "{mean} {sd}: {found} {expected}");
            }
        }
        // Far below, σ is exp: mean + sd²/2.
        assert_relative(log_average_logistic(-900.0, 3.0), -895.5, 1e-13);
        assert_relative(log_average_logistic(-900.0, 10.0), -850.0, 1e-13);
        // Much wider than the logistic, the function is of one sign or the other.
        assert_relative(log_average_logistic(-1e6, 1e6).exp(), normal_cdf(-1.0), 1e-6);
    }

    #[test]
    fn odds_are_those_of_the_average() {
        for (mean, sd) in [(0.7, 1.3), (-3.0, 0.2), (40.0, 2.0), (1.0, 25.0)] {
            let odds = log_odds(Link::Logit, mean, sd * sd);
            let expected = reference(-mean.abs(), sd);
            assert_relative(-log1p_exp(odds.abs()), expected, 1e-11);
            assert!(odds * mean > 0.0);
            let mirrored = log_odds(Link::Logit, -mean, sd * sd);
            assert_relative(mirrored, -odds, 1e-15);
            let probit = log_odds(Link::Probit, mean, sd * sd);
            let p = normal_cdf(mean / (1.0 + sd * sd).sqrt());
            if mean < 10.0 {
                assert_relative(logistic(probit), p, 1e-13);
            }
        }
        assert!(log_odds(Link::Logit, 0.0, 3.0).abs() < 1e-13);
        assert!((log_odds(Link::Logit, 1.5, 0.0) - 1.5).abs() < 1e-15);
        assert!(log_odds(Link::Logit, f64::NAN, 1.0).is_nan());
        assert!(log_odds(Link::Logit, 1.0, f64::NAN).is_nan());
    }
}
