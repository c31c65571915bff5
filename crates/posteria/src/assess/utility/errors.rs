//! Errors of point predictions of real targets.

use super::{Averages, Better, Summary, UtilityFunction};
use crate::predict::Predictive;

/// The squared error of the predictive mean, (E(y given x) - y)² [Vehtari 2001, eq. 3.5]: the mean
/// is what minimises its expectation. Of several targets the mean over targets, so that the root of
/// the mean over rows is the root of the mean over rows and targets. NaN where no mean exists.
#[derive(Clone, Debug)]
pub struct SquaredError {
    name: &'static str,
    /// What the error of every target is divided by; empty: by nothing.
    units: Vec<f64>,
}

impl SquaredError {
    /// `rmse`: on the scale of the targets.
    pub fn rmse() -> Self {
        SquaredError { name: "rmse", units: Vec::new() }
    }

    /// `nrmse`: each target's error in units of its standard deviation, which stays as it is when
    /// rows are weighted. 1 is no better than the mean of the data.
    pub fn nrmse(deviations: &[f64]) -> Self {
        SquaredError { name: "nrmse", units: deviations.to_vec() }
    }
}

impl UtilityFunction for SquaredError {
    fn name(&self) -> &str {
        self.name
    }
    fn better(&self) -> Better {
        Better::Lower
    }
    fn summary(&self) -> Summary {
        Summary::RootMean
    }
    fn evaluate(&self, predictive: &Predictive<'_>, observed: &[f64]) -> f64 {
        over_targets(observed, |target, y| {
            let unit = self.units.get(target).copied().unwrap_or(1.0);
            predictive.mean(target).map_or(f64::NAN, |mean| ((mean - y) / unit).powi(2))
        })
    }
    fn of_averages(&self, averages: &Averages<'_>, observed: &[f64]) -> Option<f64> {
        Some(over_targets(observed, |target, y| {
            let unit = self.units.get(target).copied().unwrap_or(1.0);
            ((averages.means[target] - y) / unit).powi(2)
        }))
    }
}

/// The absolute error of the predictive median, |median - y|: the median is what minimises its
/// expectation, and exists where a mean does not. (Vehtari's eq. 3.6 takes the mean, which is the
/// same for symmetric predictions.) Of several targets the mean over targets.
#[derive(Clone, Debug)]
pub struct AbsoluteError {
    name: String,
    summary: Summary,
}

impl AbsoluteError {
    /// `mae`: its mean over rows.
    pub fn mean() -> Self {
        AbsoluteError { name: "mae".into(), summary: Summary::Mean }
    }

    /// `abs-quantile:ALPHA`: so many of all predictions have at most this error.
    pub fn quantile(alpha: f64) -> Self {
        AbsoluteError { name: format!("abs-quantile:{alpha}"), summary: Summary::Quantile(alpha) }
    }
}

impl UtilityFunction for AbsoluteError {
    fn name(&self) -> &str {
        &self.name
    }
    fn better(&self) -> Better {
        Better::Lower
    }
    fn summary(&self) -> Summary {
        self.summary
    }
    fn evaluate(&self, predictive: &Predictive<'_>, observed: &[f64]) -> f64 {
        over_targets(observed, |target, y| (predictive.quantile(target, 0.5) - y).abs())
    }
}

/// The mean over targets.
pub(super) fn over_targets(observed: &[f64], of: impl Fn(usize, f64) -> f64) -> f64 {
    let sum: f64 = observed.iter().enumerate().map(|(target, y)| of(target, *y)).sum();
    sum / observed.len() as f64
}
