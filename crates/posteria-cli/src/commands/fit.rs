//! Sample the posterior of a model, or continue to.

use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::time::Instant;

use posteria::fit::{Prepared, Stopped, Until};
use posteria::model::accelerator::Placement;
use posteria::sample::Plan;
use posteria_store::{Added, RunFolder};

use super::Context;
use crate::args;
use crate::device::{self, RunDevice};
use crate::failure::{Classify, Failure, Result, store_failure};
use crate::file::write_whole;
use crate::fitted::prepare_kept;
use crate::interrupt::Interrupt;
use crate::job::FitJob;
use crate::predictive::posterior_predictive;
use crate::prepare::prepare;
use crate::sampling::{FitReport, begin, open, options, sample, spec_of};
use crate::warning::Warning;
use crate::words::Words;
use crate::{disk, size, text};

/// Name of the file of a run folder with the model in words.
const WORDS: &str = "model.txt";

/// Runs `posteria fit`.
pub fn fit(flags: &args::Fit, context: &Context) -> Result<()> {
    let Some((out, report)) = sampled(FitJob::new(flags, context.seed)?, context)? else {
        return Ok(());
    };
    print(&report, context)?;
    context.output.message(&format!("next: posteria summary {}", out.display()));
    Ok(())
}

pub(super) fn print(report: &FitReport, context: &Context) -> Result<()> {
    report.warn(&context.warnings);
    context.result(report, || if context.output.quiet { String::new() } else { report.render() })
}

/// Warns of a fit that will take long, before it begins.
pub(super) fn warn_of_size(prepared: &Prepared, plan: &Plan, context: &Context) -> Result<()> {
    // What a GPU takes was asked of it before.
    if matches!(prepared.placement(), Placement::Device(_)) {
        return Ok(());
    }
    let warning = size::check(prepared, plan, context.threads)?;
    warning.into_iter().for_each(|warning| context.warn_at_once(warning));
    Ok(())
}

/// Says in words what is asked for and samples it: the run folder, and what it holds. `None` for a
/// dry run, which says more in words and samples nothing.
pub fn sampled(job: FitJob, context: &Context) -> Result<Option<(PathBuf, FitReport)>> {
    let started = Instant::now();
    // Everything that can be refused is, before anything is said about the model.
    if let Some(out) = &job.out {
        RunFolder::check_place(out, job.replace).map_err(store_failure)?;
    }
    let prepared = prepare(job.spec, &job.data)?;
    prepared.check_device().bad_input()?;
    let draws = prepared.spec.sampling.expected_draws(prepared.spec.model.kind);
    let expected = Plan { draws, ..prepared.plan.clone() };
    warn_of_size(&prepared, &expected, context)?;
    disk::tell(&prepared, &expected, context.output);
    let words = Words::new(&prepared);
    let Some(out) = job.out else {
        tell_device(&prepared, context);
        prepared.cautions.iter().for_each(|caution| context.warn(caution));
        let words = words.with_prior_functions(&prepared);
        if let Some(doubt) = words.prior_doubt() {
            context.warn(Warning::new("prior-far-from-data", doubt));
        }
        context.result(&words, || words.render())?;
        return Ok(None);
    };
    let told = if job.verbose { words.render() } else { words.short() };
    context.output.message(told.trim_end());
    tell_device(&prepared, context);
    let until = Until::new(&prepared.spec.sampling, started);
    let to = (&*out, job.replace);
    let report = run(&prepared, to, (until, job.followed_by), context)?;
    Ok(Some((out, report)))
}

/// Says what computes the model, if that was asked for.
fn tell_device(prepared: &Prepared, context: &Context) {
    if let Some(words) = prepared.placement().description() {
        context.output.message(&words);
    }
}

