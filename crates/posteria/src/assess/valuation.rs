//! By what predictions are valued, as it can be written down for whoever fits folds elsewhere.

use serde::{Deserialize, Serialize};

use super::utility::UtilityFunction;
use super::{
    AssessError, Assessor, FoldModel, InMemoryRefit, RowUtilities, TargetFacts, Utility,
    UtilityError,
};
use crate::data::Dataset;
use crate::draws::Draws;
use crate::fit::{Fit, Workers};
use crate::random::Seed;

/// By what the predictions of the rows of a fit are valued. Whoever has the draws of a fold finds with it
/// what an assessment needs of them, so that the draws may stay there.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Valuation {
    /// What predictions are worth; the first is the log predictive density.
    utilities: Vec<Utility>,
    /// Indices of the classes from the lowest on, where the targets are ordered classes: another model
    /// may be the only one to say so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    order: Option<Vec<usize>>,
    /// Names the streams of reweighted draws.
    seed: Seed,
}

impl Valuation {
    /// By the log predictive density and these utilities of these targets, with streams of this seed.
    pub fn new(utilities: &[Utility], targets: &TargetFacts, seed: Seed) -> Self {
        let utilities = with_density(utilities).into_iter().cloned().collect();
        let order = match targets {
            TargetFacts::Ordered { order, .. } => Some(order.clone()),
            _ => None,
        };
        Valuation { utilities, order, seed }
    }

    /// What computes the utilities of these data.
    ///
    /// # Errors
    /// [`UtilityError`] if one is not for them.
    pub fn functions(&self, data: &Dataset) -> Result<Vec<Box<dyn UtilityFunction>>, UtilityError> {
        let targets = TargetFacts::of(data).ordered(self.order.as_deref());
        self.utilities.iter().map(|utility| utility.function(&targets)).collect()
    }

    /// What the predictions of all rows of `fit` by the fit of a fold, which has these draws, are worth.
    ///
    /// # Errors
    /// [`AssessError`] if they cannot be predicted, or the work was stopped.
    pub fn of_fold(
        &self,
        fit: &Fit,
        (fold, draws): (&FoldModel, &Draws),
        workers: &Workers,
    ) -> Result<Vec<RowUtilities>, AssessError> {
        let utilities = &self.functions(&fit.prepared.data)?;
        let refit = &InMemoryRefit { fit, workers, groups: None, fitted: None };
        let seed = self.seed;
        Assessor { fit, utilities, held_out: None, seed, workers, refit }.of_fold(fold, draws)
    }
}

/// The log predictive density, and every other utility.
pub(super) fn with_density(utilities: &[Utility]) -> Vec<&Utility> {
    let others = utilities.iter().filter(|utility| **utility != Utility::Elpd);
    std::iter::once(&Utility::Elpd).chain(others).collect()
}
