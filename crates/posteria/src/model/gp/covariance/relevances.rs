//! Hold the relevances of the inputs of a factor, one in common or one each.

use posteria_linalg::{Matrix, Points};

use super::Factor;
use super::form::scale;
use crate::model::spec::Sharing;

/// Relevances of the inputs of a factor.
pub(super) struct Relevances {
    inputs: Vec<usize>,
    sharing: Sharing,
    values: Vec<f64>,
}

impl Relevances {
    pub(super) fn new(factor: &Factor) -> Self {
        let values = vec![1.0; factor.inputs.len()];
        Relevances { inputs: factor.inputs.clone(), sharing: factor.sharing, values }
    }

    /// Number of log parameters.
    pub(super) fn parameters(&self) -> usize {
        match self.sharing {
            Sharing::Common => 1,
            Sharing::PerInput => self.inputs.len(),
        }
    }

    /// New values of the log parameters.
    pub(super) fn set(&mut self, log_parameters: &[f64]) {
        for (k, value) in self.values.iter_mut().enumerate() {
            let index = if self.sharing == Sharing::Common { 0 } else { k };
            *value = scale(log_parameters[index]);
        }
    }

    /// The inputs, by index.
    pub(super) fn inputs(&self) -> &[usize] {
        &self.inputs
    }

    /// One relevance per input.
    pub(super) fn values(&self) -> &[f64] {
        &self.values
    }

    /// Writes inputs times relevances into the columns from `first` on.
    pub(super) fn write(&self, points: &Matrix, features: &mut Points, first: usize) {
        for (k, (input, relevance)) in self.inputs.iter().zip(&self.values).enumerate() {
            let column = features.column_mut(first + k);
            for (feature, value) in column.iter_mut().zip(points.column(*input)) {
                *feature = relevance * value;
            }
        }
    }

    /// Adds `factor` × derivatives by each relevance, in the log, to those by the parameters.
    pub(super) fn add_gradient(&self, factor: f64, each: &[f64], gradient: &mut [f64]) {
        for (k, derivative) in each.iter().enumerate() {
            let index = if self.sharing == Sharing::Common { 0 } else { k };
            gradient[index] += factor * derivative;
        }
    }
}
