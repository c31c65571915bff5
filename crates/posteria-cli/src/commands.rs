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
mod units;
mod verify;

use std::ffi::OsString;
use std::num::NonZero;
use std::thread;

pub use self::units::do_unit;
use crate::args::{Cli, Command};
use crate::context::Context;
use crate::failure::{Failure, Result};
use crate::output::Output;
use crate::warning::Warnings;

/// Runs the command of `cli`, as it was typed.
pub fn run(cli: Cli, typed: Vec<OsString>) -> Result<()> {
    let global = cli.global;
    // Units are many: cores have enough to do if each has one.
    let alone = matches!(cli.command, Command::RunUnit(_)).then_some(NonZero::<usize>::MIN);
    let context = Context {
        output: Output { json: global.json, quiet: global.quiet, mute: false },
        threads: global
            .threads
            .or(alone)
            .or_else(|| thread::available_parallelism().ok())
            .unwrap_or(NonZero::<usize>::MIN),
        seed: global.seed,
        strict: global.strict,
        warnings: Warnings::default(),
        typed: typed.into(),
        elsewhere: None,
        collected: None,
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
        Command::Demo(arguments) => demo::run(arguments, context, dispatch),
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
        Command::Plan(arguments) => units::plan(arguments, context),
        Command::RunUnit(arguments) => units::run_unit(arguments, context),
        Command::Collect(arguments) => units::collect(arguments, context),
        Command::Join(arguments) => units::join(arguments, context),
        Command::Device => device::run(context),
        Command::Completions { shell } => describe::completions(*shell, context.output),
        Command::Man { command } => describe::manual(command.as_deref(), context.output),
    }
}
