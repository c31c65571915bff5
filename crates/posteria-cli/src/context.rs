//! Hold what a command is run with. Commands alone know it; what they call is given what it needs of it.

use std::ffi::OsString;
use std::num::NonZero;
use std::sync::Arc;

use posteria::fit::Workers;
use posteria::random::Seed;
use serde::Serialize;

use crate::elsewhere::{Collected, Elsewhere};
use crate::failure::{Failure, Result};
use crate::interrupt::Interrupt;
use crate::output::Output;
use crate::progress::{Watched, Watcher};
use crate::warning::{Enveloped, Warning, Warnings};

/// What every command is run with.
#[derive(Debug, Clone)]
pub struct Context {
    /// How results and messages appear.
    pub output: Output,
    /// Most threads.
    pub threads: NonZero<usize>,
    /// The seed, if one was given.
    pub seed: Option<u64>,
    /// Whether doubtful results are failures.
    pub strict: bool,
    /// What to be careful about, so far.
    pub warnings: Warnings,
    /// The command line as it was typed.
    pub typed: Arc<[OsString]>,
    /// Who takes note of fits that are to be made elsewhere, if they are not made here.
    pub elsewhere: Option<Arc<Elsewhere>>,
    /// What was found out about folds elsewhere.
    pub collected: Option<Arc<Collected>>,
}

impl Context {
    /// The seed that was given, or 1.
    pub fn seed(&self) -> Seed {
        Seed(self.seed.unwrap_or(1))
    }

    /// Who does long work: the threads, watched on stderr, until a signal comes.
    pub fn workers(&self, interrupt: &Interrupt) -> Workers {
        let watch = Watcher { output: self.output, interrupt: interrupt.clone() };
        Workers { threads: self.threads, watch: Arc::new(watch) }
    }

    /// Long work by these, until a signal comes.
    pub fn watched<'a>(&self, interrupt: &'a Interrupt) -> Watched<'a> {
        Watched {
            output: self.output,
            interrupt,
            workers: self.workers(interrupt),
            elsewhere: self.elsewhere.clone(),
            collected: self.collected.clone(),
        }
    }

    /// Something to be careful about: told after the result, and in it where that is JSON.
    pub fn warn(&self, warning: impl Into<Warning>) {
        self.warnings.push(warning.into());
    }

    /// The same, told at once: before work that may take long.
    pub fn warn_at_once(&self, warning: impl Into<Warning>) {
        self.warn(warning);
        self.show_warnings();
    }

    /// Prints the result of the command: the object if JSON was asked for, else the text; then
    /// the warnings.
    pub fn result(&self, object: &impl Serialize, text: impl FnOnce() -> String) -> Result<()> {
        let warnings = self.warnings.all();
        self.output.object(&Enveloped::new(object, &warnings), text)?;
        self.show_warnings();
        Ok(())
    }

    /// Prints the warnings that have not been printed yet.
    pub fn show_warnings(&self) {
        self.warnings.unshown().iter().for_each(|it| self.output.warning(&it.to_string()));
    }

    /// Fails if there are reasons for doubt and that is to be strict about.
    pub fn judge(&self) -> Result<()> {
        match self.warnings.doubts() {
            cautions @ 1.. if self.strict => Err(Failure::Doubtful { cautions }),
            _ => Ok(()),
        }
    }
}
