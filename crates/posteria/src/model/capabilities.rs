//! Say what only some models can do beside being sampled and predicting.

use super::Posterior;
use crate::random::Stream;
use crate::sample::{Sweep, Update};

/// A model that can be sampled at many temperatures together, and from its prior: what its evidence
/// is found by.
pub trait Tempering: Posterior {
    /// A state drawn from the prior, exactly: where paths from the prior to the posterior begin.
    /// `None` for a model that cannot tell.
    fn draw_prior_state(&self, stream: &mut Stream) -> Option<Vec<f64>>;

    /// A pass that does no more than is worth an exchange of states, for one of many temperatures
    /// that are sampled together: exchanges carry a state farther than long trajectories do.
    fn short_sweep<'p>(&'p self, inverse_temperature: f64) -> Sweep<'p> {
        self.sweep(inverse_temperature)
    }

    /// Draws anew what the [`Terms`](crate::target::Terms) of a state have integrated out (κ of
    /// residuals, say), for prior × likelihood^β: a state that comes from another temperature needs
    /// it before it is swept. `None` where a sweep begins with that by itself, or there is nothing of the kind.
    fn refresh<'p>(&'p self, inverse_temperature: f64) -> Option<Box<dyn Update + 'p>> {
        let _ = inverse_temperature;
        None
    }
}

/// A model that tells of the density of its state: what approximates it, integrates it, or moves
/// draws.
pub trait StateDensity: Posterior {
    /// Entries of a state over which exp(log prior + log likelihood) is a density on ℝⁿ, all
    /// other entries being known or integrated out; `None` where some are discrete or bound to
    /// each other.
    fn density_slots(&self) -> Option<Vec<usize>>;

    /// The state that a draw stands for, as far as its density depends on it: what
    /// [`Evaluator::evaluate`](super::Evaluator::evaluate) makes a draw of, backwards. What the
    /// density has integrated out (κ of residuals, say) is put where it does no harm. `None` where a
    /// draw does not hold all of its state: latent functions, values of inputs that are out.
    fn state_of(&self, draw: &[f64]) -> Option<Vec<f64>>;

    /// Entries of a state that any affine map may move, all others held still or integrated out:
    /// exp(log prior + log likelihood) is a density of them on ℝⁿ given the others. More than
    /// [`StateDensity::density_slots`], which has none where other entries are discrete or bound to
    /// each other.
    fn movable_slots(&self) -> Vec<usize> {
        self.density_slots().unwrap_or_default()
    }

    /// The log evidence of the targets in the user's unit, where it is known without sampling.
    fn exact_log_evidence(&self) -> Option<f64> {
        None
    }
}

impl dyn Posterior + '_ {
    /// As [`Tempering::draw_prior_state`]; `None` for a model that cannot.
    pub(crate) fn prior_state(&self, stream: &mut Stream) -> Option<Vec<f64>> {
        self.tempering()?.draw_prior_state(stream)
    }

    /// As [`StateDensity::density_slots`]; `None` for a model that cannot tell, and where there is
    /// nothing uncertain.
    pub(crate) fn uncertain_slots(&self) -> Option<Vec<usize>> {
        self.state_density()?.density_slots().filter(|slots| !slots.is_empty())
    }
}
