//! Evaluate draws of a network at new rows.

use std::ops::Range;

use posteria_linalg::{Cholesky, Matrix};

use super::linear_outputs::LinearOutputs;
use super::network::{Network, Rows};
use super::observed::Observed;
use super::posterior::MlpPosterior;
use crate::draws::{Layout, Role};
use crate::model::residual::{Noise, Residual};
use crate::model::spec::ResidualFamily;
use crate::predict::{Family, Predictor, split_offsets};

/// Evaluates draws of a network at new rows.
pub(super) struct MlpPredictor<'p> {
    posterior: &'p MlpPosterior,
    /// The outputs, where they are taken as linear in the weights.
    linear: Option<LinearOutputs>,
    /// Where scales, covariance, common scales and degrees of freedom are in a draw.
    scales: Range<usize>,
    above: Range<usize>,
    covariance: Range<usize>,
    dof: Option<usize>,
    /// Where σ of counts or durations is.
    sigma: Option<usize>,
    outputs: Vec<f64>,
}

impl<'p> MlpPredictor<'p> {
    pub(super) fn new(posterior: &'p MlpPosterior, layout: &Layout) -> Self {
        MlpPredictor {
            posterior,
            linear: None,
            scales: layout.range_of(Role::ResidualScale),
            above: layout.range_of(Role::ResidualScaleAbove),
            covariance: layout.range_of(Role::ResidualCovariance),
            dof: layout.place_of(Role::ResidualDof),
            sigma: match &posterior.observed {
                Observed::Outcomes(outcomes) => outcomes.place(layout),
                _ => None,
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
            Observed::Real(residual) => self.real(residual, draw, rows, parameters),
            Observed::Outcomes(outcomes) => {
                let sigma = self.sigma.map(|slot| draw[slot]);
                let width = self.family().width();
                for (place, f) in parameters.chunks_exact_mut(width).zip(&self.outputs) {
                    let location = outcomes.scaling().invert(*f);
                    place.copy_from_slice(&outcomes.parameters(location, 0.0, sigma));
                }
            }
            _ => self.by_row(rows.len(), parameters),
        }
    }

    fn real(&self, residual: &Residual, draw: &[f64], inputs: &Rows, parameters: &mut [f64]) {
        let (rows, outputs) = (inputs.len(), residual.outputs);
        let width = self.family().width();
        let scaling = &self.posterior.target_scaling;
        if let Noise::Covariance { .. } = residual.noise {
            let values = &draw[self.covariance.clone()];
            let matrix = Matrix::from_fn(outputs, outputs, |r, c| values[r * outputs + c]);
            let factor = Cholesky::new(&matrix);
            for (row, parameters) in parameters.chunks_mut(width).enumerate() {
                for (output, slot) in parameters[..outputs].iter_mut().enumerate() {
                    *slot = scaling[output].invert(self.outputs[output * rows + row]);
                }
                let mut next = outputs;
                for r in 0..outputs {
                    for c in 0..=r {
                        // A draw that was kept had a covariance that could be factorised.
                        parameters[next] =
                            factor.as_ref().map_or(f64::NAN, |factor| factor.factor()[(r, c)]);
                        next += 1;
                    }
                }
            }
            return;
        }
        let dof = match self.dof {
            Some(slot) => draw[slot],
            None => residual.dof.value(&[]),
        };
        let each = width / outputs;
        let groups = residual.by.as_ref().map_or(1, |by| by.labels.len());
        for (row, parameters) in parameters.chunks_mut(width).enumerate() {
            let group = residual.by.as_ref().map(|by| by.group(|k| inputs.double().value(row, k)));
            for (output, slot) in parameters.chunks_mut(each).enumerate() {
                slot[0] = scaling[output].invert(self.outputs[output * rows + row]);
                let (scale, group_dof) = match group {
                    None => (draw[self.scales.start + output], f64::INFINITY),
                    Some(Some(group)) => {
                        (draw[self.scales.start + output * groups + group], f64::INFINITY)
                    }
                    // Values that no training row had: the scale is not known, its prior is.
                    Some(None) => (draw[self.above.start + output], residual.group_dof()),
                };
                slot[1] = scale;
                if each == 3 {
                    slot[2] = match residual.family {
                        ResidualFamily::Normal => group_dof,
                        _ => dof,
                    };
                }
            }
        }
    }
}

impl Predictor for MlpPredictor<'_> {
    /// Normal residuals with separate scales count as Student's t: the scale of a group that no
    /// training row belongs to has its prior, and normal values of unknown inverse gamma
    /// variance are Student's t. (Of t and Laplace residuals such a row has the common scale.)
    fn family(&self) -> Family {
        let outputs = self.posterior.shape.outputs;
        match &self.posterior.observed {
            Observed::Real(residual) => match (&residual.noise, residual.family) {
                (Noise::Covariance { .. }, _) => Family::MultivariateNormal { outputs },
                (_, ResidualFamily::Normal) if residual.by.is_none() => Family::Normal { outputs },
                (_, ResidualFamily::Laplace) => Family::Laplace { outputs },
                _ => Family::StudentT { outputs },
            },
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
