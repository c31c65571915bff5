//! Evaluate draws of a Gaussian process at new rows.

use std::ops::Range;

use posteria_linalg::Matrix;

use super::layout;
use super::observed::Observed;
use super::posterior::GpPosterior;
use super::response::{Functions, Response};
use super::source::Source;
use crate::draws::{Layout, Role};
use crate::predict::{Family, Predictive, Predictor, split_offsets};
use crate::random::Stream;

/// Evaluates draws of a Gaussian process at new rows.
///
/// Given a draw a function is normal at every row, f* ~ N(m, v) with the plain formulas
/// m = kᵀC⁻¹y and v = c(x*, x*) - kᵀC⁻¹k [MCMCstuff manual §4.1], or with the latent values in place
/// of the targets; what the target follows includes v.
pub(super) struct GpPredictor<'p> {
    posterior: &'p GpPosterior,
    source: Source<'p>,
    response: Response<'p>,
    state: Vec<f64>,
    /// Where latents are in a draw.
    latents: Range<usize>,
    means: Vec<f64>,
    variances: Vec<f64>,
}

/// Where functions at the training rows come from.
#[derive(Clone, Copy, PartialEq)]
enum Given {
    Latents,
    Functions,
}

impl<'p> GpPredictor<'p> {
    pub(super) fn new(posterior: &'p GpPosterior, layout: &Layout) -> Self {
        GpPredictor {
            posterior,
            source: Source::new(posterior),
            response: Response::new(posterior, layout),
            state: vec![0.0; posterior.latents.end],
            latents: layout.range_of(Role::Latents),
            means: Vec::new(),
            variances: Vec::new(),
        }
    }

    /// Takes a draw back to the state it was written from, as far as predictions need it.
    fn condition(&mut self, draw: &[f64]) {
        let mut next = layout::read(self.posterior, draw, &mut self.state);
        if let Observed::Real(residual) = &self.posterior.observed {
            let take = || {
                next += 1;
                draw[next - 1]
            };
            residual.restore(take, &self.posterior.target_scaling, &mut self.state);
        }
        let rows = self.posterior.row_count();
        let functions = self.posterior.observed.functions();
        for (index, value) in draw[self.latents.clone()].iter().enumerate() {
            let (row, function) = (index / functions, index % functions);
            self.state[self.posterior.latents.start + function * rows + row] = *value;
        }
        self.source.condition(&self.state);
    }

    /// Joint draws of all functions, given what was observed or before anything was.
    fn draw_jointly(
        &mut self,
        draw: &[f64],
        inputs: &Matrix,
        observed: bool,
        stream: &mut Stream,
        outputs: &mut [f64],
    ) {
        self.condition(draw);
        let rows = inputs.rows();
        for function in 0..self.resize(rows) {
            let values = &mut self.means[function * rows..(function + 1) * rows];
            if self.source.draw(function, inputs, observed, stream, values).is_err() {
                values.fill(f64::NAN);
            }
        }
        self.response.show(draw, rows, &self.means, outputs);
    }

    /// Draws targets at the training rows given functions there: those of the state, or those in
    /// the room for means.
    fn outcomes(&mut self, draw: &[f64], given: Given, stream: &mut Stream, targets: &mut [f64]) {
        let posterior = self.posterior;
        let rows = posterior.row_count();
        self.resize(rows);
        if given == Given::Latents {
            self.means.copy_from_slice(&self.state[posterior.latents.clone()]);
        }
        self.variances.fill(0.0);
        let family = self.family();
        let mut parameters = vec![0.0; rows * family.width()];
        let functions = Functions { means: &self.means, variances: &self.variances };
        self.response.write(draw, &posterior.inputs, &functions, &mut parameters);
        self.expose(&mut parameters);
        let each = parameters.chunks_exact(family.width());
        for (parameters, targets) in each.zip(targets.chunks_exact_mut(family.targets())) {
            Predictive::new(family, parameters).draw(stream, targets);
        }
    }

    /// Takes the mean counts of the training rows from those for an exposure of one.
    fn expose(&self, parameters: &mut [f64]) {
        if let Observed::Outcomes(outcomes) = &self.posterior.observed {
            self.family().add_offsets(outcomes.offsets(), outcomes.centre(), parameters);
        }
    }

    /// Room for means and variances of all functions at `rows` rows, f·n + i.
    fn resize(&mut self, rows: usize) -> usize {
        let functions = self.posterior.observed.functions();
        self.means.resize(rows * functions, 0.0);
        self.variances.resize(rows * functions, 0.0);
        functions
    }
}

