//! Fit a model to the training rows of every fold, each in a run folder of its own.

use std::fs;
use std::num::NonZero;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use anyhow::anyhow;
use posteria::data::{Dataset, Encoder, FoldBy, FoldScheme, Folds};
use posteria::fit::{Chain, ChainMemory, Recorder, Report, WarmStart, run_jobs, warm_start};
use posteria::model::spec::Spec;
use posteria::sample::Plan;
use posteria_store::{Run, RunFolder, RunWriter};

use crate::commands::Context;
use crate::failure::{Classify, Failure, Result};
use crate::interrupt::Interrupt;
use crate::output::Output;
use crate::progress::JobProgress;
use crate::sampling::{begin, open, options, store_failure};
use crate::text;
use posteria::fit::Prepared;

/// A run whose folds are to be fitted.
pub struct Whole<'a> {
    /// Its folder.
    pub path: &'a Path,
    /// Its specification.
    pub spec: &'a Spec,
    /// Its data.
    pub data: &'a Dataset,
    /// How its table became the data.
    pub encoder: &'a Encoder,
    /// Where its chains ended.
    pub memories: Vec<ChainMemory>,
    /// Sweeps after which its chains had warmed up.
    pub warmup: usize,
    /// Its model.
    pub posterior: &'a dyn posteria::model::Posterior,
}

/// How the rows of a run are divided.
pub struct Division {
    /// How that is done.
    pub scheme: FoldScheme,
    /// The folds.
    pub folds: Folds,
    /// Draws of every chain of every fold.
    pub draws: usize,
}

/// The fit to the training rows of one fold.
pub struct FoldFit {
    /// Which fold, from 0.
    pub index: usize,
    /// What was fitted.
    pub prepared: Prepared,
    /// All rows, on the scales of the training rows.
    pub everything: Dataset,
    /// Number of rows held out.
    held_out: usize,
    /// The run folder.
    pub path: PathBuf,
}

impl Division {
    /// The folder of all folds of this division of `run`.
    pub fn folder(&self, run: &Path) -> PathBuf {
        run.join("folds").join(division_name(&self.scheme, self.folds.count()))
    }

    /// Conditions the model of `whole` on the training rows of a fold.
    fn prepare(&self, whole: &Whole<'_>, index: usize) -> Result<FoldFit> {
        let of = (whole.spec, whole.data, whole.encoder);
        let fold = (&self.scheme, &self.folds, index);
        let (prepared, everything) = Prepared::of_fold(of, fold, self.draws).bad_input()?;
        let path = self.folder(whole.path).join(format!("fold-{:04}", index + 1));
        let held_out = self.folds.held_out(index).len();
        Ok(FoldFit { index, prepared, everything, held_out, path })
    }

    /// Fits the folds with these numbers, as far as that has not been done before: at once as
    /// many as there are threads for, each with all its chains. A signal stops all of them; what
    /// was drawn is kept, and the next call goes on with it.
    pub fn fit(
        &self,
        whole: &Whole<'_>,
        indices: &[usize],
        interrupt: &Interrupt,
        context: &Context,
    ) -> Result<Vec<FoldFit>> {
        let folder = self.folder(whole.path);
        fs::create_dir_all(&folder)
            .map_err(|error| anyhow!("cannot create {}: {error}", folder.display()))
            .bad_input()?;
        let fits = indices.iter().map(|index| self.prepare(whole, *index));
        let fits = fits.collect::<Result<Vec<_>>>()?;
        let plans = fits.iter().map(|fit| self.begun(whole, fit)).collect::<Result<Vec<_>>>()?;
        let sweeps = plans.iter().map(Begun::sweeps).sum();
        if sweeps > 0 {
            let chains = plans.iter().map(|begun| begun.plan.chains).max().unwrap_or(1);
            let at_once =
                NonZero::new(context.threads.get() / chains).unwrap_or(NonZero::<usize>::MIN);
            let share =
                NonZero::new(context.threads.get() / at_once).unwrap_or(NonZero::<usize>::MIN);
            let progress = JobProgress::new(context.output, "folds", sweeps);
            let silent = Context {
                output: Output { quiet: true, ..context.output },
                threads: share,
                ..context.clone()
            };
            let results = run_jobs(fits.len(), at_once, |job| match interrupt.signal() {
                Some(_) => Ok(()),
                None => plans[job].run(&fits[job], interrupt, &silent, &progress),
            });
            progress.finish();
            results.into_iter().collect::<Result<Vec<()>>>()?;
        }
        if let Some(signal) = interrupt.signal() {
            let advice = format!(
                "what was drawn is kept in {}; repeat the command to go on with it",
                folder.display()
            );
            return Err(Failure::Interrupted { signal, advice });
        }
        Ok(fits)
    }

