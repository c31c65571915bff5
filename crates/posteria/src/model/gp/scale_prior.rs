//! The prior of one positive hyperparameter, as a density of its logarithm.

use crate::density::{Gamma, HalfStudentT, InverseGamma, LogNormal};
use crate::random::Stream;

/// The prior of one positive hyperparameter h.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum ScalePrior {
    /// h² ~ Inv-gamma(s₀², ν).
    InverseGamma(InverseGamma),
    /// h is Student's t, cut at zero.
    HalfStudentT(HalfStudentT),
    /// log h is normal.
    LogNormal(LogNormal),
    /// h is gamma.
    Gamma(Gamma),
    /// log h is uniform between these.
    LogUniform { lower: f64, upper: f64 },
}

impl ScalePrior {
    /// Log density of log h, Jacobian included, and its derivative; `None` where there is none.
    pub(super) fn log_density(&self, log_value: f64) -> Option<(f64, f64)> {
        // d log p(log h) / d log h = h p'(h)/p(h) + 1.
        Some(match self {
            ScalePrior::InverseGamma(prior) => prior.of_log_scale().log_density(log_value),
            ScalePrior::HalfStudentT(prior) => {
                let value = log_value.exp();
                (prior.log_density(value) + log_value, value * prior.derivative(value) + 1.0)
            }
            ScalePrior::LogNormal(prior) => {
                let normal = prior.logarithm();
                (normal.log_density(log_value), normal.derivative(log_value))
            }
            ScalePrior::Gamma(prior) => {
                let value = log_value.exp();
                (prior.log_density(value) + log_value, value * prior.derivative(value) + 1.0)
            }
            ScalePrior::LogUniform { lower, upper } => {
                if !(*lower..=*upper).contains(&log_value) {
                    return None;
                }
                (-(upper - lower).ln(), 0.0)
            }
        })
    }

    /// Draws log h.
    pub(super) fn draw_log(&self, stream: &mut Stream) -> f64 {
        match self {
            ScalePrior::InverseGamma(prior) => prior.draw_log_scale(stream),
            ScalePrior::HalfStudentT(prior) => prior.draw(stream).ln(),
            ScalePrior::LogNormal(prior) => prior.draw(stream).ln(),
            ScalePrior::Gamma(prior) => prior.log_draw(stream),
            ScalePrior::LogUniform { lower, upper } => lower + (upper - lower) * stream.uniform(),
        }
    }

    /// The nearest value that the prior allows.
    pub(super) fn nearest(&self, log_value: f64) -> f64 {
        match self {
            ScalePrior::LogUniform { lower, upper } => log_value.clamp(*lower, *upper),
            _ => log_value,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::{Purpose, Seed};

    fn all() -> [ScalePrior; 5] {
        [
            ScalePrior::InverseGamma(InverseGamma::new(0.4, 3.0).unwrap()),
            ScalePrior::HalfStudentT(HalfStudentT::new(0.7, 4.0).unwrap()),
            ScalePrior::LogNormal(LogNormal::new(-0.3, 0.8).unwrap()),
            ScalePrior::Gamma(Gamma::new(2.5, 0.4).unwrap()),
            ScalePrior::LogUniform { lower: -2.0, upper: 1.0 },
        ]
    }

    #[test]
    fn densities_are_normalised_and_derivatives_are_theirs() {
        for prior in all() {
            let density = |t: f64| prior.log_density(t).map_or(0.0, |(value, _)| value.exp());
            let (step, mut sum) = (1e-3, 0.0);
            for index in 0..60_000 {
                sum += step * density(-40.0 + (f64::from(index) + 0.5) * step);
            }
            assert!((sum - 1.0).abs() < 1e-6, "{prior:?}: {sum}");
            for t in [-1.3, 0.2, 0.8] {
                let at = |h: f64| prior.log_density(t + h).unwrap().0;
                let numeric = (at(1e-5) - at(-1e-5)) / 2e-5;
                let (_, claimed) = prior.log_density(t).unwrap();
                assert!((claimed - numeric).abs() < 1e-8, "{prior:?} at {t}");
            }
        }
    }

    /// The distribution function at a draw is uniform: with 4000 draws its mean is off by five
    /// standard errors with probability 6e-7.
    #[test]
    fn draws_follow_the_density() {
        let mut stream = Seed(2).stream(Purpose::Data, [31, 0]);
        for prior in all() {
            let density = |t: f64| prior.log_density(t).map_or(0.0, |(value, _)| value.exp());
            let (step, first) = (0.01, -40.0);
            let mut cumulative = vec![0.0];
            for index in 0..6000 {
                let mass = step * density(first + (f64::from(index) + 0.5) * step);
                cumulative.push(cumulative[index as usize] + mass);
            }
            let level =
                |t: f64| cumulative[((t - first) / step).round().clamp(0.0, 6000.0) as usize];
            let mean = (0..4000).map(|_| level(prior.draw_log(&mut stream))).sum::<f64>() / 4000.0;
            assert!((mean - 0.5).abs() < 5.0 / (12.0_f64 * 4000.0).sqrt(), "{prior:?}: {mean}");
        }
    }
}
