//! Choose where the chains of a network start.

use super::hierarchy::Scale;
use super::observed::Observed;
use super::posterior::MlpPosterior;
use crate::model::spec::StartChoice;
use crate::random::Stream;

/// Scales start about this standard deviation, of the order of standardised data.
const SCALE: f64 = 0.5;
/// Spread of the logarithms of starting scales between chains.
const SPREAD: f64 = 0.5;
/// Standard deviation of starting weights.
const WEIGHT: f64 = 0.3;

/// A starting state.
pub(super) fn start(posterior: &MlpPosterior, stream: &mut Stream) -> Vec<f64> {
    match posterior.moves.start {
        StartChoice::Prior => from_prior(posterior, stream),
        StartChoice::Dispersed | StartChoice::Variational => dispersed(posterior, stream),
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
    if let Observed::Outcomes(outcomes) = &posterior.observed {
        outcomes.draw_prior(&mut state, stream);
    }
    if let Some(selection) = &posterior.hierarchy.selection {
        selection.draw_prior(&mut state, stream);
    }
    state
}

/// Small weights and moderate scales.
pub(super) fn dispersed(posterior: &MlpPosterior, stream: &mut Stream) -> Vec<f64> {
    // From the prior first, so that degrees of freedom and multipliers have values of it.
    let mut state = from_prior(posterior, stream);
    for group in &posterior.hierarchy.groups {
        if let Scale::Sampled(levels) = &group.scale {
            levels.start(&mut state, SCALE.ln(), SPREAD, stream);
        }
        if let Some(multipliers) = &group.multipliers {
            state[multipliers.slots.clone()].fill(0.0);
        }
        for weight in &mut state[group.members.clone()] {
            *weight = WEIGHT * stream.normal();
        }
    }
    if let Observed::Real(residual) = &posterior.observed {
        residual.start(&mut state, stream);
    }
    if let Observed::Outcomes(outcomes) = &posterior.observed {
        outcomes.start(&mut state, stream);
    }
    state
}
