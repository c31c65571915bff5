//! The likelihood of rows that are about one f each.

use posteria_linalg::{Matrix, matrix_vector, transposed_matrix_vector};

use super::classified::ClassLikelihood;
use crate::density::LocationTerms;

/// What was observed of rows, each by itself given its f and a few numbers that are common to all.
pub(super) trait RowTerms: Sync {
    /// Appends the numbers that a state has: a shape, cut points.
    fn given(&self, state: &[f64], given: &mut Vec<f64>);

    /// The log probability or density of a row at f, with its derivatives by f.
    fn terms(&self, row: usize, f: f64, given: &[f64]) -> LocationTerms;
}

/// Σ_i log p(y_i given f_i), f = Xw, with the common numbers of the state.
pub(super) struct RowwiseLikelihood<'p, T> {
    x: &'p Matrix,
    rows: &'p T,
    given: Vec<f64>,
    /// Where those of the next state are written.
    next: Vec<f64>,
    /// Outputs, then derivatives by them.
    outputs: Vec<f64>,
}

impl<'p, T: RowTerms> RowwiseLikelihood<'p, T> {
    pub(super) fn new(x: &'p Matrix, rows: &'p T) -> Self {
        let outputs = vec![0.0; x.rows()];
        RowwiseLikelihood { x, rows, given: Vec::new(), next: Vec::new(), outputs }
    }
}

impl<T: RowTerms> ClassLikelihood for RowwiseLikelihood<'_, T> {
    fn condition(&mut self, state: &[f64]) -> bool {
        self.next.clear();
        self.rows.given(state, &mut self.next);
        std::mem::swap(&mut self.given, &mut self.next);
        let same = |(a, b): (&f64, &f64)| a.to_bits() == b.to_bits();
        self.given.len() != self.next.len() || !self.given.iter().zip(&self.next).all(same)
    }

    fn value(&mut self, position: &[f64]) -> f64 {
        matrix_vector(self.x, position, &mut self.outputs);
        let mut sum = 0.0;
        for (row, output) in self.outputs.iter_mut().enumerate() {
            let terms = self.rows.terms(row, *output, &self.given);
            sum += terms.value;
            *output = terms.slope;
        }
        sum
    }

    fn gradient(&mut self, gradient: &mut [f64]) {
        transposed_matrix_vector(self.x, &self.outputs, gradient);
    }
}
