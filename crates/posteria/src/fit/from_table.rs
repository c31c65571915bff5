//! From a table to a fit in one call.

use std::num::NonZero;
use std::time::Instant;

use super::{Cancelled, ChainMemory, Fit, FitError, InMemory, Prepared, Stopped, Until, Workers};
use crate::data::Table;
use crate::model::spec::{SamplingSpec, Spec, TimeBudget};
use crate::sample::Plan;

/// How a model is fitted; what is left out is as the specification has it, or as is usual for the
/// kind of model.
#[derive(Clone, Default)]
pub struct FitOptions {
    /// Number of chains.
    pub chains: Option<NonZero<usize>>,
    /// Most sweeps of warm-up; exactly so many if given.
    pub warmup: Option<usize>,
    /// Exactly so many draws of every chain, in place of drawing until there are enough.
    pub draws: Option<NonZero<usize>>,
    /// Effective draws of the predictions that are enough.
    pub ess: Option<f64>,
    /// The time that a fit may take; what was drawn by then is kept.
    pub time: Option<TimeBudget>,
    /// The seed.
    pub seed: Option<u64>,
    /// Who works.
    pub workers: Workers,
}

impl FitOptions {
    /// Puts what is given in place of what `spec` says.
    fn merge_into(&self, spec: &mut Spec) {
        let kind = spec.model.kind;
        let mut sampling: SamplingSpec = spec.sampling;
        if let Some(warmup) = self.warmup {
            (sampling.warmup, sampling.settle) = (warmup, None);
        }
        match (self.ess, self.draws) {
            (Some(ess), _) => sampling = sampling.with_goal(ess, kind),
            (None, Some(_)) => sampling.ess = None,
            (None, None) => {}
        }
        sampling.draws = self.draws.map_or(sampling.draws, NonZero::get);
        sampling.chains = self.chains.map_or(sampling.chains, NonZero::get);
        sampling.time = self.time.or(sampling.time);
        sampling.seed = self.seed.unwrap_or(sampling.seed);
        spec.sampling = sampling;
    }
}

/// Fits `model` to the column `target` of a table; all other columns are inputs, unless the
/// specification says which. Chains are run until predictions have converged ([`Until`]), or
/// whatever else the model's inference is; results depend on the seed, not on the threads.
///
/// # Errors
/// [`FitError`] if table and model do not go together, chains cannot start, or the work was
/// cancelled.
pub fn fit_table(
    table: &Table,
    target: &str,
    model: impl Into<Spec>,
    options: &FitOptions,
) -> Result<Fit, FitError> {
    prepare_table(table, target, model, options)?.fit(&options.workers)
}

/// What [`fit_table`] fits, prepared.
///
/// # Errors
/// [`FitError`] if table and model do not go together.
pub fn prepare_table(
    table: &Table,
    target: &str,
    model: impl Into<Spec>,
    options: &FitOptions,
) -> Result<Prepared, FitError> {
    let mut spec: Spec = model.into();
    spec.data.target = vec![target.into()];
    options.merge_into(&mut spec);
    spec.check().map_err(|error| FitError::Prepare(error.into()))?;
    Prepared::new(spec, table, None).map_err(FitError::Prepare)
}

impl Prepared {
    /// Samples what was prepared until there is a reason to stop, and keeps it in memory. Work that
    /// was cancelled leaves what all chains had drawn by then ([`Stopped::Interrupted`]): nothing yet if
    /// they were warming up, but they can go on from there.
    ///
    /// # Errors
    /// [`FitError`] if an approximation cannot be found, chains cannot start, or the work was
    /// cancelled before every chain had begun.
    pub fn fit(self, workers: &Workers) -> Result<Fit, FitError> {
        self.check_device()?;
        let until = Until::new(&self.spec.sampling, Instant::now());
        let plan = Plan { draws: until.next(0), ..self.plan.clone() };
        let mut kept = InMemory::new(&*self.posterior, &plan);
        let (sampled, approximation) = {
            let found = self.approximation(workers.threads)?;
            let watch = &mut workers.clone();
            let sampled =
                self.sample(found.as_ref(), (&plan, until), &mut kept, (workers, watch))?;
            // Of chains that only start from it nothing is told.
            let found = found.filter(|_| self.spec.sampling.inference().is_approximation());
            (sampled, found.map(|found| found.result))
        };
        let memories: Vec<ChainMemory> = kept.memories().into_iter().flatten().collect();
        let (draws, ahead) = kept.into_parts();
        if sampled.stopped == Stopped::Interrupted && memories.len() < draws.chains {
            return Err(Cancelled.into());
        }
        let warmup = sampled.plan.warmup_iterations();
        let fit = Fit::new(self, draws, memories, warmup);
        let (stopped, workers) = (Some(sampled.stopped), workers.clone());
        Ok(Fit { ahead, stopped, approximation, workers, ..fit })
    }
}
