//! Compare fits that are in memory.

use super::{ComparedFit, ComparisonAsked, ComparisonReport, ModelUtilities, check_comparable};
use crate::assess::{AssessError, ComparisonError, Method, TargetFacts, Utility};
use crate::fit::Fit;

/// What may be asked of a comparison.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CompareOptions {
    /// Tell the probability that a model is better by more than this, too.
    pub difference: Option<f64>,
    /// Groups of the rows that come together; those of the first fit if absent.
    pub groups: Option<Vec<usize>>,
}

/// Which of these fits of the same rows and targets predicts better, by every utility (those that
/// are usual for the targets if there is none): all rows are predicted as `method` says, all models
/// meet the same future rows, and streams have the seed of the first fit.
///
/// # Errors
/// [`AssessError`] if there are fewer than two, they are not comparable, or one cannot be assessed.
pub fn compare_fits(
    fits: &[(&str, &Fit)],
    method: &Method,
    utilities: &[Utility],
    options: &CompareOptions,
) -> Result<ComparisonReport, AssessError> {
    let (Some((_, first)), true) = (fits.first(), fits.len() > 1) else {
        return Err(ComparisonError::TooFew.into());
    };
    let compared: Vec<ComparedFit<'_>> =
        fits.iter().map(|(name, fit)| ComparedFit { name, fit, observed: &fit.observed }).collect();
    check_comparable(&compared)?;
    let usual = Utility::usual(&TargetFacts::of(&first.prepared.data));
    let utilities = if utilities.is_empty() { &usual[..] } else { utilities };
    let groups = options.groups.as_ref().or(first.prepared.data.groups.as_ref());
    let bootstrap = &first.future_rows(groups.map(Vec::as_slice));
    let mut models = Vec::with_capacity(fits.len());
    for (name, fit) in fits {
        let assessed = fit.assessed(method, utilities, bootstrap)?;
        models.push(ModelUtilities::new(name, assessed, &models)?);
    }
    let density = utilities.contains(&Utility::Elpd);
    let CompareOptions { difference, .. } = *options;
    let asked = ComparisonAsked { method, bootstrap, density, difference, groups: None };
    ComparisonReport::new(&asked, &models)
}
