//! Functions at new rows, given the targets or the latent values of one state.

use posteria_linalg::{Cholesky, Matrix, dot};

use super::marginal::Marginal;
use super::observed::Observed;
use super::posterior::GpPosterior;
use crate::target::Infeasible;

/// The processes of one state, ready to predict.
///
/// Functions of normal targets are integrated out given the targets; all others are predicted
/// from the latent values at the training rows.
pub(super) struct Conditioned<'p> {
    posterior: &'p GpPosterior,
    state: Vec<f64>,
    marginal: Marginal<'p>,
    /// Factor of K + J²I of the process `factored`.
    factor: Cholesky,
    factored: Option<usize>,
    log_parameters: Vec<f64>,
    precisions: Vec<f64>,
    solved: Vec<f64>,
}

impl<'p> Conditioned<'p> {
    pub(super) fn new(posterior: &'p GpPosterior) -> Self {
        let GpPosterior { covariance, inputs, jitter, .. } = posterior;
        let precisions = match &posterior.observed {
            Observed::Real(residual) => residual.targets.len(),
            _ => 0,
        };
        Conditioned {
            posterior,
            state: Vec::new(),
            marginal: Marginal::new(covariance, inputs, *jitter),
            factor: Cholesky::identity(inputs.rows()),
            factored: None,
            log_parameters: vec![0.0; covariance.parameters().len()],
            precisions: vec![0.0; precisions],
            solved: vec![0.0; inputs.rows()],
        }
    }

    /// Takes a state.
    pub(super) fn condition(&mut self, state: &[f64]) {
        self.state.clear();
        self.state.extend_from_slice(state);
        self.factored = None;
        if let Observed::Real(residual) = &self.posterior.observed
            && !self.posterior.keeps_latents()
        {
            residual.precisions(state, 1.0, &mut self.precisions);
        }
    }

    /// Makes everything ready for function number `function`.
    fn ready(&mut self, function: usize) -> Result<(), Infeasible> {
        let posterior = self.posterior;
        let rows = posterior.row_count();
        let found = posterior.processes.iter().position(|p| p.targets.contains(&function));
        let which = found.expect("every function belongs to a process");
        let process = &posterior.processes[which];
        process.hyperparameters.write_parameters(&self.state, &mut self.log_parameters);
        self.marginal.set(&self.log_parameters);
        let range = function * rows..(function + 1) * rows;
        match &posterior.observed {
            Observed::Real(residual) if !posterior.keeps_latents() => {
                self.marginal.factorize(&self.precisions[range.clone()])?;
                self.marginal.solve(&residual.targets[range], &mut self.solved);
            }
            _ => {
                if self.factored != Some(which) {
                    self.marginal.factorize_prior(&mut self.factor)?;
                    self.factored = Some(which);
                }
                let first = posterior.latents.start;
                self.solved.copy_from_slice(&self.state[first + range.start..first + range.end]);
                self.factor.solve(&mut self.solved);
            }
        }
        Ok(())
    }

    /// Means and variances of function number `function` at new rows, jitter included.
    ///
    /// # Errors
    /// [`Infeasible`] if the covariance cannot be factorised.
    pub(super) fn predict(
        &mut self,
        function: usize,
        inputs: &Matrix,
        means: &mut [f64],
        variances: &mut [f64],
    ) -> Result<(), Infeasible> {
        self.ready(function)?;
        let mut cross = Matrix::zeros(inputs.rows(), self.posterior.row_count());
        self.marginal.at(inputs, &mut cross, variances);
        if !self.posterior.keeps_latents() {
            self.marginal.predict(&self.solved, &cross, means, variances);
            return Ok(());
        }
        let mut columns =
            Matrix::from_fn(cross.columns(), cross.rows(), |row, new| cross[(new, row)]);
        for (new, mean) in means.iter_mut().enumerate() {
            *mean = dot(columns.column(new), &self.solved);
        }
        self.factor.solve_lower_matrix(&mut columns);
        for (new, variance) in variances.iter_mut().enumerate() {
            let column = columns.column(new);
            // Rounding must not make a variance negative.
            *variance = (*variance - dot(column, column)).max(0.0);
        }
        Ok(())
    }

    /// Means of all functions at new rows, f·n + i; not a number where they cannot be found.
    pub(super) fn means(&mut self, inputs: &Matrix, means: &mut [f64]) {
        let rows = inputs.rows();
        let mut variances = vec![0.0; rows];
        for (function, means) in means.chunks_mut(rows.max(1)).enumerate() {
            if self.predict(function, inputs, means, &mut variances).is_err() {
                means.fill(f64::NAN);
            }
        }
    }
}
