//! Draw more of a fit in memory.

use std::num::NonZero;
use std::time::Instant;

use super::{Fit, FitError, InMemory, Stopped, Until, Workers};
use crate::model::spec::TimeBudget;
use crate::sample::Plan;

/// How far chains go on; what is left out is as the fit was begun.
#[derive(Clone, Copy, Debug, Default)]
pub struct ResumeOptions {
    /// Exactly so many draws of every chain, those that are there included; with a goal, the most.
    pub draws: Option<NonZero<usize>>,
    /// Effective draws of the predictions that are enough.
    pub ess: Option<f64>,
    /// The time that going on may take.
    pub time: Option<TimeBudget>,
}

impl Fit {
    /// Lets the chains go on from where they ended, or draws more of what was trained or approximated:
    /// bit for bit as if it had never stopped. What was drawn is kept if the work is cancelled.
    ///
    /// # Errors
    /// [`FitError`] if chains cannot go on, or there is nothing to draw from.
    pub fn resume(&mut self, options: &ResumeOptions, workers: &Workers) -> Result<(), FitError> {
        let (own, kind) = (self.prepared.spec.sampling, self.prepared.spec.model.kind);
        let asked = own.resumed(options.draws.map(NonZero::get), options.ess, options.time, kind);
        asked.plan().map_err(|error| FitError::Prepare(error.into()))?;
        let until = Until::new(&asked, Instant::now());
        let further = self.ahead.iter().map(|chain| chain.draws).max().unwrap_or(0);
        let most = self.draws.draws + further;
        // Chains on their way to a goal are judged at the same places as if they had not stopped.
        let wanted = until.next(most.saturating_sub(1)).max(most);
        if self.draws.draws >= wanted && until.goal.is_none() {
            self.stopped = Some(Stopped::Asked);
            return Ok(());
        }
        if own.inference().is_point() && self.draws.chains == 1 {
            return Err(FitError::OnePoint);
        }
        if self.memories.len() != self.draws.chains {
            return Err(FitError::NoMemories);
        }
        let pointwise = self.draws.rows > 0;
        let plan = self.prepared.plan.with_warmup(self.warmup);
        let plan = Plan { draws: wanted, pointwise, ..plan };
        let mut kept = InMemory::of_fit(&self.draws, &self.ahead, &self.memories);
        let approximation = self.prepared.approximation(workers.threads)?;
        let watch = &mut workers.clone();
        let with = (workers, watch as &mut dyn super::LegWatch);
        let sampled =
            self.prepared.sample(approximation.as_ref(), (&plan, until), &mut kept, with)?;
        drop(approximation);
        self.memories = kept.memories().into_iter().flatten().collect();
        (self.draws, self.ahead) = kept.into_parts();
        self.stopped = Some(sampled.stopped);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;
    use crate::data::{Table, TextFormat};
    use crate::fit::{FitOptions, JobCounter, Leg, Watch, fit_table};
    use crate::model::spec::Spec;
    use crate::model::{Gp, Linear, Mlp};

    /// Cancels after so many sweeps of all chains.
    struct Patience {
        sweeps: usize,
        done: AtomicUsize,
    }

    impl Watch for Patience {
        fn begin<'w>(&'w self, _: &str, _: usize) -> Box<dyn JobCounter + Send + 'w> {
            Box::new(Idle)
        }

        fn begin_leg<'w>(&'w self, _: &Leg<'_>) -> Box<dyn JobCounter + Send + 'w> {
            Box::new(Sweeps(&self.done))
        }

        fn is_cancelled(&self) -> bool {
            self.done.load(Ordering::Relaxed) >= self.sweeps
        }
    }

    struct Idle;

    impl JobCounter for Idle {
        fn job_done(&self) {}
    }

    struct Sweeps<'a>(&'a AtomicUsize);

    impl JobCounter for Sweeps<'_> {
        fn job_done(&self) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }

    fn table() -> Table {
        let row =
            |i: i32| format!("{i},{}\n", (f64::from(i) / 4.0).sin() + f64::from(i * 7 % 5) / 9.0);
        let text = format!("x,y\n{}", (0..25).map(row).collect::<String>());
        Table::from_text("t.csv", text.as_bytes(), &TextFormat::default()).expect("a table")
    }

    fn bits(fit: &Fit) -> Vec<u64> {
        let all = fit.draws.values.iter().chain(&fit.draws.log_likelihood);
        all.map(|value| value.to_bits()).collect()
    }

    /// Work that was cancelled, and chains that go on, end where they would have ended.
    #[test]
    fn a_fit_goes_on_bit_for_bit() {
        let table = table();
        let models: [Spec; 3] =
            [Linear::default().into(), Mlp::default().hidden(2).into(), Gp::default().into()];
        for model in models {
            let kind = model.model.kind.name();
            let threads = NonZero::new(2).expect("two");
            let options = |draws: usize, workers: Workers| FitOptions {
                chains: 3.try_into().ok(),
                warmup: Some(40),
                draws: draws.try_into().ok(),
                workers,
                ..FitOptions::default()
            };
            let fit =
                |draws, workers| fit_table(&table, "y", model.clone(), &options(draws, workers));
            let whole = fit(60, Workers::of(threads)).expect("a fit");
            let patience = Arc::new(Patience { sweeps: 220, done: AtomicUsize::new(0) });
            // One thread: how far others come before the work is cancelled is not known.
            let impatient = Workers { threads: NonZero::<usize>::MIN, watch: patience };
            let mut cut = fit(60, impatient).expect("a part of a fit");
            assert_eq!(cut.stopped, Some(Stopped::Interrupted), "{kind}");
            assert!(cut.draws.draws > 0 && cut.draws.draws < 60, "{kind}: {}", cut.draws.draws);
            cut.resume(&ResumeOptions::default(), &Workers::of(threads)).expect("the rest");
            assert_eq!((cut.stopped, cut.ahead.len()), (Some(Stopped::Asked), 0));
            assert_eq!(bits(&cut), bits(&whole), "{kind}: interrupted");
            let mut part = fit(20, Workers::of(threads)).expect("a fit");
            let more = ResumeOptions { draws: 60.try_into().ok(), ..ResumeOptions::default() };
            part.resume(&more, &Workers::of(threads)).expect("more");
            assert_eq!(bits(&part), bits(&whole), "{kind}: extended");
        }
    }
}
