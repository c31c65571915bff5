//! Evaluate the network, the log likelihood of its outputs and the gradient by the weights.

mod likelihood;
mod pass;
mod rows;
mod shape;

pub use likelihood::Likelihood;
pub use rows::Rows;
pub(super) use rows::{Tile, Tiles};
pub use shape::Shape;

use pass::Pass;

use super::mask::Mask;
use crate::model::selection::Selection;

/// A network on fixed rows, with the buffers of one chain.
///
/// Rows lie in the lanes of vector instructions and are worked through in tiles that stay in
/// the cache: hidden units, outputs, derivatives by the outputs, derivatives by the weights.
/// Every sum has a fixed order, so that the bits depend neither on the processor nor on the
/// history of the buffers. tanh is right to 4 units of the last place; a weight that is NaN or
/// infinite may make values NaN, never wrong.
#[derive(Clone, Debug)]
pub struct Network<'p> {
    shape: Shape,
    rows: usize,
    mask: Mask,
    double: Pass<'p, f64>,
    single: Pass<'p, f32>,
}

impl<'p> Network<'p> {
    /// Buffers for a network of this shape.
    ///
    /// # Panics
    /// If the rows have another number of inputs.
    pub fn new(shape: Shape, rows: &'p Rows) -> Self {
        assert_eq!(shape.inputs, rows.inputs(), "as many inputs as the rows have");
        Network {
            shape,
            rows: rows.len(),
            mask: Mask::none(shape),
            double: Pass::new(shape, rows.double()),
            single: Pass::new(shape, rows.single()),
        }
    }

    /// Takes the set of `state`, if inputs may leave; weights of those that are out count as 0.
    /// Returns whether it changed.
    pub(super) fn include(&mut self, selection: Option<&Selection>, state: &[f64]) -> bool {
        self.mask.condition(selection, state)
    }

    /// 1 if a weight counts, else 0.
    pub(super) fn factor(&self, weight: usize) -> f64 {
        self.mask.factor(weight)
    }

    /// The weights that count; 0 for others.
    pub(super) fn seen<'a>(&'a mut self, weights: &'a [f64]) -> &'a [f64] {
        self.mask.see(weights)
    }

    /// The sizes of the network.
    pub fn shape(&self) -> &Shape {
        &self.shape
    }

    /// The outputs f, at o·n + i.
    ///
    /// # Panics
    /// If a length does not fit.
    pub fn outputs(&mut self, weights: &[f64], outputs: &mut [f64]) {
        assert_eq!(weights.len(), self.shape.len(), "one number per weight");
        assert_eq!(outputs.len(), self.shape.outputs * self.rows, "one per output and row");
        self.double.outputs(self.mask.see(weights), outputs);
    }

    /// The log likelihood of the outputs.
    ///
    /// # Panics
    /// If a length does not fit.
    pub fn log_likelihood(&mut self, weights: &[f64], likelihood: &Likelihood<'_>) -> f64 {
        assert_eq!(weights.len(), self.shape.len(), "one number per weight");
        likelihood.check(self.shape.outputs, self.rows);
        self.double.log_likelihood(self.mask.see(weights), likelihood)
    }

    /// The log likelihood of the outputs; its gradient by the weights goes into `gradient`.
    ///
    /// # Panics
    /// If a length does not fit.
    pub fn log_likelihood_gradient(
        &mut self,
        weights: &[f64],
        likelihood: &Likelihood<'_>,
        gradient: &mut [f64],
    ) -> f64 {
        self.check(weights, likelihood, gradient);
        let value = self.double.gradient(self.mask.see(weights), likelihood, gradient);
        self.mask.clear(gradient);
        value
    }

    /// The gradient of the log likelihood computed in single precision, for the forces of a
    /// trajectory whose energies are computed in double precision.
    ///
    /// # Panics
    /// If a length does not fit.
    pub fn force(&mut self, weights: &[f64], likelihood: &Likelihood<'_>, gradient: &mut [f64]) {
        self.check(weights, likelihood, gradient);
        self.single.gradient(self.mask.see(weights), likelihood, gradient);
        self.mask.clear(gradient);
    }

    fn check(&self, weights: &[f64], likelihood: &Likelihood<'_>, gradient: &[f64]) {
        let len = self.shape.len();
        assert!(weights.len() == len && gradient.len() == len, "one number per weight");
        likelihood.check(self.shape.outputs, self.rows);
    }
}

#[cfg(test)]
mod tests;
