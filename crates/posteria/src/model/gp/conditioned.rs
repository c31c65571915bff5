//! Functions at new rows, given the targets or the latent values of one state.

use posteria_linalg::{Cholesky, Matrix, dot, matrix_vector, symmetric_rank_k};

use super::marginal::Marginal;
use super::observed::Observed;
use super::open::{Open, RELATIVE_JITTERS};
use super::posterior::GpPosterior;
use super::slopes::Known;
use crate::model::residual::Residual;
use crate::random::Stream;
use crate::target::Infeasible;

/// The processes of one state, ready to predict.
///
/// Functions of normal targets are integrated out given the targets; all others are predicted
/// from the latent values at the training rows. Factors are kept until the hyperparameters
/// change: blocks of rows of one draw share them (of several processes, the last one's).
pub(super) struct Conditioned<'p> {
    posterior: &'p GpPosterior,
    state: Vec<f64>,
    marginal: Marginal<'p>,
    log_parameters: Vec<f64>,
    precisions: Vec<f64>,
    /// Factor of K + J²I, where there are latents, with the log parameters it belongs to.
    factor: Cholesky,
    factored: Vec<f64>,
    /// Diagonal of (K + J²I)⁻¹; empty if not known.
    inverse_diagonal: Vec<f64>,
    /// α with E f(x*) = K(x*, X) α.
    alpha: Vec<f64>,
    /// 0, 1, …, and room for draws at all of them, once there are any.
    all_rows: Vec<usize>,
    open: Option<Open>,
}

impl<'p> Conditioned<'p> {
    pub(super) fn new(posterior: &'p GpPosterior) -> Self {
        let GpPosterior { covariance, inputs, .. } = posterior;
        let precisions = match &posterior.observed {
            Observed::Real(residual) => residual.targets.len(),
            _ => 0,
        };
        let parameters = covariance.parameters().len();
        Conditioned {
            posterior,
            state: Vec::new(),
            marginal: Marginal::of_posterior(posterior),
            log_parameters: vec![0.0; parameters],
            precisions: vec![0.0; precisions],
            factor: Cholesky::identity(inputs.rows()),
            factored: vec![f64::NAN; parameters],
            inverse_diagonal: Vec::new(),
            alpha: vec![0.0; inputs.rows()],
            all_rows: (0..inputs.rows()).collect(),
            open: None,
        }
    }

    /// Takes a state.
    pub(super) fn condition(&mut self, state: &[f64]) {
        self.state.clear();
        self.state.extend_from_slice(state);
        if let Some(residual) = self.integrated() {
            residual.precisions(state, 1.0, &mut self.precisions);
        }
    }