    /// What is left to do of a fold.
    fn begun(&self, whole: &Whole<'_>, fit: &FoldFit) -> Result<Begun> {
        let prepared = &fit.prepared;
        let training = self.folds.training(fit.index);
        let warm = warm_start(
            (whole.posterior, &whole.memories),
            (&*prepared.posterior, &training),
            &prepared.plan,
            prepared.spec.sampling.seed(),
        );
        let run = if fit.path.exists() { Some(open(&fit.path)?) } else { None };
        let Some(run) = run else {
            // Most of the rows take about as long to warm up for as all of them did, unless these
            // had no time.
            let own = whole.spec.sampling;
            let cold = match own.settle == Some(true) && own.time.is_none() {
                true => prepared.plan.with_warmup(whole.warmup),
                false => prepared.plan.clone(),
            };
            return Ok(Begun::new(warm, &cold, None));
        };
        let kept = Spec::from_toml(run.spec()).bad_input()?;
        if kept.data.fold != prepared.spec.data.fold
            || kept.data.sha256 != prepared.spec.data.sha256
        {
            return Err(Failure::bad_input(format!(
                "{} is a fold of another division or of other data; remove it, or use another \
                 --seed",
                fit.path.display()
            )));
        }
        // A run goes on with the warm-up that it was begun with.
        let warm = warm.filter(|warm| run.extent().warmup == warm.plan.warmup_iterations());
        Ok(Begun::new(warm, &prepared.plan.with_warmup(run.extent().warmup), Some(run)))
    }
}

/// A name of a division into so many folds that no other division of the same rows has.
pub fn division_name(scheme: &FoldScheme, count: usize) -> String {
    let FoldScheme { by, column, gap, seed, repetition, .. } = scheme;
    let mut name = match by {
        Some(FoldBy::Random) | None => format!("random-{count}-seed-{seed}"),
        Some(FoldBy::Stratified) => format!("stratified-{count}-seed-{seed}"),
        Some(FoldBy::Group) => format!("group-{count}-seed-{seed}"),
        Some(FoldBy::Block) => format!("block-{count}"),
        Some(FoldBy::Column) => "column".into(),
        Some(FoldBy::Row) => "row".into(),
    };
    if let Some(column) = column {
        let plain = |c: char| if c.is_ascii_alphanumeric() { c } else { '_' };
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

impl FoldFit {
    /// The draws of the fold.
    pub fn open(&self) -> Result<Run> {
        open(&self.path)
    }
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
    fn new(warm: Option<WarmStart>, usual: &Plan, run: Option<Run>) -> Self {
        let (mut plan, starts) = match warm {
            Some(WarmStart { memories, plan }) => (plan, Some(memories)),
            None => (usual.clone(), None),
        };
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
        fit: &FoldFit,
        interrupt: &Interrupt,
        context: &Context,
        progress: &JobProgress,
    ) -> Result<()> {
        if self.complete {
            return Ok(());
        }
        let found = fit.prepared.approximation(context.threads)?;
        let found = found.as_ref();
        let writer = match self.done {
            Some(_) => RunFolder::resume(&fit.path, self.plan.draws, options(interrupt))
                .map_err(store_failure)?,
            None => begin((&fit.prepared, &self.plan), found, &fit.path, interrupt)?,
        };
        let starts = self.starts.iter().flatten().cloned().map(Some).chain(std::iter::repeat(None));
        let memories: Vec<Option<ChainMemory>> =
            writer.memories().into_iter().zip(starts).map(|(own, start)| own.or(start)).collect();
        let recorder = Counting { writer: &writer, progress };
        let threads = context.threads;
        let outcome = fit.prepared.run(found, &self.plan, &memories, threads, &recorder);
        writer.finish().running()?;
        outcome.map_err(|error| {
            let fold = fit.index + 1;
            let held_out = text::count(fit.held_out, "row");
            Failure::Running(anyhow!("fold {fold} ({held_out} held out): {error}"))
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
