//! Sample which inputs are in a model, tell how probable every input and set is, and choose one.

mod assessor;
mod choice;
mod leave_out;
mod likely;
mod nested;
mod report;
mod sets;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use posteria::draws::Draws;
use posteria::fit::Prepared;
use posteria::model::spec::SelectionSpec;
use posteria::select::{
    ChoiceReport, SelectionReport, Visits, candidates_of, input_importance, visits,
};

use self::assessor::{Assessor, sweeps_of_choice};
use self::choice::tell_nested;
use self::leave_out::leave_out;
use self::nested::Whole;
pub use self::report::FILE;
use self::report::Report;
use self::sets::go_on_later;
pub use self::sets::{finish, independent};
use super::{Context, fit};
use crate::args;
use crate::failure::{Classify, Failure, Result};
use crate::fitted::fitted;
use crate::interrupt::Interrupt;
use crate::job::FitJob;
use crate::prepare::{Source, prepare};
use crate::sampling::{open, spec_of};
use crate::{text, verdict};

/// Runs `posteria select`.
pub fn run(arguments: &args::Select, context: &Context) -> Result<()> {
    if let Some(path) = arguments.run() {
        return report((path, false), &arguments.choice, context);
    }
    let mut job = job(arguments, context)?;
    let goes_on = |out: &PathBuf| !job.replace && out.join("spec.toml").exists();
    if let Some(out) = job.out.clone().filter(goes_on) {
        go_on(job, &out, context)?;
        return report((&out, false), &arguments.choice, context);
    }
    if !arguments.choice.no_choice {
        job.followed_by = sweeps_of_choice(&job.spec, &arguments.choice);
    }
    let Some((out, fitted)) = fit::sampled(job, context)? else { return Ok(()) };
    fitted.warn(&context.warnings);
    report((&out, true), &arguments.choice, context)
}

/// The same of a search that is complete, whose chains were run elsewhere.
pub fn run_joined(
    arguments: &args::Select,
    (out, prepared): (&Path, Prepared),
    context: &Context,
) -> Result<()> {
    fit::joined(out, Some(prepared), context)?.warn(&context.warnings);
    report((out, true), &arguments.choice, context)
}

/// The search that is asked for.
pub fn job(arguments: &args::Select, context: &Context) -> Result<FitJob> {
    let mut flags = arguments.fit.clone();
    if flags.out.is_none() && !flags.dry_run {
        flags.out = Some(free_folder(flags.data.as_deref().or(flags.spec.as_deref())));
    }
    if flags.time.is_some() {
        return Err(Failure::bad_input(
            "--time is for posteria fit; say how much to sample with --ess N or --draws N",
        ));
    }
    let mut job = FitJob::new(&flags, context.seed)?;
    if flags.draws.is_none() {
        job.spec.sampling = job.spec.sampling.over_input_sets(job.spec.model.kind);
    }
    let selection = job.spec.selection.get_or_insert_default();
    if let Some(prior) = &arguments.set_prior {
        selection.prior = Some(prior.clone());
    }
    if !arguments.always.is_empty() {
        selection.always = Some(arguments.always.clone());
    }
    if !arguments.requires.is_empty() {
        let mut requires = BTreeMap::<String, Vec<String>>::new();
        for (name, required) in &arguments.requires {
            requires.entry(name.clone()).or_default().extend(required.iter().cloned());
        }
        selection.requires = Some(requires);
    }
    job.spec.check().bad_input()?;
    Ok(job)
}

/// Goes on with a run that the same command began.
fn go_on(job: FitJob, out: &Path, context: &Context) -> Result<()> {
    let prepared = prepare(job.spec.clone(), &job.data)?;
    if prepared.spec.to_toml().bad_input()? != open(out)?.spec() {
        return Err(Failure::bad_input(format!(
            "{} is another run; choose another name with --out, or go on with that run: posteria \
             select {}",
            out.display(),
            out.display()
        )));
    }
    context.output.message(&format!("going on with {}", out.display()));
    let interrupt = Interrupt::listen().running()?;
    // Standard input has been read already.
    let source = Source::of_run(&open(out)?, &prepared.spec)?;
    finish((job.spec, &source), out, &interrupt, context)?;
    fit::add_missing_predictive(&prepared, out, &interrupt, context)
}

