//! The density of real targets with the functions integrated out.
//!
//! Residuals are normal given one precision w_i per row, so with W = diag(w) and
//! B = I + W^½ (K + J²I) W^½
//!
//! ∫ N(f; 0, K + J²I) exp(-½ (y-f)ᵀW(y-f)) df = |B|^(-½) exp(-½ yᵀ W^½ B⁻¹ W^½ y)
//!
//! [Rasmussen & Williams 2006, §3.4.3]. The eigenvalues of B are at least 1 whatever W, so that
//! rows without any weight, as at inverse temperature 0, need no special care.

use posteria_linalg::{Cholesky, Matrix, symmetric_rank_k};

use super::covariance::{Covariance, Evaluator};
use super::on_device::DevicePoint;
use super::posterior::GpPosterior;
use crate::random::Stream;
use crate::target::Infeasible;

/// Room for the density of targets that share a covariance function.
pub(super) struct Marginal<'p> {
    covariance: Evaluator<'p>,
    jitter_variance: f64,
    /// Log parameters of the covariance in `prior`; not a number before the first.
    log_parameters: Vec<f64>,
    /// K + J²I, the lower triangle.
    prior: Matrix,
    /// W^½.
    roots: Vec<f64>,
    /// Factor of B.
    factor: Cholesky,
    /// B⁻¹, the lower triangle.
    inverse: Matrix,
    /// The diagonal of B⁻¹.
    diagonal: Vec<f64>,
    /// Whether `roots` and `prior` are those of `factor`.
    factorized: bool,
    /// Whether `diagonal` is that of the factor's inverse, for [`Marginal::invert_diagonal`].
    knows_diagonal: bool,
    /// What has everything of the size of a square in place of the above.
    device: Option<Box<DevicePoint<'p>>>,
}

impl<'p> Marginal<'p> {
    pub(super) fn new(covariance: &'p Covariance, inputs: &'p Matrix, jitter: f64) -> Self {
        let rows = inputs.rows();
        Marginal {
            covariance: covariance.evaluator(inputs),
            jitter_variance: jitter * jitter,
            log_parameters: vec![f64::NAN; covariance.parameters().len()],
            prior: Matrix::zeros(rows, rows),
            roots: vec![f64::NAN; rows],
            factor: Cholesky::identity(rows),
            inverse: Matrix::zeros(0, 0),
            diagonal: Vec::new(),
            factorized: false,
            knows_diagonal: false,
            device: None,
        }
    }

    /// On the device of the posterior, if it has one.
    pub(super) fn of_posterior(posterior: &'p GpPosterior) -> Self {
        let GpPosterior { covariance, inputs, jitter, device, .. } = posterior;
        let Some(device) = device else { return Marginal::new(covariance, inputs, *jitter) };
        let rows = inputs.rows();
        Marginal {
            covariance: covariance.evaluator(inputs),
            jitter_variance: jitter * jitter,
            log_parameters: vec![f64::NAN; covariance.parameters().len()],
            prior: Matrix::zeros(0, 0),
            roots: vec![f64::NAN; rows],
            factor: Cholesky::identity(0),
            inverse: Matrix::zeros(0, 0),
            diagonal: vec![f64::NAN; rows],
            factorized: false,
            knows_diagonal: false,
            device: Some(Box::new(DevicePoint::new(device, rows))),
        }
    }

    /// Takes the log parameters of the covariance function.
    pub(super) fn set(&mut self, log_parameters: &[f64]) {
        if same(&self.log_parameters, log_parameters) {
            return;
        }
        self.log_parameters.copy_from_slice(log_parameters);
        self.factorized = false;
        self.covariance.set(log_parameters);
        if self.device.is_some() {
            return;
        }
        self.covariance.fill(&mut self.prior);
        for row in 0..self.prior.rows() {
            self.prior[(row, row)] += self.jitter_variance;
        }
    }

