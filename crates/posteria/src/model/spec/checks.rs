//! Check single keys of a specification.

use super::{Dof, DofValues, SpecError, Unknown};

/// Degrees of freedom: known, on a grid of equal probabilities, or any positive number.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::model) enum DofChoice {
    Known(f64),
    Grid(Vec<f64>),
    Continuous,
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

/// Degrees of freedom; `unknown` is the grid of those that are `"unknown"`.
pub(in crate::model) fn dof_choice(
    section: &str,
    key: &'static str,
    dof: &Dof,
    unknown: &[f64],
) -> Result<DofChoice, SpecError> {
    match dof {
        Dof::Known(dof) => positive(section, key, *dof).map(DofChoice::Known),
        Dof::Unknown(Unknown::Unknown) => Ok(DofChoice::Grid(unknown.to_vec())),
        Dof::Unknown(Unknown::Continuous) => Ok(DofChoice::Continuous),
        Dof::Grid(values) => {
            if values.grid.is_empty() {
                return Err(SpecError::out_of_range(section, key, 0.0, "a grid with values"));
            }
            for dof in &values.grid {
                positive(section, key, *dof)?;
            }
            Ok(DofChoice::Grid(values.grid.clone()))
        }
    }
}

/// Degrees of freedom as a specification says them.
pub(in crate::model) fn written(dof: &DofChoice) -> Dof {
    match dof {
        DofChoice::Known(dof) => Dof::Known(*dof),
        DofChoice::Grid(grid) => Dof::Grid(DofValues { grid: grid.clone() }),
        DofChoice::Continuous => Dof::Unknown(Unknown::Continuous),
    }
}
