//! Turn a state into a draw where every row depends on its neighbours only.

use posteria_linalg::Matrix;

use super::{NeighbourMarginal, NeighbourPredictor, Neighbours, Sequential};
use crate::model::Evaluator;
use crate::model::gp::posterior::GpPosterior;
use crate::model::residual::Residual;
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
            let found = self.predictor.predict(&self.point, None, targets, &self.variances)?;
            *slot = found.0;
        }
        Ok(())
    }
}

impl Evaluator for NeighbourEvaluator<'_> {
    fn evaluate(
        &mut self,
        state: &[f64],
        draw: &mut [f64],
        log_likelihood: &mut [f64],
    ) -> Result<Terms, Infeasible> {
        let (posterior, residual) = (self.posterior, self.residual);
        self.state.copy_from_slice(state);
        let log_prior = posterior.log_prior_of_scales(residual, state)?;
        residual.precisions(state, 1.0, &mut self.precisions);
        log_likelihood.fill(0.0);
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
                self.marginal.log_density(targets, &self.variances, &mut self.by_row, None)?;
                // In the user's unit: one factor dy'/dy = 1/scale per target.
                let log_scale = posterior.target_scaling[target].scale.ln();
                for (slot, value) in log_likelihood.iter_mut().zip(&self.by_row) {
                    *slot += value - log_scale;
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
        Terms { log_prior, log_likelihood: log_likelihood.iter().sum() }.with_finite(draw)
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
