//! Evaluate the penalised log likelihood of a regularised model, with its curvature.

use posteria_linalg::{Cholesky, Matrix, symmetric_rank_k};

use crate::density::special::LOG_SQRT_2PI;
use crate::model::two_classes;
use crate::model::{Decay, Noise, Outputs, Regularised, Response, Scales};
use crate::target::{Infeasible, LogDensity};

/// log p(targets | w, β) + log p(w | α) as a function of the weights w, normalised, on the
/// standardised scale.
///
/// Its curvature is that of Gauss and Newton: for real targets Σ β gᵢgᵢᵀ over residuals with the
/// gradients g of the outputs, for classes the Fisher information, plus diag(α). It is exact for
/// linear models; for networks it leaves out the second derivatives of the outputs, so that it
/// has no negative eigenvalues and is positive definite everywhere.
pub(super) struct Penalised<'m> {
    outputs: Box<dyn Outputs + 'm>,
    response: Response<'m>,
    pub(super) decays: Vec<Decay>,
    pub(super) noises: Vec<Noise>,
    pub(super) scales: Scales,
    /// Precision α of every weight.
    alphas: Vec<f64>,
    /// Precision β of every residual.
    betas: Vec<f64>,
    log_constant: f64,
    values: Vec<f64>,
    jacobian: Matrix,
    scaled: Matrix,
}

impl<'m> Penalised<'m> {
    pub(super) fn new(model: &'m dyn Regularised, scales: Scales) -> Self {
        let (decays, noises) = (model.decays(), model.noises());
        let count = decays.iter().map(|decay| decay.members.end).max().unwrap_or(0);
        let outputs = model.outputs();
        let len = outputs.len();
        let mut penalised = Penalised {
            outputs,
            response: model.response(),
            decays,
            noises,
            scales: scales.clone(),
            alphas: vec![0.0; count],
            betas: vec![1.0; len],
            log_constant: 0.0,
            values: vec![0.0; len],
            jacobian: Matrix::zeros(len, count),
            scaled: Matrix::zeros(len, count),
        };
        penalised.set(scales);
        penalised
    }

    /// Takes other scales.
    pub(super) fn set(&mut self, scales: Scales) {
        for (decay, alpha) in self.decays.iter().zip(&scales.alphas) {
            self.alphas[decay.members.clone()].fill(*alpha);
        }
        if let Response::Real { group_of, .. } = self.response {
            for (beta, group) in self.betas.iter_mut().zip(group_of) {
                *beta = scales.betas[*group as usize];
            }
        }
        let half = |sum: f64, (count, precision): (f64, &f64)| {
            // Of no precision, weights have no prior.
            if *precision > 0.0 { sum + count * (0.5 * precision.ln() - LOG_SQRT_2PI) } else { sum }
        };
        let members = self.decays.iter().map(|decay| decay.members.len() as f64);
        let counts = self.noises.iter().map(|noise| noise.count);
        self.log_constant =
            members.zip(&scales.alphas).fold(0.0, half) + counts.zip(&scales.betas).fold(0.0, half);
        self.scales = scales;
    }

    /// Number of rows.
    pub(super) fn rows(&self) -> usize {
        self.outputs.rows()
    }

    /// ½ Σ w² of every group.
    pub(super) fn half_squares(&self, weights: &[f64]) -> Vec<f64> {
        let half =
            |decay: &Decay| weights[decay.members.clone()].iter().map(|w| 0.5 * w * w).sum::<f64>();
        self.decays.iter().map(half).collect()
    }

    /// ½ Σ r² of every group of residuals.
    pub(super) fn half_residuals(&mut self, weights: &[f64]) -> Vec<f64> {
        let mut sums = vec![0.0; self.noises.len()];
        if let Response::Real { targets, group_of } = self.response {
            self.outputs.outputs(weights, &mut self.values);
            for ((target, output), group) in targets.iter().zip(&self.values).zip(group_of) {
                sums[*group as usize] += 0.5 * (target - output).powi(2);
            }
        }
        sums
    }

    /// Residuals y - f at o·n + i; empty for classes.
    pub(super) fn residuals(&mut self, weights: &[f64]) -> Vec<f64> {
        self.outputs.outputs(weights, &mut self.values);
        match self.response {
            Response::Real { targets, .. } => {
                targets.iter().zip(&self.values).map(|(y, f)| y - f).collect()
            }
            _ => Vec::new(),
        }
    }

    /// The curvature without diag(α); `scaled` then has the rows whose products it is the sum of.
    fn misfit_curvature(&mut self, weights: &[f64], curvature: &mut Matrix) {
        self.outputs.jacobian(weights, &mut self.jacobian);
        self.outputs.outputs(weights, &mut self.values);
        self.scaled.values_mut().copy_from_slice(self.jacobian.values());
        let len = self.values.len();
        match self.response {
            Response::Real { .. } => {
                let roots: Vec<f64> = self.betas.iter().map(|beta| beta.sqrt()).collect();
                scale_rows(&mut self.scaled, &roots);
            }
            Response::Binary { signs, link } => {
                let pairs = signs.iter().zip(&self.values);
                let roots: Vec<f64> =
                    pairs.map(|(s, f)| two_classes::terms(link, *s, *f).curvature.sqrt()).collect();
                scale_rows(&mut self.scaled, &roots);
            }
            Response::Classes { codes } => {
                // Σ_c p_c (g_c - ḡ)(g_c - ḡ)ᵀ with ḡ = Σ_c p_c g_c.
                let (n, classes) = (codes.len(), len / codes.len().max(1));
                let shares = softmax(&self.values, n);
                for column in 0..self.scaled.columns() {
                    let values = self.scaled.column_mut(column);
                    for row in 0..n {
                        let at = |class: usize| class * n + row;
                        let mean: f64 = (0..classes).map(|c| shares[at(c)] * values[at(c)]).sum();
                        for class in 0..classes {
                            let root = shares[at(class)].sqrt();
                            values[at(class)] = root * (values[at(class)] - mean);
                        }
                    }
                }
            }
        }
        symmetric_rank_k(&self.scaled, curvature);
    }

