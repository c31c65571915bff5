//! Show on stderr how many of many jobs are done, if they take long.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use posteria::fit::{JobCounter, Watch, Workers};

use super::{LINE, REDRAW};
use crate::elsewhere::{Collected, Elsewhere};
use crate::interrupt::Interrupt;
use crate::output::{Output, stderr_is_terminal};
use crate::text;

/// Nothing is shown before this time.
const PATIENCE: Duration = Duration::from_secs(1);

/// How far some jobs are.
pub struct JobProgress {
    output: Output,
    what: String,
    count: usize,
    done: AtomicUsize,
    started: Instant,
    shown: Mutex<Shown>,
}

struct Shown {
    at: Instant,
    bar: Option<ProgressBar>,
}

impl JobProgress {
    /// None of `count` jobs is done; `what` they make is shown beside their number.
    pub fn new(output: Output, what: &str, count: usize) -> Self {
        let started = Instant::now();
        let shown = Mutex::new(Shown { at: started, bar: None });
        JobProgress { output, what: what.into(), count, done: AtomicUsize::new(0), started, shown }
    }

    /// Counts a job that is done.
    pub fn finish_one(&self) {
        self.finish_some(1);
    }

    /// Counts some jobs that are done.
    pub fn finish_some(&self, some: usize) {
        // The number of jobs may have been a guess.
        let done = (self.done.fetch_add(some, Ordering::Relaxed) + some).min(self.count);
        if self.output.quiet || self.started.elapsed() < PATIENCE {
            return;
        }
        // Another thread that is showing right now does the work for this one too.
        let Ok(mut shown) = self.shown.try_lock() else { return };
        let terminal = stderr_is_terminal();
        if shown.at.elapsed() < if terminal { REDRAW } else { LINE } {
            return;
        }
        shown.at = Instant::now();
        let left = self.started.elapsed().as_secs_f64() * (self.count - done) as f64 / done as f64;
        let left = text::duration(left);
        if !terminal {
            let percent = 100.0 * done as f64 / self.count as f64;
            self.output.message(&format!("{}: {percent:.0} % · {left} left", self.what));
            return;
        }
        let bar = shown.bar.get_or_insert_with(|| {
            let style = ProgressStyle::with_template("{prefix} {bar:24} {percent:>3} %  {msg}")
                .unwrap_or_else(|_| ProgressStyle::default_bar());
            let target = ProgressDrawTarget::stderr();
            ProgressBar::with_draw_target(Some(self.count as u64), target)
                .with_style(style)
                .with_prefix(self.what.clone())
        });
        bar.set_position(done as u64);
        bar.set_message(format!("{left} left"));
    }

    /// Removes the bar.
    pub fn finish(self) {
        drop(self);
    }
}

impl Drop for JobProgress {
    fn drop(&mut self) {
        let shown = self.shown.get_mut().unwrap_or_else(PoisonError::into_inner);
        shown.bar.iter().for_each(ProgressBar::finish_and_clear);
    }
}

impl JobCounter for JobProgress {
    fn job_done(&self) {
        self.finish_one();
    }
}

/// Long work: who does it, where it is shown how far it is, and what stops it.
#[derive(Clone)]
pub struct Watched<'a> {
    /// How messages appear.
    pub output: Output,
    /// Whether a signal came.
    pub interrupt: &'a Interrupt,
    /// The threads, which look at both.
    pub workers: Workers,
    /// Who takes note of fits that are to be made elsewhere, if they are not made here.
    pub elsewhere: Option<Arc<Elsewhere>>,
    /// What was found out about folds elsewhere.
    pub collected: Option<Arc<Collected>>,
}

/// Shows on stderr how far long work is, and stops it when a signal comes.
pub struct Watcher {
    /// How messages appear.
    pub output: Output,
    /// Whether a signal came.
    pub interrupt: Interrupt,
}

impl Watch for Watcher {
    fn begin<'w>(&'w self, what: &str, count: usize) -> Box<dyn JobCounter + Send + 'w> {
        Box::new(JobProgress::new(self.output, what, count))
    }

    fn is_cancelled(&self) -> bool {
        self.interrupt.signal().is_some()
    }
}
