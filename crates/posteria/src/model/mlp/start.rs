//! Choose where the chains of a network start.

use super::hierarchy::Scale;
use super::observed::Observed;
use super::posterior::MlpPosterior;
use crate::model::prior::{Above, DofSource, Levels};
use crate::model::residual::{Noise, ResidualDof};
use crate::model::spec::StartChoice;
use crate::random::Stream;

/// Scales start about this standard deviation, of the order of standardised data.
const SCALE: f64 = 0.5;
/// Spread of the logarithms of starting scales between chains.
const SPREAD: f64 = 0.5;
/// Standard deviation of starting weights.
const WEIGHT: f64 = 0.3;
/// Degrees of freedom of residuals start at the value of the grid next to this one.
const RESIDUAL_DOF: f64 = 4.0;

/// A starting state.
pub(super) fn start(posterior: &MlpPosterior, stream: &mut Stream) -> Vec<f64> {
    match posterior.moves.start {
        StartChoice::Prior => from_prior(posterior, stream),
        StartChoice::Dispersed => dispersed(posterior, stream),
        StartChoice::EarlyStopping => match posterior.early_stopped(stream) {
            Ok(network) => network.state,
            // Targets too large to be squared; the chain finds out whether it can live there.
            Err(_) => dispersed(posterior, stream),
        },
    }
}

/// A draw of everything from the prior.
pub(super) fn from_prior(posterior: &MlpPosterior, stream: &mut Stream) -> Vec<f64> {
    let mut state = vec![0.0; posterior.state_len];
    posterior.hierarchy.draw_prior(&mut state, stream);
    if let Observed::Real(residual) = &posterior.observed {
        residual.draw_prior(&mut state, stream);
    }
    state
}

/// Small weights and moderate scales.
pub(super) fn dispersed(posterior: &MlpPosterior, stream: &mut Stream) -> Vec<f64> {
    // From the prior first, so that degrees of freedom and multipliers have values of it.
    let mut state = from_prior(posterior, stream);
    for group in &posterior.hierarchy.groups {
        if let Scale::Sampled(levels) = &group.scale {
            set_scales(levels, &mut state, stream);
        }
        if let Some(multipliers) = &group.multipliers {
            state[multipliers.slots.clone()].fill(0.0);
        }
        for weight in &mut state[group.members.clone()] {
            *weight = WEIGHT * stream.normal();
        }
    }
    if let Observed::Real(residual) = &posterior.observed {
        match &residual.noise {
            Noise::Scales { levels, .. } => set_scales(levels, &mut state, stream),
            Noise::Covariance { slots, .. } => {
                let covariance = &mut state[slots.clone()];
                covariance.fill(0.0);
                for output in 0..residual.outputs {
                    covariance[output * (residual.outputs + 1)] = SCALE * SCALE;
                }
            }
        }
        match &residual.dof {
            ResidualDof::Fixed(_) => {}
            ResidualDof::Grid { slot, grid } => state[*slot] = nearest(grid.dofs()),
            ResidualDof::Continuous { slot, .. } => state[*slot] = RESIDUAL_DOF,
        }
    }
    state
}

fn set_scales(levels: &Levels, state: &mut [f64], stream: &mut Stream) {
    for slot in levels.slots.clone() {
        state[slot] = SCALE.ln() + SPREAD * stream.normal();
    }
    if let Above::Sampled { slot, .. } = levels.above {
        state[slot] = SCALE.ln() + SPREAD * stream.normal();
    }
    if let DofSource::Sampled { slot, grid } = &levels.dof {
        state[*slot] = grid.dofs()[grid.dofs().len() / 2];
    }
}

fn nearest(dofs: &[f64]) -> f64 {
    let distance = |dof: &&f64| (**dof - RESIDUAL_DOF).abs();
    dofs.iter().min_by(|a, b| distance(a).total_cmp(&distance(b))).copied().unwrap_or(RESIDUAL_DOF)
}
