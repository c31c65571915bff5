//! Look at the chains of a fit one by one: what each predicts of rows that are left out.

use serde::Serialize;

use super::assessor::{check_usable, for_left_out_rows, log_densities};
use super::{AssessError, ChainStacking, InMemoryRefit, PointwiseLoo, Refit, RowSample, Subsample};
use crate::caution::Caution;
use crate::draws::Draws;
use crate::fit::{Fit, PosteriorPredictive, Prepared, Workers, run_jobs};
use crate::model::spec::{InferenceChoice, ModelKind, Spec};
use crate::random::Seed;

/// Log likelihoods that are held at once: 128 MiB.
const AT_ONCE: usize = 1 << 24;

/// Why the chains of a fit cannot be judged by rows left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ChainsRefused {
    /// There is nothing to predict.
    #[error("a {} model has no targets by which chains could be weighed", .0.name())]
    NoTargets(ModelKind),
    /// Members of a committee are trained one by one.
    #[error("it is a committee, whose members are no chains; omit --chains")]
    Committee,
    /// Draws of an approximation are independent.
    #[error(
        "it holds independent draws of an approximation, and no chains to weigh; omit --chains, or \
         fit with --inference mcmc"
    )]
    Approximation,
    /// There is nothing to choose from.
    #[error("it has one chain, and nothing to weigh it against; fit with --chains 4")]
    OneChain,
    /// Draws that are not of the posterior.
    #[error(
        "it holds draws of prior × likelihood to another power than 1, of which rows cannot be left \
         out; omit --chains"
    )]
    Tempered,
}

impl ChainsRefused {
    /// Why `draws` of a specification are no chains that can be weighed; `None` if they are.
    pub fn of(spec: &Spec, draws: &Draws) -> Option<Self> {
        Some(match spec.sampling.inference() {
            _ if spec.model.kind.is_unsupervised() => ChainsRefused::NoTargets(spec.model.kind),
            InferenceChoice::Committee => ChainsRefused::Committee,
            other if other != InferenceChoice::Mcmc => ChainsRefused::Approximation,
            _ if draws.chains < 2 => ChainsRefused::OneChain,
            _ if spec.sampling.tempered().is_some() => ChainsRefused::Tempered,
            _ => return None,
        })
    }
}

/// What each chain of a fit predicts of rows left out.
#[derive(Clone, Debug)]
pub struct FitChains {
    /// The chains, and their weights.
    pub found: ChainStacking,
    /// The rows that were left out.
    pub sample: RowSample,
}

/// Chains weighed by stacking, as JSON has it.
#[derive(Clone, Debug, Serialize)]
pub struct StackedChains {
    /// Of every chain, in their order.
    pub weights: Vec<f64>,
    /// Chains of equal weight that these are worth.
    pub effective: f64,
    /// By the weights, of the rows that they were chosen by: optimistic.
    pub elpd_stacked: f64,
    /// Its standard error over rows.
    pub se_stacked: f64,
    /// By equal weights.
    pub elpd_equal: f64,
    /// Its standard error over rows.
    pub se_equal: f64,
    /// Stacked less equal weights.
    pub elpd_diff: f64,
    /// Its standard error over rows.
    pub dse: f64,
    /// Every row by weights that other rows have chosen.
    pub elpd_stacked_by_others: f64,
    /// Most rows of a chain whose importance weights fail.
    pub pareto_k_bad: usize,
    /// Rows that were left out.
    pub rows: usize,
    /// Of how many.
    #[serde(skip)]
    pub of: usize,
}

impl FitChains {
    /// Leaves out rows for each chain alone: all rows, or of many a random sample. `kept` has the log
    /// likelihoods of rows under all draws, row by row, or `None` where they are to be computed again.
    ///
    /// # Errors
    /// [`AssessError`] if there are no chains to weigh, or log likelihoods are no numbers; and what
    /// `kept` fails with.
    pub fn look<E: From<AssessError>>(
        (prepared, draws): (&Prepared, &Draws),
        seed: Seed,
        workers: &Workers,
        kept: impl Fn(&[usize]) -> Result<Option<Vec<f64>>, E>,
    ) -> Result<Self, E> {
        let Prepared { spec, data, encoder, posterior, .. } = prepared;
        if let Some(refused) = ChainsRefused::of(spec, draws) {
            return Err(AssessError::from(refused).into());
        }
        let observed = encoder.observed(&data.targets);
        let sample = Subsample::default().of(observed.len(), seed);
        let (chains, total) = (draws.chains, draws.chains * draws.draws);
        let mut rows: Vec<Vec<PointwiseLoo>> = Vec::with_capacity(sample.rows().len());
        for block in sample.rows().chunks((AT_ONCE / total.max(1)).max(1)) {
            let values = match kept(block)? {
                Some(values) => values,
                None => {
                    let of = (spec, draws);
                    let predictive = PosteriorPredictive::of_run(posterior, of, seed, workers);
                    let predictive = predictive.map_err(AssessError::from)?;
                    let predictive = predictive.ok_or(AssessError::NoTargets)?;
                    let asked = ("log likelihoods", block);
                    let found = for_left_out_rows(&predictive, data, asked, |index, table, at| {
                        log_densities((table, at), &observed[block[index]])
                    });
                    found?.concat()
                }
            };
            let values: Vec<&[f64]> = values.chunks_exact(total).collect();
            for (own, row) in values.iter().zip(block) {
                check_usable(*row, own, draws.draws).map_err(AssessError::from)?;
            }
            let found = run_jobs(block.len(), workers.threads, |index| {
                PointwiseLoo::of_each_chain(values[index], chains)
            });
            let found = found.into_iter().collect::<Result<Vec<_>, _>>();
            rows.extend(found.map_err(AssessError::from)?);
        }
        let found = ChainStacking::of_rows(&rows, draws.draws).map_err(AssessError::from)?;
        Ok(FitChains { found, sample })
    }

    /// Number of rows that were left out.
    pub fn rows(&self) -> usize {
        self.sample.rows().len()
    }

    /// That the weights and scores of chains do not hold, if so.
    pub fn doubt(&self) -> Option<Caution> {
        let (count, chain) = self.found.most_failing();
        (count > 0).then(|| Caution::ChainScores { count, rows: self.rows(), chain })
    }

    /// That weights chosen by other rows are no better than equal ones, if so.
    pub fn no_better(&self) -> Option<Caution> {
        let ChainStacking { stacked_by_others, equal, .. } = &self.found;
        (*stacked_by_others <= equal.elpd).then_some(Caution::StackingNoBetter {
            stacked_by_others: *stacked_by_others,
            equal: equal.elpd,
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
            of: self.sample.all(),
        }
    }
}

impl Fit {
    /// What each of its chains predicts of rows left out, and their weights by stacking; the sample of
    /// many rows is named by `seed`, or by that of the fit if absent.
    ///
    /// # Errors
    /// [`AssessError`] if there are no chains to weigh, or log likelihoods are no numbers.
    pub fn stack_chains(&self, seed: Option<Seed>) -> Result<FitChains, AssessError> {
        let seed = seed.unwrap_or(self.prepared.spec.sampling.seed());
        let workers = &self.workers;
        let kept = InMemoryRefit { fit: self, workers, groups: None, fitted: None };
        let of = (&self.prepared, &self.draws);
        FitChains::look(of, seed, workers, |rows| kept.log_likelihoods_of(rows))
    }
}
