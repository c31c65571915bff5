//! Say what a sample of the rows leaves open about all of them.

use serde::{Deserialize, Serialize};

use crate::assess::{Assessed, Information, SampledTotal};

/// What a sample of the rows says about all of them: sums over all rows, with the standard error
/// over rows and that by the choice of the sample.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct SubsampleReport {
    /// Rows of the sample.
    pub rows: usize,
    /// Of the log predictive density of rows left out.
    pub elpd: SampledTotal,
    /// Of what it loses against that of rows that are known.
    pub p_loo: SampledTotal,
    /// Of the criterion of Watanabe.
    pub waic: SampledTotal,
    /// Of its number of parameters.
    pub p_waic: SampledTotal,
}

impl SubsampleReport {
    /// `None` if all rows were left out.
    pub(super) fn of(assessed: &Assessed, information: &Information) -> Option<SubsampleReport> {
        let (loo, sample) = (assessed.loo.as_ref()?, assessed.sample.as_ref()?);
        // The first utility is the log predictive density.
        let sampled = assessed.utilities[0].sampled()?;
        let elpds: Vec<f64> = loo.pointwise.iter().map(|row| row.elpd).collect();
        let losses: Vec<f64> = loo.pointwise.iter().map(|row| row.lppd - row.elpd).collect();
        Some(SubsampleReport {
            rows: sample.rows().len(),
            elpd: sample.difference_total(&sampled.approximations, &elpds),
            p_loo: sample.total(&losses),
            waic: information.waic,
            p_waic: information.p_waic,
        })
    }
}
