//! The likelihood of several classes.

use posteria_linalg::{Matrix, multiply_transposed, transposed_multiply};

use super::classified::ClassLikelihood;

/// Σ_i (f_i,c(i) - log Σ_c exp f_i,c), with c(i) the class of row i. Every class has weights of
/// its own: their prior treats all classes alike, and settles what the likelihood leaves open.
pub(super) struct Softmax<'p> {
    x: &'p Matrix,
    codes: &'p [u32],
    /// Coefficients and gradient, classes × columns.
    weights: Matrix,
    /// Outputs, rows × classes; then derivatives by them.
    outputs: Matrix,
    /// Largest output of every row, then the sum of exp(f - largest).
    largest: Vec<f64>,
    sums: Vec<f64>,
}

impl<'p> Softmax<'p> {
    pub(super) fn new(x: &'p Matrix, codes: &'p [u32], classes: usize) -> Self {
        Softmax {
            x,
            codes,
            weights: Matrix::zeros(classes, x.columns()),
            outputs: Matrix::zeros(x.rows(), classes),
            largest: vec![0.0; x.rows()],
            sums: vec![0.0; x.rows()],
        }
    }
}

impl ClassLikelihood for Softmax<'_> {
    fn value(&mut self, position: &[f64]) -> f64 {
        self.weights.values_mut().copy_from_slice(position);
        multiply_transposed(self.x, &self.weights, &mut self.outputs);
        let classes = self.outputs.columns();
        self.largest.fill(f64::NEG_INFINITY);
        for class in 0..classes {
            for (largest, f) in self.largest.iter_mut().zip(self.outputs.column(class)) {
                *largest = largest.max(*f);
            }
        }
        let mut value = 0.0;
        for (row, (code, largest)) in self.codes.iter().zip(&self.largest).enumerate() {
            value += self.outputs[(row, *code as usize)] - largest;
        }
        // Shifted by the largest: every sum is at least 1 and at most the number of classes.
        self.sums.fill(0.0);
        for class in 0..classes {
            let column = self.outputs.column_mut(class).iter_mut();
            for ((f, largest), sum) in column.zip(&self.largest).zip(&mut self.sums) {
                *f = (*f - largest).exp();
                *sum += *f;
            }
        }
        for class in 0..classes {
            for (f, sum) in self.outputs.column_mut(class).iter_mut().zip(&self.sums) {
                *f = -*f / sum;
            }
        }
        for (row, (code, sum)) in self.codes.iter().zip(&self.sums).enumerate() {
            value -= sum.ln();
            self.outputs[(row, *code as usize)] += 1.0;
        }
        value
    }

    fn gradient(&mut self, gradient: &mut [f64]) {
        transposed_multiply(&self.outputs, self.x, &mut self.weights);
        gradient.copy_from_slice(self.weights.values());
    }
}
