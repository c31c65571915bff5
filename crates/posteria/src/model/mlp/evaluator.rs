//! Turn a state into a draw on the user's scale with the log likelihood of every row.

use super::linear_outputs::LinearOutputs;
use super::network::Network;
use super::network::Rows;
use super::observed::Observed;
use super::posterior::MlpPosterior;
use crate::density::special::{log_sum_exp, log1p_exp, logistic};
use crate::model::Evaluator;
use crate::model::judged_rows::{TestRows, largest, root_mean_square_error, wrong_share};
use crate::model::prior::Above;
use crate::model::residual::ResidualLikelihood;
use crate::target::{Infeasible, Terms};

/// Evaluates states of one chain.
pub(super) struct MlpEvaluator<'p> {
    posterior: &'p MlpPosterior,
    network: Network<'p>,
    test: Option<Network<'p>>,
    /// The outputs that draws are recorded with, where these are taken as linear in the weights.
    linear: Option<LinearOutputs>,
    outputs: Vec<f64>,
    test_outputs: Vec<f64>,
    row: Vec<f64>,
    real: ResidualLikelihood,
}

impl<'p> MlpEvaluator<'p> {
    pub(super) fn new(posterior: &'p MlpPosterior) -> Self {
        let MlpPosterior { shape, rows, test, .. } = posterior;
        let outputs = shape.outputs;
        let test_rows = test.as_ref().map_or(0, |test| test.inputs.len());
        MlpEvaluator {
            posterior,
            network: Network::new(*shape, rows),
            test: test.as_ref().map(|test| Network::new(*shape, &test.inputs)),
            linear: None,
            outputs: vec![0.0; rows.len() * outputs],
            test_outputs: vec![0.0; test_rows * outputs],
            row: vec![0.0; outputs],
            real: ResidualLikelihood::new(outputs),
        }
    }

    /// The same with draws and log likelihoods of rows by outputs that are linear in the weights
    /// about these, as predictions are; the terms of the density stay those of the network.
    pub(super) fn linear_about(self, weights: &[f64]) -> Self {
        let linear = LinearOutputs::new(self.posterior.shape, weights);
        MlpEvaluator { linear: Some(linear), ..self }
    }

    /// Writes the draw that `state` stands for, whatever its density.
    pub(super) fn draw(&mut self, state: &[f64], draw: &mut [f64]) {
        self.forward(state);
        self.write(state, &mut Writer { draw, next: 0 });
    }

    /// Outputs at all rows.
    fn forward(&mut self, state: &[f64]) {
        let weights = &state[..self.posterior.shape.len()];
        let selection = self.posterior.hierarchy.selection.as_ref();
        self.network.include(selection, state);
        self.network.outputs(weights, &mut self.outputs);
        if let Some(test) = &mut self.test {
            test.include(selection, state);
            test.outputs(weights, &mut self.test_outputs);
        }
    }

    /// Outputs at all rows that are linear in the weights, where they are taken as such.
    fn forward_linear(&mut self, state: &[f64]) -> bool {
        let Some(linear) = &mut self.linear else {
            return false;
        };
        let weights = &state[..self.posterior.shape.len()];
        linear.outputs(weights, &self.posterior.rows, &mut self.outputs);
        if let Some(test) = &self.posterior.test {
            linear.outputs(weights, &test.inputs, &mut self.test_outputs);
        }
        true
    }

    /// Writes the log likelihood of every row at the outputs, and gives the log prior of what the
    /// residuals have of their own.
    fn likelihood(&mut self, state: &[f64], log_likelihood: &mut [f64]) -> Result<f64, Infeasible> {
        let MlpPosterior { observed, target_scaling, .. } = self.posterior;
        match observed {
            Observed::Real(residual) => {
                // In the user's unit: one factor dy'/dy = 1/scale per target.
                let jacobian: f64 = -target_scaling.iter().map(|s| s.scale.ln()).sum::<f64>();
                let outputs = &self.outputs;
                self.real.evaluate(residual, state, outputs, jacobian, log_likelihood)?;
                Ok(residual.log_prior(state))
            }
            Observed::Outcomes(outcomes) => {
                let given = outcomes.given(state);
                let outputs = self.outputs.iter().enumerate();
                for (slot, (row, f)) in log_likelihood.iter_mut().zip(outputs) {
                    *slot = outcomes.terms(row, *f, &given).value;
                }
                Ok(outcomes.log_prior(state))
            }
            _ => {
                self.classes(log_likelihood);
                Ok(0.0)
            }
        }
    }

    /// Log probabilities of the observed classes.
    fn classes(&mut self, log_likelihood: &mut [f64]) {
        let rows = self.posterior.rows.len();
        match &self.posterior.observed {
            Observed::Real(_) | Observed::Outcomes(_) => {}
            Observed::Binary { signs } => {
                for ((slot, sign), output) in
                    log_likelihood.iter_mut().zip(signs).zip(&self.outputs)
                {
                    *slot = -log1p_exp(-sign * output);
                }
            }
            Observed::Multiclass { codes } => {
                for (row, (slot, code)) in log_likelihood.iter_mut().zip(codes).enumerate() {
                    for (class, value) in self.row.iter_mut().enumerate() {
                        *value = self.outputs[class * rows + row];
                    }
                    *slot = self.row[*code as usize] - log_sum_exp(&self.row);
                }
            }
        }
    }
}

