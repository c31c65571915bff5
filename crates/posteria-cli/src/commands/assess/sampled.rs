//! Say what a sample of the rows leaves open about all of them.

use posteria::assess::{Assessed, SampledTotal};
use serde::Serialize;

use crate::text::{decimals_for, fixed};

/// What a sample of the rows says about all of them, as JSON has it: sums over all rows, with the
/// standard error over rows and that by the choice of the sample.
#[derive(Serialize)]
pub struct SubsampleReport {
    /// Rows of the sample.
    pub rows: usize,
    /// Of the log predictive density of rows left out.
    pub elpd: SampledTotal,
    /// Of what it loses against that of rows that are known.
    pub p_loo: SampledTotal,
    waic: SampledTotal,
    p_waic: SampledTotal,
}

impl SubsampleReport {
    /// `None` if all rows were left out.
    pub fn of(
        assessed: &Assessed,
        (waic, p_waic): (&SampledTotal, &SampledTotal),
    ) -> Option<SubsampleReport> {
        let (loo, sample) = (assessed.loo.as_ref()?, assessed.sample.as_ref()?);
        // The first utility is the log predictive density.
        let sampled = assessed.utilities[0].sampled()?;
        let elpds: Vec<f64> = loo.pointwise.iter().map(|row| row.elpd).collect();
        let losses: Vec<f64> = loo.pointwise.iter().map(|row| row.lppd - row.elpd).collect();
        Some(SubsampleReport {
            rows: sample.rows().len(),
            elpd: sample.difference_total(&sampled.approximations, &elpds),
            p_loo: sample.total(&losses),
            waic: *waic,
            p_waic: *p_waic,
        })
    }

    /// What the choice of the sample adds to the standard error of elpd.
    pub fn words(&self) -> String {
        let se = self.elpd.subsampling_se;
        format!(" (± {} by the choice of {} rows)", fixed(se, decimals_for(se, 2)), self.rows)
    }
}
