//! The log evidence of a model that was fitted.

use std::ops::ControlFlow;
use std::sync::{Mutex, PoisonError};

use super::{
    EstimateError, EvidenceFindings, EvidenceOptions, LadderMemory, Observer, Phase, estimate,
};
use crate::fit::{Conditioned, Fit, JobCounter, Workers};
use crate::model::spec::{InferenceChoice, Spec};

/// The model of a specification with its posterior as chains sample it: the evidence is that of the
/// model, however its posterior was or will be fitted.
pub fn posterior_alone(mut spec: Spec) -> Spec {
    spec.sampling.inverse_temperature = None;
    spec.sampling.tempering = None;
    spec.sampling.temperatures = None;
    spec.data.test = None;
    // Maximum likelihood has no prior that the evidence could be of, and is refused as such.
    let has_prior = spec.sampling.inference() != InferenceChoice::Ml;
    if !spec.model.kind.is_unsupervised() && has_prior {
        spec.sampling.inference = Some(InferenceChoice::Mcmc);
    }
    spec
}

impl Fit {
    /// The log evidence log p(D | M) of the model, by every method of `options`: what is needed is
    /// sampled anew.
    ///
    /// # Errors
    /// [`EstimateError`] if a method is not for the model, or a ladder fails.
    pub fn evidence(&self, options: &EvidenceOptions) -> Result<EvidenceFindings, EstimateError> {
        self.evidence_from(options, None)
    }

    /// The same, going on from what ladders have found elsewhere.
    ///
    /// # Errors
    /// As [`Fit::evidence`].
    pub fn evidence_from(
        &self,
        options: &EvidenceOptions,
        memory: Option<&LadderMemory>,
    ) -> Result<EvidenceFindings, EstimateError> {
        let spec = posterior_alone(self.prepared.spec.clone());
        let model = Conditioned::new(&spec, &self.prepared.data, None)?;
        let with = (spec.sampling.seed(), self.workers.threads);
        let watch = Watching { workers: &self.workers, counter: Mutex::new(None) };
        estimate(&model, options, with, &watch, memory)
    }
}

/// Tells the watch of the workers how far ladders are, and stops them when the work shall stop.
struct Watching<'w> {
    workers: &'w Workers,
    counter: Mutex<Option<Box<dyn JobCounter + Send + 'w>>>,
}

impl Observer for Watching<'_> {
    fn begin(&self, phase: Phase, sweeps: u64) {
        let count = usize::try_from(sweeps).unwrap_or(usize::MAX);
        let mut counter = self.counter.lock().unwrap_or_else(PoisonError::into_inner);
        // One phase ends before the next begins.
        *counter = None;
        *counter = Some(self.workers.watch.begin(phase.name(), count));
    }

    fn advanced(&self, sweeps: u64) -> ControlFlow<()> {
        if self.workers.go_on().is_err() {
            return ControlFlow::Break(());
        }
        // Whoever finds it taken is counted later or not at all: it is only shown.
        if let Ok(counter) = self.counter.try_lock()
            && let Some(counter) = &*counter
        {
            (0..sweeps).for_each(|_| counter.job_done());
        }
        ControlFlow::Continue(())
    }
}

#[cfg(test)]
mod tests {
    use crate::data::{Table, TextFormat};
    use crate::evidence::{EvidenceOptions, Method};
    use crate::fit::{FitOptions, fit_table};
    use crate::model::Linear;
    use crate::model::spec::PriorSpec;

    /// Path sampling of a fitted linear model agrees with the closed form; four standard errors have
    /// a false-alarm rate of 6e-5.
    #[test]
    fn path_sampling_has_the_closed_form() {
        let row = |i: i32| format!("{i},{}\n", f64::from(i) * 0.5 + f64::from(i * 37 % 11 - 5));
        let text = format!("x,y\n{}", (0..20).map(row).collect::<String>());
        let table = Table::from_text("t.csv", text.as_bytes(), &TextFormat::default());
        let known = |sd: f64| PriorSpec { fixed: Some(sd), ..PriorSpec::default() };
        let model = Linear::default().prior("weights", known(1.0)).prior("intercept", known(5.0));
        let options = FitOptions { draws: 50.try_into().ok(), ..FitOptions::default() };
        let fit = fit_table(&table.expect("a table"), "y", model, &options).expect("a fit");
        let methods = vec![Method::Path, Method::Exact];
        let short = EvidenceOptions { methods, draws: Some(200), ..EvidenceOptions::default() };
        let found = fit.evidence(&short).expect("an estimate");
        let [path, exact] = &found.estimates[..] else { panic!("two estimates") };
        let error = path.standard_error;
        assert!((path.value - exact.value).abs() < 4.0 * error, "{path:?} {exact:?}");
        assert!(error < 0.2, "{error}");
    }
}
