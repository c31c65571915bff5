//! The likelihood of counts.

use posteria_linalg::{Matrix, matrix_vector, transposed_matrix_vector};

use super::classified::ClassLikelihood;
use crate::model::outcome::Outcomes;

/// Σ_i log p(y_i given f_i), f = Xw, with the overdispersion of the state.
pub(super) struct Counted<'p> {
    x: &'p Matrix,
    outcomes: &'p Outcomes,
    shape: f64,
    /// Outputs, then derivatives by them.
    outputs: Vec<f64>,
}

impl<'p> Counted<'p> {
    pub(super) fn new(x: &'p Matrix, outcomes: &'p Outcomes) -> Self {
        Counted { x, outcomes, shape: f64::NAN, outputs: vec![0.0; x.rows()] }
    }
}

impl ClassLikelihood for Counted<'_> {
    fn condition(&mut self, state: &[f64]) -> bool {
        let shape = self.outcomes.shape(state);
        let changed = shape.to_bits() != self.shape.to_bits();
        self.shape = shape;
        changed
    }

    fn value(&mut self, position: &[f64]) -> f64 {
        matrix_vector(self.x, position, &mut self.outputs);
        let mut sum = 0.0;
        for (row, output) in self.outputs.iter_mut().enumerate() {
            let terms = self.outcomes.terms(row, *output, self.shape);
            sum += terms.value;
            *output = terms.slope;
        }
        sum
    }

    fn gradient(&mut self, gradient: &mut [f64]) {
        transposed_matrix_vector(self.x, &self.outputs, gradient);
    }
}
