//! Say why a utility cannot be used.

use super::super::formula::FormulaError;

/// Why a text names no utility for these targets.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum UtilityError {
    /// Nothing has this name.
    #[error("there is no utility {name:?}{}; those for {kind} are {}", meant(.suggestion), .fitting.join(", "))]
    Unknown {
        /// The name.
        name: String,
        /// One like it.
        suggestion: Option<String>,
        /// What the targets are.
        kind: &'static str,
        /// What would fit.
        fitting: Vec<String>,
    },
    /// It is for other targets.
    #[error("{name} is not for {kind}; use one of {}", .fitting.join(", "))]
    NotForTask {
        /// The utility.
        name: String,
        /// What the targets are.
        kind: &'static str,
        /// What would fit.
        fitting: Vec<String>,
    },
    /// The number of an `abs-quantile` is missing or none between 0 and 1.
    #[error("abs-quantile:{given} needs a probability between 0 and 1, such as abs-quantile:0.9")]
    Probability {
        /// What was given.
        given: String,
    },
    /// `nrmse` of a target that does not vary.
    #[error("nrmse divides by the standard deviation of {target}, which does not vary; use rmse")]
    Constant {
        /// The target.
        target: String,
    },
    /// The formula is none.
    #[error("expr: {0}")]
    Formula(#[from] FormulaError),
}

fn meant(suggestion: &Option<String>) -> String {
    suggestion.as_ref().map_or_else(String::new, |name| format!(" (did you mean {name}?)"))
}
