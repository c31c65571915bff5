//! Turn a state without latent values into a draw: functions are integrated out for good.

use super::conditioned::Conditioned;
use super::layout;
use super::marginal::Marginal;
use super::open::Open;
use super::posterior::GpPosterior;
use crate::density::special::LOG_SQRT_2PI;
use crate::draws::Role;
use crate::model::residual::Residual;
use crate::model::{Evaluator, Posterior};
use crate::random::Stream;
use crate::target::{Infeasible, Terms};

impl GpPosterior {
    /// Writes a draw whose functions have these means at the rows that draws keep and at test
    /// rows, target by target.
    pub(super) fn write_integrated(
        &self,
        residual: &Residual,
        state: &[f64],
        (fitted, test): (&[f64], &[f64]),
        draw: &mut [f64],
    ) {
        let mut next = 0;
        let mut push = |value: f64| {
            draw[next] = value;
            next += 1;
        };
        layout::write(self, state, &mut push);
        residual.write(state, &self.target_scaling, &mut push);
        let kept = self.fitted_rows.len();
        // The function, of which only the mean is known yet, and its mean.
        for _ in 0..2 {
            for row in 0..kept {
                for (target, scaling) in self.target_scaling.iter().enumerate() {
                    push(scaling.invert(fitted[target * kept + row]));
                }
            }
        }
        let answer = |index: usize| {
            self.targets[index / kept * residual.rows + self.fitted_rows[index % kept]]
        };
        let targets: Vec<f64> = (0..fitted.len()).map(answer).collect();
        push(self.error(fitted, (&targets, state), None));
        if let Some(rows) = &self.test {
            push(self.error(test, (&rows.targets, state), Some(rows)));
        }
    }

    /// Writes the functions at the rows that draws keep, target by target, into a draw.
    pub(super) fn write_fitted(&self, fitted: &[f64], draw: &mut [f64]) {
        let kept = self.fitted_rows.len();
        let Some(place) = self.layout().of_role(Role::Fitted) else { return };
        let outputs = self.target_scaling.len();
        for (index, slot) in draw[place.range()].iter_mut().enumerate() {
            let (row, target) = (index / outputs, index % outputs);
            *slot = self.target_scaling[target].invert(fitted[target * kept + row]);
        }
    }

    /// Log prior of everything in a state without latent values.
    pub(super) fn log_prior_of_scales(
        &self,
        residual: &Residual,
        state: &[f64],
    ) -> Result<f64, Infeasible> {
        Ok(residual.log_prior(state) + self.log_prior_of_hyperparameters(state)?)
    }

    /// Log prior of the hyperparameters of all processes, of those inputs that are in, and of their
    /// set.
    pub(super) fn log_prior_of_hyperparameters(&self, state: &[f64]) -> Result<f64, Infeasible> {
        let mut value = 0.0;
        for process in &self.processes {
            let hyperparameters = &process.hyperparameters;
            let of_scales = hyperparameters.log_prior(state, |_, _| {});
            value += of_scales.ok_or(Infeasible::OutsideSupport)?;
            value += hyperparameters.log_prior_of_dofs(state);
            value -= hyperparameters.log_density_of_absent(state);
        }
        Ok(value + self.selection.as_ref().map_or(0.0, |selection| selection.log_prior(state)))
    }
}

/// Evaluates states of one chain.
pub(super) struct IntegratedEvaluator<'p> {
    posterior: &'p GpPosterior,
    residual: &'p Residual,
    marginal: Marginal<'p>,
    log_parameters: Vec<f64>,
    precisions: Vec<f64>,
    solved: Vec<f64>,
    fitted: Vec<f64>,
    test: Option<Conditioned<'p>>,
    test_means: Vec<f64>,
    state: Vec<f64>,
    open: Open,
}

impl<'p> IntegratedEvaluator<'p> {
    pub(super) fn new(posterior: &'p GpPosterior, residual: &'p Residual) -> Self {
        let GpPosterior { covariance, inputs, fitted_rows, test, .. } = posterior;
        let test_rows = test.as_ref().map_or(0, |test| test.inputs.rows());
        IntegratedEvaluator {
            posterior,
            residual,
            marginal: Marginal::of_posterior(posterior),
            log_parameters: vec![0.0; covariance.parameters().len()],
            precisions: vec![0.0; residual.targets.len()],
            solved: vec![0.0; inputs.rows()],
            fitted: vec![0.0; fitted_rows.len() * residual.outputs],
            test: test.as_ref().map(|_| Conditioned::new(posterior)),
            test_means: vec![0.0; test_rows * residual.outputs],
            state: vec![f64::NAN; posterior.latents.end],
            open: Open::new(inputs.rows(), fitted_rows.len()),
        }
    }

