//! Show how far an estimate is, and stop it when a signal comes.

use std::ops::ControlFlow;
use std::sync::Mutex;
use std::sync::atomic::Ordering;

use posteria::evidence::{Observer, Phase};

use crate::failure::{Failure, Result};
use crate::interrupt::Interrupt;
use crate::output::Output;
use crate::progress::JobProgress;

/// Watches an estimate.
pub struct Watch {
    output: Output,
    name: String,
    interrupt: Interrupt,
    progress: Mutex<Option<JobProgress>>,
}

impl Watch {
    /// Nothing has begun yet; `name` is shown before what is done.
    pub fn new(output: Output, name: String, interrupt: Interrupt) -> Self {
        Watch { output, name, interrupt, progress: Mutex::new(None) }
    }

    /// Removes the bar, and makes an interruption of a failure after a signal.
    pub fn ended<T>(&self, result: Result<T>) -> Result<T> {
        if let Some(progress) = self.progress.lock().expect("no thread panicked").take() {
            progress.finish();
        }
        match self.interrupt.signal() {
            Some(signal) if result.is_err() => Err(Failure::Interrupted {
                signal,
                advice: "nothing was written; the same command gives the same numbers from the \
                         beginning"
                    .into(),
            }),
            _ => result,
        }
    }
}

impl Observer for Watch {
    fn begin(&self, phase: Phase, sweeps: u64) {
        let what = match phase {
            Phase::Pilot => "placing temperatures",
            Phase::Exchange => "sampling all temperatures",
            Phase::Directions => "both directions",
            Phase::Annealing => "annealing",
        };
        let what = format!("{}{what}", self.name);
        let count = usize::try_from(sweeps).unwrap_or(usize::MAX);
        let mut progress = self.progress.lock().expect("no thread panicked");
        let before = progress.replace(JobProgress::new(self.output, &what, count));
        if let Some(before) = before {
            before.finish();
        }
    }

    fn advanced(&self, sweeps: u64) -> ControlFlow<()> {
        if self.interrupt.flag().load(Ordering::Relaxed) {
            return ControlFlow::Break(());
        }
        // Whoever finds it taken is counted later or not at all: it is only shown.
        if let Ok(progress) = self.progress.try_lock()
            && let Some(progress) = &*progress
        {
            progress.finish_some(usize::try_from(sweeps).unwrap_or(usize::MAX));
        }
        ControlFlow::Continue(())
    }
}
