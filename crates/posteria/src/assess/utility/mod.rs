//! Value predictions: u(y, predictive distribution) for one row, and how rows are summarised.

mod choice;
mod classes;
mod concordance;
mod crps;
mod density;
mod error;
mod errors;
mod expression;
mod parse;
mod summary;
#[cfg(test)]
mod tests;

pub use choice::Utility;
pub use classes::{Accuracy, Brier, ErrorRate, RankedProbability};
pub use concordance::Concordance;
pub use crps::Crps;
pub use density::{Elpd, Likelihood};
pub use error::UtilityError;
pub use errors::{AbsoluteError, SquaredError};
pub use expression::Expression;
pub use parse::{ELPD, parse_utility};
pub(super) use summary::Prepared;
pub use summary::Summary;

use serde::{Deserialize, Serialize};

use crate::predict::Predictive;

/// Which values are the better ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Better {
    /// Large ones, as of a density.
    Higher,
    /// Small ones, as of an error or a cost.
    Lower,
}

impl Better {
    /// The sign that makes better values larger.
    pub fn sign(self) -> f64 {
        match self {
            Better::Higher => 1.0,
            Better::Lower => -1.0,
        }
    }
}

/// What a prediction is worth once the target is known, u(y, p(y given x, D)) [Vehtari 2001,
/// §3.1.1]. A utility is shown in its own unit and is not negated if it is a cost: see
/// [`UtilityFunction::better`].
pub trait UtilityFunction: Send + Sync {
    /// What the user calls it: `rmse`, `abs-quantile:0.9`, …
    fn name(&self) -> &str;

    /// Which values are the better ones.
    fn better(&self) -> Better;

    /// How the values of rows become the expected utility.
    fn summary(&self) -> Summary;

    /// Its value for one row; `observed` as [`Predictive::log_density`] takes it. NaN where it is
    /// not defined (the error of a mean that does not exist).
    ///
    /// # Panics
    /// If the predictive distribution is of another kind than the utility was made for.
    fn evaluate(&self, predictive: &Predictive<'_>, observed: &[f64]) -> f64;

    /// The same from averages over draws alone, which are quickly found for many weightings of the
    /// draws; `None` where they are not enough.
    fn of_averages(&self, averages: &Averages<'_>, observed: &[f64]) -> Option<f64> {
        let _ = (averages, observed);
        None
    }
}

/// What of a predictive distribution is an average over draws.
#[derive(Clone, Copy, Debug)]
pub struct Averages<'a> {
    /// Log predictive density at the target.
    pub log_density: f64,
    /// Mean of every real target; NaN where there is none.
    pub means: &'a [f64],
    /// Probability of every class.
    pub probabilities: &'a [f64],
}
