//! Evaluate draws of a Gaussian process at new rows.

use std::ops::Range;

use posteria_linalg::Matrix;

use super::conditioned::Conditioned;
use super::layout;
use super::observed::Observed;
use super::posterior::GpPosterior;
use crate::draws::Layout;
use crate::predict::{Family, Predictor};

/// Evaluates draws of a Gaussian process at new rows.
pub(super) struct GpPredictor<'p> {
    posterior: &'p GpPosterior,
    conditioned: Conditioned<'p>,
    state: Vec<f64>,
    /// Where residual scales and latents are in a draw.
    scales: Range<usize>,
    latents: Range<usize>,
    means: Vec<f64>,
    variances: Vec<f64>,
}

impl<'p> GpPredictor<'p> {
    pub(super) fn new(posterior: &'p GpPosterior, layout: &Layout) -> Self {
        let range = |name: &str| layout.variable(name).map_or(0..0, |variable| variable.range());
        GpPredictor {
            posterior,
            conditioned: Conditioned::new(posterior),
            state: vec![0.0; posterior.latents.end],
            scales: range("residual_scale"),
            latents: range("latents"),
            means: Vec::new(),
            variances: Vec::new(),
        }
    }

    /// Takes a draw back to the state it was written from, as far as predictions need it.
    fn condition(&mut self, draw: &[f64]) {
        layout::read(self.posterior, draw, &mut self.state);
        if let Observed::Real(residual) = &self.posterior.observed {
            residual.read(
                draw,
                self.scales.clone(),
                &self.posterior.target_scaling,
                &mut self.state,
            );
        }
        let rows = self.posterior.row_count();
        let functions = self.posterior.observed.functions();
        for (index, value) in draw[self.latents.clone()].iter().enumerate() {
            let (row, function) = (index / functions, index % functions);
            self.state[self.posterior.latents.start + function * rows + row] = *value;
        }
        self.conditioned.condition(&self.state);
    }

    /// Means and variances of all functions, f·n + i.
    fn forward(&mut self, draw: &[f64], inputs: &Matrix) {
        self.condition(draw);
        let rows = inputs.rows();
        let functions = self.posterior.observed.functions();
        self.means.resize(rows * functions, 0.0);
        self.variances.resize(rows * functions, 0.0);
        for function in 0..functions {
            let range = function * rows..(function + 1) * rows;
            let means = &mut self.means[range.clone()];
            let variances = &mut self.variances[range];
            // A draw that was kept had a covariance that could be factorised.
            if self.conditioned.predict(function, inputs, means, variances).is_err() {
                means.fill(f64::NAN);
            }
        }
    }
}

impl Predictor for GpPredictor<'_> {
    fn family(&self) -> Family {
        let functions = self.posterior.observed.functions();
        match &self.posterior.observed {
            Observed::Real(_) => Family::Normal { outputs: functions },
            Observed::Binary { .. } => Family::Bernoulli,
            Observed::Multiclass { .. } => Family::Categorical { classes: functions + 1 },
        }
    }

    fn at(&mut self, draw: &[f64], inputs: &Matrix, parameters: &mut [f64]) {
        self.forward(draw, inputs);
        let rows = inputs.rows();
        let width = self.family().width();
        for (row, parameters) in parameters.chunks_mut(width).enumerate() {
            for (target, slot) in parameters.chunks_mut(2).enumerate() {
                let scaling = &self.posterior.target_scaling[target];
                let scale = draw[self.scales.start + target];
                slot[0] = scaling.invert(self.means[target * rows + row]);
                let variance = self.variances[target * rows + row] * scaling.scale.powi(2);
                slot[1] = (variance + scale * scale).sqrt();
            }
        }
    }

    fn functions(&mut self, draw: &[f64], inputs: &Matrix, outputs: &mut [f64]) {
        self.forward(draw, inputs);
        let rows = inputs.rows();
        let count = self.posterior.observed.functions();
        for (row, outputs) in outputs.chunks_mut(count).enumerate() {
            for (function, slot) in outputs.iter_mut().enumerate() {
                let value = self.means[function * rows + row];
                *slot =
                    self.posterior.target_scaling.get(function).map_or(value, |s| s.invert(value));
            }
        }
    }
}
