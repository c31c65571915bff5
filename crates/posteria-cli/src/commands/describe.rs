//! Describe the command line itself: completion scripts and manual pages.

use clap::CommandFactory;
use clap_complete::Shell;

use crate::args::Cli;
use crate::failure::{Failure, Result};
use crate::output::{Output, print};

/// Prints the completion script of a shell.
pub fn completions(shell: Shell, output: Output) -> Result<()> {
    refuse_json(output, "completions")?;
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "posteria", &mut script);
    print(&script)
}

/// Prints the manual page of a command, or of the program.
pub fn manual(name: Option<&str>, output: Output) -> Result<()> {
    refuse_json(output, "man")?;
    let mut program = Cli::command();
    // Building hands the global options down to the commands.
    program.build();
    let command = match name {
        None => program,
        Some(name) => {
            let command = program.find_subcommand(name).cloned().ok_or_else(|| {
                Failure::bad_input(format!(
                    "there is no command {name}; `posteria --help` lists all"
                ))
            })?;
            command.display_name(format!("posteria-{name}"))
        }
    };
    let mut page = Vec::new();
    clap_mangen::Man::new(command).render(&mut page).map_err(Failure::Print)?;
    print(&page)
}

fn refuse_json(output: Output, command: &str) -> Result<()> {
    if output.json {
        return Err(Failure::bad_input(format!("{command} prints a text, not JSON; omit --json")));
    }
    Ok(())
}
