//! Predict with a network taken as linear about some weights.

use posteria_linalg::{Cholesky, Matrix, dot};

use super::{Ensemble, Evidence, average_probability};
use crate::model::Posterior;
use crate::model::mlp::{MlpPosterior, Rows};
use crate::predict::Family;

/// Predictive distributions of a network whose weights are N(w̄, A⁻¹) and whose outputs are taken
/// as linear in them about w̄ [MacKay 1992b; MacKay 1992c]: an output is N(f(x, w̄), gᵀA⁻¹g) with
/// g the derivatives of f at w̄, a real target has the variance of its residual added, and the
/// probability of a class is averaged over its log odds.
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
    /// Predictions about a mode. `None` for more than two classes and for residuals whose scale
    /// depends on the row.
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
            Family::Bernoulli => Vec::new(),
            _ => return None,
        };
        let (weights, precision) = (mode.weights.clone(), mode.precision.clone());
        Some(Linearised { posterior, weights, precision, noise, family })
    }

    /// Predictions of an ensemble. `None` for residuals whose scale depends on the row, or has no
    /// mean square.
    pub fn of_ensemble(ensemble: &Ensemble<'p>) -> Option<Self> {
        let posterior = ensemble.posterior();
        let noise = ensemble.residual_variances()?;
        let family = Family::Normal { outputs: noise.len() };
        let (weights, precision) = (ensemble.mean_weights().to_vec(), ensemble.precision().clone());
        Some(Linearised { posterior, weights, precision, noise, family })
    }

    /// What the parameters are those of.
    pub fn family(&self) -> Family {
        self.family
    }

    /// The parameters of every row's predictive distribution, row by row, in the user's unit, at
    /// rows × inputs that are standardised as the training data are.
    ///
    /// # Panics
    /// If there is not one column per input.
    pub fn parameters(&self, inputs: &Matrix) -> Vec<f64> {
        let (outputs, variances) =
            linear_outputs(self.posterior, &self.weights, &self.precision, inputs);
        let rows = inputs.rows();
        if self.noise.is_empty() {
            let pairs = outputs.iter().zip(&variances);
            return pairs
                .map(|(log_odds, variance)| {
                    let probability = average_probability(*log_odds, *variance);
                    (probability / (1.0 - probability)).ln()
                })
                .collect();
        }
        let mut parameters = Vec::with_capacity(rows * self.family.width());
        for row in 0..rows {
            for (target, noise) in self.noise.iter().enumerate() {
                let (at, scaling) = (target * rows + row, self.posterior.target_scaling()[target]);
                let sd = (variances[at] + noise).sqrt();
                parameters.extend([scaling.invert(outputs[at]), scaling.scale * sd]);
            }
        }
        parameters
    }
}

/// Outputs at w̄ and their variances gᵀA⁻¹g, at o · rows + i, on the standardised scale.
pub(super) fn linear_outputs(
    posterior: &MlpPosterior,
    weights: &[f64],
    precision: &Cholesky,
    inputs: &Matrix,
) -> (Vec<f64>, Vec<f64>) {
    let rows = Rows::new(inputs);
    let count = rows.len() * posterior.output_count();
    let mut outputs = vec![0.0; count];
    let mut jacobian = Matrix::zeros(count, weights.len());
    posterior.linearize(weights, &rows, &mut outputs, &mut jacobian);
    let mut gradient = vec![0.0; weights.len()];
    let variance = |at: usize| {
        for (weight, slot) in gradient.iter_mut().enumerate() {
            *slot = jacobian[(at, weight)];
        }
        precision.solve_lower(&mut gradient);
        dot(&gradient, &gradient)
    };
    let variances = (0..count).map(variance).collect();
    (outputs, variances)
}
