//! The likelihood of counts, durations and ordered classes.

use posteria_linalg::matrix_vector;

use super::posterior::LinearPosterior;
use super::rowwise::{RowTerms, RowwiseLikelihood};
use crate::density::LocationTerms;
use crate::model::outcome::Outcomes;
use crate::sample::Update;

impl RowTerms for Outcomes {
    fn given(&self, state: &[f64], given: &mut Vec<f64>) {
        self.write_given(state, given);
    }

    fn terms(&self, row: usize, f: f64, given: &[f64]) -> LocationTerms {
        self.terms(row, f, given)
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
        let likelihood = || RowwiseLikelihood::new(&self.x, outcomes);
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
