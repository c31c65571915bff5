//! The likelihood of counts, durations and ordered classes.

use posteria_linalg::{Matrix, matrix_vector, transposed_matrix_vector};

use super::classified::ClassLikelihood;
use super::posterior::LinearPosterior;
use crate::model::outcome::Outcomes;
use crate::sample::Update;

/// Σ_i log p(y_i given f_i), f = Xw, with what the state has beside f.
struct OutcomeLikelihood<'p> {
    x: &'p Matrix,
    outcomes: &'p Outcomes,
    given: Vec<f64>,
    /// Outputs, then derivatives by them.
    outputs: Vec<f64>,
}

impl ClassLikelihood for OutcomeLikelihood<'_> {
    fn condition(&mut self, state: &[f64]) -> bool {
        self.outcomes.condition(state, &mut self.given)
    }

    fn value(&mut self, position: &[f64]) -> f64 {
        matrix_vector(self.x, position, &mut self.outputs);
        let mut sum = 0.0;
        for (row, output) in self.outputs.iter_mut().enumerate() {
            let terms = self.outcomes.terms(row, *output, &self.given);
            sum += terms.value;
            *output = terms.slope;
        }
        sum
    }

    fn gradient(&mut self, gradient: &mut [f64]) {
        transposed_matrix_vector(self.x, &self.outputs, gradient);
    }
}

impl LinearPosterior {
    /// What moves the coefficients of a model of counts, durations or ordered classes, and then their σ or cut points.
    pub(super) fn outcome_updates<'p>(
        &'p self,
        outcomes: &'p Outcomes,
        inverse_temperature: f64,
    ) -> Vec<Box<dyn Update + 'p>> {
        let mut updates = Vec::new();
        let likelihood = || OutcomeLikelihood {
            x: &self.x,
            outcomes,
            given: Vec::new(),
            outputs: vec![0.0; self.x.rows()],
        };
        self.class_updates(likelihood, inverse_temperature, &mut updates);
        let coefficients = &self.coefficients;
        let mut seen = vec![0.0; coefficients.count];
        let functions = move |state: &[f64], outputs: &mut [f64]| {
            coefficients.write_seen(state, &mut seen);
            matrix_vector(&self.x, &seen, outputs);
        };
        updates.extend(outcomes.update(inverse_temperature, functions));
        updates
    }
}