/// Samples what was prepared into a new run folder, in place of a run that is there if that is
/// asked for.
fn run(
    prepared: &Prepared,
    (out, replace): (&Path, bool),
    (until, followed_by): (Until, usize),
    context: &Context,
) -> Result<FitReport> {
    let plan = &Plan { draws: until.next(0), ..prepared.plan.clone() };
    // Before the folder is there, and before signals are listened to: nothing is kept of it yet.
    let found = prepared.approximation(context.threads)?;
    let found = found.as_ref();
    let interrupt = Interrupt::listen().running()?;
    if replace {
        RunFolder::remove(out).map_err(store_failure)?;
    }
    let writer = begin((prepared, plan), found, out, &interrupt)?;
    keep_words(prepared, out)?;
    RunDevice::keep(prepared, out)?;
    let report = sample(
        (prepared, found),
        (plan, until, followed_by),
        (out, writer),
        &context.watched(&interrupt),
    )?;
    add_predictive(prepared, out, &interrupt, context)?;
    Ok(report)
}

/// Keeps the model in words beside the draws.
fn keep_words(prepared: &Prepared, path: &Path) -> Result<()> {
    let words = Words::new(prepared).render();
    write_whole(&path.join(WORDS), |file| file.write_all(words.as_bytes()).running())
}

/// As [`keep_words`], for a run that was killed before it had.
fn keep_missing_words(prepared: &Prepared, path: &Path) -> Result<()> {
    if path.join(WORDS).exists() { Ok(()) } else { keep_words(prepared, path) }
}

/// Adds to a run whose chains were put together from elsewhere what a fit adds to its own, and reports
/// on it. What it is of is read again unless that is known.
pub(super) fn joined(
    path: &Path,
    prepared: Option<Prepared>,
    context: &Context,
) -> Result<FitReport> {
    let run = open(path)?;
    let spec = spec_of(&run)?;
    let table = spec.data.path.as_ref().map(PathBuf::from).filter(|table| table.exists());
    let prepared = match (prepared, table) {
        (Some(known), _) => known,
        (None, Some(table)) => prepare(spec, &table)?,
        (None, None) => prepare_kept(spec, &run)?,
    };
    let interrupt = Interrupt::listen().running()?;
    keep_words(&prepared, path)?;
    RunDevice::keep(&prepared, path)?;
    add_missing_predictive(&prepared, path, &interrupt, context)?;
    let draws = run.draws_of_variables().running()?;
    let found = (&draws, run.approximation());
    let report = FitReport::new(&prepared, path, found, (None, None), context.threads);
    Ok(report.after(run.extent().warmup, 0.0).stopped(None, Stopped::Asked))
}

/// Adds to a run that is complete what its data might have been, for readers of its store.
fn add_predictive(
    prepared: &Prepared,
    path: &Path,
    interrupt: &Interrupt,
    context: &Context,
) -> Result<()> {
    let draws = open(path)?.draws_of_variables().map_err(store_failure)?;
    let workers = context.workers(interrupt);
    let group =
        posterior_predictive(prepared, &draws, &workers).map_err(|failure| match failure {
            Failure::Interrupted { signal, .. } => {
                let shown = path.display();
                let advice = format!(
                    "all draws are kept; add the posterior predictive with: posteria resume {shown}"
                );
                Failure::Interrupted { signal, advice }
            }
            other => other,
        })?;
    match group {
        Some(group) => RunFolder::add(path, &[group]).map_err(store_failure),
        None => Ok(()),
    }
}

/// As [`add_predictive`], unless it is there.
pub(super) fn add_missing_predictive(
    prepared: &Prepared,
    path: &Path,
    interrupt: &Interrupt,
    context: &Context,
) -> Result<()> {
    let run = open(path)?;
    let there = run.has(Added::PosteriorPredictive);
    if there || !prepared.posterior.layout().reads(run.layout()) {
        return Ok(());
    }
    add_predictive(prepared, path, interrupt, context)
}

