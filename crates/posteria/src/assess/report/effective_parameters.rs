//! Count the parameters that the data determine, and say how sure that count is.

use serde::{Deserialize, Serialize};

use crate::assess::utility::Elpd;
use crate::assess::{
    Assessed, Bootstrap, Information, PointwiseUtilities, Terms, bayesian_bootstrap,
};
use crate::random::Seed;

/// An effective number of parameters with its distribution over rows that might have been.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct EffectiveParameters {
    /// What counts: loo, kfold, waic or dic.
    pub method: String,
    /// What is counted: [`EffectiveParameters::ALL`]; or, of a Gaussian process with normal
    /// residuals, [`EffectiveParameters::HYPER`] where the function is integrated out, `function and
    /// hyperparameters` where it counts.
    pub counts: String,
    /// The count.
    #[serde(deserialize_with = "crate::json::nan")]
    pub value: f64,
    /// Standard deviation of its distribution.
    #[serde(deserialize_with = "crate::json::nan")]
    pub sd: f64,
    /// The 5 % quantile of its distribution.
    #[serde(deserialize_with = "crate::json::nan")]
    pub q05: f64,
    /// The median of its distribution.
    #[serde(deserialize_with = "crate::json::nan")]
    pub q50: f64,
    /// The 95 % quantile of its distribution.
    #[serde(deserialize_with = "crate::json::nan")]
    pub q95: f64,
}

impl EffectiveParameters {
    /// All parameters of the model are counted.
    pub const ALL: &'static str = "parameters";
    /// Hyperparameters alone are counted.
    pub const HYPER: &'static str = "hyperparameters";
}

/// Every count that there is for all rows of the fit: the sum of what each row adds to it, its
/// distribution by the Bayesian bootstrap over rows.
pub(super) fn effective_parameters(
    assessed: &Assessed,
    information: Option<&Information>,
    (rows_of_fit, seed): (usize, Seed),
) -> Vec<EffectiveParameters> {
    let loo = assessed.loo.as_ref().map(|loo| {
        let rows = loo.pointwise.iter().map(|row| row.lppd - row.elpd);
        rows.collect::<Vec<f64>>()
    });
    let left_out = assessed.training.as_ref().map(|training| {
        let left_out = assessed.utilities[0].corrected();
        training.iter().zip(left_out).map(|(known, left_out)| known - left_out).collect()
    });
    let (loo, kfold) = match assessed.folds {
        None => (loo.or(left_out), None),
        Some(_) => (loo, left_out),
    };
    let waic = information.map(|it| it.waic_parameters.clone());
    let dic = information.and_then(|it| it.row_parameters.clone());
    let all = [("loo", loo), ("kfold", kfold), ("waic", waic), ("dic", dic)];
    let bootstrap = Bootstrap::new(seed);
    let counted = all.into_iter().filter_map(|(method, rows)| {
        let rows: Vec<f64> = rows?;
        // Rows of a sample stand for all of them.
        let count = rows_of_fit as f64;
        let value = rows.iter().sum::<f64>() * (count / rows.len() as f64);
        let pointwise = PointwiseUtilities::new(&Elpd, Terms::from(rows));
        let per_row = bayesian_bootstrap(&pointwise, &bootstrap).ok()?;
        let counts = match (information.is_some_and(|it| it.integrated), method) {
            (false, _) => EffectiveParameters::ALL,
            // Densities of rows that were known, less those of rows that were left out.
            (true, "kfold") => "function and hyperparameters",
            (true, _) => EffectiveParameters::HYPER,
        };
        Some(EffectiveParameters {
            method: method.into(),
            counts: counts.into(),
            value,
            sd: count * per_row.sd(),
            q05: count * per_row.quantile(0.05),
            q50: count * per_row.quantile(0.5),
            q95: count * per_row.quantile(0.95),
        })
    });
    counted.collect()
}
