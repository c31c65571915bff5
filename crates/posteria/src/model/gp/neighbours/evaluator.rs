//! Turn a state into a draw where every row depends on its neighbours only.

use posteria_linalg::Matrix;

use super::{NeighbourMarginal, NeighbourPredictor, Neighbours, Sequential};
use crate::model::Evaluator;
use crate::model::gp::posterior::GpPosterior;
use crate::model::residual::Residual;
use crate::model::spec::ResidualFamily;
use crate::predict::{Family, Predictive};
use crate::random::Stream;
use crate::target::{Infeasible, Terms};

/// Evaluates states of one chain.
pub(in crate::model::gp) struct NeighbourEvaluator<'p> {
    posterior: &'p GpPosterior,
    residual: &'p Residual,
    marginal: NeighbourMarginal<'p>,
    predictor: NeighbourPredictor<'p>,
    log_parameters: Vec<f64>,
    precisions: Vec<f64>,
    variances: Vec<f64>,
    by_row: Vec<f64>,
    point: Vec<f64>,
    fitted: Vec<f64>,
    test: Vec<f64>,
    state: Vec<f64>,
    sequential: Sequential<'p>,
}

impl<'p> NeighbourEvaluator<'p> {
    pub(in crate::model::gp) fn new(
        posterior: &'p GpPosterior,
        residual: &'p Residual,
        neighbours: &'p Neighbours,
    ) -> Self {
        let GpPosterior { covariance, inputs, jitter, fitted_rows, test, .. } = posterior;
        let (rows, targets) = (inputs.rows(), residual.outputs);
        let test_rows = test.as_ref().map_or(0, |test| test.inputs.rows());
        NeighbourEvaluator {
            posterior,
            residual,
            marginal: NeighbourMarginal::new(neighbours, covariance, inputs, *jitter),
            predictor: NeighbourPredictor::new(covariance, inputs, *jitter, neighbours.most + 1),
            log_parameters: vec![0.0; covariance.parameters().len()],
            precisions: vec![0.0; rows * targets],
            variances: vec![0.0; rows],
            by_row: vec![0.0; rows],
            point: vec![0.0; inputs.columns()],
            fitted: vec![0.0; fitted_rows.len() * targets],
            test: vec![0.0; test_rows * targets],
            state: vec![f64::NAN; posterior.latents.end],
            sequential: Sequential::new(
                covariance,
                inputs,
                *jitter,
                neighbours.most + 1,
                fitted_rows,
            ),
        }
    }

    /// Means of the functions of one target at some rows of `inputs`.
    fn means(
        &mut self,
        target: usize,
        inputs: &Matrix,
        rows: impl Iterator<Item = usize>,
        out: &mut [f64],
    ) -> Result<(), Infeasible> {
        let count = self.residual.rows;
        let targets = &self.residual.targets[target * count..(target + 1) * count];
        for (slot, row) in out.iter_mut().zip(rows) {
            for (column, value) in self.point.iter_mut().enumerate() {
                *value = inputs[(row, column)];
            }
            let found = self.predictor.predict(&self.point, targets, &self.variances)?;
            *slot = found.0;
        }
        Ok(())
    }
}

