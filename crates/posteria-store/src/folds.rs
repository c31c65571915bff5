//! Fit the training rows of a fold in a run folder of its own, or go on with that.

use std::num::NonZero;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use posteria::assess::{AssessError, Division, FoldModel, FoldStart};
use posteria::data::{FoldBy, FoldScheme};
use posteria::evidence::LadderError;
use posteria::fit::{
    ApproximationError, Chain, ChainMemory, Fit, FitError, Outcome, Prepared, Recorder, Report,
};
use posteria::model::accelerator::Placement;
use posteria::model::spec::Spec;
use posteria::sample::Plan;

use crate::{FitFolderError, Run, RunFolder, RunWriter, StoreError, WriteOptions};

/// Why a part of larger work could not be done.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PartError {
    /// The folder of a fold is that of another.
    #[error(
        "{} is a fold of another division or of other data; remove it, or use another --seed",
        path.display()
    )]
    OtherDivision {
        /// The folder.
        path: PathBuf,
    },
    /// A folder cannot be written or read.
    #[error("{0}")]
    Folder(Box<FitFolderError>),
    /// A fold cannot be fitted.
    #[error("{0}")]
    Assess(Box<AssessError>),
    /// Chains cannot run.
    #[error("{0}")]
    Fit(Box<FitError>),
    /// What takes the place of chains, or is their start, cannot be found.
    #[error("{0}")]
    Approximation(Box<ApproximationError>),
    /// A ladder of temperatures cannot run.
    #[error("{0}")]
    Ladder(Box<LadderError>),
    /// The table of a fit cannot be read.
    #[error("{message}")]
    Table {
        /// Why.
        message: String,
    },
}

impl From<StoreError> for PartError {
    fn from(error: StoreError) -> Self {
        FitFolderError::from(error).into()
    }
}

impl From<FitFolderError> for PartError {
    fn from(error: FitFolderError) -> Self {
        PartError::Folder(Box::new(error))
    }
}

impl From<AssessError> for PartError {
    fn from(error: AssessError) -> Self {
        PartError::Assess(Box::new(error))
    }
}

impl From<FitError> for PartError {
    fn from(error: FitError) -> Self {
        PartError::Fit(Box::new(error))
    }
}

impl From<ApproximationError> for PartError {
    fn from(error: ApproximationError) -> Self {
        PartError::Approximation(Box::new(error))
    }
}

/// Reads a table, and conditions the model of a specification on it.
pub type ReadTable<'a> = dyn Fn(&Spec, &Path) -> Result<Prepared, PartError> + 'a;

/// How a part of larger work is done.
#[derive(Clone, Copy)]
pub struct PartOptions<'a> {
    /// Most threads.
    pub threads: NonZero<usize>,
    /// How folders are written, and what ends the work.
    pub write: &'a WriteOptions,
    /// Called after every sweep.
    pub seen: &'a (dyn Fn() + Sync),
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

/// The folder of a fold, counted from 0, of the run in `run`.
pub fn fold_folder(run: &Path, (scheme, count): (&FoldScheme, usize), index: usize) -> PathBuf {
    let division = division_name(scheme, count);
    run.join("folds").join(division).join(format!("fold-{:04}", index + 1))
}

/// The fit to the training rows of a fold, and how far it is.
pub struct FoldRun<'a> {
    fold: &'a FoldModel,
    held_out: usize,
    work: ChainsInFolder<'a>,
}

impl<'a> FoldRun<'a> {
    /// What is left to do of a fold of `fit` in the folder `path`, which need not be there yet.
    ///
    /// # Errors
    /// [`PartError`] if something else is there.
    pub fn open(
        fit: &Fit,
        division: &Division,
        fold: &'a FoldModel,
        path: &Path,
    ) -> Result<Self, PartError> {
        FoldRun::of_chains((fit, division), fold, None, path)
    }

    /// The same of this chain alone, counted from 0, which has the draws that it has among all; of all if
    /// it is none.
    ///
    /// # Errors
    /// [`PartError`] as [`FoldRun::open`].
    pub(crate) fn of_chains(
        (fit, division): (&Fit, &Division),
        fold: &'a FoldModel,
        chain: Option<usize>,
        path: &Path,
    ) -> Result<Self, PartError> {
        let mut start = division.start(fit, fold);
        let mut run = None;
        if path.exists() {
            let kept = Run::open(path)?;
            let spec = Spec::from_toml(kept.spec()).map_err(FitFolderError::from)?;
            let own = &fold.prepared.spec.data;
            if spec.data.fold != own.fold || spec.data.sha256 != own.sha256 {
                return Err(PartError::OtherDivision { path: path.to_path_buf() });
            }
            // A run goes on with the warm-up that it was begun with.
            let warmup = kept.extent().warmup;
            let is_warm = start.memories.is_some() && warmup == start.plan.warmup_iterations();
            if !is_warm {
                let plan = fold.prepared.plan.with_warmup(warmup);
                start = FoldStart { plan, memories: None };
            }
            start.plan.pointwise = kept.rows() > 0;
            run = Some(kept);
        }
        let FoldStart { mut plan, memories: mut starts } = start;
        if let Some(chain) = chain {
            (plan.first_chain, plan.chains) = (plan.first_chain + chain, 1);
            starts = starts.map(|all| all.into_iter().skip(chain).take(1).collect());
        }
        let held_out = division.folds.held_out(fold.index).len();
        let work = ChainsInFolder::new(&fold.prepared, (plan, starts), (path, run.as_ref()));
        Ok(FoldRun { fold, held_out, work })
    }

