//! Have the fits of a selection made elsewhere.

use crate::assess::{AssessError, Division, FittedFolds, Valuation};
use crate::fit::{Fit, Prepared};

/// Fits that are made elsewhere, such as on other machines: whoever asks for one that is not there yet
/// cannot go on, and it is noted that it is wanted.
pub trait FitsElsewhere {
    /// The fit of this name, of what was prepared.
    ///
    /// # Errors
    /// [`AssessError`] if it cannot be had.
    fn fit(&self, name: &str, prepared: Prepared) -> Result<Option<Fit>, AssessError>;

    /// The fit of this name with its folds of these divisions, whose predictions are valued so.
    ///
    /// # Errors
    /// [`AssessError`] if they cannot be had.
    fn divided(
        &self,
        name: &str,
        fit: Fit,
        of: (&[Division], &Valuation),
    ) -> Result<Option<DividedFit<'_>>, AssessError>;
}

/// A fit with folds that were fitted elsewhere.
pub struct DividedFit<'f> {
    /// The fit.
    pub fit: Fit,
    /// The folds.
    pub folds: &'f dyn FittedFolds,
    /// Which fit it is to them.
    pub number: usize,
}
