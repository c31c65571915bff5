//! Predict the targets of new rows with a linear model.

use std::ops::Range;

use posteria_linalg::{Matrix, matrix_vector, multiply_transposed};

use super::posterior::{Likelihood, LinearPosterior};
use crate::model::Posterior;
use crate::model::outcome::Outcomes;
use crate::model::residual::ResidualPlaces;
use crate::predict::{Family, Predictor, split_offsets};

/// f = intercept + Σ weight × column at new rows: about f the residual of the draw, or f as the
/// log odds of the second class or the softmax outputs of all.
pub(super) struct LinearPredictor<'p> {
    posterior: &'p LinearPosterior,
    places: ResidualPlaces,
    /// Where σ of counts or durations is, or the cut points of ordered classes.
    given: Range<usize>,
    /// Outputs × columns.
    slopes: Matrix,
    heights: Vec<f64>,
    /// Rows × columns, of new rows whose inputs are not the columns themselves.
    columns: Matrix,
    /// Rows × outputs.
    outputs: Matrix,
}

impl<'p> LinearPredictor<'p> {
    pub(super) fn new(posterior: &'p LinearPosterior) -> Self {
        let layout = posterior.layout();
        let (columns, outputs) = (posterior.user.columns(), posterior.user.outputs());
        LinearPredictor {
            posterior,
            places: ResidualPlaces::new(layout),
            given: match &posterior.likelihood {
                Likelihood::Outcomes(outcomes) => outcomes.places(layout),
                _ => 0..0,
            },
            slopes: Matrix::zeros(outputs, columns),
            heights: vec![0.0; outputs],
            columns: Matrix::zeros(0, columns),
            outputs: Matrix::zeros(0, outputs),
        }
    }

    /// Outputs at rows of standardised inputs.
    fn forward(&mut self, draw: &[f64], inputs: &Matrix) {
        let columns = &self.posterior.columns;
        let rows = inputs.rows();
        if self.outputs.rows() != rows {
            self.outputs = Matrix::zeros(rows, self.heights.len());
        }
        self.posterior.user.lines(draw, &mut self.slopes, &mut self.heights);
        let design = if columns.expanded {
            if self.columns.rows() != rows {
                self.columns = Matrix::zeros(rows, columns.len());
            }
            columns.write(inputs, 0, &mut self.columns);
            &self.columns
        } else {
            inputs
        };
        if self.heights.len() == 1 {
            matrix_vector(design, self.slopes.values(), self.outputs.column_mut(0));
        } else {
            multiply_transposed(design, &self.slopes, &mut self.outputs);
        }
        for (output, height) in self.heights.iter().enumerate() {
            self.outputs.column_mut(output).iter_mut().for_each(|f| *f += height);
        }
    }

    /// What every row follows for an exposure of one.
    fn outcomes(&self, outcomes: &Outcomes, draw: &[f64], parameters: &mut [f64]) {
        let given = &draw[self.given.clone()];
        for (row, place) in parameters.chunks_exact_mut(self.family().width()).enumerate() {
            outcomes.write_parameters((self.outputs[(row, 0)], 0.0), given, place);
        }
    }

    /// Writes the outputs of a row next to each other.
    fn by_row(&self, slots: &mut [f64]) {
        let (rows, outputs) = (self.outputs.rows(), self.outputs.columns());
        assert_eq!(slots.len(), rows * outputs, "one place per row and output");
        for (row, slots) in slots.chunks_exact_mut(outputs).enumerate() {
            for (output, slot) in slots.iter_mut().enumerate() {
                *slot = self.outputs[(row, output)];
            }
        }
    }
}

impl Predictor for LinearPredictor<'_> {
    fn family(&self) -> Family {
        match &self.posterior.likelihood {
            Likelihood::Real(regression) => regression.residual.predictive_family(),
            Likelihood::Logistic(_) => Family::Bernoulli,
            Likelihood::Softmax { classes, .. } => Family::Categorical { classes: *classes },
            Likelihood::Outcomes(outcomes) => outcomes.family(),
        }
    }

    fn at(&mut self, draw: &[f64], inputs: &Matrix, parameters: &mut [f64]) {
        let width = self.family().width();
        assert_eq!(parameters.len(), width * inputs.rows(), "all parameters of every row");
        let own = self.posterior.inputs.columns();
        let (inputs, offsets) = split_offsets(inputs, own);
        let inputs = &*inputs;
        self.forward(draw, inputs);
        match &self.posterior.likelihood {
            Likelihood::Outcomes(outcomes) => {
                self.outcomes(outcomes, draw, parameters);
                if let Some(offsets) = offsets {
                    self.family().add_offsets(offsets, 0.0, parameters);
                }
            }
            Likelihood::Real(regression) => {
                let location = |row: usize, output: usize| self.outputs[(row, output)];
                let input = |row: usize, k: usize| inputs[(row, k)];
                self.places.write(&regression.residual, draw, location, input, parameters);
            }
            _ => self.by_row(parameters),
        }
    }

    fn at_training_rows(&mut self, draw: &[f64], parameters: &mut [f64]) {
        let posterior = self.posterior;
        self.at(draw, &posterior.inputs, parameters);
        if let Likelihood::Outcomes(outcomes) = &posterior.likelihood {
            // The centre is in the intercept.
            self.family().add_offsets(outcomes.offsets(), outcomes.centre(), parameters);
        }
    }

    fn functions(&mut self, draw: &[f64], inputs: &Matrix, outputs: &mut [f64]) {
        let (inputs, _) = split_offsets(inputs, self.posterior.inputs.columns());
        self.forward(draw, &inputs);
        match &self.posterior.likelihood {
            Likelihood::Outcomes(outcomes) => {
                let given = &draw[self.given.clone()];
                let each = outputs.chunks_exact_mut(self.family().functions()).enumerate();
                each.for_each(|(row, own)| outcomes.show(self.outputs[(row, 0)], given, own));
            }
            _ => self.by_row(outputs),
        }
    }
}
