//! Say what a network's weights and residuals owe to precisions.

use super::outputs::{Design, Held};
use crate::density::Precision;
use crate::model::mlp::{GaussianNetwork, SampledPrecision, WeightPrecision};

/// A network of normal weights and residuals, with what is the same for every state of it.
pub(super) struct Structure<'p> {
    pub(super) network: GaussianNetwork<'p>,
    pub(super) design: Design,
}

impl std::fmt::Debug for Structure<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "a network of {} weights", self.network.weights.len())
    }
}

/// E w² of all weights and E (y - f)² of all residuals.
#[derive(Clone, Debug)]
pub(super) struct Squares {
    pub(super) weights: Vec<f64>,
    pub(super) residuals: Vec<f64>,
}

/// Precisions of all residuals and of all weights.
pub(super) struct Spelled {
    residuals: Vec<f64>,
    weights: Vec<f64>,
}

impl Spelled {
    pub(super) fn held(&self) -> Held<'_> {
        Held { residuals: &self.residuals, weights: &self.weights }
    }

    /// The precisions of the weights.
    pub(super) fn weights(&self) -> &[f64] {
        &self.weights
    }
}

impl<'p> Structure<'p> {
    pub(super) fn new(network: GaussianNetwork<'p>) -> Self {
        Structure { design: Design::new(&network), network }
    }

    /// Number of weights of hidden units: the first ones.
    pub(super) fn hidden(&self) -> usize {
        self.design.shape.tail().start
    }

    /// No squares yet.
    pub(super) fn no_squares(&self) -> Squares {
        let (weights, residuals) = (self.network.weights.len(), self.network.residuals.len());
        Squares { weights: vec![0.0; weights], residuals: vec![0.0; residuals] }
    }

    /// Whose precision each is, where the distinct ones are known, those of residuals times `power`.
    pub(super) fn spell(&self, of: impl Fn(usize) -> f64, power: f64) -> Spelled {
        let weight = |which: &WeightPrecision| match which {
            WeightPrecision::Known(precision) => *precision,
            WeightPrecision::Sampled(index) => of(*index),
        };
        Spelled {
            residuals: self.network.residuals.iter().map(|index| power * of(*index)).collect(),
            weights: self.network.weights.iter().map(weight).collect(),
        }
    }

    /// The gamma distributions of all precisions given squares, and rates of their priors.
    pub(super) fn given_squares(
        &self,
        squares: &Squares,
        power: f64,
        prior_rate: impl Fn(usize) -> f64,
    ) -> Vec<Precision> {
        let own = |(index, at): (usize, &SampledPrecision)| Precision {
            shape: 0.5 * at.dof,
            rate: prior_rate(index),
        };
        let mut found: Vec<Precision> =
            self.network.precisions.iter().enumerate().map(own).collect();
        for (which, square) in self.network.weights.iter().zip(&squares.weights) {
            if let WeightPrecision::Sampled(index) = which {
                found[*index].shape += 0.5;
                found[*index].rate += 0.5 * square;
            }
        }
        for (index, square) in self.network.residuals.iter().zip(&squares.residuals) {
            found[*index].shape += 0.5 * power;
            found[*index].rate += 0.5 * power * square;
        }
        found
    }
}
