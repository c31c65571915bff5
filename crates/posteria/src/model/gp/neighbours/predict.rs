//! Predict a row from its nearest training rows.

use posteria_linalg::{Cholesky, Matrix, dot};

use super::Points;
use crate::model::gp::covariance::{Covariance, Evaluator};
use crate::target::Infeasible;

/// Predicts functions at points from the nearest training rows.
pub(in crate::model::gp) struct NeighbourPredictor<'p> {
    covariance: Evaluator<'p>,
    points: Points,
    jitter_variance: f64,
    most: usize,
    nearest: Vec<(f64, usize)>,
    rows: Vec<usize>,
    /// The nearest of all others, of every training row that was asked for.
    others: Vec<Vec<usize>>,
}

impl<'p> NeighbourPredictor<'p> {
    pub(in crate::model::gp) fn new(
        covariance: &'p Covariance,
        inputs: &'p Matrix,
        jitter: f64,
        most: usize,
    ) -> Self {
        NeighbourPredictor {
            covariance: covariance.evaluator(inputs),
            points: Points::new(inputs),
            jitter_variance: jitter * jitter,
            most,
            nearest: Vec::new(),
            rows: Vec::new(),
            others: Vec::new(),
        }
    }

    /// Takes the log parameters of the covariance function.
    pub(in crate::model::gp) fn set(&mut self, log_parameters: &[f64]) {
        self.covariance.set(log_parameters);
    }

    /// The nearest of the first `count` training rows, nearest first.
    pub(in crate::model::gp) fn nearest(
        &mut self,
        point: &[f64],
        count: usize,
    ) -> impl Iterator<Item = usize> + '_ {
        self.points.nearest(point, 0..count, self.most, &mut self.nearest);
        self.nearest.iter().map(|(_, row)| *row)
    }

    /// Mean and variance, jitter included, of the function at a point given the targets of its
    /// nearest training rows.
    ///
    /// # Errors
    /// [`Infeasible`] if their covariance is not positive definite.
    pub(in crate::model::gp) fn predict(
        &mut self,
        point: &[f64],
        targets: &[f64],
        variances: &[f64],
    ) -> Result<(f64, f64), Infeasible> {
        self.points.nearest(point, 0..targets.len(), self.most, &mut self.nearest);
        self.rows.clear();
        self.rows.extend(self.nearest.iter().map(|(_, row)| *row));
        self.given_rows(point, targets, variances)
    }

    /// The same of a training row given all others, whose nearest are looked for only once.
    ///
    /// # Errors
    /// As [`NeighbourPredictor::predict`].
    pub(in crate::model::gp) fn predict_alone(
        &mut self,
        row: usize,
        targets: &[f64],
        variances: &[f64],
    ) -> Result<(f64, f64), Infeasible> {
        let point = self.points.row(row).to_vec();
        if self.others.is_empty() {
            self.others.resize(targets.len(), Vec::new());
        }
        self.rows.clear();
        if self.others[row].is_empty() {
            let others = (0..targets.len()).filter(|other| *other != row);
            self.points.nearest(&point, others, self.most, &mut self.nearest);
            self.others[row].extend(self.nearest.iter().map(|(_, row)| *row));
        }
        self.rows.extend_from_slice(&self.others[row]);
        self.given_rows(&point, targets, variances)
    }

    /// Mean and variance of the function at a point given the targets of `rows`.
    fn given_rows(
        &mut self,
        point: &[f64],
        targets: &[f64],
        variances: &[f64],
    ) -> Result<(f64, f64), Infeasible> {
        let size = self.rows.len();
        let new = Matrix::from_fn(1, point.len(), |_, column| point[column]);
        let mut prior = [0.0];
        self.covariance.diagonal(&new, &mut prior);
        let prior = prior[0] + self.jitter_variance;
        if size == 0 {
            return Ok((0.0, prior));
        }
        let mut matrix = Matrix::zeros(size, size);
        self.covariance.fill_rows(&self.rows, &mut matrix);
        for (place, row) in self.rows.iter().enumerate() {
            matrix[(place, place)] += self.jitter_variance + variances[*row];
        }
        let factor = Cholesky::new(&matrix)
            .map_err(|error| Infeasible::NotPositiveDefinite { pivot: error.pivot })?;
        let mut cross = Matrix::zeros(size, 1);
        self.covariance.cross_rows(&self.rows, &new, &mut cross);
        let cross = cross.column_mut(0);
        factor.solve_lower(cross);
        let mut near: Vec<f64> = self.rows.iter().map(|row| targets[*row]).collect();
        factor.solve_lower(&mut near);
        // Rounding must not make a variance negative.
        Ok((dot(cross, &near), (prior - dot(cross, cross)).max(0.0)))
    }
}