    /// The residual model, if functions are integrated out given the targets.
    fn integrated(&self) -> Option<&'p Residual> {
        match &self.posterior.observed {
            Observed::Real(residual) if !self.posterior.keeps_latents() => Some(residual),
            _ => None,
        }
    }

    /// Finds the parameters of the covariance of function number `function`.
    fn set(&mut self, function: usize) {
        let found = self.posterior.processes.iter().find(|p| p.targets.contains(&function));
        let process = found.expect("every function belongs to a process");
        process.hyperparameters.write_parameters(&self.state, &mut self.log_parameters);
    }

    /// Makes everything ready for function number `function`.
    fn ready(&mut self, function: usize) -> Result<(), Infeasible> {
        self.set(function);
        self.marginal.set(&self.log_parameters);
        let posterior = self.posterior;
        let rows = posterior.row_count();
        let range = function * rows..(function + 1) * rows;
        if let Some(residual) = self.integrated() {
            let precisions = &self.precisions[range.clone()];
            self.marginal.factorize(precisions)?;
            self.marginal.solve(&residual.targets[range], &mut self.alpha);
            for (alpha, precision) in self.alpha.iter_mut().zip(precisions) {
                *alpha *= precision.sqrt();
            }
            return Ok(());
        }
        let pairs = self.factored.iter().zip(&self.log_parameters);
        if !pairs.into_iter().all(|(a, b)| a.to_bits() == b.to_bits()) {
            self.factored.fill(f64::NAN);
            self.inverse_diagonal.clear();
            self.marginal.factorize_prior(&mut self.factor)?;
            self.factored.copy_from_slice(&self.log_parameters);
        }
        let first = posterior.latents.start;
        self.alpha.copy_from_slice(&self.state[first + range.start..first + range.end]);
        self.factor.solve(&mut self.alpha);
        Ok(())
    }

    /// Columns whose inner products are what is known of the covariances at new rows, by K(x*, X).
    fn whiten(&self, cross: &Matrix) -> Matrix {
        if self.integrated().is_some() {
            return self.marginal.whiten(cross);
        }
        let mut columns =
            Matrix::from_fn(cross.columns(), cross.rows(), |row, new| cross[(new, row)]);
        self.factor.solve_lower_matrix(&mut columns);
        columns
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
        if self.marginal.device().is_some() {
            return self.predict_on_device(inputs, means, variances);
        }
        let mut cross = Matrix::zeros(inputs.rows(), self.posterior.row_count());
        self.marginal.at(inputs, &mut cross, variances);
        matrix_vector(&cross, &self.alpha, means);
        let columns = self.whiten(&cross);
        for (new, variance) in variances.iter_mut().enumerate() {
            let column = columns.column(new);
            // Rounding must not make a variance negative.
            *variance = (*variance - dot(column, column)).max(0.0);
        }
        Ok(())
    }

    /// As [`Conditioned::predict`], by a device, of the function that everything is ready for.
    fn predict_on_device(
        &mut self,
        inputs: &Matrix,
        means: &mut [f64],
        variances: &mut [f64],
    ) -> Result<(), Infeasible> {
        self.marginal.variances_at(inputs, variances);
        let Some((device, log_parameters)) = self.marginal.device() else { return Ok(()) };
        // α = W^½ b.
        let solved: Vec<f64> =
            self.alpha.iter().enumerate().map(|(row, a)| a / self.marginal.root(row)).collect();
        let mut known = vec![0.0; inputs.rows()];
        device.predict(log_parameters, &solved, inputs, (means, &mut known))?;
        for (variance, known) in variances.iter_mut().zip(&known) {
            *variance = (*variance - known).max(0.0);
        }
        Ok(())
    }

    /// Means of all functions at new rows, f·n + i; not a number where they cannot be found.
    pub(super) fn means(&mut self, inputs: &Matrix, means: &mut [f64]) {
        let rows = inputs.rows();
        let mut cross = Matrix::zeros(rows, self.posterior.row_count());
        let mut diagonal = vec![0.0; rows];
        for (function, means) in means.chunks_mut(rows.max(1)).enumerate() {
            if self.ready(function).is_err() {
                means.fill(f64::NAN);
                continue;
            }
            self.marginal.at(inputs, &mut cross, &mut diagonal);
            matrix_vector(&cross, &self.alpha, means);
        }
    }

    /// A joint draw of function number `function` at new rows, jitter included: mean plus the
    /// factor of the covariance times normal draws. Cubic in the number of new rows.
    ///
    /// # Errors
    /// [`Infeasible`] if a covariance cannot be factorised.
    pub(super) fn draw(
        &mut self,
        function: usize,
        inputs: &Matrix,
        stream: &mut Stream,
        values: &mut [f64],
    ) -> Result<(), Infeasible> {
        self.ready(function)?;
        let (rows, new) = (self.posterior.row_count(), inputs.rows());
        let (mut cross, mut diagonal) = (Matrix::zeros(new, rows), vec![0.0; new]);
        self.marginal.at(inputs, &mut cross, &mut diagonal);
        let mut means = vec![0.0; new];
        matrix_vector(&cross, &self.alpha, &mut means);
        let columns = self.whiten(&cross);
        let (mut covariances, mut known) = (Matrix::zeros(new, new), Matrix::zeros(new, new));
        self.fill(inputs, &mut covariances);
        (0..new).for_each(|row| covariances[(row, row)] += self.posterior.jitter.powi(2));
        symmetric_rank_k(&columns, &mut known);
        for column in 0..new {
            let pairs = covariances.column_mut(column).iter_mut().zip(known.column(column));
            pairs.for_each(|(value, known)| *value -= known);
        }
        let largest = diagonal.iter().fold(0.0_f64, |most, variance| most.max(*variance));
        draw_normal(&mut covariances, largest, stream, values)?;
        values.iter_mut().zip(&means).for_each(|(value, mean)| *value += mean);
        Ok(())
    }

    /// What `of` makes of function number `function` given all that is known of it.
    ///
    /// # Errors
    /// [`Infeasible`] if a covariance cannot be factorised.
    pub(super) fn with_known<T>(
        &mut self,
        function: usize,
        of: impl FnOnce(&Known<'_>) -> T,
    ) -> Result<T, Infeasible> {
        self.ready(function)?;
        Ok(of(&Known {
            covariance: &self.posterior.covariance,
            log_parameters: &self.log_parameters,
            points: &self.posterior.inputs,
            alpha: &self.alpha,
            whiten: &|cross| self.whiten(cross),
        }))
    }

    /// A joint draw of function number `function` at all training rows given their targets; where
    /// functions are integrated out.
    ///
    /// # Errors
    /// [`Infeasible`] if a covariance cannot be factorised.
    pub(super) fn draw_training_function(
        &mut self,
        function: usize,
        stream: &mut Stream,
        values: &mut [f64],
    ) -> Result<(), Infeasible> {
        self.ready(function)?;
        let residual = self.integrated().expect("functions are integrated out");
        let rows = self.posterior.row_count();
        let range = function * rows..(function + 1) * rows;
        let known = self.alpha.iter().zip(&residual.targets[range.clone()]);
        for ((value, (alpha, target)), precision) in
            values.iter_mut().zip(known).zip(&self.precisions[range])
        {
            // E[f] = y - W⁻¹ C⁻¹ y.
            *value = target - alpha / precision;
        }
        let open = self.open.get_or_insert_with(|| Open::new(rows, rows));
        open.add(&mut self.marginal, &self.all_rows, stream, values)
    }

    /// As [`Conditioned::draw`], before anything was observed; without the jitter, which would
    /// only roughen the line that is shown.
    ///
    /// # Errors
    /// [`Infeasible`] if the covariance cannot be factorised.
    pub(super) fn draw_prior(
        &mut self,
        function: usize,
        inputs: &Matrix,
        stream: &mut Stream,
        values: &mut [f64],
    ) -> Result<(), Infeasible> {
        self.set(function);
        let new = inputs.rows();
        let mut covariances = Matrix::zeros(new, new);
        self.fill(inputs, &mut covariances);
        let largest = (0..new).fold(0.0_f64, |most, row| most.max(covariances[(row, row)]));
        draw_normal(&mut covariances, largest, stream, values)
    }

    /// Covariances of a function at new rows without jitter; the lower half.
    fn fill(&self, inputs: &Matrix, covariances: &mut Matrix) {
        let mut evaluator = self.posterior.covariance.evaluator(inputs);
        evaluator.set(&self.log_parameters);
        evaluator.fill(covariances);
    }

    /// Means and variances of function number `function` at every training row given all *other*
    /// rows, jitter included.
    ///
    /// Given normal targets y ~ N(0, C): y_i has mean y_i - α_i/c̄_ii and variance 1/c̄_ii, with
    /// c̄ = C⁻¹ and α = C⁻¹y, of which the residual's own part is taken away; given latents f the
    /// same of f with K + J²I in place of C [Sundararajan & Keerthi 2001].
    ///
    /// # Errors
    /// [`Infeasible`] if the covariance cannot be factorised.
    pub(super) fn leave_one_out(
        &mut self,
        function: usize,
        means: &mut [f64],
        variances: &mut [f64],
    ) -> Result<(), Infeasible> {
        self.ready(function)?;
        let rows = self.posterior.row_count();
        let range = function * rows..(function + 1) * rows;
        if let Some(residual) = self.integrated() {
            self.marginal.invert_diagonal();
            let (targets, precisions) = (&residual.targets[range.clone()], &self.precisions[range]);
            for row in 0..rows {
                // C⁻¹ = W^½ B⁻¹ W^½.
                let (inverse, precision) = (self.marginal.inverse_diagonal(row), precisions[row]);
                means[row] = targets[row] - self.alpha[row] / (precision * inverse);
                variances[row] = ((inverse.recip() - 1.0) / precision).max(0.0);
            }
            return Ok(());
        }
        if self.inverse_diagonal.is_empty() {
            self.inverse_diagonal.resize(rows, 0.0);
            let mut room = Matrix::zeros(rows, rows);
            self.factor.inverse_diagonal(&mut room, &mut self.inverse_diagonal);
        }
        let first = self.posterior.latents.start + range.start;
        for (row, inverse) in self.inverse_diagonal.iter().enumerate() {
            means[row] = self.state[first + row] - self.alpha[row] / inverse;
            variances[row] = inverse.recip();
        }
        Ok(())
    }
}

/// A draw of normal values with mean 0; `covariances` holds the lower half, `largest` is the
/// largest variance that it is a difference of.
pub(super) fn draw_normal(
    covariances: &mut Matrix,
    largest: f64,
    stream: &mut Stream,
    values: &mut [f64],
) -> Result<(), Infeasible> {
    let mut failure = Infeasible::NotFinite;
    for relative in RELATIVE_JITTERS {
        (0..values.len()).for_each(|row| covariances[(row, row)] += relative * largest);
        match Cholesky::new(covariances) {
            Ok(factor) => {
                stream.fill_normal(values);
                factor.multiply_lower(values);
                return Ok(());
            }
            Err(error) => failure = Infeasible::NotPositiveDefinite { pivot: error.pivot },
        }
    }
    Err(failure)
}
