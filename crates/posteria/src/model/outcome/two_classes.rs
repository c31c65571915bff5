//! Two classes about one f, by either link.

use crate::density::LocationTerms;
use crate::density::special::{
    LOG_SQRT_2PI, inverse_mills, log_normal_cdf, log1p_exp, logistic, normal_cdf,
};
use crate::model::spec::Link;

/// Probability of the second class.
pub(in crate::model) fn probability(link: Link, f: f64) -> f64 {
    match link {
        Link::Logit => logistic(f),
        Link::Probit => normal_cdf(f),
    }
}

/// Log probability of the class of this `sign`: +1 is the second one, -1 the first.
pub(in crate::model) fn log_probability(link: Link, sign: f64, f: f64) -> f64 {
    match link {
        Link::Logit => -log1p_exp(-sign * f),
        Link::Probit => log_normal_cdf(sign * f),
    }
}

/// The log probability of the class of this `sign` with its derivatives by f. With t = ±f that of the probit
/// is log Φ(t), whose slope r = φ(t)/Φ(t) and curvature r (r + t) keep their digits in both tails.
pub(crate) fn terms(link: Link, sign: f64, f: f64) -> LocationTerms {
    let t = sign * f;
    let value = log_probability(link, sign, f);
    match link {
        Link::Logit => {
            let other = logistic(-t);
            LocationTerms { value, slope: sign * other, curvature: other * logistic(t) }
        }
        Link::Probit => {
            let (ratio, excess) = inverse_mills(t);
            LocationTerms { value, slope: sign * ratio, curvature: ratio * excess }
        }
    }
}

/// Log odds of the second class.
pub(in crate::model) fn log_odds(link: Link, f: f64) -> f64 {
    match link {
        Link::Logit => f,
        Link::Probit => log_normal_cdf(f) - log_normal_cdf(-f),
    }
}

/// Log odds of the average probability Φ(mean/√(1 + variance)) of a probit whose f is normal.
pub(crate) fn average_probit(mean: f64, variance: f64) -> f64 {
    log_odds(Link::Probit, mean / (1.0 + variance).sqrt())
}

/// The derivative of the log odds by f.
pub(in crate::model) fn log_odds_slope(link: Link, f: f64) -> f64 {
    match link {
        Link::Logit => 1.0,
        Link::Probit => {
            // φ(f) (1/Φ(f) + 1/Φ(-f)).
            let log_density = -0.5 * f * f - LOG_SQRT_2PI;
            let rate = |f: f64| (log_density - log_normal_cdf(f)).exp();
            rate(f) + rate(-f)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::density::checks::assert_relative;

    #[test]
    fn slopes_and_curvatures_are_those_of_the_value() {
        for link in [Link::Logit, Link::Probit] {
            for (sign, f) in [(1.0, 0.3), (-1.0, 0.3), (1.0, -6.0), (-1.0, -2.5), (1.0, -31.0)] {
                let at = |f: f64| terms(link, sign, f);
                let h = 1e-4;
                assert_relative((at(f + h).value - at(f - h).value) / (2.0 * h), at(f).slope, 1e-5);
                let fall = (at(f - h).slope - at(f + h).slope) / (2.0 * h);
                assert!((fall - at(f).curvature).abs() < 1e-6, "{link:?} {f}: {fall}");
                let odds = (log_odds(link, f + h) - log_odds(link, f - h)) / (2.0 * h);
                assert_relative(odds, log_odds_slope(link, f), 1e-5);
                let both =
                    log_probability(link, 1.0, f).exp() + log_probability(link, -1.0, f).exp();
                assert_relative(both, 1.0, 1e-14);
                assert_relative(probability(link, f), log_probability(link, 1.0, f).exp(), 1e-12);
            }
        }
    }

    /// ∫ Φ(f) N(f; m, v) df by the trapezoid rule, which is exact to rounding for such a smooth integrand.
    #[test]
    fn the_average_over_a_normal_function_is_closed() {
        for (mean, variance) in [(0.0, 1.0), (0.7, 0.25), (-1.6, 4.0), (3.0, 9.0), (-2.0, 0.0)] {
            let steps = (-1200..=1200).map(|step| 0.01 * f64::from(step));
            let sum: f64 = steps
                .map(|z| (-0.5 * z * z).exp() * normal_cdf(mean + f64::sqrt(variance) * z))
                .sum();
            let average = 0.01 * sum / std::f64::consts::TAU.sqrt();
            assert_relative(logistic(average_probit(mean, variance)), average, 1e-12);
        }
    }
}