    /// Log likelihood of one target in the user's unit; adds to that of every row, if there is room
    /// for it.
    fn target(
        &mut self,
        target: usize,
        log_likelihood: Option<&mut [f64]>,
    ) -> Result<f64, Infeasible> {
        let (posterior, rows) = (self.posterior, self.residual.rows);
        let range = target * rows..(target + 1) * rows;
        let precisions = &self.precisions[range.clone()];
        let targets = &self.residual.targets[range];
        let log_unit = posterior.target_scaling[target].scale.ln();
        self.marginal.factorize(precisions)?;
        let square = self.marginal.solve(targets, &mut self.solved);
        let constant = |precision: &f64| 0.5 * precision.ln() - LOG_SQRT_2PI - log_unit;
        let mut value = self.marginal.log_volume() - 0.5 * square;
        precisions.iter().for_each(|precision| value += constant(precision));
        if let Some(log_likelihood) = log_likelihood {
            self.marginal.invert_diagonal();
            for (row, (slot, precision)) in log_likelihood.iter_mut().zip(precisions).enumerate() {
                // With C̄ = C⁻¹ = W^½ B⁻¹ W^½ and q = C⁻¹y the target has mean y_i - q_i/C̄_ii and
                // variance 1/C̄_ii given all others [Vehtari 2001, eq. 3.19, with its sign put right].
                let (inverse, b) = (self.marginal.inverse_diagonal(row), self.solved[row]);
                *slot += constant(precision) + 0.5 * inverse.ln() - 0.5 * b * b / inverse;
            }
        }
        let kept = posterior.fitted_rows.len();
        let fitted = &mut self.fitted[target * kept..(target + 1) * kept];
        for (slot, &row) in fitted.iter_mut().zip(&posterior.fitted_rows) {
            // E[f] = y - W⁻¹ q.
            *slot = targets[row] - self.solved[row] / precisions[row].sqrt();
        }
        Ok(value)
    }

    /// Writes the draw of a state; adds to the log likelihoods of the rows, if there is room for them.
    fn write(
        &mut self,
        state: &[f64],
        draw: &mut [f64],
        mut log_likelihood: Option<&mut [f64]>,
    ) -> Result<Terms, Infeasible> {
        let posterior = self.posterior;
        self.state.copy_from_slice(state);
        let log_prior = posterior.log_prior_of_scales(self.residual, state)?;
        self.residual.precisions(state, 1.0, &mut self.precisions);
        let mut value = 0.0;
        for process in &posterior.processes {
            process.hyperparameters.write_parameters(state, &mut self.log_parameters);
            self.marginal.set(&self.log_parameters);
            for target in process.targets.clone() {
                value += self.target(target, log_likelihood.as_deref_mut())?;
            }
        }
        if let (Some(conditioned), Some(test)) = (&mut self.test, &posterior.test) {
            conditioned.condition(state);
            conditioned.means(&test.inputs, &mut self.test_means);
        }
        let functions = (&self.fitted[..], &self.test_means[..]);
        posterior.write_integrated(self.residual, state, functions, draw);
        Terms { log_prior, log_likelihood: value }.with_finite(draw)
    }
}

impl Evaluator for IntegratedEvaluator<'_> {
    fn evaluate(
        &mut self,
        state: &[f64],
        draw: &mut [f64],
        log_likelihood: &mut [f64],
    ) -> Result<Terms, Infeasible> {
        log_likelihood.fill(0.0);
        self.write(state, draw, Some(log_likelihood))
    }

    /// Without the inverse that the rows one by one take.
    fn evaluate_sum(
        &mut self,
        state: &[f64],
        draw: &mut [f64],
        _: &mut [f64],
    ) -> Result<Terms, Infeasible> {
        self.write(state, draw, None)
    }

    /// The functions at the rows that draws keep, jointly. Triangular solves for up to 100 rows: less
    /// than the factorisation that the density of the state took.
    fn complete(&mut self, draw: &mut [f64], stream: &mut Stream) {
        let posterior = self.posterior;
        let (rows, kept) = (self.residual.rows, posterior.fitted_rows.len());
        for process in &posterior.processes {
            process.hyperparameters.write_parameters(&self.state, &mut self.log_parameters);
            self.marginal.set(&self.log_parameters);
            for target in process.targets.clone() {
                let precisions = &self.precisions[target * rows..(target + 1) * rows];
                let fitted = &mut self.fitted[target * kept..(target + 1) * kept];
                let drawn = self.marginal.factorize(precisions).and_then(|()| {
                    self.open.add(&mut self.marginal, &posterior.fitted_rows, stream, fitted)
                });
                if drawn.is_err() {
                    fitted.fill(f64::NAN);
                }
            }
        }
        posterior.write_fitted(&self.fitted, draw);
    }
}
