//! Say why rows cannot be divided into folds.

/// Why rows cannot be divided.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FoldError {
    /// Fewer than two folds.
    #[error("{folds} fold(s) leave no rows to train on; use at least 2")]
    TooFew {
        /// Folds asked for.
        folds: usize,
    },
    /// More folds than there are rows.
    #[error("{rows} row(s) cannot be divided into {folds} folds; use at most {rows}")]
    MoreThanRows {
        /// Folds asked for.
        folds: usize,
        /// Rows there are.
        rows: usize,
    },
    /// More folds than there are groups.
    #[error(
        "{groups} group(s) cannot be divided into {folds} folds without splitting one; use \
             at most {groups}"
    )]
    MoreThanGroups {
        /// Folds asked for.
        folds: usize,
        /// Groups there are.
        groups: usize,
    },
    /// The gap around held-out rows swallows all others.
    #[error(
        "leaving out {gap} row(s) on each side leaves none of the {rows} to train on in fold \
             {fold}; use a smaller gap"
    )]
    GapTooWide {
        /// Rows left out on each side.
        gap: usize,
        /// Rows there are.
        rows: usize,
        /// The fold, from 1.
        fold: usize,
    },
    /// The distance that is kept from held-out rows swallows all others.
    #[error(
        "all of the {rows} rows are nearer to fold {fold} than the buffer, which leaves none to train \
         on; use a smaller buffer or more folds"
    )]
    BufferTooWide {
        /// Rows there are.
        rows: usize,
        /// The fold, from 1.
        fold: usize,
    },
    /// A space needs inputs.
    #[error("{name} is no input that is a number; a space is of inputs: {}", inputs.join(", "))]
    NoInput {
        /// What was given.
        name: String,
        /// The inputs.
        inputs: Vec<String>,
    },
    /// Nothing says what belongs together.
    #[error("there is no column that says which rows are of the same {what}; name one")]
    NoLabels {
        /// Of what.
        what: &'static str,
    },
    /// A fold that does not exist.
    #[error("there is no fold {index}: they are 1 to {folds}")]
    NoSuchFold {
        /// The fold asked for.
        index: usize,
        /// Folds there are.
        folds: usize,
    },
}
