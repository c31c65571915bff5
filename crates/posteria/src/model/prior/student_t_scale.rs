//! Draw the scale of Student-t values directly, for tests: sweeps of models go by way of a variance
//! per value.

use super::scale::REAL_LINE;
use crate::density::InverseGamma;
use crate::random::Stream;
use crate::sample::draw_log_concave;

/// Draws log s, exactly, for x_i ~ t_ν(0, s²) raised to β with ν = `dof` given, and
/// s² ~ `prior` (`cond_t_invgam`; per group `cond_gt_invgam`). `log_scale` is a guess, best the
/// present value: it changes the cost (about ten passes over the values), not the distribution.
/// `None` if a value is not finite.
///
/// In t = log s, Jacobian included, the log density is
/// g(t) = -(βn + ν0) t - β (ν+1)/2 Σ log(1 + x_i² e^(-2t)/ν) - (ν0 s0²/2) e^(-2t). It is
/// strictly concave: log(1 + q e^(-2t)) is a log of a sum of exponentials of linear functions
/// of t, hence convex, and e^(-2t) is strictly convex.
pub(super) fn log_scale_given_student_t(
    values: &[f64],
    dof: f64,
    prior: &InverseGamma,
    inverse_temperature: f64,
    log_scale: f64,
    stream: &mut Stream,
) -> Option<f64> {
    let power = inverse_temperature * values.len() as f64 + prior.dof();
    let exponent = inverse_temperature * (dof + 1.0);
    let log_prior_scale = prior.scale().ln();
    // The information about log s is 2nν/(ν+3) from the values and 2ν0 from the prior.
    let information = inverse_temperature * values.len() as f64 * dof / (dof + 3.0) + prior.dof();
    draw_log_concave(
        REAL_LINE,
        log_scale,
        (2.0 * information).sqrt().recip(),
        |t| {
            let unit = (-t).exp() / dof.sqrt();
            let (mut logs, mut fractions) = (0.0, 0.0);
            for value in values {
                let square = (value * unit).powi(2);
                logs += square.ln_1p();
                // q/(1 + q), 1 where q overflows.
                fractions += 1.0 / (1.0 + square.recip());
            }
            let tail = prior.dof() * (-2.0 * (t - log_prior_scale)).exp();
            let value = -power * t - 0.5 * (exponent * logs + tail);
            (value, -power + exponent * fractions + tail)
        },
        stream,
    )
    .ok()
    .map(|draw| draw.value)
}