impl NeighbourEvaluator<'_> {
    /// Adds to the log likelihood of every row, in the user's unit, that of one target given the nearest of
    /// all others, as of rows that are left out; κ of the row itself is integrated out.
    fn add_left_out(
        &mut self,
        (state, target): (&[f64], usize),
        log_likelihood: &mut [f64],
    ) -> Result<(), Infeasible> {
        let residual = self.residual;
        let first = target * residual.rows;
        let targets = &residual.targets[first..first + residual.rows];
        let log_unit = self.posterior.target_scaling[target].scale.ln();
        for (row, slot) in log_likelihood.iter_mut().enumerate() {
            let (mean, variance) = self.predictor.predict_alone(row, targets, &self.variances)?;
            let (family, dof) = match residual.family {
                ResidualFamily::Laplace => (Family::NormalPlusLaplace { outputs: 1 }, None),
                ResidualFamily::Normal => (Family::Normal { outputs: 1 }, None),
                _ => {
                    let dof = residual.dof_of(state, first + row);
                    (Family::NormalPlusStudentT { outputs: 1 }, Some(dof))
                }
            };
            let scale = residual.log_scale(state, first + row).exp();
            let parameters = match (residual.family, dof) {
                (ResidualFamily::Normal, _) => vec![mean, variance.sqrt().hypot(scale)],
                (_, None) => vec![mean, variance.sqrt(), scale],
                (_, Some(dof)) => vec![mean, variance.sqrt(), scale, dof],
            };
            *slot +=
                Predictive::new(family, &parameters).log_density(&targets[row..=row]) - log_unit;
        }
        Ok(())
    }

    /// Writes the draw of a state; adds to the log likelihoods of the rows, if there is room for them.
    fn write(
        &mut self,
        state: &[f64],
        draw: &mut [f64],
        mut log_likelihood: Option<&mut [f64]>,
    ) -> Result<Terms, Infeasible> {
        let (posterior, residual) = (self.posterior, self.residual);
        self.state.copy_from_slice(state);
        let log_prior =
            posterior.log_prior_of_scales(residual, state)? + residual.log_prior_of_cases(state);
        residual.precisions(state, 1.0, &mut self.precisions);
        let mut value = 0.0;
        for process in &posterior.processes {
            let hyperparameters = &process.hyperparameters;
            hyperparameters.write_parameters(state, &mut self.log_parameters);
            self.marginal.set(&self.log_parameters);
            self.predictor.set(&self.log_parameters);
            for target in process.targets.clone() {
                let rows = residual.rows;
                let range = target * rows..(target + 1) * rows;
                let precisions = &self.precisions[range.clone()];
                for (variance, precision) in self.variances.iter_mut().zip(precisions) {
                    *variance = precision.recip();
                }
                let targets = &residual.targets[range];
                let (variances, by_row) = (&self.variances, &mut self.by_row);
                // In the user's unit: one factor dy'/dy = 1/scale per target.
                value += self.marginal.log_density(targets, variances, by_row, None)?
                    - rows as f64 * posterior.target_scaling[target].scale.ln();
                if let Some(log_likelihood) = log_likelihood.as_deref_mut() {
                    self.add_left_out((state, target), log_likelihood)?;
                }
                let kept = posterior.fitted_rows.len();
                let mut fitted = std::mem::take(&mut self.fitted);
                let at = fitted[target * kept..(target + 1) * kept].as_mut();
                let found = self.means(
                    target,
                    &posterior.inputs,
                    posterior.fitted_rows.iter().copied(),
                    at,
                );
                self.fitted = fitted;
                found?;
                if let Some(test) = &posterior.test {
                    let rows = test.inputs.rows();
                    let mut means = std::mem::take(&mut self.test);
                    let at = means[target * rows..(target + 1) * rows].as_mut();
                    let found = self.means(target, &test.inputs, 0..rows, at);
                    self.test = means;
                    found?;
                }
            }
        }
        let functions = (&self.fitted[..], &self.test[..]);
        posterior.write_integrated(residual, state, functions, draw);
        Terms { log_prior, log_likelihood: value }.with_finite(draw)
    }
}

impl Evaluator for NeighbourEvaluator<'_> {
    fn evaluate(
        &mut self,
        state: &[f64],
        draw: &mut [f64],
        log_likelihood: &mut [f64],
    ) -> Result<Terms, Infeasible> {
        log_likelihood.fill(0.0);
        self.write(state, draw, Some(log_likelihood))
    }

    /// Without the rows one by one, which take predictions of all of them.
    fn evaluate_sum(
        &mut self,
        state: &[f64],
        draw: &mut [f64],
        _: &mut [f64],
    ) -> Result<Terms, Infeasible> {
        self.write(state, draw, None)
    }

    fn complete(&mut self, draw: &mut [f64], stream: &mut Stream) {
        let (posterior, residual) = (self.posterior, self.residual);
        let (rows, kept) = (residual.rows, posterior.fitted_rows.len());
        for process in &posterior.processes {
            process.hyperparameters.write_parameters(&self.state, &mut self.log_parameters);
            self.sequential.set(&self.log_parameters);
            for target in process.targets.clone() {
                let range = target * rows..(target + 1) * rows;
                let precisions = &self.precisions[range.clone()];
                for (variance, precision) in self.variances.iter_mut().zip(precisions) {
                    *variance = precision.recip();
                }
                let known = (&residual.targets[range], &self.variances[..]);
                let fitted = &mut self.fitted[target * kept..(target + 1) * kept];
                if self.sequential.draw(known, stream, fitted).is_err() {
                    fitted.fill(f64::NAN);
                }
            }
        }
        posterior.write_fitted(&self.fitted, draw);
    }
}