    /// Takes the precisions of the rows, and factorises B.
    ///
    /// # Errors
    /// [`Infeasible`] if the covariance is not usable.
    pub(super) fn factorize(&mut self, precisions: &[f64]) -> Result<(), Infeasible> {
        let mut current = self.factorized;
        for (root, precision) in self.roots.iter_mut().zip(precisions) {
            let value = precision.sqrt();
            current &= value.to_bits() == root.to_bits();
            *root = value;
        }
        if current {
            return Ok(());
        }
        self.factorized = false;
        self.knows_diagonal = false;
        if let Some(device) = &mut self.device {
            device.factorize(&self.log_parameters, precisions)?;
            self.factorized = true;
            return Ok(());
        }
        let matrix = self.factor.matrix_mut();
        for (index, root) in self.roots.iter().enumerate() {
            let from = &self.prior.column(index)[index..];
            let to = &mut matrix.column_mut(index)[index..];
            for ((to, from), other) in to.iter_mut().zip(from).zip(&self.roots[index..]) {
                *to = root * other * from;
            }
            to[0] += 1.0;
        }
        self.factor
            .refactorize()
            .map_err(|error| Infeasible::NotPositiveDefinite { pivot: error.pivot })?;
        self.factorized = true;
        Ok(())
    }

    /// Writes the lower half of (B⁻¹)_SS for some rows S: `columns` is room, without columns for all rows.
    ///
    /// # Errors
    /// [`Infeasible`] if a device failed.
    pub(super) fn inverse_among(
        &mut self,
        rows: &[usize],
        columns: &mut Matrix,
        block: &mut Matrix,
    ) -> Result<(), Infeasible> {
        if let Some(device) = &self.device {
            return device.inverse_among(&self.log_parameters, rows, block);
        }
        if columns.columns() == 0 {
            self.factor.inverse(block);
            if !self.knows_diagonal {
                self.diagonal.clear();
                self.diagonal.extend((0..rows.len()).map(|row| block[(row, row)]));
                self.knows_diagonal = true;
            }
            return Ok(());
        }
        columns.values_mut().fill(0.0);
        for (column, row) in rows.iter().enumerate() {
            columns[(*row, column)] = 1.0;
        }
        self.factor.solve_lower_matrix(columns);
        symmetric_rank_k(columns, block);
        Ok(())
    }

    /// The device, if one computes this, and the point that it is asked about.
    pub(super) fn device(&self) -> Option<(&DevicePoint<'p>, &[f64])> {
        self.device.as_deref().map(|device| (device, &self.log_parameters[..]))
    }

    /// The root of the precision of a row.
    pub(super) fn root(&self, row: usize) -> f64 {
        self.roots[row]
    }

    /// -½ log |B|.
    pub(super) fn log_volume(&self) -> f64 {
        if let Some(device) = &self.device {
            return device.log_volume();
        }
        -0.5 * self.factor.log_determinant()
    }

    /// Writes b = B⁻¹ W^½ y; returns yᵀ W^½ b.
    pub(super) fn solve(&self, targets: &[f64], solved: &mut [f64]) -> f64 {
        if let Some(device) = &self.device {
            return device.solve(&self.log_parameters, targets, solved);
        }
        for ((slot, target), root) in solved.iter_mut().zip(targets).zip(&self.roots) {
            *slot = root * target;
        }
        self.factor.solve_lower(solved);
        let square = solved.iter().map(|z| z * z).sum();
        self.factor.solve_lower_transposed(solved);
        square
    }

    /// Finds B⁻¹ for [`Marginal::gradient`] and [`Marginal::inverse_diagonal`].
    pub(super) fn invert(&mut self) {
        if let Some(device) = &self.device {
            return device.inverse_diagonal(&self.log_parameters, &mut self.diagonal);
        }
        self.make_room();
        self.factor.inverse(&mut self.inverse);
        self.knows_diagonal = false;
        for (row, slot) in self.diagonal.iter_mut().enumerate() {
            *slot = self.inverse[(row, row)];
        }
    }

    /// Inverses take as much room as the factors, and not everybody needs them.
    fn make_room(&mut self) {
        let rows = self.roots.len();
        if self.inverse.rows() != rows {
            self.inverse = Matrix::zeros(rows, rows);
        }
        self.diagonal.resize(rows, 0.0);
    }

    /// Finds only the diagonal of B⁻¹, for [`Marginal::inverse_diagonal`], unless it is known.
    pub(super) fn invert_diagonal(&mut self) {
        if self.knows_diagonal {
            return;
        }
        self.knows_diagonal = true;
        if let Some(device) = &self.device {
            return device.inverse_diagonal(&self.log_parameters, &mut self.diagonal);
        }
        self.make_room();
        self.factor.inverse_diagonal(&mut self.inverse, &mut self.diagonal);
    }

    /// (B⁻¹)_ii, after [`Marginal::invert`].
    pub(super) fn inverse_diagonal(&self, row: usize) -> f64 {
        self.diagonal[row]
    }

