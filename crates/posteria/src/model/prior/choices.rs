//! Read degrees of freedom and spreads from a specification.

use super::{DofDensity, ScaleDensity};
use crate::density::{InverseGamma, ParameterError, TruncatedInverseGamma};
use crate::model::spec::checks::positive;
use crate::model::spec::{Dof, DofAbove, DofValues, SpecError, Unknown};

/// Degrees of freedom of a prior of degrees of freedom: fewer put it beyond the doubles, and more
/// leave nothing to be sampled.
const DOFS_OF_PRIOR: std::ops::RangeInclusive<f64> = 0.1..=1000.0;

/// Degrees of freedom: known, on a grid of equal probabilities, or with a density.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::model) enum DofChoice {
    Known(f64),
    Grid(Vec<f64>),
    Continuous(DofDensity),
}

/// How scales spread about the one above them, as a specification says it.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::model) enum SpreadChoice {
    /// Degrees of freedom of inverse gamma squares.
    Dof(DofChoice),
    /// Standard deviation of the logarithm.
    LogSd(f64),
}

/// How a scale that is itself above others spreads about a number.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::model) enum TopChoice {
    /// Degrees of freedom of its inverse gamma square.
    Dof(f64),
    /// Standard deviation of its logarithm.
    LogSd(f64),
}

impl TopChoice {
    /// The prior of the scale about `scale`.
    pub(in crate::model) fn about(self, scale: f64) -> Result<ScaleDensity, ParameterError> {
        match self {
            TopChoice::Dof(dof) => ScaleDensity::inverse_gamma(scale, dof),
            TopChoice::LogSd(log_sd) => ScaleDensity::log_normal(scale, log_sd),
        }
    }

    /// Degrees of freedom.
    pub(in crate::model) fn dof(self) -> Option<f64> {
        match self {
            TopChoice::Dof(dof) => Some(dof),
            TopChoice::LogSd(_) => None,
        }
    }

    /// Standard deviation of the logarithm.
    pub(in crate::model) fn log_sd(self) -> Option<f64> {
        match self {
            TopChoice::Dof(_) => None,
            TopChoice::LogSd(log_sd) => Some(log_sd),
        }
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
        Dof::Unknown(Unknown::Continuous) => Ok(DofChoice::Continuous(DofDensity::usual())),
        Dof::Grid(values) => {
            if values.grid.is_empty() {
                return Err(SpecError::out_of_range(section, key, 0.0, "a grid with values"));
            }
            for dof in &values.grid {
                positive(section, key, *dof)?;
            }
            Ok(DofChoice::Grid(values.grid.clone()))
        }
        Dof::Above(prior) => above(section, prior),
    }
}

fn above(section: &str, prior: &DofAbove) -> Result<DofChoice, SpecError> {
    let refuse =
        |key, value, must_be: &'static str| SpecError::out_of_range(section, key, value, must_be);
    let scale = positive(section, "dof.scale", prior.scale)?;
    if !DOFS_OF_PRIOR.contains(&prior.dof) {
        return Err(refuse("dof.dof", prior.dof, "between 0.1 and 1000"));
    }
    let whole = InverseGamma::new(scale.sqrt(), prior.dof);
    let density = whole.and_then(|whole| TruncatedInverseGamma::new(whole, prior.above));
    match density {
        Ok(density) => Ok(DofChoice::Continuous(DofDensity::Above(density))),
        Err(_) => {
            let must_be = "zero or a number below the bulk of the prior that scale and dof give";
            Err(refuse("dof.above", prior.above, must_be))
        }
    }
}

/// Degrees of freedom as a specification says them.
pub(in crate::model) fn written(dof: &DofChoice) -> Dof {
    match dof {
        DofChoice::Known(dof) => Dof::Known(*dof),
        DofChoice::Grid(grid) => Dof::Grid(DofValues { grid: grid.clone() }),
        DofChoice::Continuous(DofDensity::Gamma(_)) => Dof::Unknown(Unknown::Continuous),
        DofChoice::Continuous(DofDensity::Above(prior)) => {
            let whole = prior.untruncated();
            let scale = whole.scale() * whole.scale();
            Dof::Above(DofAbove { scale, dof: whole.dof(), above: prior.above() })
        }
    }
}
