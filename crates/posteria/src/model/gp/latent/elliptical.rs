//! The latents as a normal prior times a likelihood, for elliptical slice sampling.

use super::shared::Handle;
use crate::random::Stream;
use crate::sample::GaussianTimesLikelihood;
use crate::target::Infeasible;

/// The prior N(0, K) of the functions, and the likelihood of the classes (whose power is up to
/// the update).
pub(super) struct LatentPrior<'p> {
    shared: Handle<'p>,
    mean: Vec<f64>,
    noise: Vec<f64>,
    /// Why the prior of the present state cannot be used, if so.
    unusable: Option<Infeasible>,
}

impl<'p> LatentPrior<'p> {
    pub(super) fn new(shared: Handle<'p>) -> Self {
        let size = shared.get().latents.len();
        LatentPrior { shared, mean: vec![0.0; size], noise: vec![0.0; size], unusable: None }
    }
}

impl GaussianTimesLikelihood for LatentPrior<'_> {
    fn dim(&self) -> usize {
        self.mean.len()
    }

    fn condition(&mut self, state: &[f64]) -> bool {
        let shared = &mut *self.shared.get();
        let changed = shared.likelihood.condition(state);
        self.unusable = shared.prepare(state).err();
        // One that was found must not be used where the prior cannot be.
        changed || self.unusable.is_some()
    }

    fn prior_mean(&self) -> &[f64] {
        &self.mean
    }

    fn draw_deviation(&mut self, deviation: &mut [f64], stream: &mut Stream) {
        let shared = &mut *self.shared.get();
        shared.here.draw_deviation(&shared.sites, deviation, &mut self.noise, stream);
    }

    fn log_likelihood(&mut self, block: &[f64]) -> Result<f64, Infeasible> {
        match self.unusable {
            Some(infeasible) => Err(infeasible),
            None => Ok(self.shared.get().likelihood.value(block)),
        }
    }
}
