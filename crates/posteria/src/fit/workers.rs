//! Who does long work: threads, and whoever watches it.

use std::num::NonZero;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::thread;

use super::{Chain, Leg, Recorder, Report, run_jobs};

/// Work that was stopped by whoever watches it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the work was cancelled")]
pub struct Cancelled;

/// Told how far long work is, and asked whether it goes on: the library has no screen, no clock and
/// no signals.
pub trait Watch: Send + Sync {
    /// Work of `count` jobs begins; `what` they make may be shown. The counter is told of every job
    /// that is done, and dropped when the work ends.
    fn begin<'w>(&'w self, what: &str, count: usize) -> Box<dyn JobCounter + Send + 'w>;

    /// Chains run up to a place where they pause: every sweep of each is a job. How many there will
    /// be in all is an estimate, since chains stop when there is enough.
    fn begin_leg<'w>(&'w self, leg: &Leg<'_>) -> Box<dyn JobCounter + Send + 'w> {
        self.begin("sweeps", leg.sweeps_left())
    }

    /// Whether the work shall stop.
    fn is_cancelled(&self) -> bool;
}

/// Counts jobs, from the threads that do them.
pub trait JobCounter: Sync {
    /// One more job is done.
    fn job_done(&self);
}

/// Watches nothing and stops nothing.
struct Unwatched;

impl Watch for Unwatched {
    fn begin<'w>(&'w self, _: &str, _: usize) -> Box<dyn JobCounter + Send + 'w> {
        Box::new(Unwatched)
    }

    fn is_cancelled(&self) -> bool {
        false
    }
}

impl JobCounter for Unwatched {
    fn job_done(&self) {}
}

/// Threads for long work, and who watches it.
#[derive(Clone)]
pub struct Workers {
    /// At most so many threads. Results do not depend on their number.
    pub threads: NonZero<usize>,
    /// Who watches.
    pub watch: Arc<dyn Watch>,
}

impl Default for Workers {
    /// As many threads as the machine has, watched by nobody.
    fn default() -> Self {
        Workers::of(thread::available_parallelism().unwrap_or(NonZero::<usize>::MIN))
    }
}

impl Workers {
    /// So many threads, watched by nobody.
    pub fn of(threads: NonZero<usize>) -> Self {
        Workers { threads, watch: Arc::new(Unwatched) }
    }

    /// Runs jobs 0, …, `count` - 1 that make `what`; results in their order.
    ///
    /// # Errors
    /// [`Cancelled`] if the watch said so before the last job began.
    pub fn run<T: Send>(
        &self,
        what: &str,
        count: usize,
        job: impl Fn(usize) -> T + Sync,
    ) -> Result<Vec<T>, Cancelled> {
        let counter = self.watch.begin(what, count);
        let results = run_jobs(count, self.threads, |index| {
            if self.watch.is_cancelled() {
                return None;
            }
            let result = job(index);
            counter.job_done();
            Some(result)
        });
        drop(counter);
        match self.watch.is_cancelled() {
            true => Err(Cancelled),
            false => results.into_iter().collect::<Option<_>>().ok_or(Cancelled),
        }
    }
}

impl Workers {
    /// Whether the work shall go on.
    ///
    /// # Errors
    /// [`Cancelled`] if it shall not.
    pub fn go_on(&self) -> Result<(), Cancelled> {
        if self.watch.is_cancelled() { Err(Cancelled) } else { Ok(()) }
    }

    /// The same recorder, which ends chains when the work shall stop.
    pub fn watched<'w>(&'w self, recorder: &'w dyn Recorder) -> Box<dyn Recorder + 'w> {
        Box::new(Watched { workers: self, recorder, counter: None })
    }

    /// The same, which also tells the watch of every sweep of these chains.
    pub(super) fn watched_leg<'w>(
        &'w self,
        leg: &Leg<'_>,
        recorder: &'w dyn Recorder,
    ) -> Box<dyn Recorder + 'w> {
        Box::new(Watched { workers: self, recorder, counter: Some(self.watch.begin_leg(leg)) })
    }
}

struct Watched<'w> {
    workers: &'w Workers,
    recorder: &'w dyn Recorder,
    counter: Option<Box<dyn JobCounter + Send + 'w>>,
}

impl Recorder for Watched<'_> {
    fn goes_on(&self, sweeps: usize) -> bool {
        self.recorder.goes_on(sweeps)
    }

    fn after_sweep(&self, report: &Report<'_>, chain: &Chain<'_>) -> ControlFlow<()> {
        self.recorder.after_sweep(report, chain)?;
        self.counter.iter().for_each(|counter| counter.job_done());
        if self.workers.watch.is_cancelled() {
            self.recorder.leave((report.chain, chain));
            return ControlFlow::Break(());
        }
        ControlFlow::Continue(())
    }

    fn leave(&self, chain: (usize, &Chain<'_>)) {
        self.recorder.leave(chain);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    /// Cancels after so many jobs.
    struct Patience {
        jobs: usize,
        done: AtomicUsize,
    }

    impl Watch for Patience {
        fn begin<'w>(&'w self, _: &str, _: usize) -> Box<dyn JobCounter + Send + 'w> {
            struct Count<'w>(&'w AtomicUsize);
            impl JobCounter for Count<'_> {
                fn job_done(&self) {
                    self.0.fetch_add(1, Ordering::Relaxed);
                }
            }
            Box::new(Count(&self.done))
        }

        fn is_cancelled(&self) -> bool {
            self.done.load(Ordering::Relaxed) >= self.jobs
        }
    }

    #[test]
    fn jobs_are_counted_and_can_be_cancelled() {
        let three = NonZero::new(3).expect("not zero");
        assert_eq!(Workers::of(three).run("squares", 5, |i| i * i), Ok(vec![0, 1, 4, 9, 16]));
        let watch = |jobs| Arc::new(Patience { jobs, done: AtomicUsize::new(0) });
        let (patient, hasty) = (watch(6), watch(2));
        let workers = Workers { threads: three, watch: patient.clone() };
        assert_eq!(workers.run("squares", 5, |i| i * i), Ok(vec![0, 1, 4, 9, 16]));
        assert_eq!(patient.done.load(Ordering::Relaxed), 5);
        let workers = Workers { threads: three, watch: hasty.clone() };
        assert_eq!(workers.run("squares", 50, |i| i * i), Err(Cancelled));
        // Those that had begun when it was said were done.
        assert!((2..5).contains(&hasty.done.load(Ordering::Relaxed)));
    }
}