    /// Derivatives of Σ_t (-½ log |B| - ½ y_tᵀ W^½ B⁻¹ W^½ y_t) with respect to the log parameters
    /// of the covariance function, after [`Marginal::invert`]; `solved` has b_t of every target t,
    /// one after the other. With R = W^½ B⁻¹ W^½ and α = W^½ b they are ½ tr((Σ ααᵀ - R) ∂K).
    pub(super) fn gradient(&mut self, solved: &[f64], gradient: &mut [f64]) {
        if let Some(device) = &self.device {
            return device.gradient(&self.log_parameters, solved, gradient);
        }
        let rows = self.roots.len();
        let targets = (solved.len() / rows) as f64;
        let (roots, inverse) = (&self.roots, &self.inverse);
        let mut column = |index: usize, out: &mut [f64]| {
            let half_root = 0.5 * roots[index];
            let column = &inverse.column(index)[index..];
            let roots = &roots[index..];
            for ((slot, value), root) in out.iter_mut().zip(column).zip(roots) {
                *slot = -targets * half_root * root * value;
            }
            for solved in solved.chunks_exact(rows) {
                let factor = half_root * solved[index];
                for ((slot, b), root) in out.iter_mut().zip(&solved[index..]).zip(roots) {
                    *slot += factor * root * b;
                }
            }
        };
        self.covariance.gradient(&mut column, gradient);
    }

    /// The factor of K + J²I.
    ///
    /// # Errors
    /// [`Infeasible`] if it is not positive definite.
    pub(super) fn factorize_prior(&self, factor: &mut Cholesky) -> Result<(), Infeasible> {
        factor
            .factorize(&self.prior)
            .map_err(|error| Infeasible::NotPositiveDefinite { pivot: error.pivot })
    }

    /// Draws the function at the rows given targets y: with f₀ ~ N(0, K + J²I), ε ~ N(0, I),
    /// f = f₀ + K W^½ B⁻¹ (W^½ (y - f₀) - ε), where K holds the jitter too. `factor` is that of
    /// [`Marginal::factorize_prior`]; `room` has one number per row.
    pub(super) fn draw_function(
        &self,
        factor: &Cholesky,
        targets: &[f64],
        function: &mut [f64],
        room: &mut Vec<f64>,
        stream: &mut Stream,
    ) {
        stream.fill_normal(function);
        factor.multiply_lower(function);
        room.resize(2 * function.len(), 0.0);
        let (noise, moved) = room.split_at_mut(function.len());
        stream.fill_normal(noise);
        let rows = noise.iter_mut().zip(&self.roots).zip(targets.iter().zip(&*function));
        for ((slot, root), (target, f)) in rows {
            *slot = root * (target - f) - *slot;
        }
        self.factor.solve(noise);
        for (slot, root) in noise.iter_mut().zip(&self.roots) {
            *slot *= root;
        }
        // K v through its factor: L (Lᵀ v).
        moved.copy_from_slice(noise);
        factor.multiply_lower_transposed(moved);
        factor.multiply_lower(moved);
        for (f, moved) in function.iter_mut().zip(moved) {
            *f += *moved;
        }
    }

    /// Writes K(x*, x*) + J² of new rows.
    pub(super) fn variances_at(&mut self, inputs: &Matrix, diagonal: &mut [f64]) {
        self.covariance.diagonal(inputs, diagonal);
        diagonal.iter_mut().for_each(|variance| *variance += self.jitter_variance);
    }

    /// Writes K(x*, X) and K(x*, x*) + J² of new rows.
    pub(super) fn at(&mut self, inputs: &Matrix, cross: &mut Matrix, diagonal: &mut [f64]) {
        self.covariance.cross(inputs, cross);
        self.variances_at(inputs, diagonal);
    }

    /// Turns K(x*, X) into L⁻¹ W^½ K(X, x*), L the factor of B: its columns have the square
    /// lengths that targets take from the variances at x*, and inner products alike.
    pub(super) fn whiten(&self, cross: &Matrix) -> Matrix {
        let mut scaled = Matrix::from_fn(self.roots.len(), cross.rows(), |row, new| {
            self.roots[row] * cross[(new, row)]
        });
        match &self.device {
            Some(device) => device.whiten(&self.log_parameters, &mut scaled),
            None => self.factor.solve_lower_matrix(&mut scaled),
        }
        scaled
    }
}

/// Whether two slices are the same bit for bit.
fn same(a: &[f64], b: &[f64]) -> bool {
    a.iter().zip(b).all(|(a, b)| a.to_bits() == b.to_bits())
}
