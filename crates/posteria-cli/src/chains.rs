//! Look at the chains of a run one by one: what each predicts of rows that are left out.

mod stacked;

use std::path::Path;

use posteria::assess::{
    ChainStacking, LogLikelihoodError, PointwiseLoo, RowSample, Subsample, WorseChain,
    check_usable, log_densities,
};
use posteria::draws::{Draws, Statistics};
use posteria::fit::{PosteriorPredictive, PredictedRows, Prepared, run_jobs};
use posteria::model::spec::{InferenceChoice, Spec};
use posteria_linalg::Matrix;
use posteria_store::Run;
use serde::Serialize;

pub use self::stacked::StackedChains;
use crate::commands::Context;
use crate::failure::{Classify, Failure, Result};
use crate::interrupt::Interrupt;
use crate::sampling::store_failure;
use crate::text::{self, fixed};
use crate::warning::Warning;

/// Log likelihoods that are held at once: 128 MiB.
const AT_ONCE: usize = 1 << 24;
/// Share of rows whose weights fail from which scores are not only rough: these rows are the ones
/// that a chain fits by heart, and their scores are too good.
const MANY_FAILING: f64 = 0.1;
/// Chains that are named one by one.
const NAMED: usize = 4;

/// A run whose chains are looked at.
pub struct Chained<'a> {
    /// Its folder.
    pub path: &'a Path,
    /// Its folder as it was opened.
    pub run: &'a Run,
    /// Its specification.
    pub spec: &'a Spec,
    /// Its data and its model.
    pub fitted: &'a Prepared,
    /// All of its draws.
    pub draws: &'a Draws,
}

/// What each chain of a run predicts of rows left out.
pub struct Chains {
    /// The chains, and their weights.
    pub found: ChainStacking,
    /// The rows that were left out.
    sample: RowSample,
}

