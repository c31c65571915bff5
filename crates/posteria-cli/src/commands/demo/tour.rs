//! Show the whole way once: every command of the tour, as it is typed.

use std::fs;
use std::path::Path;

use clap::Parser as _;
use posteria_demos::Demonstration;
use posteria_demos::tour::{FITS, NETWORK, ROWS, TABLE, commands, results, table};

use super::super::compare;
use super::failed;
use super::folder::{FOLDER, PAGE, make_room};
use crate::args::{Cli, Command, Demo};
use crate::context::Context;
use crate::failure::{Classify, Result};
use crate::output::Output;

/// Runs a command.
pub type Dispatch = fn(&Command, &Context) -> Result<()>;

/// Runs the tour: every command that it prints, as it prints it.
pub fn run(arguments: &Demo, context: &Context, dispatch: Dispatch) -> Result<()> {
    let folder = arguments.out.as_deref().unwrap_or(Path::new(FOLDER));
    let own = FITS.iter().map(|(name, ..)| *name);
    make_room(folder, &own.chain([NETWORK.0, TABLE, PAGE]).collect::<Vec<_>>())?;
    let path = folder.join(TABLE);
    fs::write(&path, table(context.seed())).running()?;
    let network = folder.join(NETWORK.0);
    fs::write(&network, NETWORK.1).running()?;
    context.output.message(&format!(
        "{ROWS} made-up rows: y is a curve of x plus noise, and one row in twenty is an outlier\n{}",
        path.display()
    ));
    // Where stdout is for one JSON object, nothing else is printed there.
    let is_json = context.output.json;
    let output = Output { json: false, quiet: is_json || context.output.quiet, mute: is_json };
    let aside = Context { output, ..context.clone() };
    let tour = Tour { context: &aside, said: context.output, dispatch };
    let page = folder.join(PAGE);
    let paths = [&path, &network, &page].map(|path| shown(path));
    let runs = FITS.map(|(name, ..)| folder.join(name));
    let names = runs.each_ref().map(|run| shown(run));
    let mut compared = None;
    for words in commands(paths.each_ref().map(String::as_str), &names, arguments.quick) {
        let found = tour.step(&words)?;
        compared = compared.or(found);
    }
    if is_json {
        let p_better = compared.map(|it| it.0.p_better).unwrap_or_default();
        let results = results(&runs, &p_better).map_err(failed)?;
        let report = Some(shown(&page));
        let tour = Demonstration { name: "tour", results, report, ..Demonstration::default() };
        return context.result(&tour, String::new);
    }
    context.output.message(&format!(
        "\nOpen {} in a browser.\n\nNow your own table:\n  posteria fit YOUR.csv --target COLUMN \
         --model gp --out runs/mine\n  posteria report runs/mine --out mine.html\nMore: posteria \
         demo --list",
        page.display()
    ));
    Ok(())
}

fn shown(path: &Path) -> String {
    path.display().to_string()
}

/// Who runs the steps of a tour.
struct Tour<'a> {
    context: &'a Context,
    said: Output,
    dispatch: Dispatch,
}

impl Tour<'_> {
    /// Prints a command and runs it; what it found if it compares.
    fn step(&self, words: &[String]) -> Result<Option<compare::Report>> {
        let seed = self.context.seed.map(|seed| format!("--seed={seed}"));
        let words = words.iter().map(String::as_str);
        let typed: Vec<&str> =
            ["posteria"].into_iter().chain(words).chain(seed.as_deref()).collect();
        let quoted = typed.iter().map(|word| match word.contains(' ') {
            true => format!("'{word}'"),
            false => word.to_string(),
        });
        self.said.message(&format!("\n$ {}", quoted.collect::<Vec<_>>().join(" ")));
        let parsed = Cli::try_parse_from(typed).running()?;
        match &parsed.command {
            Command::Compare(arguments) => {
                let found = compare::find(arguments, self.context)?;
                found.warn(self.context);
                self.context.result(&found, || found.render())?;
                Ok(Some(found))
            }
            other => (self.dispatch)(other, self.context).map(|()| None),
        }
    }
}
