//! Show how far an estimate is, and stop it when a signal comes.

use std::fs;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::Ordering;

use posteria::evidence::{LadderMemory, Observer, Phase};
use serde::{Deserialize, Serialize};

use crate::failure::{Classify, Failure, Result};
use crate::file::write_whole;
use crate::interrupt::Interrupt;
use crate::output::Output;
use crate::progress::JobProgress;

/// Watches an estimate.
pub struct Watch {
    output: Output,
    name: String,
    interrupt: Interrupt,
    progress: Mutex<Option<JobProgress>>,
    partial: Option<Partial>,
}

/// Where an estimate that is not complete is kept, and what it is of.
struct Partial {
    path: PathBuf,
    key: String,
}

/// The content of that file.
#[derive(Serialize, Deserialize)]
struct Kept {
    key: String,
    memory: LadderMemory,
}

impl Watch {
    /// Nothing has begun yet; `name` is shown before what is done.
    pub fn new(output: Output, name: String, interrupt: Interrupt) -> Self {
        Watch { output, name, interrupt, progress: Mutex::new(None), partial: None }
    }

    /// Keeps what is not complete in `evidence.partial` of a run folder; `key` tells what it is of.
    #[must_use]
    pub fn keeping(mut self, folder: Option<&Path>, key: String) -> Self {
        let path = folder.map(|folder| folder.join("evidence.partial"));
        self.partial = path.map(|path| Partial { path, key });
        self
    }

    /// The same without anything kept.
    pub fn without_partial(&self) -> Self {
        Watch::new(self.output, self.name.clone(), self.interrupt.clone())
    }

    /// What an earlier, interrupted call of the same kind left.
    pub fn memory(&self) -> Option<LadderMemory> {
        let Partial { path, key } = self.partial.as_ref()?;
        let kept: Kept = serde_json::from_slice(&fs::read(path).ok()?).ok()?;
        (kept.key == *key).then_some(kept.memory)
    }

    /// Forgets what is kept: the estimate is complete.
    pub fn complete(&self) {
        if let Some(Partial { path, .. }) = &self.partial {
            // A file that stays is of a finished estimate, and would give the same numbers.
            let _ = fs::remove_file(path);
        }
    }

    /// Removes the bar, and makes an interruption of a failure after a signal.
    pub fn ended<T>(&self, result: Result<T>) -> Result<T> {
        if let Some(progress) = self.progress.lock().expect("no thread panicked").take() {
            progress.finish();
        }
        match self.interrupt.signal() {
            Some(signal) if result.is_err() => Err(Failure::Interrupted {
                signal,
                advice: match &self.partial {
                    Some(partial) if partial.path.exists() => {
                        "the same command goes on from the last checkpoint".into()
                    }
                    _ => "nothing was written; the same command begins anew".into(),
                },
            }),
            _ => result,
        }
    }
}

impl Observer for Watch {
    fn begin(&self, phase: Phase, sweeps: u64) {
        let what = format!("{}{}", self.name, phase.name());
        let count = usize::try_from(sweeps).unwrap_or(usize::MAX);
        let mut progress = self.progress.lock().expect("no thread panicked");
        let before = progress.replace(JobProgress::new(self.output, &what, count));
        if let Some(before) = before {
            before.finish();
        }
    }

    fn checkpoint(&self, memory: &LadderMemory) {
        let Some(Partial { path, key }) = &self.partial else { return };
        let kept = Kept { key: key.clone(), memory: memory.clone() };
        let written = serde_json::to_vec(&kept)
            .running()
            .and_then(|bytes| write_whole(path, |file| file.write_all(&bytes).running()));
        if let Err(failure) = written {
            // The estimate itself does not need it.
            self.output.message(&failure.message().unwrap_or_default());
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
