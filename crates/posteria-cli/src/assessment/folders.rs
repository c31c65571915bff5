//! Fit the training rows of every fold of a run, each in a run folder of its own.

use std::fs;
use std::num::NonZero;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use anyhow::anyhow;
use posteria::assess::{AssessError, Division, EachFold, FoldModel, FoldStart, Note, Refit};
use posteria::data::{FoldBy, FoldScheme};
use posteria::fit::{Chain, ChainMemory, Recorder, Report, Workers, run_jobs};
use posteria::model::spec::Spec;
use posteria::random::Seed;
use posteria::sample::Plan;
use posteria_store::{Run, RunFolder, RunWriter};

use super::Subject;
use crate::failure::{Classify, Failure, Result};
use crate::interrupt::Interrupt;
use crate::progress::{JobProgress, Watched};
use crate::sampling::{begin, open, options, store_failure};
use crate::text;

/// The folds of a run, in its folder: what was fitted once is not fitted again.
pub struct FoldFolders<'a> {
    subject: &'a Subject,
    watched: Watched<'a>,
    /// Names the streams of all that is drawn.
    pub seed: Seed,
}

impl<'a> FoldFolders<'a> {
    /// Of this run.
    pub fn new(subject: &'a Subject, seed: Seed, watched: Watched<'a>) -> Self {
        FoldFolders { subject, watched, seed }
    }

    /// Who works.
    pub fn workers(&self) -> &Workers {
        &self.watched.workers
    }

    /// The folder of all folds of this division.
    fn folder(&self, division: &Division) -> PathBuf {
        let name = division_name(&division.scheme, division.folds.count());
        self.subject.path.join("folds").join(name)
    }

    /// What is left to do of a fold in a folder.
    fn begun(&self, division: &Division, (fold, path): (&FoldModel, &Path)) -> Result<Begun> {
        let start = division.start(&self.subject.fit, fold);
        if !path.exists() {
            return Ok(Begun::new(start, None));
        }
        let run = open(path)?;
        let kept = Spec::from_toml(run.spec()).bad_input()?;
        let own = &fold.prepared.spec.data;
        if kept.data.fold != own.fold || kept.data.sha256 != own.sha256 {
            return Err(Failure::bad_input(format!(
                "{} is a fold of another division or of other data; remove it, or use another \
                 --seed",
                path.display()
            )));
        }
        // A run goes on with the warm-up that it was begun with.
        let warmup = run.extent().warmup;
        let is_warm = start.memories.is_some() && warmup == start.plan.warmup_iterations();
        let start = match is_warm {
            true => start,
            false => FoldStart { plan: fold.prepared.plan.with_warmup(warmup), memories: None },
        };
        Ok(Begun::new(start, Some(run)))
    }

    /// Fits the folds, as far as that has not been done before: at once as many as there are threads
    /// for, each with all its chains. A signal stops all of them; what was drawn is kept, and the next
    /// call goes on with it.
    fn fit(&self, division: &Division, folds: &[(FoldModel, PathBuf)]) -> Result<()> {
        let folder = self.folder(division);
        fs::create_dir_all(&folder)
            .map_err(|error| anyhow!("cannot create {}: {error}", folder.display()))
            .bad_input()?;
        let begun = folds.iter().map(|(fold, path)| self.begun(division, (fold, path)));
        let begun = begun.collect::<Result<Vec<_>>>()?;
        let sweeps = begun.iter().map(Begun::sweeps).sum();
        if sweeps > 0 {
            let one = NonZero::<usize>::MIN;
            let threads = self.workers().threads.get();
            let chains = begun.iter().map(|begun| begun.plan.chains).max().unwrap_or(1);
            let at_once = NonZero::new(threads / chains).unwrap_or(one);
            let share = NonZero::new(threads / at_once).unwrap_or(one);
            let progress = JobProgress::new(self.watched.output, "folds", sweeps);
            let results =
                run_jobs(folds.len(), at_once, |job| match self.watched.interrupt.signal() {
                    Some(_) => Ok(()),
                    None => {
                        let (fold, path) = &folds[job];
                        let held_out = division.folds.held_out(fold.index).len();
                        begun[job].run(
                            (fold, path),
                            held_out,
                            (self.watched.interrupt, share),
                            &progress,
                        )
                    }
                });
            progress.finish();
            results.into_iter().collect::<Result<Vec<()>>>()?;
        }
        if let Some(signal) = self.watched.interrupt.signal() {
            let advice = format!(
                "what was drawn is kept in {}; repeat the command to go on with it",
                folder.display()
            );
            return Err(Failure::Interrupted { signal, advice });
        }
        Ok(())
    }
}

