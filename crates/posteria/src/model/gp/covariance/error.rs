//! Say what is wrong with the text of a covariance function, and where.

/// What is wrong with the text of a covariance function. Columns count characters from 1.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CovarianceError {
    /// A function that does not exist.
    #[error("column {column}: '{word}' is no covariance function; known: {}", known.join(", "))]
    UnknownFunction {
        /// The word.
        word: String,
        /// Where it starts.
        column: usize,
        /// The functions there are.
        known: Vec<String>,
    },
    /// An input that does not exist.
    #[error("column {column}: '{word}' is no input; known: {}", known.join(", "))]
    UnknownInput {
        /// The word.
        word: String,
        /// Where it starts.
        column: usize,
        /// The inputs there are.
        known: Vec<String>,
    },
    /// An input named twice in one factor.
    #[error("column {column}: input '{word}' is named twice; name it once")]
    RepeatedInput {
        /// The input.
        word: String,
        /// Where it is named again.
        column: usize,
    },
    /// A function that needs inputs where there are none.
    #[error("column {column}: '{word}' needs at least one input; name some or use constant")]
    NoInputs {
        /// The function.
        word: String,
        /// Where it starts.
        column: usize,
    },
    /// Inputs of a function that has none.
    #[error("column {column}: '{word}' has no inputs; leave the brackets out")]
    InputsOfConstant {
        /// The function.
        word: String,
        /// Where the brackets open.
        column: usize,
    },
    /// Something else was expected.
    #[error("column {column}: expected {expected}, found {found}")]
    Syntax {
        /// What could stand here.
        expected: &'static str,
        /// What stands here.
        found: String,
        /// Where.
        column: usize,
    },
}
