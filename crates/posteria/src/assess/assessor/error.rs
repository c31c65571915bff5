//! Say why a fit cannot be assessed.

use crate::assess::{
    BootstrapError, ChainStackingError, ChainsRefused, ComparisonError, ImportanceError,
    LogLikelihoodError, NotComparable, PointwiseError, UtilityError,
};
use crate::data::{DataError, FoldError};
use crate::fit::{ApproximationError, Cancelled, FitError, PredictError, PrepareError};

/// Why a fit cannot be assessed.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum AssessError {
    /// Rows cannot be predicted.
    #[error(transparent)]
    Predict(#[from] PredictError),
    /// An approximation cannot be found again.
    #[error(transparent)]
    Approximation(#[from] ApproximationError),
    /// The model is not for fewer rows.
    #[error(transparent)]
    Prepare(#[from] PrepareError),
    /// Rows cannot be divided.
    #[error(transparent)]
    Folds(#[from] FoldError),
    /// A column that divides rows cannot be used.
    #[error(transparent)]
    Data(#[from] DataError),
    /// Log likelihoods are no numbers.
    #[error(transparent)]
    LogLikelihood(#[from] LogLikelihoodError),
    /// Importance weights cannot be found.
    #[error(transparent)]
    Importance(#[from] ImportanceError),
    /// A utility of pairs of rows, each of which was left out by itself.
    #[error(
        "concordance compares two rows, which must be predicted by the same fit, and leave-one-out predicts \
         each row by another one; use folds, whose rows are compared among themselves (--method kfold \
         --folds 3), or rows that the fit has not seen (--test)"
    )]
    PairsLeftOut,
    /// A utility of pairs of rows, of which no fold has any.
    #[error(
        "concordance compares rows of the same fold, and no fold has two rows of which it is known which target \
         is the smaller one; use fewer folds (--folds 3)"
    )]
    NoPairs,
    /// A utility is not for the targets.
    #[error(transparent)]
    Utility(#[from] UtilityError),
    /// New rows cannot be drawn from those at hand.
    #[error(transparent)]
    Bootstrap(#[from] BootstrapError),
    /// Models cannot be compared by a utility.
    #[error(transparent)]
    Comparison(#[from] ComparisonError),
    /// Models cannot be compared by their log predictive densities.
    #[error(transparent)]
    Pointwise(#[from] PointwiseError),
    /// Models are not of the same rows and targets.
    #[error(transparent)]
    NotComparable(Box<NotComparable>),
    /// There are no chains that could be weighed.
    #[error(transparent)]
    Chains(#[from] ChainsRefused),
    /// Chains cannot be weighed.
    #[error(transparent)]
    ChainStacking(#[from] ChainStackingError),
    /// A fit without some rows failed.
    #[error("fold {fold} ({held_out} row(s) held out): {error}")]
    Fit {
        /// The fold, from 1.
        fold: usize,
        /// Number of rows held out.
        held_out: usize,
        /// Why.
        error: Box<FitError>,
    },
    /// A fold was not fitted elsewhere as was expected.
    #[error("{reason}")]
    NotFitted {
        /// Why.
        reason: String,
    },
    /// The model has nothing to predict.
    #[error("this model has no targets to predict")]
    NoTargets,
    /// The model or its draws cannot be used.
    #[error(transparent)]
    Model(Box<FitError>),
    /// Replicated data would take too much memory.
    #[error("there are too many rows to replicate their targets for every draw")]
    ManyRows,
    /// Shares of models that are no weights.
    #[error("an average needs one weight per model, none below 0 and not all 0")]
    Shares,
    /// There are no rows that the fit has not seen.
    #[error("rows that the fit has not seen are needed to hold out")]
    NothingHeldOut,
    /// Rows that are held out have no targets.
    #[error("{file}: predictions are valued by the target {}", targets.join(", "))]
    TargetsNotHeldOut {
        /// What the table is called.
        file: String,
        /// Names of the targets.
        targets: Vec<String>,
    },
    /// No row that is held out is complete.
    #[error("{file} has no complete row")]
    NoCompleteRow {
        /// What the table is called.
        file: String,
    },
    /// Rows that are held out are those of the fit.
    #[error("{file} has the very rows that the fit is of; give rows that it has not seen")]
    SeenRows {
        /// What the table is called.
        file: String,
    },
    /// The prior of a Gaussian process cannot be seen in its draws.
    #[error(
        "predictions by the prior are for linear models and networks: a Gaussian process keeps no \
         function in its draws that a prior could be seen in; use leave-one-out or folds"
    )]
    ProcessPrior,
    /// The model cannot be drawn from its prior.
    #[error("this model cannot be drawn from its prior; use another method")]
    NoPrior,
    /// There is no division into folds.
    #[error("give at least one division into folds")]
    NoDivision,
    /// A fold holds all rows of a class.
    #[error(
        "all rows of the class {label} are left out together, in fold {fold}: a fit without them \
         cannot know it; use more folds, other groups, or leave the class out of the table"
    )]
    ClassLeftOut {
        /// The class.
        label: String,
        /// The fold, from 1.
        fold: usize,
    },
    /// A fold holds all durations that are not censored.
    #[error(
        "all durations that ended are left out together, in fold {fold}: those of the other folds are censored, \
         and tell a fit only what they exceed; use more folds, another division or --method loo"
    )]
    EndsLeftOut {
        /// The fold, from 1.
        fold: usize,
    },
    /// A column has too many values to look at the rows of each.
    #[error(
        "{column} has {different} different values; rows are grouped by a column with at most {most}"
    )]
    ManyGroups {
        /// The column.
        column: String,
        /// How many values it has.
        different: usize,
        /// How many it may have.
        most: usize,
    },
    /// Groups that are not those of the rows.
    #[error(
        "there are {found} values of groups and {expected} rows that predictions are judged by; give \
         one of each row"
    )]
    Groups {
        /// Values given.
        found: usize,
        /// Rows of the fit, or of the table of rows held out.
        expected: usize,
    },
    /// Rows are to be divided by a column that is not at hand.
    #[error(
        "the column {column} is not at hand: a fit in memory keeps its inputs and targets alone"
    )]
    NoColumn {
        /// The column.
        column: String,
    },
}

impl From<NotComparable> for AssessError {
    fn from(error: NotComparable) -> Self {
        AssessError::NotComparable(Box::new(error))
    }
}

impl From<FitError> for AssessError {
    fn from(error: FitError) -> Self {
        match error {
            FitError::Cancelled(cancelled) => cancelled.into(),
            error => AssessError::Model(Box::new(error)),
        }
    }
}

impl From<Cancelled> for AssessError {
    fn from(cancelled: Cancelled) -> Self {
        AssessError::Predict(cancelled.into())
    }
}
