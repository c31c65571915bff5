//! Score the chains of a fit one by one, by what each says about the rows.

use serde::Serialize;

use super::{FitChains, WorseChain};
use crate::draws::{Draws, Role, Statistics};

/// A chain of a fit, by what it says about the rows of the fit, as JSON has it. Standard errors are
/// over rows.
#[derive(Clone, Debug, Serialize)]
pub struct ChainScore {
    /// Mean over the draws of the log density.
    pub log_density: f64,
    /// Its standard deviation.
    pub log_density_sd: f64,
    /// Mean over the draws of the log likelihood of all rows together.
    pub log_likelihood: f64,
    /// Mean over the draws of their error at the rows of the fit, where draws hold it.
    pub training_error: Option<f64>,
    /// Log predictive density of the rows, each left out.
    pub elpd_loo: f64,
    /// Its standard error.
    pub se: f64,
    /// Less that of the best chain.
    pub elpd_diff: f64,
    /// Its standard error.
    pub dse: f64,
    /// Rows whose importance weights fail in this chain.
    pub pareto_k_bad: usize,
    /// How far its means of f are from those of all chains, in standard deviations of f.
    pub distance: Option<f64>,
    /// By stacking.
    pub weight: f64,
}

impl FitChains {
    /// What every chain of these `draws` says about the rows; `distances` are those of their means of f.
    pub fn scores(&self, draws: &Draws, distances: &[f64]) -> Vec<ChainScore> {
        let error = draws.layout.of_role(Role::TrainingError).map(|it| draws.component(it.offset));
        let own = draws.statistics.chunks_exact(draws.draws.max(1));
        let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
        let chain = |(chain, own): (usize, &[Statistics])| {
            let logs: Vec<f64> = own.iter().map(|it| it.log_density).collect();
            let likelihoods: Vec<f64> = own.iter().map(|it| it.log_likelihood).collect();
            let centre = mean(&logs);
            let squares: f64 = logs.iter().map(|it| (it - centre).powi(2)).sum();
            let loo = &self.found.chains[chain];
            let WorseChain { lower, se, .. } = self.found.below_best(chain);
            ChainScore {
                log_density: centre,
                log_density_sd: (squares / (logs.len() as f64 - 1.0)).sqrt(),
                log_likelihood: mean(&likelihoods),
                training_error: error.as_ref().map(|error| mean(&error[chain])),
                elpd_loo: loo.elpd,
                se: loo.se,
                // Not -0 for the best one.
                elpd_diff: 0.0 - lower,
                dse: se,
                pareto_k_bad: loo.shapes.bad,
                distance: distances.get(chain).copied(),
                weight: self.found.weights[chain],
            }
        };
        own.enumerate().map(chain).collect()
    }
}