/// Runs `posteria resume`.
pub fn resume(arguments: &args::Resume, context: &Context) -> Result<()> {
    if context.seed.is_some() {
        return Err(Failure::bad_input("a run keeps the seed it was begun with; omit --seed"));
    }
    let started = Instant::now();
    let path = &arguments.run;
    let run = open(path)?;
    let mut spec = spec_of(&run)?;
    spec.sampling.device = device::resumed(path, &spec.sampling, arguments.device);
    let table = arguments.data.clone().or_else(|| spec.data.path.clone().map(Into::into));
    let prepared = match table {
        Some(table) if table.exists() => prepare(spec, &table)?,
        Some(table) => {
            return Err(Failure::bad_input(format!(
                "the data of this run, {}, are not there any more; put the file back, or say where \
                 it is with --data FILE",
                table.display()
            )));
        }
        // The table came from standard input.
        None => prepare_kept(spec, &run)?,
    };
    device::check_resumed(path, &prepared, arguments.device)?;
    let (own, kind) = (prepared.spec.sampling, prepared.spec.model.kind);
    let draws = arguments.draws.map(NonZero::get);
    let asked = own.resumed(draws, arguments.ess, arguments.time, kind);
    asked.plan().bad_input()?;
    let until = Until::new(&asked, started);
    let present = run.chain_draws();
    let most = present.iter().copied().max().unwrap_or(0);
    let wanted = match (until.goal, arguments.draws) {
        (None, Some(draws)) => draws.get(),
        // What a run was on its way to, it goes to first.
        _ if present.iter().any(|draws| *draws < run.extent().draws) => run.extent().draws,
        (Some(_), _) => most,
        (None, None) => run.extent().draws,
    };
    if present.iter().all(|&draws| draws >= wanted) {
        let draws = run.draws_of_variables().running()?;
        let found = (&draws, run.approximation());
        let report = FitReport::new(&prepared, path, found, (None, until.goal), context.threads);
        let (next, is_enough) = (until.next(most), until.goal.map(|goal| report.meets(&goal)));
        if next <= most || is_enough.unwrap_or(true) {
            let drawn = text::count(draws.draws, "draw");
            let shown = path.display();
            context.output.message(&match is_enough {
                None => format!(
                    "{shown} is complete: every chain has {drawn}, and {wanted} were asked for; \
                     extend it with --draws N"
                ),
                Some(true) => format!(
                    "{shown} is complete: every chain has {drawn}, which is enough; extend it with \
                     --draws N or --ess N"
                ),
                Some(false) => format!(
                    "{shown} is complete: every chain has {drawn}, and no more were allowed; extend \
                     it with --draws N"
                ),
            });
            let interrupt = Interrupt::listen().running()?;
            // All draws may be there of a run that was killed before it had told other readers of them.
            RunFolder::close(path, options(&interrupt)).map_err(store_failure)?;
            keep_missing_words(&prepared, path)?;
            add_missing_predictive(&prepared, path, &interrupt, context)?;
            let stopped = match is_enough {
                None => Stopped::Asked,
                Some(true) => Stopped::Enough,
                Some(false) => Stopped::MostDraws,
            };
            let report = report.after(run.extent().warmup, 0.0);
            return print(&report.stopped(until.goal, stopped), context);
        }
    }
    // Chains that are there already are judged first, as if they had never stopped.
    let wanted = wanted.max(most);
    let sampling = &prepared.spec.sampling;
    if sampling.inference().is_point() && sampling.chains == 1 {
        return Err(Failure::bad_input(format!(
            "{} holds one point; there are no more draws of it (--inference laplace has \
             as many as are asked for)",
            path.display()
        )));
    }
    let layout = prepared.posterior.layout();
    if !layout.reads(run.layout()) || layout.len() != run.layout().len() {
        return Err(Failure::bad_input(format!(
            "{} was begun by an earlier version, whose draws held something else; it can be read, \
             but not extended: fit it anew",
            path.display()
        )));
    }
    // What the run began to keep it goes on to keep, whatever more draws it has.
    let plan = prepared.plan.with_warmup(run.extent().warmup);
    let plan = Plan { draws: wanted, pointwise: run.rows() > 0, ..plan };
    warn_of_size(&prepared, &plan, context)?;
    // The same as when the run began: it depends on the data, the specification and the seed.
    let found = prepared.approximation(context.threads)?;
    let interrupt = Interrupt::listen().running()?;
    let writer = RunFolder::resume(path, wanted, options(&interrupt)).map_err(store_failure)?;
    keep_missing_words(&prepared, path)?;
    tell_device(&prepared, context);
    RunDevice::keep(&prepared, path)?;
    let both = (&prepared, found.as_ref());
    let report = sample(both, (&plan, until, 0), (path, writer), &context.watched(&interrupt))?;
    add_predictive(&prepared, path, &interrupt, context)?;
    print(&report, context)
}
