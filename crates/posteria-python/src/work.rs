//! Do long work without the interpreter's lock: show how far it is, and stop it by Ctrl-C.

use std::num::NonZero;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use posteria::fit::{JobCounter, Leg, Watch, Workers};
use pyo3::prelude::*;

use crate::error;

/// How often signals are looked at and progress is shown.
const LOOK: Duration = Duration::from_millis(100);

/// How a piece of work is done: threads, who is shown how far it is, and what Ctrl-C means.
pub(crate) struct Asked<'py> {
    /// At most so many threads; as many as the machine has if absent.
    pub(crate) threads: Option<NonZero<usize>>,
    /// Called as `show(what, done, total, ess, goal)`, and `show(None, 0, 0, None, None)` at the end.
    pub(crate) show: Option<Bound<'py, PyAny>>,
    /// Whether what was done before Ctrl-C is a result.
    pub(crate) keeps_part: bool,
}

/// Runs `work` on another thread while this one looks at signals and shows progress.
pub(crate) fn run<T: Send>(
    py: Python<'_>,
    asked: Asked<'_>,
    work: impl FnOnce(&Workers) -> PyResult<T> + Send,
) -> PyResult<T> {
    let monitor = Arc::new(Monitor::default());
    let usual = Workers::default().threads;
    let threads = asked.threads.unwrap_or(usual);
    let workers = Workers { threads, watch: monitor.clone() };
    let show = asked.show.map(Bound::unbind);
    let caller = thread::current();
    let (result, interrupt) = py.detach(|| {
        thread::scope(|scope| {
            let worker = scope.spawn(|| {
                let done = catch_unwind(AssertUnwindSafe(|| work(&workers)));
                caller.unpark();
                done
            });
            let mut interrupt = None;
            while !worker.is_finished() {
                thread::park_timeout(LOOK);
                if interrupt.is_none() && !worker.is_finished() {
                    let looked = Python::attach(|py| {
                        py.check_signals()?;
                        show.as_ref().map_or(Ok(()), |show| monitor.show(show.bind(py)))
                    });
                    if let Err(error) = looked {
                        monitor.cancelled.store(true, Ordering::Relaxed);
                        interrupt = Some(error);
                    }
                }
            }
            (worker.join(), interrupt)
        })
    });
    if let Some(show) = &show {
        let none = (py.None(), 0, 0, py.None(), py.None());
        show.bind(py).call1(none)?;
    }
    let result = match result {
        Ok(Ok(result)) => result,
        Ok(Err(panic)) | Err(panic) => return Err(error::of_panic(&*panic)),
    };
    match (result, interrupt) {
        (Ok(result), Some(_)) if asked.keeps_part => Ok(result),
        (_, Some(interrupt)) => Err(interrupt),
        (result, None) => result,
    }
}

/// What is going on.
#[derive(Default)]
struct Monitor {
    cancelled: AtomicBool,
    stages: Mutex<Vec<Arc<Stage>>>,
}

/// Work of many jobs that has begun and not ended.
struct Stage {
    what: String,
    total: usize,
    done: AtomicUsize,
    /// Effective draws so far, and those that are enough.
    effective: Option<(f64, f64)>,
}

impl Monitor {
    fn stages(&self) -> MutexGuard<'_, Vec<Arc<Stage>>> {
        self.stages.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Tells how far the outermost work is: what is inside of it comes and goes.
    fn show(&self, show: &Bound<'_, PyAny>) -> PyResult<()> {
        let Some(stage) = self.stages().first().cloned() else { return Ok(()) };
        let (ess, goal) = stage.effective.unzip();
        let done = stage.done.load(Ordering::Relaxed).min(stage.total);
        show.call1((&stage.what, done, stage.total, ess, goal))?;
        Ok(())
    }

    fn push(&self, stage: Stage) -> Box<dyn JobCounter + Send + '_> {
        let stage = Arc::new(stage);
        self.stages().push(Arc::clone(&stage));
        Box::new(Counter { monitor: self, stage })
    }
}

impl Watch for Monitor {
    fn begin<'w>(&'w self, what: &str, count: usize) -> Box<dyn JobCounter + Send + 'w> {
        let done = AtomicUsize::new(0);
        self.push(Stage { what: what.into(), total: count, done, effective: None })
    }

    fn begin_leg<'w>(&'w self, leg: &Leg<'_>) -> Box<dyn JobCounter + Send + 'w> {
        let begun: usize = leg.begun.iter().sum();
        let attained = leg.attained.map(|(_, attained)| attained.ess());
        self.push(Stage {
            what: "sampling".into(),
            total: begun + leg.sweeps_left(),
            done: AtomicUsize::new(begun),
            effective: attained.zip(leg.goal.map(|goal| goal.ess)),
        })
    }

    fn is_cancelled(&self) -> bool {
        self.cancelled.load(Ordering::Relaxed)
    }
}

struct Counter<'m> {
    monitor: &'m Monitor,
    stage: Arc<Stage>,
}

impl JobCounter for Counter<'_> {
    fn job_done(&self) {
        self.stage.done.fetch_add(1, Ordering::Relaxed);
    }
}

impl Drop for Counter<'_> {
    fn drop(&mut self) {
        self.monitor.stages().retain(|stage| !Arc::ptr_eq(stage, &self.stage));
    }
}
