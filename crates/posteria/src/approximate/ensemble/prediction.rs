//! Predict with an ensemble, the network taken as linear about its mean weights.

use posteria_linalg::Matrix;

use super::super::linearised::linear_outputs;
use super::Ensemble;

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
        let (outputs, variances) =
            linear_outputs(self.posterior(), &self.mean, &self.precision, inputs);
        let scaling = self.posterior().target_scaling();
        let one = |(at, (output, variance)): (usize, (&f64, &f64))| {
            let target = at / inputs.rows();
            let inverse = self.residual_variance(self.residuals_of(target)[0]);
            let unit = scaling[target].scale;
            LinearisedPrediction {
                mean: scaling[target].invert(*output),
                output_sd: unit * variance.sqrt(),
                sd: unit * (variance + inverse).sqrt(),
            }
        };
        outputs.iter().zip(&variances).enumerate().map(one).collect()
    }

    /// E 1/τ of every target, standardised; `None` if it is infinite, or depends on the row.
    pub(in crate::approximate) fn residual_variances(&self) -> Option<Vec<f64>> {
        let targets = 0..self.posterior().target_scaling().len();
        let of = |target: usize| {
            let residuals = self.residuals_of(target);
            let variance = self.residual_variance(residuals[0]);
            let alike = residuals.iter().all(|residual| *residual == residuals[0]);
            (alike && variance.is_finite()).then_some(variance)
        };
        targets.map(of).collect()
    }

    /// Which precision every residual of a target has.
    fn residuals_of(&self, target: usize) -> &[usize] {
        let residuals = &self.network.0.residuals;
        let rows = residuals.len() / self.posterior().target_scaling().len().max(1);
        &residuals[target * rows..(target + 1) * rows]
    }

    /// E 1/τ = b/(a - 1) for a > 1.
    fn residual_variance(&self, index: usize) -> f64 {
        let noise = self.precisions[index];
        if noise.shape > 1.0 { noise.rate / (noise.shape - 1.0) } else { f64::INFINITY }
    }
}