    /// Chains of the fold.
    pub fn chains(&self) -> usize {
        self.work.plan.chains
    }

    /// Whether a device does the work, beside that of other folds.
    pub fn is_on_device(&self) -> bool {
        matches!(self.fold.prepared.placement(), Placement::Device(_))
    }

    /// Sweeps left to do.
    pub fn sweeps(&self) -> usize {
        self.work.sweeps()
    }

    /// Begins the folder, without a draw.
    pub(crate) fn begin(&self) -> Result<(), PartError> {
        let ChainsInFolder { prepared, plan, path, .. } = &self.work;
        // As a folder that has been begun, and not as one that was left.
        drop(RunFolder::begin((prepared, plan), None, path, WriteOptions::default())?);
        Ok(())
    }

    /// Whether nothing is left to do, the end of the folder included.
    pub fn is_done(&self) -> bool {
        self.work.complete && self.work.closed
    }

    /// Does what is left; whether all is done then.
    ///
    /// # Errors
    /// [`PartError`] if chains or the folder fail.
    pub fn run(&self, options: PartOptions<'_>) -> Result<bool, PartError> {
        self.work.run(options).map_err(|error| match error {
            PartError::Fit(error) => {
                let (fold, held_out) = (self.fold.index + 1, self.held_out);
                AssessError::Fit { fold, held_out, error }.into()
            }
            error => error,
        })
    }
}

/// Chains that run into a folder, from where they are there.
pub(crate) struct ChainsInFolder<'a> {
    prepared: &'a Prepared,
    plan: Plan,
    /// Where chains that have not begun begin; none: anywhere.
    starts: Option<Vec<ChainMemory>>,
    path: PathBuf,
    /// Sweeps done of each chain, if there is a folder.
    done: Option<Vec<usize>>,
    complete: bool,
    /// Whether whoever wrote the folder ended by itself.
    closed: bool,
}

impl<'a> ChainsInFolder<'a> {
    pub(crate) fn new(
        prepared: &'a Prepared,
        (plan, starts): (Plan, Option<Vec<ChainMemory>>),
        (path, run): (&Path, Option<&Run>),
    ) -> Self {
        let complete =
            run.is_some_and(|run| run.chain_draws().iter().all(|draws| *draws >= plan.draws));
        let (path, done) = (path.to_path_buf(), run.map(Run::chain_iterations));
        let closed = run.is_some_and(Run::is_closed);
        ChainsInFolder { prepared, plan, starts, path, done, complete, closed }
    }

    fn sweeps(&self) -> usize {
        let all = self.plan.chains * self.plan.iterations();
        match (&self.done, self.complete) {
            (_, true) => 0,
            (None, _) => all,
            (Some(done), _) => all.saturating_sub(done.iter().sum()),
        }
    }

    /// Whether all is done then.
    pub(crate) fn run(&self, options: PartOptions<'_>) -> Result<bool, PartError> {
        let PartOptions { threads, write, seen } = options;
        if self.complete {
            // It may have been left, or copied, between its last draw and its end.
            RunFolder::close(&self.path, write.clone())?;
            return Ok(true);
        }
        let found = self.prepared.approximation(threads)?;
        let found = found.as_ref();
        let writer = match self.done {
            Some(_) => RunFolder::resume(&self.path, self.plan.draws, write.clone())?,
            None => {
                let is_told = self.prepared.spec.sampling.inference().is_approximation();
                let result = found.filter(|_| is_told).map(|found| &found.result);
                RunFolder::begin((self.prepared, &self.plan), result, &self.path, write.clone())?
            }
        };
        let starts = self.starts.iter().flatten().cloned().map(Some).chain(std::iter::repeat(None));
        let memories: Vec<Option<ChainMemory>> =
            writer.memories().into_iter().zip(starts).map(|(own, start)| own.or(start)).collect();
        let recorder = Counting { writer: &writer, seen };
        let outcome = self.prepared.run(found, &self.plan, &memories, threads, &recorder);
        // What stopped the chains comes first: a full disk explains why they did not finish.
        writer.finish()?;
        Ok(outcome? == Outcome::Complete)
    }
}

/// Counts sweeps as they are written.
struct Counting<'a> {
    writer: &'a RunWriter,
    seen: &'a (dyn Fn() + Sync),
}

impl Recorder for Counting<'_> {
    fn goes_on(&self, sweeps: usize) -> bool {
        self.writer.goes_on(sweeps)
    }

    fn after_sweep(&self, report: &Report<'_>, chain: &Chain<'_>) -> ControlFlow<()> {
        (self.seen)();
        self.writer.after_sweep(report, chain)
    }
}
