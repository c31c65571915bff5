//! Predict the targets of new rows with a linear model.

use std::ops::Range;

use posteria_linalg::{Matrix, matrix_vector, multiply_transposed};

use super::ordered::{CUT_POINTS, terms};
use super::posterior::{Likelihood, LinearPosterior};
use crate::draws::Role;
use crate::model::Posterior;
use crate::model::outcome::Outcomes;
use crate::model::residual::Residual;
use crate::model::spec::ResidualFamily;
use crate::predict::{Family, Predictor, split_offsets};

/// f = intercept + Σ weight × column at new rows: about f the residual of the draw, or f as the
/// log odds of the second class or the softmax outputs of all.
pub(super) struct LinearPredictor<'p> {
    posterior: &'p LinearPosterior,
    /// Where scales, common scale and degrees of freedom of residuals are in a draw.
    scales: Range<usize>,
    above: Option<usize>,
    dof: Option<usize>,
    /// Where the cut points of ordered classes are.
    cuts: Range<usize>,
    /// Where σ of counts or durations is.
    sigma: Option<usize>,
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
        let scales = layout.range_of(Role::ResidualScale);
        let (columns, outputs) = (posterior.user.columns(), posterior.user.outputs());
        LinearPredictor {
            posterior,
            scales,
            above: layout.place_of(Role::ResidualScaleAbove),
            dof: layout.place_of(Role::ResidualDof),
            cuts: layout.variable(CUT_POINTS).map_or(0..0, |variable| variable.range()),
            sigma: match &posterior.likelihood {
                Likelihood::Outcomes(outcomes) => outcomes.place(layout),
                _ => None,
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

    /// Location, scale and perhaps degrees of freedom of every row.
    fn real(&self, residual: &Residual, draw: &[f64], inputs: &Matrix, parameters: &mut [f64]) {
        let width = self.family().width();
        let dof = self.dof.map_or_else(|| residual.dof.value(&[]), |slot| draw[slot]);
        for (row, place) in parameters.chunks_exact_mut(width).enumerate() {
            let (scale, group_dof) = match &residual.by {
                None => (draw[self.scales.start], f64::INFINITY),
                Some(by) => match (by.group(|k| inputs[(row, k)]), self.above) {
                    (Some(group), _) => (draw[self.scales.start + group], f64::INFINITY),
                    // Values that no training row had: the scale is not known, its prior is.
                    (None, above) => (above.map_or(f64::NAN, |at| draw[at]), residual.group_dof()),
                },
            };
            place[0] = self.outputs[(row, 0)];
            place[1] = scale;
            if let Some(slot) = place.get_mut(2) {
                let normal = residual.family == ResidualFamily::Normal;
                *slot = if normal { group_dof } else { dof };
            }
        }
    }

    /// What every row follows for an exposure of one.
    fn outcomes(&self, outcomes: &Outcomes, draw: &[f64], parameters: &mut [f64]) {
        let sigma = self.sigma.map(|slot| draw[slot]);
        for (row, place) in parameters.chunks_exact_mut(self.family().width()).enumerate() {
            place.copy_from_slice(&outcomes.parameters(self.outputs[(row, 0)], 0.0, sigma));
        }
    }

    /// The log probability of every class of every row.
    fn ordered(&self, draw: &[f64], slots: &mut [f64]) {
        let cuts = &draw[self.cuts.clone()];
        for (row, slots) in slots.chunks_exact_mut(cuts.len() + 1).enumerate() {
            for (class, slot) in slots.iter_mut().enumerate() {
                *slot = terms(class, self.outputs[(row, 0)], cuts).value;
            }
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
    /// Normal residuals with separate scales count as Student's t: the scale of a group that no
    /// training row belongs to has its prior, and normal values of unknown inverse gamma
    /// variance are Student's t. (Of t and Laplace residuals such a row has the common scale.)
    fn family(&self) -> Family {
        match &self.posterior.likelihood {
            Likelihood::Real(regression) => match &regression.residual {
                Residual { family: ResidualFamily::Normal, by: None, .. } => {
                    Family::Normal { outputs: 1 }
                }
                Residual { family: ResidualFamily::Laplace, .. } => Family::Laplace { outputs: 1 },
                _ => Family::StudentT { outputs: 1 },
            },
            Likelihood::Logistic(_) => Family::Bernoulli,
            Likelihood::Softmax { classes, .. } => Family::Categorical { classes: *classes },
            Likelihood::Outcomes(outcomes) => outcomes.family(),
            Likelihood::Ordered(ordered) => Family::Categorical { classes: ordered.classes() },
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
                self.real(&regression.residual, draw, inputs, parameters);
            }
            Likelihood::Ordered(_) => self.ordered(draw, parameters),
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
            Likelihood::Ordered(_) => self.ordered(draw, outputs),
            _ => self.by_row(outputs),
        }
    }
}
