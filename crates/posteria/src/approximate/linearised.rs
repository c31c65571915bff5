//! Predict with a network taken as linear about some weights.

use posteria_linalg::{Cholesky, Matrix, dot};

use super::moderated::average_probabilities;
use super::{Evidence, average_probability};
use crate::density::special::log_sum_exp;
use crate::model::mlp::{MlpPosterior, Rows};
use crate::model::spec::Link;
use crate::model::{Evaluator, Posterior, two_classes};
use crate::predict::{Family, Predictor};

/// Predictive distributions of a network whose weights are N(w̄, A⁻¹) and whose outputs are taken
/// as linear in them about w̄ [MacKay 1992b; MacKay 1992c]: an output is N(f(x, w̄), gᵀA⁻¹g) with
/// g the derivatives of f at w̄, a real target has the variance of its residual added, and the
/// probability of a class is averaged over its log odds, those of several classes over their outputs
/// together.
///
/// Weights that are determined only in products are far from normal, and draws from N(w̄, A⁻¹) fit
/// badly where this distribution of the outputs does not.
pub struct Linearised<'p> {
    posterior: &'p MlpPosterior,
    weights: Vec<f64>,
    precision: Cholesky,
    /// Variance of the residual of every target, standardised; none for classes.
    noise: Vec<f64>,
    family: Family,
}

impl<'p> Linearised<'p> {
    /// Predictions about a mode. `None` for residuals whose scale depends on the row.
    pub fn at_mode(posterior: &'p MlpPosterior, mode: &Evidence) -> Option<Self> {
        let family = posterior.predictor()?.family();
        let noise = match family {
            Family::Normal { outputs } => {
                let variances: Vec<f64> = mode.scales.betas.iter().map(|beta| 1.0 / beta).collect();
                match variances.len() {
                    1 => vec![variances[0]; outputs],
                    count if count == outputs => variances,
                    _ => return None,
                }
            }
            Family::Bernoulli | Family::Categorical { .. } => Vec::new(),
            _ => return None,
        };
        let (weights, precision) = (mode.weights.clone(), mode.precision.clone());
        Some(Linearised { posterior, weights, precision, noise, family })
    }

    /// What the parameters are those of.
    pub fn family(&self) -> Family {
        self.family
    }

