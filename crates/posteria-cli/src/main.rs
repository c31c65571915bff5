//! Fit Bayesian models from the shell: parse, run the command, give the exit code.
#![forbid(unsafe_code)]

mod advice;
mod approximation;
mod args;
mod assessment;
mod chains;
mod commands;
mod decide;
mod disk;
mod failure;
mod file;
mod fitted;
mod interrupt;
mod job;
mod output;
mod predictive;
mod prepare;
mod progress;
mod sampling;
mod size;
mod text;
mod timing;
mod verdict;
mod warning;
mod words;

use std::process::ExitCode;

use clap::Parser;

use crate::args::Cli;

fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => {
            // Help and version end with 0, wrong usage with 2. A closed pipe changes nothing.
            let _ = error.print();
            return ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(2));
        }
    };
    match commands::run(cli) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            if let Some(message) = failure.message() {
                output::error(&message);
            }
            failure.exit_code()
        }
    }
}
