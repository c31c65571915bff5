//! Sample which inputs are in a model, tell how probable every input and set is, and choose one.

mod choice;
mod report;
mod sets;

use std::path::{Path, PathBuf};

use posteria::draws::Draws;
use posteria::model::selection::{Candidates, INCLUSION};
use posteria::model::spec::SelectionSpec;
use posteria::select::{Visits, visits};

use self::choice::choose;
pub use self::choice::ranked;
use self::report::Report;
use super::{Context, fit};
use crate::args;
use crate::failure::{Classify, Failure, Result};
use crate::job::FitJob;
use crate::sampling::{open, spec_of};
use crate::text;

/// Runs `posteria select`.
pub fn run(arguments: &args::Select, context: &Context) -> Result<()> {
    if let Some(path) = arguments.run() {
        return report(path, &[], &arguments.choice, context);
    }
    let mut flags = arguments.fit.clone();
    if flags.out.is_none() && !flags.dry_run {
        flags.out = Some(free_folder(flags.data.as_deref().or(flags.spec.as_deref())));
    }
    let mut job = FitJob::new(&flags, context.seed)?;
    let selection = job.spec.selection.get_or_insert_default();
    if let Some(prior) = &arguments.set_prior {
        selection.prior = Some(prior.clone());
    }
    if !arguments.always.is_empty() {
        selection.always = Some(arguments.always.clone());
    }
    job.spec.check().bad_input()?;
    let Some((out, fitted)) = fit::sampled(job, context)? else { return Ok(()) };
    report(&out, fitted.warnings(), &arguments.choice, context)
}

/// A folder that is not there yet, named after a file.
fn free_folder(file: Option<&Path>) -> PathBuf {
    let stem = file.and_then(Path::file_stem).map_or("data".into(), |stem| stem.to_string_lossy());
    let first = PathBuf::from(format!("{stem}-select"));
    let others = (2..).map(|number| PathBuf::from(format!("{stem}-select-{number}")));
    std::iter::once(first).chain(others).find(|path| !path.exists()).unwrap_or_default()
}

/// Tells what the draws of a run say about inputs and sets, and chooses one.
fn report(path: &Path, warnings: &[String], asked: &args::Choice, context: &Context) -> Result<()> {
    let run = open(path)?;
    let spec = spec_of((path, &run))?;
    let Some(selection) = &spec.selection else {
        return Err(Failure::bad_input(format!(
            "{} samples no input sets: its specification has no [selection]; run posteria select on \
             its data",
            path.display()
        )));
    };
    let draws = run.draws_of_variables().running()?;
    let candidates = candidates(&draws, selection)?;
    let found = visits(&draws, &candidates).bad_input()?;
    let mut all = warnings.to_vec();
    all.extend(found.cautions.iter().map(ToString::to_string));
    let mut report = Report::new(path, &spec, &found, all);
    // Something is kept even if the choice is not finished.
    report.keep(path)?;
    if !asked.no_choice {
        report.choose(choose((path, &spec), (&candidates, &found), asked, context)?);
        report.keep(path)?;
    }
    report.warnings().iter().for_each(|warning| context.output.warning(warning));
    context.output.result(&report, || report.render())?;
    context.judge(report.warnings().len())
}

/// What draws over input sets say.
pub fn of_draws(draws: &Draws, selection: &SelectionSpec) -> Result<Visits> {
    visits(draws, &candidates(draws, selection)?).bad_input()
}

/// What may leave the model of these draws.
fn candidates(draws: &Draws, selection: &SelectionSpec) -> Result<Candidates> {
    let inclusion = draws.layout.variable(INCLUSION);
    let names = inclusion.and_then(|variable| variable.dimensions.first());
    let names = names.map_or(&[][..], |dimension| &dimension.labels);
    Candidates::new(selection, names).bad_input()
}

/// Names of inputs on one line.
fn joined(names: &[String]) -> String {
    if names.is_empty() { "none".into() } else { text::printable(&names.join(", ")).into_owned() }
}
