//! Turn a state with latent values into a draw with the log likelihood of every row.

use posteria_linalg::Cholesky;

use super::conditioned::Conditioned;
use super::layout;
use super::marginal::Marginal;
use super::observed::{Observed, log_softmax};
use super::posterior::GpPosterior;
use crate::density::special::{LOG_SQRT_2PI, log_sum_exp};
use crate::model::Evaluator;
use crate::model::outcome::two_classes;
use crate::model::residual::ResidualLikelihood;
use crate::target::{Infeasible, Terms};

/// Evaluates states of one chain.
pub(super) struct LatentEvaluator<'p> {
    posterior: &'p GpPosterior,
    real: ResidualLikelihood,
    marginal: Marginal<'p>,
    factor: Cholesky,
    log_parameters: Vec<f64>,
    whitened: Vec<f64>,
    contrasts: Vec<f64>,
    classes: Vec<f64>,
    test: Option<Conditioned<'p>>,
    test_functions: Vec<f64>,
}

impl<'p> LatentEvaluator<'p> {
    pub(super) fn new(posterior: &'p GpPosterior) -> Self {
        let functions = posterior.observed.functions();
        let GpPosterior { covariance, inputs, jitter, test, .. } = posterior;
        let test_rows = test.as_ref().map_or(0, |test| test.inputs.rows());
        LatentEvaluator {
            posterior,
            real: ResidualLikelihood::new(functions),
            marginal: Marginal::new(covariance, inputs, *jitter),
            factor: Cholesky::identity(inputs.rows()),
            log_parameters: vec![0.0; covariance.parameters().len()],
            whitened: vec![0.0; inputs.rows()],
            contrasts: vec![0.0; functions],
            classes: vec![0.0; functions + 1],
            test: test.as_ref().map(|_| Conditioned::new(posterior)),
            test_functions: vec![0.0; test_rows * functions],
        }
    }

    /// Writes the draw that `state` stands for, whatever its density.
    pub(super) fn draw(&mut self, state: &[f64], draw: &mut [f64]) {
        let posterior = self.posterior;
        if let (Some(conditioned), Some(test)) = (&mut self.test, &posterior.test) {
            conditioned.condition(state);
            conditioned.means(&test.inputs, &mut self.test_functions);
        }
        let mut next = 0;
        let mut push = |value: f64| {
            draw[next] = value;
            next += 1;
        };
        layout::write(posterior, state, &mut push);
        let rows = posterior.row_count();
        let functions = posterior.observed.functions();
        let latents = &state[posterior.latents.clone()];
        if let Observed::Real(residual) = &posterior.observed {
            residual.write(state, &posterior.target_scaling, &mut push);
        }
        if let Observed::Outcomes(outcomes) = &posterior.observed {
            outcomes.write(state, 0.0, &mut push);
        }
        if posterior.keeps_latents() {
            for row in 0..rows {
                (0..functions).for_each(|function| push(latents[function * rows + row]));
            }
        }
        for &row in &posterior.fitted_rows {
            match &posterior.observed {
                Observed::Real(_) => {
                    for (target, scaling) in posterior.target_scaling.iter().enumerate() {
                        push(scaling.invert(latents[target * rows + row]));
                    }
                }
                Observed::Outcomes(outcomes) => {
                    outcomes.expected((row, latents[row]), &outcomes.given(state), &mut push);
                }
                Observed::Binary { link, .. } => {
                    push(two_classes::probability(*link, latents[row]))
                }
                Observed::Multiclass { contrasts, .. } => {
                    for (j, value) in self.contrasts.iter_mut().enumerate() {
                        *value = latents[j * rows + row];
                    }
                    contrasts.expand(&self.contrasts, &mut self.classes);
                    let total = log_sum_exp(&self.classes);
                    self.classes.iter().for_each(|value| push((value - total).exp()));
                }
            }
        }
        push(posterior.error(latents, (&posterior.targets, state), None));
        if let Some(test) = &posterior.test {
            push(posterior.error(&self.test_functions, (&test.targets, state), Some(test)));
        }
    }

    /// Log density of the functions at all rows.
    fn log_prior_of_latents(&mut self, state: &[f64]) -> Result<f64, Infeasible> {
        let posterior = self.posterior;
        let rows = posterior.row_count();
        let mut value = 0.0;
        for process in &posterior.processes {
            process.hyperparameters.write_parameters(state, &mut self.log_parameters);
            self.marginal.set(&self.log_parameters);
            self.marginal.factorize_prior(&mut self.factor)?;
            for target in process.targets.clone() {
                let first = posterior.latents.start + target * rows;
                self.whitened.copy_from_slice(&state[first..first + rows]);
                self.factor.solve_lower(&mut self.whitened);
                let square: f64 = self.whitened.iter().map(|z| z * z).sum();
                let volume = 0.5 * self.factor.log_determinant() + LOG_SQRT_2PI * rows as f64;
                value -= 0.5 * square + volume;
            }
        }
        Ok(value)
    }
}

impl Evaluator for LatentEvaluator<'_> {
    fn evaluate(
        &mut self,
        state: &[f64],
        draw: &mut [f64],
        log_likelihood: &mut [f64],
    ) -> Result<Terms, Infeasible> {
        let posterior = self.posterior;
        let mut log_prior = self.log_prior_of_latents(state)?;
        log_prior += posterior.log_prior_of_hyperparameters(state)?;
        let rows = posterior.row_count();
        let latents = &state[posterior.latents.clone()];
        match &posterior.observed {
            Observed::Real(residual) => {
                log_prior += residual.log_prior(state);
                // In the user's unit: one factor dy'/dy = 1/scale per target.
                let jacobian = -posterior.target_scaling.iter().map(|s| s.scale.ln()).sum::<f64>();
                self.real.evaluate(residual, state, latents, jacobian, log_likelihood)?;
            }
            Observed::Outcomes(outcomes) => {
                log_prior += outcomes.log_prior(state);
                let given = outcomes.given(state);
                for (slot, (row, f)) in log_likelihood.iter_mut().zip(latents.iter().enumerate()) {
                    *slot = outcomes.terms(row, *f, &given).value;
                }
            }
            Observed::Binary { signs, link } => {
                for ((slot, sign), latent) in log_likelihood.iter_mut().zip(signs).zip(latents) {
                    *slot = two_classes::log_probability(*link, *sign, *latent);
                }
            }
            Observed::Multiclass { codes, contrasts } => {
                for (row, (slot, code)) in log_likelihood.iter_mut().zip(codes).enumerate() {
                    for (j, value) in self.contrasts.iter_mut().enumerate() {
                        *value = latents[j * rows + row];
                    }
                    contrasts.expand(&self.contrasts, &mut self.classes);
                    *slot = log_softmax(&self.classes, *code as usize);
                }
            }
        }
        self.draw(state, draw);
        Terms { log_prior, log_likelihood: log_likelihood.iter().sum() }.with_finite(draw)
    }
}
