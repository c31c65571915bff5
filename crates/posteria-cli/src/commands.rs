//! Run the command that was typed.

mod describe;

use crate::args::{Cli, Command};
use crate::failure::{Failure, Result};
use crate::output::Output;

/// Runs the command of `cli`.
pub fn run(cli: Cli) -> Result<()> {
    let output = Output { json: cli.global.json, quiet: cli.global.quiet };
    match cli.command {
        Command::Completions { shell } => describe::completions(shell, output),
        Command::Man { command } => describe::manual(command.as_deref(), output),
        _ => Err(Failure::bad_input("this build has no such command yet")),
    }
}
