//! Compare fits that are in memory.

use super::{ComparedFit, ComparisonAsked, ComparisonReport, ModelUtilities, check_comparable};
use crate::assess::{
    AssessError, AssessOptions, ComparisonError, FittedFolds, HeldOutRows, Method, TargetFacts,
    Utility,
};
use crate::data::Table;
use crate::fit::Fit;
use crate::random::Seed;

/// What may be asked of a comparison.
#[derive(Clone, Debug, Default)]
pub struct CompareOptions<'a> {
    /// Tell the probability that a model is better by more than this, too.
    pub difference: Option<f64>,
    /// Groups of rows that come together, as [`AssessOptions`] has them; those of the first fit if
    /// absent.
    pub groups: Option<Vec<usize>>,
    /// Names the streams of all that is drawn; that of the first fit if absent.
    pub seed: Option<Seed>,
    /// Rows that no fit has seen, for [`Method::HoldOut`].
    pub test: Option<&'a Table>,
    /// Folds of all fits that were fitted elsewhere.
    pub fitted: Option<&'a dyn FittedFolds>,
}

/// Which of these fits of the same rows and targets predicts better, by every utility (those that
/// are usual for the targets if there is none): all rows are predicted as `method` says, all models
/// meet the same future rows, and streams have the seed of the first fit. By rows held out fits may
/// be compared that have seen others.
///
/// # Errors
/// [`AssessError`] if there are fewer than two, they are not comparable, or one cannot be assessed.
pub fn compare_fits(
    fits: &[(&str, &Fit)],
    method: &Method,
    utilities: &[Utility],
    options: &CompareOptions<'_>,
) -> Result<ComparisonReport, AssessError> {
    let (Some((_, first)), true) = (fits.first(), fits.len() > 1) else {
        return Err(ComparisonError::TooFew.into());
    };
    let CompareOptions { difference, groups, seed, test, fitted } = options.clone();
    let of_rows = &AssessOptions { groups, seed, test, ..AssessOptions::default() };
    let held_out = fits.iter().map(|(_, fit)| fit.held_out(method, of_rows));
    let held_out = held_out.collect::<Result<Vec<Option<HeldOutRows>>, _>>()?;
    let compared = fits.iter().zip(&held_out).map(|((name, fit), held_out)| {
        let observed = held_out.as_ref().map_or(&fit.observed[..], HeldOutRows::observed);
        ComparedFit { name, fit, observed }
    });
    check_comparable(&compared.collect::<Vec<_>>())?;
    let facts: Vec<TargetFacts> =
        fits.iter().map(|(_, fit)| TargetFacts::of(&fit.prepared.data)).collect();
    let usual = Utility::usual(&facts[0].clone().beside(&facts));
    let utilities = if utilities.is_empty() { &usual[..] } else { utilities };
    let bootstrap = &first.future_rows(of_rows, held_out[0].as_ref())?;
    let mut models = Vec::with_capacity(fits.len());
    for (number, ((name, fit), held_out)) in fits.iter().zip(&held_out).enumerate() {
        let how = (method, fitted.map(|folds| (folds, number)));
        let targets = &facts[number].clone().beside(&facts);
        let assessed = fit.assessed(how, (utilities, targets), (bootstrap, held_out.as_ref()))?;
        models.push(ModelUtilities::new(name, assessed, &models)?);
    }
    let density = utilities.contains(&Utility::Elpd);
    let asked = ComparisonAsked { method, bootstrap, density, difference, groups: None };
    ComparisonReport::new(&asked, &models)
}
