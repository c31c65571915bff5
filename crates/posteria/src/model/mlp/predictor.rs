//! Evaluate draws of a network at new rows.

use std::ops::Range;

use posteria_linalg::Matrix;

use super::linear_outputs::LinearOutputs;
use super::network::{Network, Rows};
use super::observed::Observed;
use super::posterior::MlpPosterior;
use crate::draws::Layout;
use crate::model::residual::ResidualPlaces;
use crate::predict::{Family, Predictor, split_offsets};

/// Evaluates draws of a network at new rows.
pub(super) struct MlpPredictor<'p> {
    posterior: &'p MlpPosterior,
    /// The outputs, where they are taken as linear in the weights.
    linear: Option<LinearOutputs>,
    places: ResidualPlaces,
    /// Where σ of counts or durations is, or the cut points of ordered classes.
    given: Range<usize>,
    outputs: Vec<f64>,
}

impl<'p> MlpPredictor<'p> {
    pub(super) fn new(posterior: &'p MlpPosterior, layout: &Layout) -> Self {
        MlpPredictor {
            posterior,
            linear: None,
            places: ResidualPlaces::new(layout),
            given: match &posterior.observed {
                Observed::Outcomes(outcomes) => outcomes.places(layout),
                _ => 0..0,
            },
            outputs: Vec::new(),
        }
    }

    /// The same with outputs that are linear in the weights about these.
    pub(super) fn linear_about(self, weights: &[f64]) -> Self {
        let linear = LinearOutputs::new(self.posterior.shape, weights);
        MlpPredictor { linear: Some(linear), ..self }
    }

    /// Standardised outputs o·n + i.
    fn forward(&mut self, draw: &[f64], rows: &Rows) {
        let shape = self.posterior.shape;
        self.outputs.resize(rows.len() * shape.outputs, 0.0);
        let (weights, outputs) = (&draw[..shape.len()], &mut self.outputs);
        match &mut self.linear {
            Some(linear) => linear.outputs(weights, rows, outputs),
            None => Network::new(shape, rows).outputs(weights, outputs),
        }
    }

    /// Writes the parameters of every row.
    fn at_rows(&mut self, draw: &[f64], rows: &Rows, parameters: &mut [f64]) {
        // Of counts for an exposure of one.
        self.forward(draw, rows);
        let posterior = self.posterior;
        match &posterior.observed {
            Observed::Real(residual) => {
                let (scaling, outputs) = (&posterior.target_scaling, &self.outputs);
                let location = |row: usize, output: usize| {
                    scaling[output].invert(outputs[output * rows.len() + row])
                };
                let input = |row: usize, k: usize| rows.double().value(row, k);
                self.places.write(residual, draw, location, input, parameters);
            }
            Observed::Outcomes(outcomes) => {
                let given = &draw[self.given.clone()];
                let width = self.family().width();
                for (place, f) in parameters.chunks_exact_mut(width).zip(&self.outputs) {
                    let location = outcomes.scaling().invert(*f);
                    outcomes.write_parameters((location, 0.0), given, place);
                }
            }
            _ => self.by_row(rows.len(), parameters),
        }
    }
}

impl Predictor for MlpPredictor<'_> {
    fn family(&self) -> Family {
        let outputs = self.posterior.shape.outputs;
        match &self.posterior.observed {
            Observed::Real(residual) => residual.predictive_family(),
            Observed::Binary { .. } => Family::Bernoulli,
            Observed::Multiclass { .. } => Family::Categorical { classes: outputs },
            Observed::Outcomes(outcomes) => outcomes.family(),
        }
    }

    fn at(&mut self, draw: &[f64], inputs: &Matrix, parameters: &mut [f64]) {
        let (inputs, offsets) = split_offsets(inputs, self.posterior.shape.inputs);
        self.at_rows(draw, &Rows::new(&inputs), parameters);
        if let Some(offsets) = offsets {
            self.family().add_offsets(offsets, 0.0, parameters);
        }
    }

    fn at_training_rows(&mut self, draw: &[f64], parameters: &mut [f64]) {
        let posterior = self.posterior;
        self.at_rows(draw, &posterior.rows, parameters);
        if let Observed::Outcomes(outcomes) = &posterior.observed {
            self.family().add_offsets(outcomes.offsets(), outcomes.centre(), parameters);
        }
    }

    fn functions(&mut self, draw: &[f64], inputs: &Matrix, outputs: &mut [f64]) {
        let (inputs, _) = split_offsets(inputs, self.posterior.shape.inputs);
        self.forward(draw, &Rows::new(&inputs));
        if let Observed::Outcomes(outcomes) = &self.posterior.observed {
            let (given, scaling) = (&draw[self.given.clone()], outcomes.scaling());
            let rows = outputs.chunks_exact_mut(self.family().functions()).zip(&self.outputs);
            rows.for_each(|(own, f)| outcomes.show(scaling.invert(*f), given, own));
            return;
        }
        self.by_row(inputs.rows(), outputs);
        let count = self.posterior.shape.outputs;
        for row in outputs.chunks_mut(count) {
            for (value, scaling) in row.iter_mut().zip(&self.posterior.target_scaling) {
                *value = scaling.invert(*value);
            }
        }
    }
}

impl MlpPredictor<'_> {
    /// Writes the outputs of a row next to each other.
    fn by_row(&self, rows: usize, slots: &mut [f64]) {
        let count = self.posterior.shape.outputs;
        for (row, slots) in slots.chunks_mut(count).enumerate() {
            for (output, slot) in slots.iter_mut().enumerate() {
                *slot = self.outputs[output * rows + row];
            }
        }
    }
}
