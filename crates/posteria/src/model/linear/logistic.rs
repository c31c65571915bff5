//! The likelihood of two classes.

use posteria_linalg::{Matrix, matrix_vector, transposed_matrix_vector};

use super::classified::ClassLikelihood;

/// Rows whose factors 1 + exp(-|f|) are multiplied before one logarithm is taken: each is at
/// most 2, so the product stays below 2^512.
const BLOCK: usize = 512;

/// -Σ_i log(1 + exp(-s_i f_i)), with s_i = ±1 for the class of row i.
pub(super) struct Logistic<'p> {
    x: &'p Matrix,
    signs: &'p [f64],
    /// Outputs, then derivatives by them.
    outputs: Vec<f64>,
}

impl<'p> Logistic<'p> {
    pub(super) fn new(x: &'p Matrix, signs: &'p [f64]) -> Self {
        Logistic { x, signs, outputs: vec![0.0; x.rows()] }
    }
}

impl ClassLikelihood for Logistic<'_> {
    fn value(&mut self, position: &[f64]) -> f64 {
        matrix_vector(self.x, position, &mut self.outputs);
        let mut sum = 0.0;
        for (outputs, signs) in self.outputs.chunks_mut(BLOCK).zip(self.signs.chunks(BLOCK)) {
            let mut product = 1.0;
            for (output, sign) in outputs.iter_mut().zip(signs) {
                // log(1 + exp(-m)) = max(-m, 0) + log(1 + exp(-|m|)), nothing overflows.
                let margin = sign * *output;
                let small = (-margin.abs()).exp();
                sum += margin.min(0.0);
                product *= 1.0 + small;
                // P(the other class): 1 / (1 + exp(m)).
                let other = if margin > 0.0 { small } else { 1.0 } / (1.0 + small);
                *output = sign * other;
            }
            sum -= product.ln();
        }
        sum
    }

    fn gradient(&mut self, gradient: &mut [f64]) {
        transposed_matrix_vector(self.x, &self.outputs, gradient);
    }
}
