//! Check single keys of a specification.

use super::SpecError;

/// A number of a few digits that came back from its logarithm.
pub(in crate::model) fn rounded(value: f64) -> f64 {
    format!("{value:.12e}").parse().unwrap_or(value)
}

/// Refuses a key.
pub(in crate::model) fn conflict<T>(
    section: &str,
    key: &'static str,
    with: &'static str,
) -> Result<T, SpecError> {
    Err(SpecError::Conflict { section: section.into(), key, with })
}

/// A number whose square and inverse square are numbers.
pub(in crate::model) fn positive(
    section: &str,
    key: &'static str,
    value: f64,
) -> Result<f64, SpecError> {
    if value > 1e-100 && value < 1e100 {
        Ok(value)
    } else {
        Err(SpecError::out_of_range(section, key, value, "positive and of ordinary size"))
    }
}
