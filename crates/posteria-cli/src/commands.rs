//! Run the command that was typed.

mod assess;
mod check;
mod compare;
mod demo;
mod describe;
mod device;
mod evidence;
mod export;
mod fit;
mod foreign;
mod predict;
mod report;
mod select;
mod summary;
mod verify;

use std::num::NonZero;
use std::sync::Arc;
use std::thread;

use posteria::fit::Workers;
use posteria::random::Seed;
use serde::Serialize;

use crate::args::{Cli, Command};
use crate::failure::{Failure, Result};
use crate::interrupt::Interrupt;
use crate::output::Output;
use crate::progress::Watcher;
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

    fn show_warnings(&self) {
        self.warnings.unshown().iter().for_each(|it| self.output.warning(&it.to_string()));
    }

    /// Fails if there are reasons for doubt and that is to be strict about.
    fn judge(&self) -> Result<()> {
        match self.warnings.doubts() {
            cautions @ 1.. if self.strict => Err(Failure::Doubtful { cautions }),
            _ => Ok(()),
        }
    }
}

/// Runs the command of `cli`.
pub fn run(cli: Cli) -> Result<()> {
    let global = cli.global;
    let context = Context {
        output: Output { json: global.json, quiet: global.quiet, mute: false },
        threads: global
            .threads
            .or_else(|| thread::available_parallelism().ok())
            .unwrap_or(NonZero::<usize>::MIN),
        seed: global.seed,
        strict: global.strict,
        warnings: Warnings::default(),
    };
    let done = dispatch(&cli.command, &context);
    if !matches!(done, Err(Failure::BadInput(_))) {
        // What came up before a failure may explain it.
        context.show_warnings();
    }
    done.and_then(|()| context.judge())
}

fn dispatch(command: &Command, context: &Context) -> Result<()> {
    match command {
        Command::Demo(arguments) => demo::run(arguments, context),
        Command::Fit(arguments) => fit::fit(arguments, context),
        Command::Resume(arguments) => fit::resume(arguments, context),
        Command::Summary(arguments) => summary::summary(arguments, context),
        Command::Diagnose(arguments) => summary::diagnose(arguments, context),
        Command::Predict(arguments) => predict::run(arguments, context),
        Command::Assess(arguments) => assess::run(arguments, context),
        Command::Check(arguments) => check::run(arguments, context),
        Command::Compare(arguments) => compare::run(arguments, context),
        Command::Report(arguments) => report::run(arguments, context),
        Command::Evidence(arguments) => evidence::run(arguments, context),
        Command::Select(arguments) => select::run(arguments, context),
        Command::Export(arguments) => export::run(arguments, context),
        Command::Verify(arguments) => verify::run(arguments, context),
        Command::Device => device::run(context),
        Command::Completions { shell } => describe::completions(*shell, context.output),
        Command::Man { command } => describe::manual(command.as_deref(), context.output),
    }
}
