//! Functions at new rows, given the targets of their nearest training rows.

use posteria_linalg::{Cholesky, Matrix};

use super::NeighbourPredictor;
use crate::model::gp::posterior::GpPosterior;
use crate::model::residual::Residual;
use crate::random::Stream;
use crate::target::Infeasible;

/// Most training rows that a joint draw is conditioned on.
const MOST_ROWS: usize = 2000;
/// Part of the largest variance that rounding may need on the diagonal.
const RELATIVE_JITTER: f64 = 1e-12;

/// The processes of one state, ready to predict from neighbours.
pub(in crate::model::gp) struct NeighbourConditioned<'p> {
    posterior: &'p GpPosterior,
    residual: &'p Residual,
    predictor: NeighbourPredictor<'p>,
    state: Vec<f64>,
    log_parameters: Vec<f64>,
    precisions: Vec<f64>,
    variances: Vec<f64>,
    point: Vec<f64>,
}

impl<'p> NeighbourConditioned<'p> {
    pub(in crate::model::gp) fn new(
        posterior: &'p GpPosterior,
        residual: &'p Residual,
        most: usize,
    ) -> Self {
        let GpPosterior { covariance, inputs, jitter, .. } = posterior;
        NeighbourConditioned {
            posterior,
            residual,
            predictor: NeighbourPredictor::new(covariance, inputs, *jitter, most),
            state: Vec::new(),
            log_parameters: vec![0.0; covariance.parameters().len()],
            precisions: vec![0.0; residual.targets.len()],
            variances: vec![0.0; inputs.rows()],
            point: vec![0.0; inputs.columns()],
        }
    }

    /// Takes a state.
    pub(in crate::model::gp) fn condition(&mut self, state: &[f64]) {
        self.state.clear();
        self.state.extend_from_slice(state);
        self.residual.precisions(state, 1.0, &mut self.precisions);
    }

    /// Makes everything ready for one target, whose values it returns.
    fn ready(&mut self, target: usize) -> &'p [f64] {
        let rows = self.residual.rows;
        let found = self.posterior.processes.iter().find(|p| p.targets.contains(&target));
        let process = found.expect("every function belongs to a process");
        process.hyperparameters.write_parameters(&self.state, &mut self.log_parameters);
        self.predictor.set(&self.log_parameters);
        let range = target * rows..(target + 1) * rows;
        for (variance, precision) in self.variances.iter_mut().zip(&self.precisions[range.clone()])
        {
            *variance = precision.recip();
        }
        &self.residual.targets[range]
    }

    fn read(&mut self, inputs: &Matrix, row: usize) {
        for (column, value) in self.point.iter_mut().enumerate() {
            *value = inputs[(row, column)];
        }
    }

    /// Means and variances of one target's function at new rows, jitter included; with `alone`,
    /// `inputs` are the training rows and each is predicted without itself.
    ///
    /// # Errors
    /// [`Infeasible`] if a covariance cannot be factorised.
    pub(in crate::model::gp) fn predict(
        &mut self,
        target: usize,
        inputs: &Matrix,
        alone: bool,
        (means, variances): (&mut [f64], &mut [f64]),
    ) -> Result<(), Infeasible> {
        let targets = self.ready(target);
        for (row, (mean, variance)) in means.iter_mut().zip(variances).enumerate() {
            self.read(inputs, row);
            let without = alone.then_some(row);
            (*mean, *variance) =
                self.predictor.predict(&self.point, without, targets, &self.variances)?;
        }
        Ok(())
    }

    /// A joint draw of one target's function at new rows, jitter included, given the targets of
    /// the training rows that are nearest to any of them; without them, before anything was
    /// observed. Cubic in the number of rows.
    ///
    /// With observed targets first and functions at new rows last, L Lᵀ their covariance and
    /// z = L₁₁⁻¹ y, the draw is L₂₁ z + L₂₂ ε.
    ///
    /// # Errors
    /// [`Infeasible`] if the covariance cannot be factorised.
    pub(in crate::model::gp) fn draw(
        &mut self,
        target: usize,
        inputs: &Matrix,
        observed: bool,
        stream: &mut Stream,
        values: &mut [f64],
    ) -> Result<(), Infeasible> {
        let targets = self.ready(target);
        let mut near: Vec<usize> = Vec::new();
        for row in (0..inputs.rows()).filter(|_| observed) {
            self.read(inputs, row);
            near.extend(self.predictor.nearest(&self.point, targets.len()));
        }
        near.sort_unstable();
        near.dedup();
        near.truncate(MOST_ROWS);
        let (known, total) = (near.len(), near.len() + inputs.rows());
        let points = Matrix::from_fn(total, inputs.columns(), |row, column| match near.get(row) {
            Some(&at) => self.posterior.inputs[(at, column)],
            None => inputs[(row - known, column)],
        });
        let mut evaluator = self.posterior.covariance.evaluator(&points);
        evaluator.set(&self.log_parameters);
        let mut covariances = Matrix::zeros(total, total);
        evaluator.fill(&mut covariances);
        let largest = (0..total).fold(0.0_f64, |most, row| most.max(covariances[(row, row)]));
        let jitter = self.posterior.jitter.powi(2) + RELATIVE_JITTER * largest;
        for row in 0..total {
            let own = near.get(row).map_or(0.0, |&at| self.variances[at]);
            covariances[(row, row)] += jitter + own;
        }
        let factor = Cholesky::new(&covariances)
            .map_err(|error| Infeasible::NotPositiveDefinite { pivot: error.pivot })?;
        let mut whitened: Vec<f64> = near.iter().map(|&row| targets[row]).collect();
        whitened.resize(total, 0.0);
        // The first part of L⁻¹ (y, 0) is L₁₁⁻¹ y.
        factor.solve_lower(&mut whitened);
        stream.fill_normal(&mut whitened[known..]);
        factor.multiply_lower(&mut whitened);
        values.copy_from_slice(&whitened[known..]);
        Ok(())
    }
}
