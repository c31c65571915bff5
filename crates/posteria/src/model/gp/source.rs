//! Where the functions of a state come from: all rows, or the nearest ones.

use posteria_linalg::Matrix;

use super::conditioned::Conditioned;
use super::neighbours::NeighbourConditioned;
use super::observed::Observed;
use super::posterior::GpPosterior;
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