impl Evaluator for MlpEvaluator<'_> {
    fn evaluate(
        &mut self,
        state: &[f64],
        draw: &mut [f64],
        log_likelihood: &mut [f64],
    ) -> Result<Terms, Infeasible> {
        self.forward(state);
        let hierarchy = &self.posterior.hierarchy;
        let log_prior = hierarchy.log_prior(state) + self.likelihood(state, log_likelihood)?;
        let terms = Terms { log_prior, log_likelihood: log_likelihood.iter().sum() };
        if self.forward_linear(state) {
            self.likelihood(state, log_likelihood)?;
        }
        let mut writer = Writer { draw, next: 0 };
        self.write(state, &mut writer);
        if terms.at(1.0).is_finite() && writer.draw.iter().all(|value| value.is_finite()) {
            Ok(terms)
        } else {
            Err(Infeasible::NotFinite)
        }
    }
}

struct Writer<'a> {
    draw: &'a mut [f64],
    next: usize,
}

impl Writer<'_> {
    fn push(&mut self, value: f64) {
        self.draw[self.next] = value;
        self.next += 1;
    }
}

impl MlpEvaluator<'_> {
    /// Writes the draw in the order of [`super::layout::layout`].
    fn write(&mut self, state: &[f64], writer: &mut Writer<'_>) {
        let MlpPosterior { shape, hierarchy, observed, target_scaling, .. } = self.posterior;
        let weights = self.network.seen(&state[..shape.len()]);
        weights.iter().for_each(|weight| writer.push(*weight));
        let selection = hierarchy.selection.as_ref();
        for group in &hierarchy.groups {
            if let super::hierarchy::Scale::Sampled(levels) = &group.scale {
                for (part, scale) in state[levels.slots.clone()].iter().enumerate() {
                    let out = group.excludes_part(selection, state, part);
                    writer.push(if out { 0.0 } else { scale.exp() });
                }
                if let Above::Sampled { slot, .. } = levels.above {
                    writer.push(state[slot].exp());
                }
                if let Some(slot) = group.dof_slot() {
                    writer.push(state[slot]);
                }
            }
            if let Some(slot) = group.weight_dof_slot() {
                writer.push(state[slot]);
            }
        }
        if let Observed::Real(residual) = observed {
            residual.write(state, target_scaling, |value| writer.push(value));
        }
        if let Observed::Outcomes(outcomes) = observed {
            outcomes.write(state, 0.0, |value| writer.push(value));
        }
        if let Some(selection) = selection {
            selection.push(state, |value| writer.push(value));
        }
        let rows = self.posterior.rows.len();
        for &row in &self.posterior.fitted_rows {
            self.fitted((&self.outputs, state), rows, row, |value| writer.push(value));
        }
        writer.push(self.error((&self.outputs, state), &self.posterior.targets, None));
        if let Some(test) = &self.posterior.test {
            writer.push(self.error((&self.test_outputs, state), &test.targets, Some(test)));
        }
    }

    /// What the outputs of a row say about its target: means in the user's unit or of a count, the
    /// median of a duration, or the probability of the second class, or of every class.
    fn fitted(
        &self,
        (outputs, state): (&[f64], &[f64]),
        rows: usize,
        row: usize,
        mut push: impl FnMut(f64),
    ) {
        let count = self.posterior.shape.outputs;
        match &self.posterior.observed {
            Observed::Real(_) => {
                for (output, scaling) in self.posterior.target_scaling.iter().enumerate() {
                    push(scaling.invert(outputs[output * rows + row]));
                }
            }
            Observed::Binary { .. } => push(logistic(outputs[row])),
            Observed::Outcomes(outcomes) => {
                outcomes.expected((row, outputs[row]), &outcomes.given(state), push);
            }
            Observed::Multiclass { .. } => {
                let largest = (0..count)
                    .map(|class| outputs[class * rows + row])
                    .fold(f64::NEG_INFINITY, f64::max);
                // Shifted by the largest: the sum is at least 1.
                let sum: f64 =
                    (0..count).map(|class| (outputs[class * rows + row] - largest).exp()).sum();
                for class in 0..count {
                    push((outputs[class * rows + row] - largest).exp() / sum);
                }
            }
        }
    }

    /// Root mean square error in the user's unit, or of the mean counts or median durations, over rows and targets, or the share of rows
    /// whose most probable class is wrong.
    fn error(
        &self,
        (outputs, state): (&[f64], &[f64]),
        targets: &[f64],
        test: Option<&TestRows<Rows>>,
    ) -> f64 {
        let MlpPosterior { shape, observed, target_scaling, .. } = self.posterior;
        let rows = outputs.len() / shape.outputs;
        match observed {
            Observed::Real(_) => root_mean_square_error(outputs, targets, target_scaling),
            Observed::Outcomes(outcomes) => {
                let offsets = test.map(|test| test.offsets.as_deref());
                outcomes.error(outputs, (targets, &outcomes.given(state)), offsets)
            }
            Observed::Binary { .. } => wrong_share(targets, |row| usize::from(outputs[row] > 0.0)),
            Observed::Multiclass { .. } => wrong_share(targets, |row| {
                largest(shape.outputs, |class| outputs[class * rows + row])
            }),
        }
    }
}