    /// What predicts by a draw of the weights w: outputs are f(x, w̄) + g(x)ᵀ(w - w̄), whose
    /// distribution over draws is that of the outputs here.
    pub fn predictor(&self) -> Box<dyn Predictor + '_> {
        self.posterior.predictor_about(&self.weights)
    }

    /// What records draws of the weights: fitted values, errors and log likelihoods of rows are
    /// those of the linear outputs, the terms of the density those of the network.
    pub fn evaluator(&self) -> Box<dyn Evaluator + '_> {
        self.posterior.evaluator_about(&self.weights)
    }

    /// The parameters of every row's predictive distribution, row by row, in the user's unit, at
    /// rows × inputs that are standardised as the training data are.
    ///
    /// # Panics
    /// If there is not one column per input.
    pub fn parameters(&self, inputs: &Matrix) -> Vec<f64> {
        self.parameters_at(&Rows::new(inputs))
    }

    /// The same at the rows of the fit, as if they were new.
    pub fn at_training_rows(&self) -> Vec<f64> {
        self.parameters_at(self.posterior.training_rows())
    }

    /// The parameters of the predictive distribution of every row of the fit given the others,
    /// their scales kept: the row's own factor is divided out of the distribution of its outputs
    /// [Vehtari et al. 2016, §3.2]. With outputs N(m, V), residual variances N and targets y that
    /// is N(m - V₋N⁻¹(y - m), V₋) with V₋ = (V⁻¹ - N⁻¹)⁻¹, exact for outputs that are linear in
    /// the weights; for two classes N⁻¹ is p(1 - p) and N⁻¹(y - m) is y - p (of
    /// the probit minus the curvature and the slope of log Φ(±m)), for more diag p - ppᵀ and the
    /// observed class less p.
    ///
    /// # Errors
    /// The number of a row, from 0, whose outputs would be undetermined without it.
    pub fn leave_one_out(&self) -> Result<Vec<f64>, usize> {
        let targets = self.posterior.targets();
        let rows = self.posterior.training_rows();
        let mut parameters = Vec::with_capacity(rows.len() * self.family.width());
        let mut failed = None;
        self.for_rows(rows, |row, means, covariance| {
            // Of classes the code.
            let columns = if self.noise.is_empty() { 1 } else { means.len() };
            let observed: Vec<f64> =
                (0..columns).map(|output| targets[output * rows.len() + row]).collect();
            match self.without(means, covariance, &observed) {
                Some((means, covariance)) => self.push(&means, &covariance, &mut parameters),
                None => failed = failed.or(Some(row)),
            }
        });
        failed.map_or(Ok(parameters), Err)
    }

    /// Mean and covariance of the outputs of a row without its own factor.
    fn without(&self, means: &[f64], v: &Matrix, observed: &[f64]) -> Option<(Vec<f64>, Matrix)> {
        let count = means.len();
        // R with N⁻¹ = RRᵀ, and N⁻¹(y - m).
        let (root, pulls) = match self.family {
            Family::Bernoulli => {
                let sign = if observed[0] > 0.5 { 1.0 } else { -1.0 };
                let terms = two_classes::terms(self.posterior.link(), sign, means[0]);
                (diagonal(&[terms.curvature.sqrt()]), vec![terms.slope])
            }
            Family::Categorical { .. } => softmax_parts(means, observed[0] as usize),
            _ => {
                let residuals = means.iter().zip(observed).zip(&self.noise);
                let pulls = residuals.map(|((mean, y), noise)| (y - mean) / noise).collect();
                let roots: Vec<f64> = self.noise.iter().map(|it| it.recip().sqrt()).collect();
                (diagonal(&roots), pulls)
            }
        };
        // V₋ = V + VR(I - W)⁻¹RᵀV with W = RᵀVR, the leverage of the row, below 1.
        let sum = |of: &dyn Fn(usize) -> f64| (0..count).map(of).sum::<f64>();
        let mut factor = Matrix::from_fn(count, count, |i, j| sum(&|k| root[(k, i)] * v[(k, j)]));
        let rest = Matrix::from_fn(count, count, |i, j| {
            f64::from(u8::from(i == j)) - sum(&|k| factor[(i, k)] * root[(k, j)])
        });
        Cholesky::new(&rest).ok()?.solve_lower_matrix(&mut factor);
        let without = Matrix::from_fn(count, count, |i, j| {
            v[(i, j)] + sum(&|k| factor[(k, i)] * factor[(k, j)])
        });
        let mean = |i: usize| means[i] - sum(&|j| without[(i, j)] * pulls[j]);
        Some(((0..count).map(mean).collect(), without))
    }

    fn parameters_at(&self, rows: &Rows) -> Vec<f64> {
        let mut parameters = Vec::with_capacity(rows.len() * self.family.width());
        self.for_rows(rows, |_, means, covariance| self.push(means, covariance, &mut parameters));
        parameters
    }

    /// Appends the parameters of a row whose outputs have these means and this covariance.
    fn push(&self, means: &[f64], covariance: &Matrix, parameters: &mut Vec<f64>) {
        match self.family {
            Family::Bernoulli if self.posterior.link() == Link::Probit => {
                parameters.push(two_classes::average_probit(means[0], covariance[(0, 0)]));
            }
            Family::Bernoulli => {
                let probability = average_probability(means[0], covariance[(0, 0)]);
                parameters.push((probability / (1.0 - probability)).ln());
            }
            Family::Categorical { .. } => {
                let probabilities = average_probabilities(means, covariance);
                parameters.extend(probabilities.iter().map(|p| p.max(f64::MIN_POSITIVE).ln()));
            }
            _ => {
                for (target, noise) in self.noise.iter().enumerate() {
                    let scaling = self.posterior.target_scaling()[target];
                    let sd = (covariance[(target, target)] + noise).sqrt();
                    parameters.extend([scaling.invert(means[target]), scaling.scale * sd]);
                }
            }
        }
    }

    /// Gives the outputs of every row and their covariance, standardised.
    fn for_rows(&self, rows: &Rows, mut each: impl FnMut(usize, &[f64], &Matrix)) {
        let count = self.posterior.output_count();
        for first in (0..rows.len()).step_by(BLOCK) {
            let block: Vec<usize> = (first..rows.len().min(first + BLOCK)).collect();
            let here = rows.subset(&block);
            let (outputs, scaled) =
                linear_parts(self.posterior, &self.weights, &self.precision, &here);
            for (index, row) in block.into_iter().enumerate() {
                let at = |output: usize| output * here.len() + index;
                let means: Vec<f64> = (0..count).map(|output| outputs[at(output)]).collect();
                let entry = |i: usize, j: usize| dot(scaled.column(at(i)), scaled.column(at(j)));
                each(row, &means, &Matrix::from_fn(count, count, entry));
            }
        }
    }
}

/// The matrix with these entries on its diagonal.
fn diagonal(entries: &[f64]) -> Matrix {
    let count = entries.len();
    Matrix::from_fn(count, count, |i, j| if i == j { entries[i] } else { 0.0 })
}

/// Of a softmax with these outputs: R = D^½(I - ssᵀ), D = diag p and s = √p, whose square RRᵀ is
/// diag p - ppᵀ since I - ssᵀ is a projection; and the observed class less p.
fn softmax_parts(outputs: &[f64], class: usize) -> (Matrix, Vec<f64>) {
    let total = log_sum_exp(outputs);
    let p: Vec<f64> = outputs.iter().map(|output| (output - total).exp()).collect();
    let s: Vec<f64> = p.iter().map(|p| p.sqrt()).collect();
    let is = |same: bool| f64::from(u8::from(same));
    let root = Matrix::from_fn(p.len(), p.len(), |i, j| s[i] * (is(i == j) - s[i] * s[j]));
    (root, p.iter().enumerate().map(|(c, p)| is(c == class) - p).collect())
}

/// Rows whose derivatives by all weights are held at once.
const BLOCK: usize = 256;

/// Outputs at w̄, at o · rows + i, and for each a column L⁻¹g with A = LLᵀ: the products of two
/// columns are the covariances of outputs.
fn linear_parts(
    posterior: &MlpPosterior,
    weights: &[f64],
    precision: &Cholesky,
    rows: &Rows,
) -> (Vec<f64>, Matrix) {
    let count = rows.len() * posterior.output_count();
    let mut outputs = vec![0.0; count];
    let mut jacobian = Matrix::zeros(count, weights.len());
    posterior.linearize(weights, rows, &mut outputs, &mut jacobian);
    let mut scaled = Matrix::from_fn(weights.len(), count, |weight, at| jacobian[(at, weight)]);
    precision.solve_lower_matrix(&mut scaled);
    (outputs, scaled)
}

#[cfg(test)]
mod tests;
