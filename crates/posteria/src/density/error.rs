//! Say which parameter of which distribution is not allowed.

/// A parameter outside the range of its distribution.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ParameterError {
    /// A scale, shape or number of degrees of freedom must be positive and finite.
    #[error("{parameter} of {distribution} is {value}; give a positive finite number")]
    NotPositive {
        /// The distribution, as users call it.
        distribution: &'static str,
        /// The parameter, as users call it.
        parameter: &'static str,
        /// What was given.
        value: f64,
    },
    /// A location must be finite.
    #[error("{parameter} of {distribution} is {value}; give a finite number")]
    NotFinite {
        /// The distribution, as users call it.
        distribution: &'static str,
        /// The parameter, as users call it.
        parameter: &'static str,
        /// What was given.
        value: f64,
    },
    /// A Wishart distribution needs more than dim - 1 degrees of freedom.
    #[error(
        "{distribution} of dimension {dim} has {dof} degrees of freedom; give a finite number \
         greater than {}", .dim.saturating_sub(1)
    )]
    DofTooSmall {
        /// The distribution, as users call it.
        distribution: &'static str,
        /// Dimension of its matrices.
        dim: usize,
        /// What was given.
        dof: f64,
    },
    /// A scale or covariance matrix must be positive definite.
    #[error(
        "{parameter} of {distribution} is not positive definite at row {pivot}; give a \
         covariance matrix of full rank"
    )]
    NotPositiveDefinite {
        /// The distribution, as users call it.
        distribution: &'static str,
        /// The parameter, as users call it.
        parameter: &'static str,
        /// First row (from 0) at which the factorisation fails.
        pivot: usize,
    },
    /// Weights must be finite, not negative, and at least one must be positive.
    #[error(
        "weight {index} of {distribution} is {value}; give finite weights that are not negative, \
         at least one of them positive"
    )]
    BadWeight {
        /// The distribution, as users call it.
        distribution: &'static str,
        /// Position of the weight; the number of weights if their sum is not usable.
        index: usize,
        /// What was given there (or the sum).
        value: f64,
    },
    /// Two things that belong together have different lengths.
    #[error("{parameter} of {distribution} has length {given} where {expected} is needed")]
    WrongLength {
        /// The distribution, as users call it.
        distribution: &'static str,
        /// The parameter, as users call it.
        parameter: &'static str,
        /// Length needed.
        expected: usize,
        /// Length given.
        given: usize,
    },
}

/// `value` if it is positive and finite.
pub(crate) fn positive(
    distribution: &'static str,
    parameter: &'static str,
    value: f64,
) -> Result<f64, ParameterError> {
    if value > 0.0 && value.is_finite() {
        Ok(value)
    } else {
        Err(ParameterError::NotPositive { distribution, parameter, value })
    }
}

/// `value` if it is finite.
pub(crate) fn finite(
    distribution: &'static str,
    parameter: &'static str,
    value: f64,
) -> Result<f64, ParameterError> {
    if value.is_finite() {
        Ok(value)
    } else {
        Err(ParameterError::NotFinite { distribution, parameter, value })
    }
}
