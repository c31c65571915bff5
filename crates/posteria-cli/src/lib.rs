//! The command line of posteria: parse, run the command, give the exit code. A library, so that other
//! front ends can bring the command along.
#![forbid(unsafe_code)]

mod advice;
mod approximation;
mod args;
mod assessment;
mod chains;
mod commands;
mod context;
mod decide;
mod device;
mod disk;
mod elsewhere;
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

use std::ffi::OsString;
use std::sync::Arc;

use clap::Parser;
use posteria_cuda::{Cache, CudaAccelerators};

use crate::args::Cli;
pub use commands::do_unit;

/// Runs the command line `arguments`, of which the first is the name of the program, and returns the
/// exit code: 0, 1 if it failed, 2 for bad input, 3 for doubtful results if that is to be strict about,
/// and 128 plus the signal that interrupted it.
pub fn run(arguments: impl IntoIterator<Item = OsString>) -> u8 {
    posteria::model::accelerator::bring(Arc::new(CudaAccelerators::new(Cache::of_user())));
    let typed: Vec<OsString> = arguments.into_iter().collect();
    let cli = match Cli::try_parse_from(&typed) {
        Ok(cli) => cli,
        Err(error) => {
            // Help and version end with 0, wrong usage with 2. A closed pipe changes nothing.
            let _ = error.print();
            return u8::try_from(error.exit_code()).unwrap_or(2);
        }
    };
    match commands::run(cli, typed) {
        Ok(()) => 0,
        Err(failure) => {
            if let Some(message) = failure.message() {
                output::error(&message);
            }
            failure.exit_code()
        }
    }
}
