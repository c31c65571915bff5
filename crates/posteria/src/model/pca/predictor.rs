//! The density of new rows under principal components.

use posteria_linalg::Matrix;

use super::low_rank::LowRank;
use super::posterior::PcaPosterior;
use crate::predict::{Family, Predictor};

/// log N(x; μ, W Wᵀ + I/τ) of every row, from a draw.
pub(super) struct PcaPredictor<'p> {
    posterior: &'p PcaPosterior,
    density: LowRank,
}

impl<'p> PcaPredictor<'p> {
    pub(super) fn new(posterior: &'p PcaPosterior) -> Self {
        let density = LowRank::new(posterior.dim(), posterior.components());
        PcaPredictor { posterior, density }
    }
}

impl Predictor for PcaPredictor<'_> {
    fn family(&self) -> Family {
        Family::Density { components: 1 }
    }

    fn at(&mut self, draw: &[f64], inputs: &Matrix, parameters: &mut [f64]) {
        let posterior = self.posterior;
        let (dim, q) = (posterior.dim(), posterior.components());
        assert_eq!(inputs.columns(), dim, "as many columns as the fit had");
        assert_eq!(parameters.len(), inputs.rows(), "one number per row");
        let noise_sd = draw[dim + dim * q + q] / posterior.scaling[0].scale;
        for (column, scaling) in posterior.scaling.iter().enumerate() {
            self.density.mean[column] = scaling.apply(draw[column]);
            for k in 0..q {
                let own = draw[dim + column * q + k] / scaling.scale;
                self.density.loadings[(column, k)] = own;
            }
        }
        // What has no density shows as not a number.
        let fine = self.density.set_precision(1.0 / (noise_sd * noise_sd));
        let unit = if fine { posterior.log_unit() } else { f64::NAN };
        for (row, slot) in parameters.iter_mut().enumerate() {
            *slot = self.density.log_density(|column| inputs[(row, column)]) - unit;
        }
    }

    /// As [`Predictor::at`]: there is no other function.
    fn functions(&mut self, draw: &[f64], inputs: &Matrix, outputs: &mut [f64]) {
        self.at(draw, inputs, outputs);
    }

    fn at_training_rows(&mut self, draw: &[f64], parameters: &mut [f64]) {
        let posterior = self.posterior;
        self.at(draw, &posterior.inputs, parameters);
    }
}
