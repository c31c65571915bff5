//! Look at the chains of a run one by one: what each predicts of rows that are left out.

mod stacked;

use std::ops::Deref;
use std::path::Path;

use posteria::assess::{ChainsRefused, FitChains, WorseChain};
use posteria::draws::{Draws, Statistics};
use posteria::fit::Prepared;
use posteria_store::Run;
use serde::Serialize;

pub use self::stacked::render;
use crate::commands::Context;
use crate::failure::{Failure, Result};
use crate::interrupt::Interrupt;
use crate::sampling::store_failure;
use crate::text::{self, fixed};

/// Chains that are named one by one.
const NAMED: usize = 4;

/// A run whose chains are looked at.
pub struct Chained<'a> {
    /// Its folder.
    pub path: &'a Path,
    /// Its folder as it was opened.
    pub run: &'a Run,
    /// Its specification, data and model.
    pub fitted: &'a Prepared,
    /// All of its draws.
    pub draws: &'a Draws,
}

/// What each chain of a run predicts of rows left out.
pub struct Chains(FitChains);

impl Deref for Chains {
    type Target = FitChains;

    fn deref(&self) -> &FitChains {
        &self.0
    }
}

impl Chained<'_> {
    /// Why the chains cannot be judged by rows left out, and what to do; `None` if they can.
    pub fn refusal(&self) -> Option<String> {
        let refused = ChainsRefused::of(&self.fitted.spec, self.draws);
        refused.map(|refused| format!("{}: {refused}", self.path.display()))
    }

    /// Leaves out rows for each chain alone, by log likelihoods that were kept or are computed
    /// again: all rows, or of many a random sample.
    pub fn look(&self, context: &Context, interrupt: &Interrupt) -> Result<Chains> {
        if let Some(refusal) = self.refusal() {
            return Err(Failure::bad_input(refusal));
        }
        let workers = context.workers(interrupt);
        let of = (self.fitted, self.draws);
        let found =
            FitChains::look(of, context.seed(), &workers, |rows| match self.run.rows() > 0 {
                true => self.run.log_likelihoods_of(rows).map(Some).map_err(store_failure),
                false => Ok(None),
            })?;
        Ok(Chains(found))
    }
}

/// A chain of a run, by what it says about the rows of the fit, as JSON has it. Standard errors are
/// over rows.
#[derive(Clone, Debug, Serialize)]
pub struct ChainOfRun {
    /// Mean and standard deviation over the draws of the log density.
    pub log_density: f64,
    pub log_density_sd: f64,
    /// Mean over the draws of the log likelihood of all rows together.
    pub log_likelihood: f64,
    /// Mean over the draws of their error at the rows of the fit, where draws hold it.
    pub training_error: Option<f64>,
    /// By leaving rows out.
    pub elpd_loo: f64,
    pub se: f64,
    /// Less that of the best chain.
    pub elpd_diff: f64,
    pub dse: f64,
    /// Rows whose importance weights fail in this chain.
    pub pareto_k_bad: usize,
    /// How far its means of f are from those of all chains, in standard deviations of f.
    pub distance: Option<f64>,
    /// By stacking.
    pub weight: f64,
}

impl Chains {
    /// What there is to say of every chain; `distances` are those of their means of f.
    pub fn each(&self, draws: &Draws, distances: &[f64]) -> Vec<ChainOfRun> {
        let error = draws.layout.variable("training_error").map(|it| draws.component(it.offset));
        let own = draws.statistics.chunks_exact(draws.draws.max(1));
        let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
        let chain = |(chain, own): (usize, &[Statistics])| {
            let logs: Vec<f64> = own.iter().map(|it| it.log_density).collect();
            let likelihoods: Vec<f64> = own.iter().map(|it| it.log_likelihood).collect();
            let centre = mean(&logs);
            let squares: f64 = logs.iter().map(|it| (it - centre).powi(2)).sum();
            let loo = &self.found.chains[chain];
            let WorseChain { lower, se, .. } = self.found.below_best(chain);
            ChainOfRun {
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

    /// Which chains fit worse, in a line that counts chains from 1; `None` if none does.
    pub fn worse_words(&self) -> Option<String> {
        let mut worse = self.found.worse();
        worse.sort_by(|a, b| b.lower.total_cmp(&a.lower));
        let nat =
            |lower: f64| if lower.is_finite() { fixed(lower, 0) } else { "infinitely".into() };
        let best = self.found.best() + 1;
        let words = match &worse[..] {
            [] => return None,
            [one] => format!(
                "chain {} fits worse than chain {best}: LOO {} ± {} lower",
                one.chain + 1,
                nat(one.lower),
                fixed(one.se, 0)
            ),
            some if some.len() <= NAMED => {
                let mut some = some.to_vec();
                some.sort_by_key(|it| it.chain);
                let chains = listed(some.iter().map(|it| (it.chain + 1).to_string()).collect());
                let lower = listed(some.iter().map(|it| nat(it.lower)).collect());
                format!("chains {chains} fit worse than chain {best}: LOO {lower} lower")
            }
            many => {
                let [most, least] = [&many[0], &many[many.len() - 1]];
                format!(
                    "{} of {} chains fit worse than chain {best}: LOO {} to {} lower, chain {} most",
                    many.len(),
                    self.found.chains.len(),
                    nat(least.lower),
                    nat(most.lower),
                    most.chain + 1
                )
            }
        };
        Some(format!("{words}{}", self.roughly()))
    }

    /// How far leave-one-out of single chains is to be trusted, in brackets; nothing if it is.
    fn roughly(&self) -> String {
        match self.found.most_failing() {
            (0, _) => String::new(),
            (bad, _) => format!(
                " (roughly: importance weights fail for {bad} of {} in a chain)",
                text::count(self.rows(), "row")
            ),
        }
    }

    /// Of which rows the scores are, where it is not all.
    pub fn of_rows(&self) -> String {
        match self.sample.is_complete() {
            true => text::count(self.rows(), "row"),
            false => format!("{} of {} rows, chosen at random", self.rows(), self.sample.all()),
        }
    }
}

/// Words with commas, and an and before the last.
fn listed(words: Vec<String>) -> String {
    match &words[..] {
        [first @ .., last] if !first.is_empty() => format!("{} and {last}", first.join(", ")),
        _ => words.concat(),
    }
}
