//! The predictive density at the target, and its logarithm.

use super::{Averages, Better, Summary, UtilityFunction};
use crate::predict::Predictive;

/// The log predictive density of a row, log p(y given x, D): joint over several targets, and of a
/// class the log of its probability. Its mean over rows is the expected log predictive
/// density per row (elpd / n).
#[derive(Clone, Copy, Debug, Default)]
pub struct Elpd;

impl UtilityFunction for Elpd {
    fn name(&self) -> &str {
        super::ELPD
    }
    fn better(&self) -> Better {
        Better::Higher
    }
    fn summary(&self) -> Summary {
        Summary::Mean
    }
    fn evaluate(&self, predictive: &Predictive<'_>, observed: &[f64]) -> f64 {
        predictive.log_density(observed)
    }
    fn of_averages(&self, averages: &Averages<'_>, _: &[f64]) -> Option<f64> {
        Some(averages.log_density)
    }
}

/// The predictive density itself [Vehtari 2001, eq. 3.7], in units of 1 / target.
#[derive(Clone, Copy, Debug, Default)]
pub struct Likelihood;

impl UtilityFunction for Likelihood {
    fn name(&self) -> &str {
        "likelihood"
    }
    fn better(&self) -> Better {
        Better::Higher
    }
    fn summary(&self) -> Summary {
        Summary::Mean
    }
    fn evaluate(&self, predictive: &Predictive<'_>, observed: &[f64]) -> f64 {
        predictive.density(observed)
    }
    fn of_averages(&self, averages: &Averages<'_>, _: &[f64]) -> Option<f64> {
        Some(averages.log_density.exp())
    }
}
