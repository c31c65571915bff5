//! Climb to a mode given the scales, and re-estimate the scales there.

use posteria_linalg::{Cholesky, Matrix};

use super::{Estimation, EvidenceError};
use crate::approximate::penalised::Penalised;
use crate::model::{Decay, Regularised, Response, Scales};
use crate::optimise::ScaledConjugateGradient;
use crate::target::{LogDensity, Point};

/// A precision changes at most by this factor in a round.
const LARGEST_CHANGE: f64 = 20.0;
/// Range of estimated α on the standardised scale: weights of deviations between 1/1000, which is
/// off, and 10. Input and output weights of a network that count only in products would else
/// drift apart for ever.
const ALPHAS: [f64; 2] = [1e-2, 1e6];
/// Range of estimated β on the standardised scale.
const BETAS: [f64; 2] = [1e-4, 1e12];
/// Effective parameters of a group below which it is switched off, whatever its precision.
const SWITCHED_OFF: f64 = 1e-3;
/// Least share of residuals that are left for the noise when parameters take up all of them.
const LEFT_FOR_NOISE: f64 = 0.02;
/// Most Newton steps that polish a mode, and log density that each must promise.
const POLISH: usize = 30;
const WORTH_A_STEP: f64 = 1e-10;
/// Most iterations of a climb from afar, and of one from the mode of slightly other scales.
const FAR: usize = 400;
const NEAR: usize = 20;
/// Newton steps of the latter.
const NEAR_POLISH: usize = 4;

/// Where a climb begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum From {
    /// Anywhere.
    Afar,
    /// At the mode of slightly other scales.
    Nearby,
}

/// Scales to begin with: 1 for those that are estimated, of the order of standardised data.
pub(super) fn starting_scales(model: &dyn Regularised, estimation: Estimation) -> Scales {
    let alpha = |decay: &Decay| match decay.fixed || estimation != Estimation::Evidence {
        true => decay.scale.powi(-2),
        false => 1.0,
    };
    let real = matches!(model.response(), Response::Real { .. });
    let noises = model.noises();
    Scales {
        alphas: model.decays().iter().map(alpha).collect(),
        // Small residuals, or the weights would be switched off before they are found.
        betas: if real {
            noises
                .iter()
                .map(|noise| if noise.dof.is_infinite() { noise.scale.powi(-2) } else { 10.0 })
                .collect()
        } else {
            Vec::new()
        },
    }
}

/// A mode of the weights given the scales, and the factor of the curvature there.
pub(super) fn climb(
    penalised: &mut Penalised<'_>,
    weights: Vec<f64>,
    from: From,
) -> Result<(Vec<f64>, Cholesky), EvidenceError> {
    let (max_iterations, polish) = match from {
        From::Afar => (FAR, POLISH),
        From::Nearby => (NEAR, NEAR_POLISH),
    };
    let fault = |reason| EvidenceError::Start { reason };
    let options =
        ScaledConjugateGradient { max_iterations, value_tolerance: 1e-7, position_tolerance: 1e-7 };
    let top = options.maximise(penalised, weights).map_err(fault)?;
    let mut point = Point::new(penalised, top.position).map_err(fault)?;
    let dim = point.position.len();
    let mut curvature = Matrix::zeros(dim, dim);
    let mut step = vec![0.0; dim];
    for _ in 0..polish {
        penalised.curvature(&point.position, &mut curvature).map_err(fault)?;
        let precision = Cholesky::new(&curvature)
            .map_err(|error| EvidenceError::Curvature { pivot: error.pivot })?;
        step.copy_from_slice(&point.gradient);
        precision.solve(&mut step);
        let gain: f64 = step.iter().zip(&point.gradient).map(|(s, g)| 0.5 * s * g).sum();
        if gain < WORTH_A_STEP || !advance(penalised, &mut point, &step) {
            break;
        }
    }
    penalised.curvature(&point.position, &mut curvature).map_err(fault)?;
    let precision = Cholesky::new(&curvature)
        .map_err(|error| EvidenceError::Curvature { pivot: error.pivot })?;
    Ok((point.position, precision))
}

