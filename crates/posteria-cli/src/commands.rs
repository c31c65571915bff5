//! Run the command that was typed.

mod assess;
mod compare;
mod demo;
mod describe;
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
use std::thread;

use posteria::random::Seed;

use crate::args::{Cli, Command};
use crate::failure::{Failure, Result};
use crate::output::Output;

/// What every command is run with.
#[derive(Debug, Clone, Copy)]
pub struct Context {
    /// How results and messages appear.
    pub output: Output,
    /// Most threads.
    pub threads: NonZero<usize>,
    /// The seed, if one was given.
    pub seed: Option<u64>,
    /// Whether doubtful results are failures.
    pub strict: bool,
}

impl Context {
    /// The seed that was given, or 1.
    pub fn seed(&self) -> Seed {
        Seed(self.seed.unwrap_or(1))
    }

    /// Fails if there are reasons for doubt and that is to be strict about.
    pub fn judge(&self, cautions: usize) -> Result<()> {
        if self.strict && cautions > 0 { Err(Failure::Doubtful { cautions }) } else { Ok(()) }
    }
}

/// Runs the command of `cli`.
pub fn run(cli: Cli) -> Result<()> {
    let global = cli.global;
    let context = Context {
        output: Output { json: global.json, quiet: global.quiet },
        threads: global
            .threads
            .or_else(|| thread::available_parallelism().ok())
            .unwrap_or(NonZero::<usize>::MIN),
        seed: global.seed,
        strict: global.strict,
    };
    match &cli.command {
        Command::Demo(arguments) => demo::run(arguments, &context),
        Command::Fit(arguments) => fit::fit(arguments, &context),
        Command::Resume(arguments) => fit::resume(arguments, &context),
        Command::Summary(arguments) => summary::summary(arguments, &context),
        Command::Diagnose(arguments) => summary::diagnose(arguments, &context),
        Command::Predict(arguments) => predict::run(arguments, &context),
        Command::Assess(arguments) => assess::run(arguments, &context),
        Command::Compare(arguments) => compare::run(arguments, &context),
        Command::Report(arguments) => report::run(arguments, &context),
        Command::Evidence(arguments) => evidence::run(arguments, &context),
        Command::Select(arguments) => select::run(arguments, &context),
        Command::Export(arguments) => export::run(arguments, &context),
        Command::Verify(arguments) => verify::run(arguments, &context),
        Command::Completions { shell } => describe::completions(*shell, context.output),
        Command::Man { command } => describe::manual(command.as_deref(), context.output),
    }
}
