//! Fit Bayesian models from the shell.
#![forbid(unsafe_code)]

use std::process::ExitCode;

fn main() -> ExitCode {
    ExitCode::from(posteria_cli::run(std::env::args_os()))
}
