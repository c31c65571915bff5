//! The density of new rows, and the components they belong to.

use posteria_linalg::{Cholesky, Matrix, dot};

use super::posterior::MixturePosterior;
use crate::density::special::LOG_SQRT_2PI;
use crate::predict::{Family, Predictor};

/// log π_k N(x; μ_k, Σ_k) of every row and component, from a draw.
pub(super) struct MixturePredictor<'p> {
    posterior: &'p MixturePosterior,
    covariance: Matrix,
    factor: Cholesky,
    off: Vec<f64>,
}

impl<'p> MixturePredictor<'p> {
    pub(super) fn new(posterior: &'p MixturePosterior) -> Self {
        let dim = posterior.dim();
        MixturePredictor {
            posterior,
            covariance: Matrix::zeros(dim, dim),
            factor: Cholesky::identity(dim),
            off: vec![0.0; dim],
        }
    }

    /// Factorises the covariance of component `k` on the standardised scale.
    fn factorize(&mut self, draw: &[f64], k: usize) -> bool {
        let MixturePosterior { scaling, .. } = self.posterior;
        let (count, dim) = (self.posterior.components(), scaling.len());
        let sds = &draw[count * (1 + dim) + k * dim..][..dim];
        let pairs = dim * (dim - 1) / 2;
        let correlations = &draw[count * (1 + 2 * dim) + k * pairs..][..pairs];
        let mut pair = correlations.iter();
        let sd = |column: usize| sds[column] / scaling[column].scale;
        for column in 0..dim {
            for before in 0..column {
                let correlation = pair.next().expect("one number per pair");
                self.covariance[(column, before)] = correlation * sd(column) * sd(before);
            }
            self.covariance[(column, column)] = sd(column) * sd(column);
        }
        self.factor.factorize(&self.covariance).is_ok()
    }
}

impl Predictor for MixturePredictor<'_> {
    fn family(&self) -> Family {
        Family::Density { components: self.posterior.components() }
    }

    fn at(&mut self, draw: &[f64], inputs: &Matrix, parameters: &mut [f64]) {
        let posterior = self.posterior;
        let (count, dim) = (posterior.components(), posterior.dim());
        assert_eq!(inputs.columns(), dim, "as many columns as the fit had");
        assert_eq!(parameters.len(), inputs.rows() * count, "one number per row and component");
        let unit = posterior.log_unit();
        for k in 0..count {
            // A covariance that rounding has made singular has no density to tell.
            let fine = self.factorize(draw, k);
            let constant = draw[k].ln()
                - 0.5 * self.factor.log_determinant()
                - dim as f64 * LOG_SQRT_2PI
                - unit;
            let means = &draw[count + k * dim..][..dim];
            for row in 0..inputs.rows() {
                for (column, slot) in self.off.iter_mut().enumerate() {
                    *slot = inputs[(row, column)] - posterior.scaling[column].apply(means[column]);
                }
                self.factor.solve_lower(&mut self.off);
                let value = constant - 0.5 * dot(&self.off, &self.off);
                parameters[row * count + k] = if fine { value } else { f64::NAN };
            }
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
