//! The full conditional of the common scale of several variances.

use super::scale::REAL_LINE;
use crate::density::InverseGamma;
use crate::random::Stream;
use crate::sample::draw_log_concave;

/// Draws log s, exactly, for variances v_k ~ Inv-gamma(s², ν) with ν = `dof`, raised to β, and
/// s² ~ `prior` = Inv-gamma(a0², ν0) (`cond_invgam_invgam`). The v_k are given as log √v_k.
/// `None` if one of them is not finite or out of any range.
///
/// In u = s² each v_k contributes u^(ν/2) exp(-ν u/(2 v_k)), a gamma shape, against the inverse
/// gamma of the prior: the conditional is generalised inverse Gaussian, u^(p-1)
/// exp(-(a u + b/u)/2) with p = (βKν - ν0)/2, a = βν Σ 1/v_k, b = ν0 a0². It is *not* a gamma
/// unless the prior of s² is. In t = log(s/a0), Jacobian included, the log density is
/// g(t) = 2p t - ½ (A e^(2t) + ν0 e^(-2t)), A = βν Σ a0²/v_k: strictly concave, since
/// g'' = -2 (A e^(2t) + ν0 e^(-2t)) < 0.
pub fn common_log_scale_given_log_scales(
    log_scales: impl IntoIterator<Item = f64>,
    dof: f64,
    prior: &InverseGamma,
    inverse_temperature: f64,
    stream: &mut Stream,
) -> Option<f64> {
    let log_prior_scale = prior.scale().ln();
    let (mut count, mut precisions) = (0.0, 0.0);
    for log_scale in log_scales {
        count += 1.0;
        precisions += (-2.0 * (log_scale - log_prior_scale)).exp();
    }
    let power = 0.5 * (inverse_temperature * count * dof - prior.dof());
    let rising = inverse_temperature * dof * precisions;
    let falling = prior.dof();
    // g' = 0 is a quadratic in z = e^(2t): A z² - 2p z - ν0 = 0. Written without cancellation.
    let root = (power * power + rising * falling).sqrt();
    let mode = if power > 0.0 { (power + root) / rising } else { falling / (root - power) };
    let spread = 1.0 / (2.0 * (rising * mode + falling / mode)).sqrt();
    let relative = draw_log_concave(
        REAL_LINE,
        0.5 * mode.ln(),
        spread,
        |t| {
            let up = rising * (2.0 * t).exp();
            let down = falling * (-2.0 * t).exp();
            (2.0 * power * t - 0.5 * (up + down), 2.0 * power - up + down)
        },
        stream,
    )
    .ok()?;
    Some(log_prior_scale + relative.value)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::density::checks::{NumericCdf, assert_draws_follow};
    use crate::random::{Purpose, Seed};

    #[test]
    fn common_scale_matches_quadrature() {
        let variances = [0.04, 1.3, 0.2, 7.0];
        let prior = InverseGamma::new(0.5, 3.0).unwrap();
        for (dof, beta) in [(4.0, 1.0), (0.5, 1.0), (4.0, 0.3), (60.0, 1.0)] {
            let exact = NumericCdf::new(-5.0, 10.0, |l| {
                let level = InverseGamma::new(l.exp(), dof).unwrap();
                let likelihood: f64 = variances.iter().map(|v| level.log_density(*v)).sum();
                // Density of the variance s² times Jacobian 2s².
                prior.log_density((2.0 * l).exp()) + 2.0 * l + beta * likelihood
            });
            let mut stream = Seed(3).stream(Purpose::Data, [8, (dof + beta).to_bits()]);
            let mut draws: Vec<f64> = (0..20_000)
                .map(|_| {
                    let log_scales = variances.iter().map(|v| 0.5 * v.ln());
                    common_log_scale_given_log_scales(log_scales, dof, &prior, beta, &mut stream)
                        .unwrap()
                })
                .collect();
            assert_draws_follow(&mut draws, |l| exact.at(l));
        }
    }

    #[test]
    fn without_variances_or_at_zero_temperature_the_prior_is_drawn() {
        let prior = InverseGamma::new(0.05, 0.5).unwrap();
        for (log_scales, beta) in [(&[0.3, -2.0][..], 0.0), (&[][..], 1.0)] {
            let mut stream = Seed(3).stream(Purpose::Data, [9, log_scales.len() as u64]);
            let mut draws: Vec<f64> = (0..20_000)
                .map(|_| {
                    let values = log_scales.iter().copied();
                    common_log_scale_given_log_scales(values, 4.0, &prior, beta, &mut stream)
                        .unwrap()
                })
                .collect();
            assert_draws_follow(&mut draws, |l| prior.cdf((2.0 * l).exp()));
        }
    }

    #[test]
    fn extreme_scales_are_drawn_and_impossible_ones_refused() {
        let prior = InverseGamma::new(1.0, 0.5).unwrap();
        let mut stream = Seed(3).stream(Purpose::Data, [10, 0]);
        let mut draw = |l: &[f64]| {
            common_log_scale_given_log_scales(l.iter().copied(), 0.5, &prior, 1.0, &mut stream)
        };
        for extreme in [&[-300.0, 300.0][..], &[-340.0; 50], &[340.0; 50]] {
            assert!(draw(extreme).is_some_and(f64::is_finite));
        }
        assert_eq!(draw(&[f64::NAN]), None);
    }
}
