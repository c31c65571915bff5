//! From a specification and data to a posterior that can be sampled.

pub mod accelerator;
mod builders;
mod capabilities;
mod complete;
mod custom;
mod error;
mod findings;
pub mod gp;
mod independent_draw;
mod judged_rows;
pub mod linear;
pub mod mixture;
pub mod mlp;
mod outcome;
pub mod pca;
mod prior;
mod regularised;
mod residual;
pub mod selection;
pub mod spec;
mod symmetry;
mod usable;

pub use builders::{Gp, Linear, Mlp};
pub use capabilities::{StateDensity, Tempering};
pub use custom::Custom;
pub use error::ModelError;
pub use findings::VariationalFindings;
pub(crate) use outcome::two_classes;
pub use regularised::{Decay, Noise, Outputs, Regularised, Response, Scales};
pub use symmetry::Symmetry;

use std::ops::Range;
use std::sync::Arc;

use self::accelerator::AcceleratorError;
use crate::draws::Layout;
use crate::predict::Predictor;
use crate::random::Stream;
use crate::sample::{Kernel, Sweep};
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

    /// What turns a state into a draw. Built once per chain; owns its buffers.
    fn evaluator<'p>(&'p self) -> Box<dyn Evaluator + 'p>;

    /// A draw of everything from the prior, as [`Posterior::layout`] names it: what the model says
    /// before it sees the targets. `None` for a model that cannot tell. Heavy-tailed priors give
    /// enormous numbers, and infinite ones where the user's unit is large.
    fn draw_prior(&self, stream: &mut Stream) -> Option<Vec<f64>> {
        let _ = stream;
        None
    }

    /// What predicts the targets of new rows from draws; `None` if there is nothing to predict.
    /// Built once per thread; owns its buffers.
    fn predictor<'p>(&'p self) -> Option<Box<dyn Predictor + 'p>> {
        None
    }

    /// Why nothing that this is computed by can be used any more, if it cannot: an accelerator that was
    /// lost. Whatever was evaluated since is not a number, or infeasible.
    fn device_failure(&self) -> Option<&AcceleratorError> {
        None
    }

    /// What it can be asked about other temperatures than its own; `None` for a model that can not.
    fn tempering(&self) -> Option<&dyn Tempering> {
        None
    }

    /// What is known of the density of its state; `None` for a model that cannot tell.
    fn state_density(&self) -> Option<&dyn StateDensity> {
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