    /// βᵢ gᵢᵀA⁻¹gᵢ summed over every group of residuals, for the last curvature: the effective
    /// parameters that each of them determines.
    pub(super) fn determined_by(&self, precision: &Cholesky) -> Vec<f64> {
        let mut sums = vec![0.0; self.noises.len()];
        if let Response::Real { group_of, .. } = self.response {
            for (variance, group) in self.row_variances(precision).iter().zip(group_of) {
                sums[*group as usize] += variance;
            }
        }
        sums
    }

    /// gᵀA⁻¹g of every row of the last curvature, scaled as it is there.
    fn row_variances(&self, precision: &Cholesky) -> Vec<f64> {
        let (rows, columns) = (self.scaled.rows(), self.scaled.columns());
        let mut whitened = Matrix::from_fn(columns, rows, |i, j| self.scaled[(j, i)]);
        precision.solve_lower_matrix(&mut whitened);
        (0..rows).map(|row| whitened.column(row).iter().map(|x| x * x).sum()).collect()
    }

    /// Σ sᵢᵀA⁻¹sᵢ over rows, s being the gradient of the log likelihood of a row: tr(KJ⁻¹) of
    /// [Murata et al. 1994], for the last curvature.
    pub(super) fn score_trace(&mut self, weights: &[f64], precision: &Cholesky) -> f64 {
        self.outputs.outputs(weights, &mut self.values);
        let (slopes, n) = match self.response {
            Response::Real { targets, .. } => {
                let pairs = targets.iter().zip(&self.values).zip(&self.betas);
                let slopes: Vec<f64> = pairs.map(|((y, f), beta)| beta * (y - f)).collect();
                let n = self.outputs.rows();
                (slopes, n)
            }
            Response::Binary { signs, link } => {
                let pairs = signs.iter().zip(&self.values);
                let slope = |(s, f): (&f64, &f64)| two_classes::terms(link, *s, *f).slope;
                (pairs.map(slope).collect(), signs.len())
            }
            Response::Classes { codes } => {
                let mut slopes = softmax(&self.values, codes.len());
                slopes.iter_mut().for_each(|p| *p = -*p);
                for (row, code) in codes.iter().enumerate() {
                    slopes[*code as usize * codes.len() + row] += 1.0;
                }
                (slopes, codes.len())
            }
        };
        let outputs = slopes.len() / n.max(1);
        let mut scores = Matrix::from_fn(self.jacobian.columns(), n, |weight, row| {
            let column = self.jacobian.column(weight);
            (0..outputs).map(|o| slopes[o * n + row] * column[o * n + row]).sum()
        });
        precision.solve_lower_matrix(&mut scores);
        scores.values().iter().map(|x| x * x).sum()
    }

    /// gᵀA⁻¹g of every output, g its gradient, for the last curvature.
    pub(super) fn output_variances(&self, precision: &Cholesky) -> Vec<f64> {
        let (rows, columns) = (self.jacobian.rows(), self.jacobian.columns());
        let mut whitened = Matrix::from_fn(columns, rows, |i, j| self.jacobian[(j, i)]);
        precision.solve_lower_matrix(&mut whitened);
        (0..rows).map(|row| whitened.column(row).iter().map(|x| x * x).sum()).collect()
    }
}

impl LogDensity for Penalised<'_> {
    fn dim(&self) -> usize {
        self.alphas.len()
    }

    fn log_density(&mut self, weights: &[f64]) -> Result<f64, Infeasible> {
        self.log_density_gradient(weights, &mut vec![0.0; weights.len()])
    }

    fn log_density_gradient(
        &mut self,
        weights: &[f64],
        gradient: &mut [f64],
    ) -> Result<f64, Infeasible> {
        let mut value =
            self.log_constant + self.outputs.log_likelihood(weights, &self.betas, gradient);
        for ((slot, w), alpha) in gradient.iter_mut().zip(weights).zip(&self.alphas) {
            value -= 0.5 * alpha * w * w;
            *slot -= alpha * w;
        }
        let usable = value.is_finite() && gradient.iter().all(|slope| slope.is_finite());
        if usable { Ok(value) } else { Err(Infeasible::NotFinite) }
    }

    fn curvature(&mut self, weights: &[f64], curvature: &mut Matrix) -> Result<bool, Infeasible> {
        self.misfit_curvature(weights, curvature);
        for (i, alpha) in self.alphas.iter().enumerate() {
            curvature[(i, i)] += alpha;
        }
        Ok(true)
    }
}

fn scale_rows(matrix: &mut Matrix, factors: &[f64]) {
    for column in 0..matrix.columns() {
        let values = matrix.column_mut(column);
        values.iter_mut().zip(factors).for_each(|(value, factor)| *value *= factor);
    }
}

/// Probabilities of the classes, at c·n + i.
fn softmax(outputs: &[f64], n: usize) -> Vec<f64> {
    let classes = outputs.len() / n.max(1);
    let mut shares = outputs.to_vec();
    for row in 0..n {
        let top = (0..classes).map(|c| outputs[c * n + row]).fold(f64::NEG_INFINITY, f64::max);
        let sum: f64 = (0..classes).map(|c| (outputs[c * n + row] - top).exp()).sum();
        for class in 0..classes {
            let at = class * n + row;
            shares[at] = (outputs[at] - top).exp() / sum;
        }
    }
    shares
}
