//! Predict the targets of new rows with a linear model.

use posteria_linalg::{Matrix, matrix_vector};

use super::posterior::{Likelihood, LinearPosterior};
use crate::model::Posterior;
use crate::predict::{Family, Predictor};

/// f = intercept + Σ weight × input at new rows: normal about f with the draw's
/// `residual_scale`, or f as the log odds of the second class.
pub(super) struct LinearPredictor<'p> {
    posterior: &'p LinearPosterior,
    /// Where the residual scale is in a draw; none for classes.
    residual_scale: Option<usize>,
    slopes: Vec<f64>,
    outputs: Vec<f64>,
}

impl<'p> LinearPredictor<'p> {
    pub(super) fn new(posterior: &'p LinearPosterior) -> Self {
        let residual_scale =
            posterior.layout().variable("residual_scale").map(|variable| variable.offset);
        let slopes = vec![0.0; posterior.user.inputs()];
        LinearPredictor { posterior, residual_scale, slopes, outputs: Vec::new() }
    }
}

impl Predictor for LinearPredictor<'_> {
    fn family(&self) -> Family {
        match self.posterior.likelihood {
            Likelihood::Normal(_) => Family::Normal { outputs: 1 },
            Likelihood::Logistic(_) => Family::Bernoulli,
        }
    }

    fn at(&mut self, draw: &[f64], inputs: &Matrix, parameters: &mut [f64]) {
        let Some(offset) = self.residual_scale else {
            return self.functions(draw, inputs, parameters);
        };
        let mut outputs = std::mem::take(&mut self.outputs);
        outputs.resize(inputs.rows(), 0.0);
        self.functions(draw, inputs, &mut outputs);
        assert_eq!(parameters.len(), 2 * outputs.len(), "two parameters per row");
        for (place, output) in parameters.chunks_exact_mut(2).zip(&outputs) {
            place[0] = *output;
            place[1] = draw[offset];
        }
        self.outputs = outputs;
    }

    fn at_training_rows(&mut self, draw: &[f64], parameters: &mut [f64]) {
        let x = &self.posterior.x;
        // The inputs come last, after an intercept's column.
        let first = x.columns() - self.posterior.user.inputs();
        let inputs = Matrix::from_fn(x.rows(), x.columns() - first, |i, k| x[(i, first + k)]);
        self.at(draw, &inputs, parameters);
    }

    fn functions(&mut self, draw: &[f64], inputs: &Matrix, outputs: &mut [f64]) {
        let height = self.posterior.user.line(draw, &mut self.slopes);
        matrix_vector(inputs, &self.slopes, outputs);
        outputs.iter_mut().for_each(|output| *output += height);
    }
}
