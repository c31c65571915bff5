//! Describe, read and evaluate covariance functions: sums of products of simple functions.

mod constant;
mod error;
mod evaluator;
mod exponential;
mod factor;
mod factor_state;
mod form;
mod forms;
mod jet;
mod linear;
mod matern_3_2;
mod matern_5_2;
mod neural_network;
mod parse;
mod periodic;
mod rational_quadratic;
mod relevances;
mod squared_exponential;
mod stationary;
mod tiles;

pub use error::CovarianceError;
pub use evaluator::Evaluator;
pub use factor::{Factor, Function};
pub use jet::Jet;

use std::ops::Range;

use posteria_linalg::Matrix;

use crate::model::spec::Sharing;

/// A covariance function of two points: Σ_t η_t² Π_f k_tf(x, x'), a sum over terms of a squared
/// magnitude times a product of factors [Rasmussen and Williams 2006, §4.2.4].
///
/// Every factor has relevances ρ, inverse length scales in the convention
/// r² = Σ_k ρ_k² (x_k - x'_k)² without a factor ½ [Neal 1999]. A term that is one linear factor
/// has no magnitude: it would say the same as its relevances.
#[derive(Clone, Debug, PartialEq)]
pub struct Covariance {
    terms: Vec<Term>,
    parameters: Vec<Parameter>,
    inputs: usize,
}

#[derive(Clone, Debug, PartialEq)]
struct Term {
    magnitude: Option<usize>,
    factors: Vec<(Factor, Range<usize>)>,
}

/// What a parameter of a [`Covariance`] is; states hold its logarithm.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Parameter {
    /// η, the standard deviation of a term.
    Magnitude {
        /// The term.
        term: usize,
    },
    /// ρ, the inverse length scale of an input, or of all inputs of a factor.
    Relevance {
        /// The term.
        term: usize,
        /// The factor within the term.
        factor: usize,
        /// The input; `None` where the inputs of the factor have one relevance in common.
        input: Option<usize>,
    },
    /// α of a rational quadratic.
    Shape {
        /// The term.
        term: usize,
        /// The factor within the term.
        factor: usize,
    },
    /// Period of a periodic factor along one input; inputs differ in their units.
    Period {
        /// The term.
        term: usize,
        /// The factor within the term.
        factor: usize,
        /// The input.
        input: usize,
    },
    /// Standard deviation of the bias of a neural network.
    Bias {
        /// The term.
        term: usize,
        /// The factor within the term.
        factor: usize,
    },
}

impl Covariance {
    /// The sum of `terms`, each the product of its factors, for points of `inputs` inputs.
    ///
    /// # Panics
    /// If there is no term, a term has no factor, a factor names an input that is not there or
    /// none at all (only [`Function::Constant`] may).
    pub fn new(terms: Vec<Vec<Factor>>, inputs: usize) -> Self {
        assert!(!terms.is_empty(), "at least one term");
        let mut covariance = Covariance { terms: Vec::new(), parameters: Vec::new(), inputs };
        for factors in terms {
            covariance.push(factors);
        }
        covariance
    }

    fn push(&mut self, factors: Vec<Factor>) {
        assert!(!factors.is_empty(), "at least one factor in a term");
        let term = self.terms.len();
        let alone = factors.len() == 1 && factors[0].function == Function::Linear;
        let magnitude = (!alone).then_some(self.parameters.len());
        self.parameters.extend(magnitude.map(|_| Parameter::Magnitude { term }));
        let mut placed = Vec::new();
        for (index, factor) in factors.into_iter().enumerate() {
            let known = factor.inputs.iter().all(|input| *input < self.inputs);
            assert!(known, "inputs below {}", self.inputs);
            let constant = factor.function == Function::Constant;
            assert!(constant || !factor.inputs.is_empty(), "a function of some inputs");
            let start = self.parameters.len();
            self.parameters.extend(factor.parameters(term, index));
            placed.push((factor, start..self.parameters.len()));
        }
        self.terms.push(Term { magnitude, factors: placed });
    }

    /// Reads a covariance function from text: terms joined by `+`, factors by `*`, each the name
    /// of a function and, in brackets, its inputs; without brackets it is a function of all
    /// inputs. For example `periodic(month)*squared-exponential(year)+linear`.
    ///
    /// # Errors
    /// [`CovarianceError`] names what was not understood and where.
    pub fn parse(
        text: &str,
        input_names: &[String],
        sharing: Sharing,
    ) -> Result<Vec<Vec<Factor>>, CovarianceError> {
        parse::parse(text, input_names, sharing)
    }

    /// What the log parameters are, in their order: term by term its magnitude, then for each
    /// factor its relevances and what else it has.
    pub fn parameters(&self) -> &[Parameter] {
        &self.parameters
    }

    /// Number of inputs of a factor of a term.
    pub(super) fn inputs_of(&self, (term, factor): (usize, usize)) -> usize {
        let mut factors = self.terms().nth(term).unwrap_or_default().into_iter();
        factors.nth(factor).map_or(1, |factor| factor.inputs.len().max(1))
    }

    /// Number of inputs of a point.
    pub fn inputs(&self) -> usize {
        self.inputs
    }

    /// The factors of every term.
    pub fn terms(&self) -> impl ExactSizeIterator<Item = Vec<&Factor>> {
        self.terms.iter().map(|term| term.factors.iter().map(|(factor, _)| factor).collect())
    }

    /// The text that [`Covariance::parse`] reads back; a factor of all inputs names none.
    ///
    /// # Panics
    /// If there are not as many names as inputs.
    pub fn name(&self, input_names: &[String]) -> String {
        assert_eq!(input_names.len(), self.inputs, "one name per input");
        parse::write(self.terms(), input_names)
    }

    /// What evaluates the function at `points`, one row each. Owns its buffers; all log
    /// parameters are 0 at first.
    ///
    /// # Panics
    /// If the points have not as many columns as there are inputs.
    pub fn evaluator<'a>(&'a self, points: &'a Matrix) -> Evaluator<'a> {
        assert_eq!(points.columns(), self.inputs, "one column per input");
        Evaluator::new(self, points)
    }
}

#[cfg(test)]
mod tests;