impl Chained<'_> {
    /// Why the chains cannot be judged by rows left out, and what to do; `None` if they can.
    pub fn refusal(&self) -> Option<String> {
        let shown = self.path.display();
        let sampling = &self.spec.sampling;
        let kind = self.spec.model.kind;
        Some(match sampling.inference() {
            _ if kind.is_unsupervised() => {
                format!("a {} model has no targets by which chains could be weighed", kind.name())
            }
            InferenceChoice::Committee => {
                format!("{shown} is a committee, whose members are no chains; omit --chains")
            }
            other if other != InferenceChoice::Mcmc => format!(
                "{shown} holds independent draws of an approximation, and no chains to weigh; omit \
                 --chains, or fit with --inference mcmc"
            ),
            _ if self.draws.chains < 2 => {
                format!(
                    "{shown} has one chain, and nothing to weigh it against; fit with --chains 4"
                )
            }
            _ if sampling.tempered().is_some() => format!(
                "{shown} holds draws of prior × likelihood to another power than 1, of which rows \
                 cannot be left out; omit --chains"
            ),
            _ => return None,
        })
    }

    /// Leaves out rows for each chain alone, by log likelihoods that were kept or are computed
    /// again: all rows, or of many a random sample.
    pub fn look(&self, context: &Context, interrupt: &Interrupt) -> Result<Chains> {
        if let Some(refusal) = self.refusal() {
            return Err(Failure::bad_input(refusal));
        }
        let Draws { chains, draws, .. } = *self.draws;
        let Prepared { encoder, data: dataset, .. } = self.fitted;
        let observed = encoder.observed(&dataset.targets);
        let sample = Subsample::default().of(observed.len(), context.seed());
        let total = chains * draws;
        let mut rows: Vec<Vec<PointwiseLoo>> = Vec::with_capacity(sample.rows().len());
        for block in sample.rows().chunks((AT_ONCE / total.max(1)).max(1)) {
            let values = match self.run.rows() > 0 {
                true => self.run.log_likelihoods_of(block).map_err(store_failure)?,
                false => self.computed(block, &observed, (context, interrupt))?,
            };
            let values: Vec<&[f64]> = values.chunks_exact(total).collect();
            let checked =
                values.iter().zip(block).try_for_each(|(own, row)| check_usable(*row, own, draws));
            checked.map_err(|error: LogLikelihoodError| error).bad_input()?;
            let found = run_jobs(block.len(), context.threads, |index| {
                PointwiseLoo::of_each_chain(values[index], chains)
            });
            rows.extend(found.into_iter().collect::<std::result::Result<Vec<_>, _>>().running()?);
        }
        let found = ChainStacking::of_rows(&rows, draws).bad_input()?;
        Ok(Chains { found, sample })
    }

    /// The log likelihoods of these rows under every draw, row by row.
    fn computed(
        &self,
        rows: &[usize],
        observed: &[Vec<f64>],
        (context, interrupt): (&Context, &Interrupt),
    ) -> Result<Vec<f64>> {
        let Prepared { data: dataset, posterior, .. } = self.fitted;
        let both = (self.spec, self.draws);
        let work = PosteriorPredictive::of_run(
            posterior,
            both,
            context.seed(),
            &context.workers(interrupt),
        )?
        .ok_or_else(|| {
            let kind = self.spec.model.kind.name();
            Failure::bad_input(format!("a {kind} model has no targets to predict"))
        })?;
        let all = &dataset.inputs;
        let inputs = Matrix::from_fn(rows.len(), all.columns(), |row, k| all[(rows[row], k)]);
        // Given a draw rows are independent, unless the draw leaves the function open.
        let source = match work.is_open {
            true => PredictedRows::LeaveOneOut(dataset.rows(), rows),
            false => PredictedRows::New(&inputs),
        };
        let found = work.for_rows("log likelihoods", source, |index, table, at| {
            log_densities((table, at), &observed[rows[index]])
        })?;
        Ok(found.concat())
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

    /// Rows that were left out.
    pub fn rows(&self) -> usize {
        self.sample.rows().len()
    }

    /// Of which rows the scores are, where it is not all.
    pub fn of_rows(&self) -> String {
        match self.sample.is_complete() {
            true => text::count(self.rows(), "row"),
            false => format!("{} of {} rows, chosen at random", self.rows(), self.sample.all()),
        }
    }

    /// That the weights and scores of chains do not hold, if so.
    pub fn doubt(&self) -> Option<Warning> {
        let (bad, chain) = self.found.most_failing();
        let holds = match bad as f64 > MANY_FAILING * self.rows() as f64 {
            true => "weights and scores of single chains cannot be trusted",
            false => "weights and scores of single chains are rough",
        };
        (bad > 0).then(|| {
            let words = format!(
                "leaving out rows by importance sampling fails for {bad} of {} rows in chain {}, so \
                 that {holds}; draw longer, or score both ways on rows that were not fitted (predict \
                 with and without --chains stacked)",
                self.rows(),
                chain + 1
            );
            Warning::new("high-pareto-k", &words)
        })
    }

    /// That weights chosen by other rows are no better than equal ones, if so.
    pub fn no_better(&self) -> Option<Warning> {
        let ChainStacking { stacked_by_others, equal, .. } = &self.found;
        (*stacked_by_others <= equal.elpd).then(|| {
            let words = format!(
                "weights that were chosen by other rows predict them no better than equal weights do \
                 (leave-one-out log predictive density {} and {}): these say no more than chance; omit \
                 --chains stacked",
                fixed(*stacked_by_others, 1),
                fixed(equal.elpd, 1)
            );
            Warning::new("stacking-no-better", &words).doubt(false)
        })
    }

    /// The weights, and both scores, as JSON has them.
    pub fn stacked(&self) -> StackedChains {
        let ChainStacking { weights, stacked, equal, difference, stacked_by_others, .. } =
            &self.found;
        StackedChains {
            weights: weights.clone(),
            effective: self.found.effective_chains(),
            elpd_stacked: stacked.elpd,
            se_stacked: stacked.se,
            elpd_equal: equal.elpd,
            se_equal: equal.se,
            elpd_diff: difference.elpd,
            dse: difference.se,
            elpd_stacked_by_others: *stacked_by_others,
            pareto_k_bad: self.found.most_failing().0,
            rows: self.rows(),
            of: self.of_rows(),
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
