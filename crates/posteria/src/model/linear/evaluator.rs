//! Turn a state into a draw on the user's scale with the log likelihood of every row.

use posteria_linalg::{Matrix, matrix_vector, multiply_transposed};

use super::coefficients::{GroupScale, log_normal};
use super::posterior::{Likelihood, LinearPosterior};
use crate::density::special::{LOG_SQRT_2PI, log_sum_exp, log1p_exp};
use crate::model::Evaluator;
use crate::model::prior::Squares;
use crate::model::residual::ResidualLikelihood;
use crate::target::{Infeasible, Terms};

/// Evaluates states of one chain.
pub(super) struct LinearEvaluator<'p> {
    posterior: &'p LinearPosterior,
    real: ResidualLikelihood,
    /// Rows × outputs.
    outputs: Matrix,
    /// Coefficients, outputs × columns.
    weights: Matrix,
    row: Vec<f64>,
    /// Coefficients as the likelihood sees them.
    seen: Vec<f64>,
    /// Those of one output, and room for as many.
    own: Vec<f64>,
    room: Vec<f64>,
}

impl<'p> LinearEvaluator<'p> {
    pub(super) fn new(posterior: &'p LinearPosterior) -> Self {
        let (rows, columns) = (posterior.x.rows(), posterior.x.columns());
        let outputs = posterior.coefficients.outputs;
        LinearEvaluator {
            posterior,
            real: ResidualLikelihood::new(outputs),
            outputs: Matrix::zeros(rows, outputs),
            weights: Matrix::zeros(outputs, columns),
            row: vec![0.0; outputs],
            seen: vec![0.0; posterior.coefficients.count],
            own: vec![0.0; columns],
            room: vec![0.0; columns],
        }
    }

    /// The log prior of everything in `state`.
    fn log_prior(&self, state: &[f64]) -> f64 {
        let LinearPosterior { coefficients, likelihood, model, .. } = self.posterior;
        if !model.has_prior() {
            return 0.0;
        }
        let mut log_prior = coefficients.log_prior(state);
        if let Likelihood::Real(regression) = likelihood {
            let residual = &regression.residual;
            log_prior += residual.log_prior(state);
            if let Some(conjugate) = &regression.conjugate {
                for output in 0..coefficients.outputs {
                    let log_scale = residual.log_scale(state, output * residual.rows);
                    let own = coefficients.of_output(output);
                    let included = own.filter(|at| !coefficients.excludes(state, *at));
                    let squares = Squares::of(included.map(|at| state[at]));
                    log_prior += log_normal(squares, log_scale - 0.5 * conjugate.rho.ln());
                }
            }
        }
        if let Likelihood::Outcomes(outcomes) = likelihood {
            log_prior += outcomes.log_prior(state);
        }
        log_prior
    }

    /// Writes the draw that `state` stands for, whatever its density.
    pub(super) fn write(&mut self, state: &[f64], draw: &mut [f64]) {
        let LinearPosterior { coefficients, likelihood, user, .. } = self.posterior;
        coefficients.write_seen(state, &mut self.seen);
        let mut next = user.write(&self.seen, draw);
        // Cut points are against f of inputs as they are, and not less their centres.
        let height = match likelihood {
            Likelihood::Outcomes(it) if it.are_ordered() => user.height(draw),
            _ => 0.0,
        };
        let mut push = |value| {
            draw[next] = value;
            next += 1;
        };
        for group in &coefficients.groups {
            if let GroupScale::Sampled(slot, _) = group.scale {
                let out = coefficients.excludes_group(state, group);
                push(if out { 0.0 } else { state[slot].exp() });
            }
        }
        if let Likelihood::Real(regression) = likelihood {
            regression.residual.write(state, &user.targets, &mut push);
        }
        if let Likelihood::Outcomes(outcomes) = likelihood {
            outcomes.write(state, height, &mut push);
        }
        if let Some(selection) = &coefficients.selection {
            selection.push(state, push);
        }
    }
}

impl Evaluator for LinearEvaluator<'_> {
    fn evaluate(
        &mut self,
        state: &[f64],
        draw: &mut [f64],
        log_likelihood: &mut [f64],
    ) -> Result<Terms, Infeasible> {
        let LinearPosterior { x, coefficients, likelihood, user, .. } = self.posterior;
        self.write(state, draw);
        let values = &self.seen[..];
        let log_prior = self.log_prior(state);
        if coefficients.outputs == 1 {
            matrix_vector(x, values, self.outputs.column_mut(0));
        } else {
            self.weights.values_mut().copy_from_slice(values);
            multiply_transposed(x, &self.weights, &mut self.outputs);
        }
        match likelihood {
            Likelihood::Real(regression) => {
                let residual = &regression.residual;
                // In the user's unit: one factor dy'/dy = 1/scale of every target.
                let jacobian = -user.log_units();
                let outputs = self.outputs.values();
                self.real.evaluate(residual, state, outputs, jacobian, log_likelihood)?;
            }
            Likelihood::Logistic(signs) => {
                let outputs = self.outputs.values();
                for ((slot, sign), output) in log_likelihood.iter_mut().zip(signs).zip(outputs) {
                    *slot = -log1p_exp(-sign * output);
                }
            }
            Likelihood::Outcomes(outcomes) => {
                let given = outcomes.given(state);
                let outputs = self.outputs.values().iter().enumerate();
                for (slot, (row, output)) in log_likelihood.iter_mut().zip(outputs) {
                    *slot = outcomes.terms(row, *output, &given).value;
                }
            }
            Likelihood::Softmax { codes, .. } => {
                for (row, (slot, code)) in log_likelihood.iter_mut().zip(codes).enumerate() {
                    for (class, value) in self.row.iter_mut().enumerate() {
                        *value = self.outputs[(row, class)];
                    }
                    *slot = self.row[*code as usize] - log_sum_exp(&self.row);
                }
            }
        }
        Terms { log_prior, log_likelihood: log_likelihood.iter().sum() }.with_finite(draw)
    }
    fn evaluate_sum(
        &mut self,
        state: &[f64],
        draw: &mut [f64],
        rows: &mut [f64],
    ) -> Result<Terms, Infeasible> {
        let LinearPosterior { x, coefficients, likelihood, user, .. } = self.posterior;
        let Likelihood::Real(regression) = likelihood else {
            return self.evaluate(state, draw, rows);
        };
        let Some(squares) = &regression.squares else {
            return self.evaluate(state, draw, rows);
        };
        self.write(state, draw);
        let mut log_likelihood = 0.0;
        for (output, (squares, target)) in squares.iter().zip(&user.targets).enumerate() {
            let log_scale = regression.residual.log_scale(state, output * x.rows());
            coefficients.gather(output, &self.seen, &mut self.own);
            let sum = squares.at(&regression.gram, &self.own, &mut self.room);
            let constant = LOG_SQRT_2PI + log_scale + target.scale.ln();
            log_likelihood += -(x.rows() as f64) * constant - 0.5 * sum * (-2.0 * log_scale).exp();
        }
        Terms { log_prior: self.log_prior(state), log_likelihood }.with_finite(draw)
    }
}
