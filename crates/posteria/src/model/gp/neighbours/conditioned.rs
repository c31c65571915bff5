//! Functions at new rows, given the targets of their nearest training rows.

use posteria_linalg::{Cholesky, Matrix};

use super::{NeighbourPredictor, Sequential};
use crate::model::gp::posterior::GpPosterior;
use crate::model::gp::slopes::Known;
use crate::model::residual::Residual;
use crate::random::Stream;
use crate::target::Infeasible;

/// Most training rows that a joint draw is conditioned on.
const MOST_ROWS: usize = 2000;
/// Most training rows that sums and slopes are conditioned on. Fewer targets leave more open: what
/// is told is less certain than it might be, never more.
const MOST_KNOWN: usize = 500;
/// Points whose nearest rows these are, if there are more.
const MOST_ASKED: usize = 100;
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
    most: usize,
    /// Draws at all training rows, once there are any.
    sequential: Option<Sequential<'p>>,
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
            most,
            sequential: None,
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

    /// A draw of one target's function at all training rows given the targets, jitter included; as
    /// joint as [`Sequential`] draws are.
    ///
    /// # Errors
    /// [`Infeasible`] if a covariance cannot be factorised.
    pub(in crate::model::gp) fn draw_training_function(
        &mut self,
        target: usize,
        stream: &mut Stream,
        values: &mut [f64],
    ) -> Result<(), Infeasible> {
        let targets = self.ready(target);
        let GpPosterior { covariance, inputs, jitter, .. } = self.posterior;
        let most = self.most;
        let sequential = self.sequential.get_or_insert_with(|| {
            let rows: Vec<usize> = (0..inputs.rows()).collect();
            Sequential::new(covariance, inputs, *jitter, most, &rows)
        });
        sequential.set(&self.log_parameters);
        sequential.draw((targets, &self.variances), stream, values)
    }

    /// What `of` makes of one target's function given the targets of the training rows that are
    /// nearest to any of `inputs`, the nearest of each first, up to a limit.
    ///
    /// # Errors
    /// [`Infeasible`] if the covariance cannot be factorised.
    pub(in crate::model::gp) fn with_known<T>(
        &mut self,
        target: usize,
        inputs: &Matrix,
        of: impl FnOnce(&Known<'_>) -> T,
    ) -> Result<T, Infeasible> {
        let targets = self.ready(target);
        let mut ranked: Vec<(usize, usize)> = Vec::new();
        // Which rows are near does not need every one of many points.
        for row in (0..inputs.rows()).step_by(inputs.rows().div_ceil(MOST_ASKED).max(1)) {
            self.read(inputs, row);
            ranked.extend(self.predictor.nearest(&self.point, targets.len()).enumerate());
        }
        ranked.sort_unstable();
        let mut seen = vec![false; targets.len()];
        let first = |&(_, row): &(usize, usize)| !std::mem::replace(&mut seen[row], true);
        let near = ranked.into_iter().filter(first).take(MOST_KNOWN).map(|(_, row)| row);
        let near: Vec<usize> = near.collect();
        let points = Matrix::from_fn(near.len(), inputs.columns(), |row, k| {
            self.posterior.inputs[(near[row], k)]
        });
        let mut evaluator = self.posterior.covariance.evaluator(&points);
        evaluator.set(&self.log_parameters);
        let mut covariances = Matrix::zeros(near.len(), near.len());
        evaluator.fill(&mut covariances);
        for (place, row) in near.iter().enumerate() {
            covariances[(place, place)] += self.posterior.jitter.powi(2) + self.variances[*row];
        }
        let factor = Cholesky::new(&covariances)
            .map_err(|error| Infeasible::NotPositiveDefinite { pivot: error.pivot })?;
        let mut alpha: Vec<f64> = near.iter().map(|&row| targets[row]).collect();
        factor.solve(&mut alpha);
        let whiten = |cross: &Matrix| {
            let mut columns =
                Matrix::from_fn(cross.columns(), cross.rows(), |row, new| cross[(new, row)]);
            factor.solve_lower_matrix(&mut columns);
            columns
        };
        Ok(of(&Known {
            covariance: &self.posterior.covariance,
            log_parameters: &self.log_parameters,
            points: &points,
            alpha: &alpha,
            whiten: &whiten,
        }))
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
            (*mean, *variance) = match alone {
                true => self.predictor.predict_alone(row, targets, &self.variances)?,
                false => {
                    self.read(inputs, row);
                    self.predictor.predict(&self.point, targets, &self.variances)?
                }
            };
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
