//! Where the functions of a state come from: all rows, or the nearest ones.

use posteria_linalg::Matrix;

use super::conditioned::{Conditioned, draw_normal};
use super::neighbours::NeighbourConditioned;
use super::observed::Observed;
use super::posterior::GpPosterior;
use super::slopes::{Known, Normal};
use crate::random::Stream;
use crate::target::Infeasible;

/// The processes of one state, ready to predict.
pub(super) enum Source<'p> {
    /// From all training rows.
    All(Box<Conditioned<'p>>),
    /// From the nearest training rows.
    Nearest(Box<NeighbourConditioned<'p>>),
}

impl<'p> Source<'p> {
    pub(super) fn new(posterior: &'p GpPosterior) -> Self {
        match (&posterior.observed, &posterior.neighbours) {
            (Observed::Real(residual), Some(neighbours)) => Source::Nearest(Box::new(
                NeighbourConditioned::new(posterior, residual, neighbours.most + 1),
            )),
            _ => Source::All(Box::new(Conditioned::new(posterior))),
        }
    }

    /// Takes a state.
    pub(super) fn condition(&mut self, state: &[f64]) {
        match self {
            Source::All(all) => all.condition(state),
            Source::Nearest(nearest) => nearest.condition(state),
        }
    }

    /// Means and variances of function number `function` at new rows, jitter included.
    pub(super) fn predict(
        &mut self,
        function: usize,
        inputs: &Matrix,
        means: &mut [f64],
        variances: &mut [f64],
    ) -> Result<(), Infeasible> {
        match self {
            Source::All(all) => all.predict(function, inputs, means, variances),
            Source::Nearest(nearest) => {
                nearest.predict(function, inputs, false, (means, variances))
            }
        }
    }

    /// Means of all functions at new rows, f·n + i; not a number where they cannot be found.
    pub(super) fn means(&mut self, inputs: &Matrix, means: &mut [f64]) {
        let nearest = match self {
            Source::All(all) => return all.means(inputs, means),
            Source::Nearest(nearest) => nearest,
        };
        let rows = inputs.rows();
        let mut variances = vec![0.0; rows];
        for (function, means) in means.chunks_mut(rows.max(1)).enumerate() {
            let at = (&mut *means, &mut variances[..]);
            if nearest.predict(function, inputs, false, at).is_err() {
                means.fill(f64::NAN);
            }
        }
    }

    /// A joint draw of function number `function` at new rows, jitter included, given what was
    /// observed or before anything was.
    pub(super) fn draw(
        &mut self,
        function: usize,
        inputs: &Matrix,
        observed: bool,
        stream: &mut Stream,
        values: &mut [f64],
    ) -> Result<(), Infeasible> {
        match self {
            Source::All(all) if observed => all.draw(function, inputs, stream, values),
            Source::All(all) => all.draw_prior(function, inputs, stream, values),
            Source::Nearest(nearest) => nearest.draw(function, inputs, observed, stream, values),
        }
    }

    /// Mean and variance of Σ_i w_i f(x_i) of function number `function`, without jitter.
    pub(super) fn weighted_sum(
        &mut self,
        function: usize,
        inputs: &Matrix,
        weights: &[f64],
    ) -> Result<(f64, f64), Infeasible> {
        match self {
            Source::All(all) => all.with_known(function, |known| known.sum(inputs, weights)),
            Source::Nearest(nearest) => {
                nearest.with_known(function, inputs, |known| known.sum(inputs, weights))
            }
        }
    }

    /// A joint draw of function number `function` at new rows and of its slopes by an input
    /// there, without jitter.
    pub(super) fn draw_with_slopes(
        &mut self,
        function: usize,
        (inputs, input): (&Matrix, usize),
        stream: &mut Stream,
        (values, slopes): (&mut [f64], &mut [f64]),
    ) -> Result<(), Infeasible> {
        let moments = |known: &Known<'_>| known.with_slopes(inputs, input);
        let Normal { means, mut covariances, largest } = match self {
            Source::All(all) => all.with_known(function, moments),
            Source::Nearest(nearest) => nearest.with_known(function, inputs, moments),
        }?;
        let mut drawn = vec![0.0; means.len()];
        draw_normal(&mut covariances, largest, stream, &mut drawn)?;
        drawn.iter_mut().zip(&means).for_each(|(value, mean)| *value += mean);
        let rows = values.len();
        values.copy_from_slice(&drawn[..rows]);
        slopes.copy_from_slice(&drawn[rows..]);
        Ok(())
    }

    /// A joint draw of function number `function` at all training rows given the targets, jitter
    /// included; where functions are integrated out.
    pub(super) fn draw_training_function(
        &mut self,
        function: usize,
        stream: &mut Stream,
        values: &mut [f64],
    ) -> Result<(), Infeasible> {
        match self {
            Source::All(all) => all.draw_training_function(function, stream, values),
            Source::Nearest(nearest) => nearest.draw_training_function(function, stream, values),
        }
    }

    /// Means and variances of function number `function` at every training row given all *other*
    /// rows, or the nearest of them; jitter included.
    pub(super) fn leave_one_out(
        &mut self,
        function: usize,
        inputs: &Matrix,
        means: &mut [f64],
        variances: &mut [f64],
    ) -> Result<(), Infeasible> {
        match self {
            Source::All(all) => all.leave_one_out(function, means, variances),
            Source::Nearest(nearest) => nearest.predict(function, inputs, true, (means, variances)),
        }
    }
}
