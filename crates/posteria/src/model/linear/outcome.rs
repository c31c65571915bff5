//! The likelihood of counts and durations.

use posteria_linalg::{Matrix, matrix_vector, transposed_matrix_vector};

use super::classified::ClassLikelihood;
use super::posterior::LinearPosterior;
use crate::model::outcome::Outcomes;
use crate::sample::Update;

/// Σ_i log p(y_i given f_i), f = Xw, with the σ of the state.
pub(super) struct OutcomeDensity<'p> {
    x: &'p Matrix,
    outcomes: &'p Outcomes,
    shape: f64,
    /// Outputs, then derivatives by them.
    outputs: Vec<f64>,
}

impl<'p> OutcomeDensity<'p> {
    pub(super) fn new(x: &'p Matrix, outcomes: &'p Outcomes) -> Self {
        OutcomeDensity { x, outcomes, shape: f64::NAN, outputs: vec![0.0; x.rows()] }
    }
}

impl ClassLikelihood for OutcomeDensity<'_> {
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

impl LinearPosterior {
    /// What moves the coefficients of a model of counts or durations, and then their σ.
    pub(super) fn outcome_updates<'p>(
        &'p self,
        outcomes: &'p Outcomes,
        inverse_temperature: f64,
    ) -> Vec<Box<dyn Update + 'p>> {
        let mut updates = Vec::new();
        let likelihood = || OutcomeDensity::new(&self.x, outcomes);
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
