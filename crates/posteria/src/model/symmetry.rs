//! Exchange weights, and their signs, where the outputs stay what they are.

use posteria_linalg::{Cholesky, Matrix, dot};

/// A change of places and signs of weights that leaves the outputs as they are: w'_i = s_i w_π(i).
#[derive(Clone, Debug, PartialEq)]
pub struct Symmetry {
    source: Vec<usize>,
    signs: Vec<f64>,
}

impl Symmetry {
    /// Weight i is that of number `source[i]`, times `signs[i]`.
    ///
    /// # Panics
    /// If there is not one sign per place.
    pub fn new(source: Vec<usize>, signs: Vec<f64>) -> Self {
        assert_eq!(source.len(), signs.len(), "one sign per place");
        Symmetry { source, signs }
    }

    /// The weights in their new places.
    pub fn weights(&self, weights: &[f64]) -> Vec<f64> {
        let places = self.source.iter().zip(&self.signs);
        places.map(|(source, sign)| sign * weights[*source]).collect()
    }

    /// Their precision; `None` if it is so badly conditioned that it cannot be factorised again.
    pub fn precision(&self, precision: &Cholesky) -> Option<Cholesky> {
        let dim = precision.dim();
        // The columns of Lᵀ, whose products are the entries of LLᵀ.
        let factor = precision.factor();
        let columns = Matrix::from_fn(dim, dim, |k, i| if k <= i { factor[(i, k)] } else { 0.0 });
        let entry = |i: usize, j: usize| {
            let (i_from, j_from) = (self.source[i], self.source[j]);
            let product = dot(columns.column(i_from), columns.column(j_from));
            self.signs[i] * self.signs[j] * product
        };
        Cholesky::new(&Matrix::from_fn(dim, dim, entry)).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_square_is_the_same_in_the_new_places() {
        let precision = Matrix::from_fn(3, 3, |i, j| {
            [[4.0, 1.0, 0.5], [1.0, 3.0, -0.2], [0.5, -0.2, 2.0]][i][j]
        });
        let precision = Cholesky::new(&precision).unwrap();
        let symmetry = Symmetry::new(vec![2, 0, 1], vec![-1.0, 1.0, -1.0]);
        let weights = [0.3, -1.2, 2.0];
        let moved = symmetry.weights(&weights);
        assert_eq!(moved, [-2.0, 0.3, 1.2]);
        let square = |precision: &Cholesky, weights: &[f64]| {
            let mut off = weights.to_vec();
            precision.multiply_lower_transposed(&mut off);
            off.iter().map(|z| z * z).sum::<f64>()
        };
        let there = symmetry.precision(&precision).unwrap();
        assert!((square(&precision, &weights) - square(&there, &moved)).abs() < 1e-12);
    }
}
