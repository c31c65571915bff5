//! From a specification and data to a posterior that can be sampled.

mod builders;
mod custom;
mod error;
mod findings;
pub mod gp;
mod independent_draw;
pub mod linear;
pub mod mixture;
pub mod mlp;
mod outcome;
pub mod pca;
pub mod prior;
mod regularised;
mod residual;
pub mod selection;
pub mod spec;
mod usable;

pub use builders::{Gp, Linear, Mlp};
pub use custom::Custom;
pub use error::ModelError;
pub use findings::VariationalFindings;
pub use regularised::{Decay, Noise, Outputs, Regularised, Response, Scales};

use std::ops::Range;
use std::sync::Arc;

use crate::draws::Layout;
use crate::predict::Predictor;
use crate::random::Stream;
use crate::sample::{Kernel, Sweep, Update};
use crate::target::{Infeasible, Terms};

/// A model conditioned on one dataset: immutable, shared by all chains.
pub trait Posterior: Send + Sync {
    /// Names of what a draw holds (the state on the user's scale).
    fn layout(&self) -> &Layout;

    /// Number of rows with a log likelihood of their own; 0 if the likelihood does not
    /// factorise over rows.
    fn rows(&self) -> usize;

    /// Number of entries of a state.
    fn state_len(&self) -> usize;

    /// Parts of a state that hold something of every row: number j of row i at index
    /// j · [`Posterior::rows`] + i of the part. A chain given some of the rows can begin where
    /// one given all of them is: only these parts differ in length.
    fn row_parts(&self) -> Vec<Range<usize>> {
        Vec::new()
    }

    /// A starting state, dispersed over the prior or about a rough mode.
    fn start(&self, stream: &mut Stream) -> Vec<f64>;

    /// One pass over all blocks of the state, for prior × likelihood^β. Built once per chain;
    /// owns its buffers.
    fn sweep<'p>(&'p self, inverse_temperature: f64) -> Sweep<'p>;

    /// A pass that does no more than is worth an exchange of states, for one of many temperatures
    /// that are sampled together: exchanges carry a state farther than long trajectories do.
    fn short_sweep<'p>(&'p self, inverse_temperature: f64) -> Sweep<'p> {
        self.sweep(inverse_temperature)
    }

    /// What turns a state into a draw. Built once per chain; owns its buffers.
    fn evaluator<'p>(&'p self) -> Box<dyn Evaluator + 'p>;

    /// A draw of everything from the prior, as [`Posterior::layout`] names it: what the model says
    /// before it sees the targets. `None` for a model that cannot tell. Heavy-tailed priors give
    /// enormous numbers, and infinite ones where the user's unit is large.
    fn draw_prior(&self, stream: &mut Stream) -> Option<Vec<f64>> {
        let _ = stream;
        None
    }

    /// A state drawn from the prior, exactly: where paths from the prior to the posterior begin.
    /// `None` for a model that cannot tell.
    fn draw_prior_state(&self, stream: &mut Stream) -> Option<Vec<f64>> {
        let _ = stream;
        None
    }

    /// Draws anew what the [`Terms`] of a state have integrated out (κ of residuals, say), for
    /// prior × likelihood^β: a state that comes from another temperature needs it before it is
    /// swept. `None` where a sweep begins with that by itself, or there is nothing of the kind.
    fn refresh<'p>(&'p self, inverse_temperature: f64) -> Option<Box<dyn Update + 'p>> {
        let _ = inverse_temperature;
        None
    }

    /// Entries of a state over which exp(log prior + log likelihood) is a density on ℝⁿ, all
    /// other entries being known or integrated out; `None` where some are discrete or bound to
    /// each other.
    fn density_slots(&self) -> Option<Vec<usize>> {
        None
    }

    /// The state that a draw stands for, as far as its density depends on it: what
    /// [`Evaluator::evaluate`] makes a draw of, backwards. What the density has integrated out (κ of
    /// residuals, say) is put where it does no harm. `None` where a draw does not hold all of its
    /// state: latent functions, values of inputs that are out.
    fn state_of(&self, draw: &[f64]) -> Option<Vec<f64>> {
        let _ = draw;
        None
    }

    /// Entries of a state that any affine map may move, all others held still or integrated out:
    /// exp(log prior + log likelihood) is a density of them on ℝⁿ given the others. More than
    /// [`Posterior::density_slots`], which has none where other entries are discrete or bound to
    /// each other.
    fn movable_slots(&self) -> Vec<usize> {
        self.density_slots().unwrap_or_default()
    }

    /// The log evidence of the targets in the user's unit, where it is known without sampling.
    fn exact_log_evidence(&self) -> Option<f64> {
        None
    }

    /// What predicts the targets of new rows from draws; `None` if there is nothing to predict.
    /// Built once per thread; owns its buffers.
    fn predictor<'p>(&'p self) -> Option<Box<dyn Predictor + 'p>> {
        None
    }
}

/// Builds the kernel that moves a block of the given dimension; called once per chain.
pub type KernelFactory<'a> = Arc<dyn Fn(usize) -> Box<dyn Kernel> + Send + Sync + 'a>;

/// Turns states into draws.
pub trait Evaluator: Send {
    /// Writes the draw that `state` stands for (as [`Posterior::layout`] names it) and the log
    /// likelihood of every row; returns the normalised terms of the posterior.
    ///
    /// # Errors
    /// [`Infeasible`] if the state has no usable density.
    fn evaluate(
        &mut self,
        state: &[f64],
        draw: &mut [f64],
        log_likelihood: &mut [f64],
    ) -> Result<Terms, Infeasible>;

    /// Draws what the state of the last [`Evaluator::evaluate`] leaves open of its `draw`:
    /// functions that are integrated out, for which `evaluate` writes their means. Nothing where a
    /// state settles all that a draw holds.
    fn complete(&mut self, draw: &mut [f64], stream: &mut Stream) {
        let _ = (draw, stream);
    }

    /// As [`Evaluator::evaluate`], where the log likelihoods of single rows are not wanted: `rows` is
    /// room for them, with anything in it afterwards. Where their sum is known without them, the
    /// effort does not grow with the number of rows.
    ///
    /// # Errors
    /// [`Infeasible`] if the state has no usable density.
    fn evaluate_sum(
        &mut self,
        state: &[f64],
        draw: &mut [f64],
        rows: &mut [f64],
    ) -> Result<Terms, Infeasible> {
        self.evaluate(state, draw, rows)
    }
}
