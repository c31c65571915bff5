//! Count the parameters that the data determine, and say how sure that count is.

use std::fmt;

use posteria::assess::utility::Elpd;
use posteria::assess::{
    Assessed, Bootstrap, Information, PointwiseUtilities, Terms, bayesian_bootstrap,
};
use serde::Serialize;

use crate::text::{decimals_for, fixed};

/// An effective number of parameters with its distribution over rows that might have been.
#[derive(Serialize)]
pub struct EffectiveParameters {
    /// What counts: loo, kfold, waic or dic.
    pub method: &'static str,
    /// What is counted: `parameters`; or, of a Gaussian process with normal residuals,
    /// `hyperparameters` where the function is integrated out, `function and hyperparameters` where
    /// it counts.
    counts: &'static str,
    value: f64,
    sd: f64,
    q05: f64,
    q50: f64,
    q95: f64,
}

impl fmt::Display for EffectiveParameters {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let decimals = decimals_for(self.sd, 2);
        let (value, sd) = (fixed(self.value, decimals), fixed(self.sd, decimals));
        write!(f, "{value} ± {sd} effective {}", if self.counts == HYPER { HYPER } else { ALL })
    }
}

const ALL: &str = "parameters";
const HYPER: &str = "hyperparameters";

impl EffectiveParameters {
    /// What is and is not in the count, where that is not plain.
    pub fn note(&self) -> &'static str {
        match self.counts {
            HYPER => {
                "hyperparameters only: each row is predicted from the others with the function \
                 integrated out, which takes\nno parameters; --method kfold counts what the \
                 function takes too\n"
            }
            ALL => "",
            _ => {
                "of the function and its hyperparameters; --method loo integrates the function \
                 out and counts\nhyperparameters only\n"
            }
        }
    }
}

/// Every count that there is for all rows of the fit: the sum of what each row adds to it, its distribution by the
/// Bayesian bootstrap over rows.
pub fn effective_parameters(
    assessed: &Assessed,
    information: Option<&Information>,
    (rows_of_fit, bootstrap): (usize, &Bootstrap),
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
    let bootstrap = Bootstrap::new(bootstrap.seed);
    let counted = all.into_iter().filter_map(|(method, rows)| {
        let rows: Vec<f64> = rows?;
        // Rows of a sample stand for all of them.
        let count = rows_of_fit as f64;
        let value = rows.iter().sum::<f64>() * (count / rows.len() as f64);
        let pointwise = PointwiseUtilities::new(&Elpd, Terms::from(rows));
        let per_row = bayesian_bootstrap(&pointwise, &bootstrap).ok()?;
        let counts = match (information.is_some_and(|it| it.integrated), method) {
            (false, _) => ALL,
            // Densities of rows that were known, less those of rows that were left out.
            (true, "kfold") => "function and hyperparameters",
            (true, _) => HYPER,
        };
        Some(EffectiveParameters {
            method,
            counts,
            value,
            sd: count * per_row.sd(),
            q05: count * per_row.quantile(0.05),
            q50: count * per_row.quantile(0.5),
            q95: count * per_row.quantile(0.95),
        })
    });
    counted.collect()
}
