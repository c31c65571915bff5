//! Predict with an ensemble, the network taken as linear about its mean weights.

use posteria_linalg::{Matrix, dot};

use super::Ensemble;
use crate::model::mlp::Rows;

/// The predictive distribution of one target of a row: the network linear about the mean
/// weights, so that the output is normal [Fabricius 1999, §6.3.4].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LinearisedPrediction {
    /// f(x, w̄), in the user's unit.
    pub mean: f64,
    /// Standard deviation of the output: √(gᵀ Σ g), g the derivatives of f.
    pub output_sd: f64,
    /// Standard deviation of the target: √(gᵀ Σ g + E 1/τ); infinite where E 1/τ is.
    pub sd: f64,
}

impl Ensemble<'_> {
    /// Predictions of every target at rows × inputs that are standardised as the training data
    /// are: those of target o of row i at o · rows + i. Residual scales that differ between
    /// groups of rows are not told apart: the first group's counts.
    ///
    /// # Panics
    /// If there is not one column per input.
    pub fn predict(&self, inputs: &Matrix) -> Vec<LinearisedPrediction> {
        let rows = Rows::new(inputs);
        let network = &self.network.0;
        let scaling = network.target_scaling();
        let count = rows.len() * scaling.len();
        let mut outputs = vec![0.0; count];
        let mut jacobian = Matrix::zeros(count, self.mean.len());
        self.posterior().linearize(&self.mean, &rows, &mut outputs, &mut jacobian);
        let per_target = network.residuals.len() / scaling.len().max(1);
        let mut gradient = vec![0.0; self.mean.len()];
        let mut one = |at: usize| {
            let target = at / rows.len();
            for (weight, slot) in gradient.iter_mut().enumerate() {
                *slot = jacobian[(at, weight)];
            }
            self.precision.solve_lower(&mut gradient);
            let variance = dot(&gradient, &gradient);
            let noise = self.precisions[network.residuals[target * per_target]];
            // E 1/τ = b/(a - 1) for a > 1.
            let inverse =
                if noise.shape > 1.0 { noise.rate / (noise.shape - 1.0) } else { f64::INFINITY };
            let unit = scaling[target].scale;
            LinearisedPrediction {
                mean: scaling[target].invert(outputs[at]),
                output_sd: unit * variance.sqrt(),
                sd: unit * (variance + inverse).sqrt(),
            }
        };
        (0..count).map(&mut one).collect()
    }
}
