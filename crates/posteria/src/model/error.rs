//! Say why a model cannot be conditioned on a dataset.

use super::spec::SpecError;
use crate::data::Task;

/// Why a model cannot be conditioned on a dataset.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ModelError {
    /// The dataset has no rows.
    #[error("the dataset has no rows; give at least one")]
    NoRows,
    /// The data set another task than the specification asks for.
    #[error(
        "the model is for {expected:?} but the targets set {found:?}; change `task` or the target"
    )]
    Task {
        /// What the model is for.
        expected: Task,
        /// What the targets set.
        found: Task,
    },
    /// Something this version cannot do.
    #[error("{what} is not available in this version")]
    NotAvailable {
        /// What was asked for.
        what: String,
    },
    /// A number of the dataset is NaN or infinite.
    #[error(
        "{column} is not finite in row {row} (counted from 0); drop the row or correct the value"
    )]
    NotFinite {
        /// Name of the column.
        column: String,
        /// Index of the row.
        row: usize,
    },
    /// A class beyond those that the target has.
    #[error("{column} in row {row} (counted from 0) is none of its {classes} classes")]
    NoSuchClass {
        /// Name of the column.
        column: String,
        /// Index of the row.
        row: usize,
        /// Number of classes.
        classes: usize,
    },
    /// A number that counts nothing.
    #[error("{column} in row {row} (counted from 0) is not a count: a whole number from 0 on")]
    NotCount {
        /// Name of the column.
        column: String,
        /// Index of the row.
        row: usize,
    },
    /// A number that is no duration.
    #[error("{column} in row {row} (counted from 0) is not a duration: a positive number")]
    NotDuration {
        /// Name of the column.
        column: String,
        /// Index of the row.
        row: usize,
    },
    /// Two parts of the dataset, or names and a density, do not fit together.
    #[error("{what}: expected {expected}, found {found}")]
    Length {
        /// What has the wrong length.
        what: String,
        /// The length that would fit.
        expected: usize,
        /// Its length.
        found: usize,
    },
    /// A column that the residual scale shall depend on and that is not among the inputs.
    #[error(
        "{name} in residual.{key} is not an input; the inputs are {}; choose among them",
        inputs.join(", ")
    )]
    NoSuchInput {
        /// The key.
        key: &'static str,
        /// The name.
        name: String,
        /// Names of the inputs.
        inputs: Vec<String>,
    },
    /// A name in `[selection]` that is none of the inputs.
    #[error(
        "{name} in selection.{key} is not an input; the inputs are {}; choose among them",
        inputs.join(", ")
    )]
    NotAnInput {
        /// The key.
        key: &'static str,
        /// The name.
        name: String,
        /// Names of the inputs.
        inputs: Vec<String>,
    },
    /// An input in two groups, or in a group and always in.
    #[error("{name} is named twice in [selection]; an input is in one group or always in")]
    SelectedTwice {
        /// The name.
        name: String,
    },
    /// An input that requires itself.
    #[error(
        "{name} in selection.requires requires itself, directly or by others; let inputs require \
         those that they are made of"
    )]
    RequiresItself {
        /// The name.
        name: String,
    },
    /// More inputs are required than sets can be enumerated of.
    #[error(
        "{found} inputs that depend on one another in selection.requires are required by others, more \
         than {most}; keep some of them in with always"
    )]
    TooManyRequired {
        /// Inputs that others require.
        found: usize,
        /// Most of them.
        most: usize,
    },
    /// A prior of input sets with the wrong number of numbers.
    #[error(
        "prior in [selection] has {found} numbers for {candidates} candidates; give one probability \
         per candidate, or one weight per size, from 0 or from 1 on"
    )]
    InclusionPrior {
        /// Inputs or groups of inputs that may leave.
        candidates: usize,
        /// Numbers given.
        found: usize,
    },
    /// No prior of input sets has such a number of inputs.
    #[error(
        "no beta-binomial prior of {candidates} candidates expects {mean} ± {sd} of them; the standard \
         deviation must lie between {least:.3} and {most:.3} for this mean, and the mean between 0 and \
         {candidates}"
    )]
    ExpectedInputs {
        /// Inputs or groups of inputs that may leave.
        candidates: usize,
        /// The mean asked for.
        mean: f64,
        /// The standard deviation asked for.
        sd: f64,
        /// That of the binomial distribution, above which it must be.
        least: f64,
        /// That of all or nothing, below which it must be.
        most: f64,
    },
    /// Columns whose values divide the rows into too many groups.
    #[error(
        "the values of {} in residual.{key} divide the rows into {groups} groups, too many for \
         {} each; choose columns with few values{}",
        columns.join(", "),
        if *key == "by" { "a residual scale" } else { "degrees of freedom" },
        if *key == "by" {
            ", or name numbers along which the log of the scale is linear in residual.slopes"
        } else {
            ""
        }
    )]
    TooManyGroups {
        /// The key.
        key: &'static str,
        /// The columns.
        columns: Vec<String>,
        /// Number of groups.
        groups: usize,
    },
    /// A covariance function that does not fit the inputs.
    #[error("covariance in [model]: {error}")]
    Covariance {
        /// What is wrong with it.
        error: super::gp::covariance::CovarianceError,
    },
    /// A coordinate ascent met numbers beyond their range.
    #[error(
        "the approximation of {what} left the range of numbers; standardise the columns, or give \
         priors of the size of the data"
    )]
    OutOfRange {
        /// What was approximated.
        what: &'static str,
    },
    /// Two variables have the same name.
    #[error("{name} is named twice; give every variable a name of its own")]
    Duplicate {
        /// The name.
        name: String,
    },
    /// Fewer rows than maximum likelihood needs.
    #[error(
        "{rows} rows are too few to tell {coefficients} coefficients by maximum likelihood (real \
         targets need one row more); drop inputs, or take priors (--inference mcmc or laplace)"
    )]
    TooFewRows {
        /// Rows.
        rows: usize,
        /// Coefficients of a target, the intercept included.
        coefficients: usize,
    },
    /// A column that others add up to, and no prior to settle it.
    #[error(
        "{column} is a sum of multiples of the intercept and the inputs before it, so that the \
         likelihood has no single maximum; drop it, or take priors (--inference mcmc or laplace)"
    )]
    Collinear {
        /// The column.
        column: String,
    },
    /// The posterior precision of the weights cannot be factorised.
    #[error(
        "the inputs are collinear beyond what the prior can settle (weight {pivot}); \
         drop an input or raise rho"
    )]
    NotPositiveDefinite {
        /// Index of the failing pivot.
        pivot: usize,
    },
}

impl From<SpecError> for ModelError {
    /// Of a specification that passed its checks before the targets told the task.
    fn from(error: SpecError) -> Self {
        ModelError::NotAvailable { what: format!("these priors ({error})") }
    }
}
