//! A model fitted to a table: what every question about it begins with.

use super::{
    ApproximationError, ApproximationResult, Attained, ChainMemory, PosteriorPredictive, Prepared,
    Stopped, Workers, judged_summary,
};
use crate::diagnose::{Summary, mean_effective_size};
use crate::draws::Draws;

/// A model with its data and the draws of its posterior.
pub struct Fit {
    /// Specification, data and model.
    pub prepared: Prepared,
    /// The draws.
    pub draws: Draws,
    /// What each chain has drawn beyond `draws`, where chains were stopped at different places; empty
    /// where they were not.
    pub ahead: Vec<Draws>,
    /// Where its chains ended; none where nobody can go on from there.
    pub memories: Vec<ChainMemory>,
    /// Sweeps after which its chains had warmed up.
    pub warmup: usize,
    /// The targets of every row on the user's scale; classes as their indices.
    pub observed: Vec<Vec<f64>>,
    /// Why its chains stopped, where that is known.
    pub stopped: Option<Stopped>,
    /// What its approximation found besides draws; none for chains.
    pub approximation: Option<ApproximationResult>,
    /// Who works for it.
    pub workers: Workers,
}

impl Fit {
    /// Of draws of what was prepared, by chains that ended here after a warm-up of so many sweeps.
    pub fn new(
        prepared: Prepared,
        draws: Draws,
        memories: Vec<ChainMemory>,
        warmup: usize,
    ) -> Self {
        let observed = prepared.encoder.observed(&prepared.data.targets);
        let (ahead, stopped, approximation) = (Vec::new(), None, None);
        let workers = Workers::default();
        Fit { prepared, draws, ahead, memories, warmup, observed, stopped, approximation, workers }
    }

    /// Number of rows that it was fitted to.
    pub fn rows(&self) -> usize {
        self.observed.len()
    }

    /// Mean, spread and convergence of every variable, and the reasons to doubt them, by how the
    /// draws were found: draws of an approximation and members of a committee do not converge.
    pub fn summary(&self) -> Summary {
        if self.draws.draws == 0 {
            return Summary { variables: Vec::new(), cautions: Vec::new() };
        }
        judged_summary(&self.draws, self.prepared.spec.sampling.inference())
    }

    /// How well its chains have mixed where predictions depend on them; `None` for what is not sampled
    /// by chains, and for models without targets.
    pub fn attained(&self) -> Option<Attained> {
        let is_judged = self.prepared.is_judged();
        is_judged.then(|| self.prepared.attained(&self.draws, self.workers.threads))
    }

    /// What predicts for it; `None` if the model predicts nothing.
    ///
    /// # Errors
    /// [`ApproximationError`] if an approximation that predicts cannot be found again.
    pub fn predictive(&self) -> Result<Option<PosteriorPredictive<'_>>, ApproximationError> {
        let Prepared { spec, posterior, .. } = &self.prepared;
        let seed = spec.sampling.seed();
        PosteriorPredictive::of_run(posterior, (spec, &self.draws), seed, &self.workers)
    }

    /// Effective number of draws over their number: the mean over all variables, as ArviZ has it
    /// for the length of tails; 1 for one chain.
    pub fn relative_efficiency(&self) -> f64 {
        let draws = &self.draws;
        if draws.chains < 2 {
            return 1.0;
        }
        let total = (draws.chains * draws.draws) as f64;
        let efficiency = |component: usize| {
            let size = mean_effective_size(&draws.component(component)) / total;
            // What does not move is known exactly.
            if size.is_finite() { size } else { 1.0 }
        };
        let length = draws.layout.len();
        let mean = (0..length).map(efficiency).sum::<f64>() / length as f64;
        if mean > 0.0 { mean } else { 1.0 }
    }
}
