//! Say why costs cannot be used.

use super::super::formula::FormulaError;

/// Why a table or a formula gives no costs.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum CostError {
    /// The text is no table.
    #[error("{file}: {message}")]
    Unreadable {
        /// Name of the file.
        file: String,
        /// What is wrong.
        message: String,
    },
    /// No action.
    #[error(
        "{file}: there are no actions; give a header (action, then the classes) and a line per action"
    )]
    NoActions {
        /// Name of the file.
        file: String,
    },
    /// A column that is no class.
    #[error("{file}:1:{column}: there is no class {label:?}{}; the classes are {}", meant(.suggestion), .labels.join(", "))]
    UnknownClass {
        /// Name of the file.
        file: String,
        /// Number of the column, from 1.
        column: usize,
        /// Its name.
        label: String,
        /// A class like it.
        suggestion: Option<String>,
        /// The classes.
        labels: Vec<String>,
    },
    /// A class that has two columns.
    #[error("{file}:1:{column}: class {label:?} has a column already; leave one")]
    RepeatedClass {
        /// Name of the file.
        file: String,
        /// Number of the second column, from 1.
        column: usize,
        /// The class.
        label: String,
    },
    /// A class without a column.
    #[error("{file}: there is no column for class {label:?}; give the cost of every action for it")]
    MissingClass {
        /// Name of the file.
        file: String,
        /// The class.
        label: String,
    },
    /// An action that has two lines.
    #[error("{file}:{line}: action {action:?} has a line already; leave one")]
    RepeatedAction {
        /// Name of the file, or the option.
        file: String,
        /// The second line, from 1.
        line: usize,
        /// The action.
        action: String,
    },
    /// A line with too few or too many cells.
    #[error("{file}:{line}: {found} cells where the header has {expected}")]
    Cells {
        /// Name of the file.
        file: String,
        /// The line, from 1.
        line: usize,
        /// How many there are.
        found: usize,
        /// How many there should be.
        expected: usize,
    },
    /// A cost that is no number.
    #[error(
        "{file}:{line}:{column}: the cost of action {action:?} for class {label:?} is {text:?}, which is no finite number"
    )]
    NotANumber {
        /// Name of the file.
        file: String,
        /// The line, from 1.
        line: usize,
        /// The column, from 1.
        column: usize,
        /// The action.
        action: String,
        /// The class.
        label: String,
        /// What is there.
        text: String,
    },
    /// The formula has no finite value.
    #[error("the cost of action {action:?} for class {label:?} is {value}; a cost must be finite")]
    NotFinite {
        /// The action.
        action: String,
        /// The class.
        label: String,
        /// The value.
        value: f64,
    },
    /// The formula cannot be understood.
    #[error("the cost formula: {0}")]
    Formula(#[from] FormulaError),
    /// A matrix for targets that are numbers.
    #[error(
        "a table of costs is for classes, and the target is a number; give a formula over y and a, such as \"abs(y - a)\", and the actions"
    )]
    MatrixOfNumbers,
    /// Costs of durations that are not known.
    #[error(
        "costs are of targets that are known, and durations may be censored; leave the costs out"
    )]
    Censored,
    /// A formula without actions.
    #[error(
        "a cost formula for numbers needs the actions to choose from, such as 0,10,20 or buy,wait"
    )]
    NoChoice,
    /// Several targets, or none.
    #[error("costs are for one target, and there are {count}")]
    Targets {
        /// How many.
        count: usize,
    },
}

fn meant(suggestion: &Option<String>) -> String {
    suggestion.as_ref().map_or_else(String::new, |name| format!(" (did you mean {name:?}?)"))
}
