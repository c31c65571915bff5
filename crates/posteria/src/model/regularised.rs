//! See a model as weights with normal priors behind outputs that can be differentiated.

use std::ops::Range;

use posteria_linalg::Matrix;

use super::Symmetry;
use super::spec::Link;
use crate::random::Stream;

/// A model whose weights are normal about zero given their scales: what approximations at a mode
/// need to know of it. Everything is on the standardised scale.
pub trait Regularised: Send + Sync {
    /// Groups of weights with a common scale; together they hold every weight once, in order.
    fn decays(&self) -> Vec<Decay>;

    /// Groups of residuals with a common scale; none where targets are classes.
    fn noises(&self) -> Vec<Noise>;

    /// What was observed of the outputs.
    fn response(&self) -> Response<'_>;

    /// The outputs as a function of the weights. Built once per thread; owns its buffers.
    fn outputs<'p>(&'p self) -> Box<dyn Outputs + 'p>;

    /// Weights that are not parameters, since they stay 0: those of a class that others are compared
    /// with.
    fn reference_weights(&self) -> usize {
        0
    }

    /// Weights to begin a climb from; another stream gives others.
    fn start(&self, stream: &mut Stream) -> Vec<f64>;

    /// The state of the posterior with these weights and scales.
    fn state(&self, weights: &[f64], scales: &Scales) -> Vec<f64>;

    /// Logarithm of the number of modes that are the same but for the names and signs of units.
    fn log_symmetries(&self) -> f64 {
        0.0
    }

    /// What takes these weights to those that stand for all that are the same but for the names and
    /// signs of units; `None` where there are no others.
    fn canonical(&self, weights: &[f64]) -> Option<Symmetry> {
        let _ = weights;
        None
    }

    /// What turns a log density of the standardised targets into one in the user's unit.
    fn log_unit(&self) -> f64;

    /// Standard deviations of the targets, in the user's unit; empty for classes.
    fn units(&self) -> Vec<f64>;
}

/// A group of weights: independent, N(0, 1/α).
#[derive(Clone, Debug, PartialEq)]
pub struct Decay {
    /// What the group is called.
    pub name: String,
    /// Its weights.
    pub members: Range<usize>,
    /// The standard deviation: known, or the scale of its prior, or 1 where that prior is too vague
    /// to tell one (less than one degree of freedom).
    pub scale: f64,
    /// Whether it is known.
    pub fixed: bool,
}

/// A group of residuals: independent, N(0, 1/β).
#[derive(Clone, Debug, PartialEq)]
pub struct Noise {
    /// What the group is called.
    pub name: String,
    /// Number of residuals.
    pub count: f64,
    /// Standard deviation scale s₀ of the inverse gamma prior of the variance.
    pub scale: f64,
    /// Its degrees of freedom ν.
    pub dof: f64,
}

/// The scales of a model.
#[derive(Clone, Debug, PartialEq)]
pub struct Scales {
    /// Precision α of every group of weights.
    pub alphas: Vec<f64>,
    /// Precision β of every group of residuals.
    pub betas: Vec<f64>,
}

/// What was observed of outputs o of rows i, at o·n + i.
#[derive(Clone, Copy, Debug)]
pub enum Response<'a> {
    /// Real targets, and the group of every residual.
    Real {
        /// Standardised targets.
        targets: &'a [f64],
        /// Index of the group of every residual.
        group_of: &'a [u32],
    },
    /// +1 for rows of the second class, -1 for the first; one output.
    Binary {
        /// The signs.
        signs: &'a [f64],
        /// The link.
        link: Link,
    },
    /// The class of every row; one output per class.
    Classes {
        /// Classes, counted from 0.
        codes: &'a [u32],
    },
}

/// Outputs of fixed rows as a function of the weights, with the buffers of one thread.
pub trait Outputs {
    /// Number of outputs times rows.
    fn len(&self) -> usize;

    /// Whether there are none.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Number of rows n.
    fn rows(&self) -> usize;

    /// Writes the outputs, at o·n + i.
    fn outputs(&mut self, weights: &[f64], outputs: &mut [f64]);

    /// The log likelihood without terms that do not depend on the weights, -½ Σ β (y - f)² with
    /// the `precisions` β of all residuals, or that of the classes; writes its gradient.
    fn log_likelihood(&mut self, weights: &[f64], precisions: &[f64], gradient: &mut [f64]) -> f64;

    /// Writes the derivatives of all outputs: one row for each of them, one column per weight.
    fn jacobian(&mut self, weights: &[f64], jacobian: &mut Matrix);
}