/// A folder that is not there yet, named after a file.
fn free_folder(file: Option<&Path>) -> PathBuf {
    let stem = file.and_then(Path::file_stem).map_or("data".into(), |stem| stem.to_string_lossy());
    let first = PathBuf::from(format!("{stem}-select"));
    let others = (2..).map(|number| PathBuf::from(format!("{stem}-select-{number}")));
    std::iter::once(first).chain(others).find(|path| !path.exists()).unwrap_or_default()
}

/// Tells what the draws of a run say about inputs and sets, and chooses one. Doubts about the draws
/// of a run that is `judged` already have been told.
fn report((path, judged): (&Path, bool), asked: &args::Choice, context: &Context) -> Result<()> {
    let run = open(path)?;
    let spec = spec_of(&run)?;
    let Some(selection) = &spec.selection else {
        return Err(Failure::bad_input(format!(
            "{} samples no input sets: its specification has no [selection]; run posteria select on \
             its data",
            path.display()
        )));
    };
    let draws = run.draws_of_variables().running()?;
    let candidates = candidates_of(&draws, selection).bad_input()?;
    let found = visits(&draws, &candidates).bad_input()?;
    if !judged {
        verdict::repeat(
            path,
            &draws,
            spec.sampling.inference(),
            run.approximation(),
            &context.warnings,
        );
    }
    found.cautions.iter().for_each(|caution| context.warn(caution));
    let interrupt = Interrupt::listen().running()?;
    let prepared = fitted(&run, &spec, None)?;
    if context.elsewhere.is_some() && !asked.no_choice {
        let of = (path, path, &spec);
        likely::want((of, &prepared.data), (&candidates, &found), asked, (&interrupt, context))?;
    }
    let with = (context.seed(), &context.workers(&interrupt));
    let importance = input_importance(&prepared, (&candidates, &draws), with)
        .map_err(|cancelled| go_on_later(cancelled.into(), path))?;
    drop((run, draws, prepared));
    let mut report = Report::new(path, SelectionReport::new(&spec, &found, importance));
    // Something is kept even if the choice is not finished.
    report.keep(path, context)?;
    if !asked.no_choice {
        // The folds of a run are the same whenever it is asked for.
        let context =
            &Context { seed: context.seed.or(Some(spec.sampling.seed)), ..context.clone() };
        let within = (&interrupt, context);
        let mut assessor = Assessor::new((path, path, &spec), &candidates, asked, within)?;
        let (best, folder) = assessor.choose(&candidates, &found, asked)?;
        let by = (assessor.plan().method.name(), assessor.folds());
        let mut choice = ChoiceReport::new(&best, &asked.options().rule(), by);
        if asked.leave_out {
            report.leave_out(leave_out(&mut assessor, &candidates)?);
        }
        assessor.warn(context);
        if let Some(count) = asked.nested {
            report.choose(choice.clone());
            report.keep(path, context)?;
            let whole = Whole { path, spec: &spec, candidates: &candidates, asked };
            let nested = whole.nested((&best, assessor.plan(), &folder), count, within)?;
            tell_nested(&mut choice, nested);
        }
        report.choose(choice);
        report.keep(path, context)?;
    }
    context.result(&report, || report.render())
}

/// What draws over input sets say.
pub fn of_draws(draws: &Draws, selection: &SelectionSpec) -> Result<Visits> {
    visits(draws, &candidates_of(draws, selection).bad_input()?).bad_input()
}

/// Names of inputs on one line.
fn joined(names: &[String]) -> String {
    if names.is_empty() { "none".into() } else { text::printable(&names.join(", ")).into_owned() }
}