impl Refit for FoldFolders<'_> {
    type Error = Failure;

    fn log_likelihoods_of(&self, rows: &[usize]) -> Result<Option<Vec<f64>>> {
        match self.subject.run.rows() > 0 {
            true => self.subject.run.log_likelihoods_of(rows).map(Some).map_err(store_failure),
            false => Ok(None),
        }
    }

    fn labels(&self, column: &str) -> Result<Vec<usize>> {
        let (table, rows) = self.subject.table()?;
        table.labels(column, rows).bad_input()
    }

    fn refit(
        &self,
        division: &Division,
        indices: &[usize],
        each: &mut EachFold<'_, Failure>,
    ) -> Result<()> {
        let folder = self.folder(division);
        let folds = indices.iter().map(|index| {
            let fold = division.model(&self.subject.fit, *index).bad_input()?;
            let path = folder.join(format!("fold-{:04}", index + 1));
            Ok((fold, path))
        });
        let folds = folds.collect::<Result<Vec<_>>>()?;
        self.fit(division, &folds)?;
        for (fold, path) in &folds {
            each(fold, &open(path)?.draws_of_variables().running()?)?;
        }
        Ok(())
    }

    fn note(&self, note: &Note) {
        let rows = |count| text::count(count, "row");
        let words = match note {
            Note::NotMatched { rows: count, reason } => {
                format!("moments are not matched for {}: {reason}", rows(*count))
            }
            Note::Matching { rows: count, most_passes, draws, coordinates, seconds } => format!(
                "the importance weights of {} cannot be trusted: the draws are moment-matched for \
                 each, in 2 to {most_passes} passes over {} of {}, about {} each",
                rows(*count),
                text::count(*draws, "draw"),
                text::count(*coordinates, "coordinate"),
                text::duration(*seconds),
            ),
            Note::Refitting { rows: those, chains, draws } => {
                let numbers: Vec<String> = those.iter().map(|row| (row + 1).to_string()).collect();
                format!(
                    "the importance weights of {} cannot be trusted ({}): each is left out by a fit \
                     of its own, {} of {}, begun where those of the run ended",
                    rows(those.len()),
                    numbers.join(", "),
                    text::count(*chains, "chain"),
                    text::count(*draws, "draw"),
                )
            }
            _ => return,
        };
        self.watched.output.message(&words);
    }
}

/// A name of a division into so many folds that no other division of the same rows has.
pub fn division_name(scheme: &FoldScheme, count: usize) -> String {
    let FoldScheme { by, column, gap, space, buffer, seed, repetition, .. } = scheme;
    let mut name = match by {
        Some(FoldBy::Random) | None => format!("random-{count}-seed-{seed}"),
        Some(FoldBy::Stratified) => format!("stratified-{count}-seed-{seed}"),
        Some(FoldBy::Group) => format!("group-{count}-seed-{seed}"),
        Some(FoldBy::Block) => format!("block-{count}"),
        Some(FoldBy::Space) => format!("space-{count}-buffer-{buffer}"),
        Some(FoldBy::Column) => "column".into(),
        Some(FoldBy::Row) => "row".into(),
    };
    let plain = |c: char| if c.is_ascii_alphanumeric() { c } else { '_' };
    for column in column.iter().chain(space) {
        name = format!("{name}-{}", column.chars().map(plain).collect::<String>());
    }
    if *gap > 0 {
        name = format!("{name}-gap-{gap}");
    }
    if *repetition > 0 {
        name = format!("{name}-repetition-{repetition}");
    }
    name
}

/// How far the fit of a fold is.
struct Begun {
    plan: Plan,
    /// Where chains that have not begun begin; none: anywhere.
    starts: Option<Vec<ChainMemory>>,
    /// Sweeps done of each chain, if there is a folder.
    done: Option<Vec<usize>>,
    complete: bool,
}

impl Begun {
    fn new(start: FoldStart, run: Option<Run>) -> Self {
        let FoldStart { mut plan, memories: starts } = start;
        if let Some(run) = &run {
            plan.pointwise = run.rows() > 0;
        }
        let complete = run
            .as_ref()
            .is_some_and(|run| run.chain_draws().iter().all(|draws| *draws >= plan.draws));
        Begun { plan, starts, done: run.map(|run| run.chain_iterations()), complete }
    }

    /// Sweeps left to do.
    fn sweeps(&self) -> usize {
        let all = self.plan.chains * self.plan.iterations();
        match (&self.done, self.complete) {
            (_, true) => 0,
            (None, _) => all,
            (Some(done), _) => all.saturating_sub(done.iter().sum()),
        }
    }

    fn run(
        &self,
        (fold, path): (&FoldModel, &Path),
        held_out: usize,
        (interrupt, threads): (&Interrupt, NonZero<usize>),
        progress: &JobProgress,
    ) -> Result<()> {
        if self.complete {
            return Ok(());
        }
        let found = fold.prepared.approximation(threads)?;
        let found = found.as_ref();
        let writer = match self.done {
            Some(_) => RunFolder::resume(path, self.plan.draws, options(interrupt))
                .map_err(store_failure)?,
            None => begin((&fold.prepared, &self.plan), found, path, interrupt)?,
        };
        let starts = self.starts.iter().flatten().cloned().map(Some).chain(std::iter::repeat(None));
        let memories: Vec<Option<ChainMemory>> =
            writer.memories().into_iter().zip(starts).map(|(own, start)| own.or(start)).collect();
        let recorder = Counting { writer: &writer, progress };
        let outcome = fold.prepared.run(found, &self.plan, &memories, threads, &recorder);
        writer.finish().running()?;
        outcome.map_err(|error| AssessError::Fit {
            fold: fold.index + 1,
            held_out,
            error: Box::new(error),
        })?;
        Ok(())
    }
}

/// Counts the sweeps of all folds together.
struct Counting<'a> {
    writer: &'a RunWriter,
    progress: &'a JobProgress,
}

impl Recorder for Counting<'_> {
    fn after_sweep(&self, report: &Report<'_>, chain: &Chain<'_>) -> ControlFlow<()> {
        self.progress.finish_one();
        self.writer.after_sweep(report, chain)
    }
}