impl Predictor for GpPredictor<'_> {
    fn family(&self) -> Family {
        self.response.family()
    }

    fn at(&mut self, draw: &[f64], inputs: &Matrix, parameters: &mut [f64]) {
        let (inputs, offsets) = split_offsets(inputs, self.posterior.inputs.columns());
        let inputs = &*inputs;
        self.condition(draw);
        let rows = inputs.rows();
        for function in 0..self.resize(rows) {
            let range = function * rows..(function + 1) * rows;
            let means = &mut self.means[range.clone()];
            let variances = &mut self.variances[range];
            // A draw that was kept had a covariance that could be factorised.
            if self.source.predict(function, inputs, means, variances).is_err() {
                means.fill(f64::NAN);
                variances.fill(f64::NAN);
            }
        }
        let functions = Functions { means: &self.means, variances: &self.variances };
        self.response.write(draw, inputs, &functions, parameters);
        if let Some(offsets) = offsets {
            self.family().add_offsets(offsets, 0.0, parameters);
        }
    }

    fn functions(&mut self, draw: &[f64], inputs: &Matrix, outputs: &mut [f64]) {
        self.condition(draw);
        self.resize(inputs.rows());
        self.source.means(inputs, &mut self.means);
        self.response.show(draw, inputs.rows(), &self.means, outputs);
    }

    fn draw_functions(
        &mut self,
        draw: &[f64],
        inputs: &Matrix,
        stream: &mut Stream,
        outputs: &mut [f64],
    ) {
        self.draw_jointly(draw, inputs, true, stream, outputs);
    }

    fn draw_prior_functions(
        &mut self,
        draw: &[f64],
        inputs: &Matrix,
        stream: &mut Stream,
        outputs: &mut [f64],
    ) {
        self.draw_jointly(draw, inputs, false, stream, outputs);
    }

    fn leaves_open(&self) -> bool {
        true
    }

    fn weighted_sums(
        &mut self,
        draw: &[f64],
        inputs: &Matrix,
        weights: &[f64],
    ) -> Option<Vec<(f64, f64)>> {
        self.condition(draw);
        let each = 0..self.posterior.observed.functions();
        let nothing = (f64::NAN, f64::NAN);
        let sums = each
            .map(|function| self.source.weighted_sum(function, inputs, weights).unwrap_or(nothing));
        let sums: Vec<(f64, f64)> = sums.collect();
        self.response.show_sums(&sums, weights.iter().sum())
    }

    fn draw_slopes(
        &mut self,
        draw: &[f64],
        inputs: &Matrix,
        input: usize,
        stream: &mut Stream,
        slopes: &mut [f64],
    ) -> bool {
        if !self.posterior.covariance.is_differentiable(input) {
            return false;
        }
        self.condition(draw);
        let rows = inputs.rows();
        // Slopes are in the room for variances.
        for function in 0..self.resize(rows) {
            let range = function * rows..(function + 1) * rows;
            let (values, slopes) = (&mut self.means[range.clone()], &mut self.variances[range]);
            let into = (&mut *values, &mut *slopes);
            if self.source.draw_with_slopes(function, (inputs, input), stream, into).is_err() {
                slopes.fill(f64::NAN);
            }
        }
        self.response.show_slopes(draw, rows, (&self.means, &self.variances), slopes);
        true
    }

    fn at_training_rows(&mut self, draw: &[f64], parameters: &mut [f64]) {
        let posterior = self.posterior;
        self.at(draw, &posterior.inputs, parameters);
        self.expose(parameters);
    }

    fn replicate(&mut self, draw: &[f64], stream: &mut Stream, targets: &mut [f64]) {
        self.condition(draw);
        let (posterior, rows) = (self.posterior, self.posterior.row_count());
        if posterior.keeps_latents() {
            return self.outcomes(draw, Given::Latents, stream, targets);
        }
        for function in 0..self.resize(rows) {
            let values = &mut self.means[function * rows..(function + 1) * rows];
            if self.source.draw_training_function(function, stream, values).is_err() {
                values.fill(f64::NAN);
            }
        }
        self.outcomes(draw, Given::Functions, stream, targets);
    }

    fn replicate_prior(&mut self, draw: &[f64], stream: &mut Stream, targets: &mut [f64]) {
        self.condition(draw);
        let (posterior, rows) = (self.posterior, self.posterior.row_count());
        if posterior.keeps_latents() {
            return self.outcomes(draw, Given::Latents, stream, targets);
        }
        for function in 0..self.resize(rows) {
            let values = &mut self.means[function * rows..(function + 1) * rows];
            let drawn = self.source.draw(function, &posterior.inputs, false, stream, values);
            if drawn.is_err() {
                values.fill(f64::NAN);
            }
        }
        self.outcomes(draw, Given::Functions, stream, targets);
    }

    fn leave_one_out(&mut self, draw: &[f64], parameters: &mut [f64]) {
        self.condition(draw);
        let posterior = self.posterior;
        let rows = posterior.row_count();
        for function in 0..self.resize(rows) {
            let range = function * rows..(function + 1) * rows;
            let means = &mut self.means[range.clone()];
            let variances = &mut self.variances[range];
            if self.source.leave_one_out(function, &posterior.inputs, means, variances).is_err() {
                means.fill(f64::NAN);
                variances.fill(f64::NAN);
            }
        }
        let functions = Functions { means: &self.means, variances: &self.variances };
        self.response.write(draw, &posterior.inputs, &functions, parameters);
        self.expose(parameters);
    }
}
