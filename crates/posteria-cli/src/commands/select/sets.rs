//! Fit a model to sets of its inputs, each in a run folder of its own.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::anyhow;
use posteria::diagnose::{SummaryOptions, summarize};
use posteria::fit::Prepared;
use posteria::model::selection::Candidates;
use posteria::model::spec::Spec;
use posteria::sample::Plan;
use posteria::select::InputSets;
use posteria_store::{Run, RunFolder};

use super::super::Context;
use super::joined;
use crate::elsewhere::{Wanted, chains_wait};
use crate::failure::{Classify, Failure, Result, store_failure};
use crate::interrupt::Interrupt;
use crate::prepare::Source;
use crate::sampling::{begin, open, options, sample};
use crate::text;

/// Sets of the inputs of a run.
pub struct Sets<'a> {
    /// The run that a user knows: `run`, or the one that it is a fold of.
    whole: &'a Path,
    run: &'a Path,
    source: Source,
    /// The sets, and the models with them.
    pub sets: InputSets<'a>,
}

impl<'a> Sets<'a> {
    /// Those of the run in `path`, which is `whole` or without one fold of it, to be fitted by chains
    /// of so many draws.
    pub fn new(
        (whole, path, spec): (&'a Path, &'a Path, &Spec),
        candidates: &'a Candidates,
        draws: usize,
    ) -> Result<Self> {
        let run = open(path)?;
        let Some(kept) = run.training_data().map_err(store_failure)? else {
            let shown = path.display();
            return Err(Failure::bad_input(format!(
                "{shown} does not say what its data are; use --no-choice"
            )));
        };
        // A fold keeps only the rows that it knows, and divides the rows of the whole run.
        let source = Source::of_run(&open(whole)?, spec)?;
        let sets = InputSets::new(spec, &kept.encoder, candidates, draws);
        Ok(Sets { whole, run: path, source, sets })
    }

    /// A set in words.
    pub fn words(&self, set: &[bool]) -> String {
        joined(&self.sets.names(set))
    }

    /// The folder of a set: named by its candidates, four in every digit, since names of columns
    /// may be no names of files.
    pub fn folder(&self, set: &[bool]) -> PathBuf {
        let digit = |four: &[bool]| {
            let bits = four.iter().enumerate().map(|(bit, is_in)| u32::from(*is_in) << bit);
            format!("{:x}", bits.sum::<u32>())
        };
        self.run.join("sets").join(format!("set-{}", set.chunks(4).map(digit).collect::<String>()))
    }

    /// Fits a set as far as that has not been done before; tells where, and its largest R-hat.
    pub fn fit(
        &self,
        set: &[bool],
        interrupt: &Interrupt,
        context: &Context,
    ) -> Result<(PathBuf, f64)> {
        let path = self.folder(set);
        let finished = finish((self.sets.spec_of(set), &self.source), &path, interrupt, context);
        finished.map_err(|failure| self.go_on(failure))?;
        let drawn = open(&path)?.draws_of_variables().running()?;
        Ok((path, summarize(&drawn, &SummaryOptions::default()).max_r_hat()))
    }

    /// After a signal: how to go on.
    pub fn go_on(&self, failure: Failure) -> Failure {
        go_on_later(failure, self.whole)
    }
}

/// After a signal: how to go on with the choice of the run in a folder.
pub fn go_on_later(failure: Failure, run: &Path) -> Failure {
    match failure {
        Failure::Interrupted { signal, .. } => {
            let run = text::printable(&run.display().to_string()).into_owned();
            let advice = format!(
                "what was fitted is kept in {run}; repeat the command, or go on with posteria select \
                 {run} and the same options of the choice"
            );
            Failure::Interrupted { signal, advice }
        }
        other => other,
    }
}

/// The table of what is sampled by chains that need nothing of each other, so that each can be run
/// elsewhere.
pub fn independent<'s>(prepared: &Prepared, source: &'s Source) -> Result<&'s Path> {
    if !prepared.has_independent_chains() {
        return Err(chains_wait());
    }
    match source {
        Source::File(table) if table != Path::new("-") => Ok(table),
        _ => Err(Failure::bad_input("a plan copies its table: write it into a file first")),
    }
}

/// Samples the model of `spec` given its rows into the run folder `path`, as far as that has not been
/// done before.
pub fn finish(
    (spec, source): (Spec, &Source),
    path: &Path,
    interrupt: &Interrupt,
    context: &Context,
) -> Result<()> {
    let begun = if path.exists() { Some(open(path)?) } else { None };
    let (asked, has_goal) = (spec.sampling.draws, spec.sampling.ess.is_some());
    let has = |run: &Run, draws: usize| run.chain_draws().iter().all(|done| *done >= draws);
    // It may have been killed before it had told other readers of its last draws.
    let close = || RunFolder::close(path, options(interrupt)).map_err(store_failure);
    if begun.as_ref().is_some_and(|run| !has_goal && has(run, asked)) {
        return close();
    }
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)
            .map_err(|error| anyhow!("cannot create {}: {error}", folder.display()))
            .bad_input()?;
    }
    let prepared = source.prepare(spec)?;
    let until = posteria::fit::Until::new(&prepared.spec.sampling, Instant::now());
    if let (Some(elsewhere), None) = (&context.elsewhere, &begun) {
        let plan = Plan { draws: until.next(0), ..prepared.plan.clone() };
        let table = independent(&prepared, source)?.to_path_buf();
        let (path, of) = (path.to_path_buf(), Box::new((prepared, plan)));
        return Err(elsewhere.want(Wanted::Chains { path, of, table }));
    }
    let found = prepared.approximation(context.threads)?;
    let found = found.as_ref();
    let (plan, writer) = match begun {
        Some(run) => {
            // What it was on its way to, it goes to first.
            let draws = if has_goal { run.extent().draws } else { asked };
            if has_goal && has(&run, draws) {
                let drawn = run.draws_of_variables().running()?;
                if until.judge(&prepared, &drawn, context.threads).1.is_some() {
                    return close();
                }
            }
            let plan = Plan { draws, ..prepared.plan.with_warmup(run.extent().warmup) };
            let writer = RunFolder::resume(path, draws, options(interrupt));
            (plan, writer.map_err(store_failure)?)
        }
        None => {
            let plan = Plan { draws: until.next(0), ..prepared.plan.clone() };
            let writer = begin((&prepared, &plan), found, path, interrupt)?;
            (plan, writer)
        }
    };
    sample((&prepared, found), (&plan, until, 0), (path, writer), &context.watched(interrupt))
        .map(|_| ())
}