/// Goes a step, or a part of it, uphill; whether there was one.
fn advance(penalised: &mut Penalised<'_>, point: &mut Point, step: &[f64]) -> bool {
    let mut length = 1.0;
    for _ in 0..8 {
        let mut trial = point.clone();
        trial.position.iter_mut().zip(step).for_each(|(x, s)| *x += length * s);
        if trial.evaluate(penalised).is_ok() && trial.log_density > point.log_density {
            *point = trial;
            return true;
        }
        length *= 0.25;
    }
    false
}

/// γ of every group of weights.
pub(super) fn effective_parameters(penalised: &Penalised<'_>, precision: &Cholesky) -> Vec<f64> {
    let dim = precision.dim();
    let mut variances = vec![0.0; dim];
    precision.inverse_diagonal(&mut Matrix::zeros(dim, dim), &mut variances);
    let gamma = |(decay, alpha): (&Decay, &f64)| {
        let sum: f64 = variances[decay.members.clone()].iter().map(|v| 1.0 - alpha * v).sum();
        // Rounding alone leaves less, or makes it negative.
        if sum > 1e-9 { sum } else { 0.0 }
    };
    penalised.decays.iter().zip(&penalised.scales.alphas).map(gamma).collect()
}

pub(super) fn reestimated(
    penalised: &mut Penalised<'_>,
    estimation: Estimation,
    weights: &[f64],
    precision: &Cholesky,
) -> Scales {
    let mut next = penalised.scales.clone();
    if estimation == Estimation::Held {
        return next;
    }
    let bounded = |from: f64, to: f64, [low, high]: [f64; 2]| {
        let to = if to.is_finite() { to } else { high };
        to.clamp(from / LARGEST_CHANGE, from * LARGEST_CHANGE).clamp(low, high)
    };
    if estimation == Estimation::Evidence {
        let gammas = effective_parameters(penalised, precision);
        let halves = penalised.half_squares(weights);
        for (index, decay) in penalised.decays.iter().enumerate().filter(|(_, d)| !d.fixed) {
            debug_assert!(!decay.members.is_empty(), "groups have weights");
            let alpha = gammas[index] / (2.0 * halves[index]);
            next.alphas[index] = bounded(next.alphas[index], alpha, ALPHAS);
        }
    }
    let determined = determined(penalised, precision);
    let halves = penalised.half_residuals(weights);
    for (index, noise) in penalised.noises.iter().enumerate() {
        if noise.dof.is_infinite() {
            continue;
        }
        let beta = match estimation {
            Estimation::Evidence => {
                let left = (noise.count - determined[index]).max(LEFT_FOR_NOISE * noise.count);
                left / (2.0 * halves[index])
            }
            _ => {
                (noise.count + noise.dof)
                    / (2.0 * halves[index] + noise.dof * noise.scale * noise.scale)
            }
        };
        next.betas[index] = bounded(next.betas[index], beta, BETAS);
    }
    next
}

/// Effective parameters that every group of residuals determines.
pub(super) fn determined(penalised: &Penalised<'_>, precision: &Cholesky) -> Vec<f64> {
    match penalised.noises.len() {
        // All of them: Σ 1 - α(A⁻¹)_kk = tr(A⁻¹H).
        1 => vec![effective_parameters(penalised, precision).iter().sum()],
        _ => penalised.determined_by(precision),
    }
}

/// The largest change of the logarithm of a precision that matters.
pub(super) fn change(penalised: &Penalised<'_>, next: &Scales, precision: &Cholesky) -> f64 {
    let gammas = effective_parameters(penalised, precision);
    let of_weights = penalised.scales.alphas.iter().zip(&next.alphas).zip(&gammas);
    let of_weights = of_weights
        .filter(|(_, gamma)| **gamma > SWITCHED_OFF)
        .map(|((from, to), _)| (to / from).ln().abs());
    let of_noise = penalised.scales.betas.iter().zip(&next.betas);
    let of_noise = of_noise.map(|(from, to)| (to / from).ln().abs());
    of_weights.chain(of_noise).fold(0.0, f64::max)
}
