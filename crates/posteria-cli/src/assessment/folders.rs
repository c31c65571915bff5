//! Fit the training rows of every fold of a run, each in a run folder of its own.

use std::fs;
use std::num::NonZero;
use std::path::{Path, PathBuf};

use anyhow::anyhow;
use posteria::assess::{
    Division, EachFold, FoldModel, Method, Note, Refit, RowUtilities, Valuation,
};
use posteria::fit::{Workers, run_jobs};
use posteria::model::accelerator::Placement;
use posteria::random::Seed;
use posteria_store::{FoldRun, PartOptions, PlannedDivision, fold_folder};

use super::{Plan, Subject};
use crate::elsewhere::{Wanted, unless_elsewhere};
use crate::failure::{Classify, Failure, Result, store_failure};
use crate::progress::{JobProgress, Watched};
use crate::sampling::{open, options};
use crate::text;

/// The models of folds, with their folders.
type Folds = Vec<(FoldModel, PathBuf)>;

/// Most folds at once that a device does.
const MOST_AT_ONCE: usize = 32;

/// The folds of a run, in its folder: what was fitted once is not fitted again.
pub struct FoldFolders<'a> {
    subject: &'a Subject,
    watched: Watched<'a>,
    /// Names the streams of all that is drawn.
    pub seed: Seed,
    /// By what predictions are valued, if whoever fits folds elsewhere is to do that.
    valuation: Option<&'a Valuation>,
}

impl<'a> FoldFolders<'a> {
    /// Of this run.
    pub fn new(subject: &'a Subject, seed: Seed, watched: Watched<'a>) -> Self {
        FoldFolders { subject, watched, seed, valuation: None }
    }

    /// The same folds, whose predictions are valued as a plan says wherever they are fitted.
    #[must_use]
    pub fn valued(self, plan: &'a Plan) -> Self {
        FoldFolders { valuation: plan.valuation.as_ref(), ..self }
    }

    /// Who works.
    pub fn workers(&self) -> &Workers {
        &self.watched.workers
    }

    /// The folder of all folds of this division.
    fn folder(&self, division: &Division) -> PathBuf {
        let of = (&division.scheme, division.folds.count());
        let first = fold_folder(&self.subject.path, of, 0);
        first.parent().unwrap_or(&first).to_path_buf()
    }

    /// Takes note of all folds of a method that are to be fitted elsewhere.
    ///
    /// # Errors
    /// [`Failure::Elsewhere`] if there are any.
    pub fn want(&self, method: &Method) -> Result<()> {
        let mut missing = false;
        for (division, folds) in self.all(method)? {
            missing |= unless_elsewhere(self.fit(&division, &folds))?.is_none();
        }
        if missing { Err(Failure::Elsewhere) } else { Ok(()) }
    }

    /// Fits all folds of several runs at the same time, where a device does all of them: one run after the
    /// other leaves most of it idle.
    ///
    /// # Errors
    /// [`Failure`] as when they are fitted for one run.
    pub fn fit_on_device(runs: &[(FoldFolders<'_>, &Method)]) -> Result<()> {
        let Some((first, _)) = runs.first().filter(|_| runs.len() > 1) else { return Ok(()) };
        if !runs.iter().all(|(run, _)| run.is_on_device()) {
            return Ok(());
        }
        let all = runs.iter().map(|(run, method)| run.all(method));
        let all = all.collect::<Result<Vec<_>>>()?;
        let mut begun = Vec::new();
        for ((run, _), divisions) in runs.iter().zip(&all) {
            for (division, folds) in divisions {
                begun.extend(run.begun(division, folds)?);
            }
        }
        let Some((division, _)) = all.first().and_then(|divisions| divisions.first()) else {
            return Ok(());
        };
        first.run_all(&begun, &first.folder(division))
    }

    /// Whether a device computes the chains of the run, and so those of its folds.
    fn is_on_device(&self) -> bool {
        matches!(self.subject.fit.prepared.placement(), Placement::Device(_))
    }

    /// The divisions of a method, with the models of all their folds and their folders.
    fn all(&self, method: &Method) -> Result<Vec<(Division, Folds)>> {
        let Method::KFold { schemes, draws } = method else { return Ok(Vec::new()) };
        let labels = |column: &str| self.labels(column);
        let divisions = Division::all(&self.subject.fit, (schemes, *draws), labels)?;
        let with_folds = divisions.into_iter().map(|division| {
            let indices: Vec<usize> = (0..division.folds.count()).collect();
            let folds = self.folds(&division, &indices)?;
            Ok((division, folds))
        });
        with_folds.collect()
    }

    /// A division for a plan, with the number of training rows of each fold.
    ///
    /// # Errors
    /// [`Failure`] if there is no column that divides rows.
    pub fn planned(&self, division: &Division) -> Result<(PlannedDivision, Vec<usize>)> {
        let column = division.scheme.column.as_ref();
        let labels = column.map(|column| self.labels(column)).transpose()?;
        Ok(PlannedDivision::of(division, labels, self.valuation))
    }

    /// The models of folds, with their folders.
    fn folds(&self, division: &Division, indices: &[usize]) -> Result<Folds> {
        let of = (&division.scheme, division.folds.count());
        let folds = indices.iter().map(|index| {
            let fold = division.model(&self.subject.fit, *index).bad_input()?;
            Ok((fold, fold_folder(&self.subject.path, of, *index)))
        });
        folds.collect()
    }

    /// Fits the folds, as far as that has not been done before: at once as many as there are threads
    /// for, each with all its chains. A signal stops all of them; what was drawn is kept, and the next
    /// call goes on with it.
    fn fit(&self, division: &Division, folds: &[(FoldModel, PathBuf)]) -> Result<()> {
        let begun = self.begun(division, folds)?;
        let sweeps: usize = begun.iter().map(FoldRun::sweeps).sum();
        if let (true, Some(elsewhere)) = (sweeps > 0, &self.watched.elsewhere) {
            let (divisions, path) = (vec![self.planned(division)?], self.subject.path.clone());
            return Err(elsewhere.want(Wanted::Folds { path, divisions }));
        }
        self.run_all(&begun, &self.folder(division))
    }

    /// What is left to do of folds.
    fn begun<'b>(
        &'b self,
        division: &Division,
        folds: &'b [(FoldModel, PathBuf)],
    ) -> Result<Vec<FoldRun<'b>>> {
        let folder = self.folder(division);
        fs::create_dir_all(&folder)
            .map_err(|error| anyhow!("cannot create {}: {error}", folder.display()))
            .bad_input()?;
        let of_fit = &self.subject.fit;
        let begun = folds.iter().map(|(fold, path)| FoldRun::open(of_fit, division, fold, path));
        Ok(begun.collect::<Result<Vec<_>, _>>()?)
    }

    /// Does what is left of folds, those of `folder` among them.
    fn run_all(&self, begun: &[FoldRun<'_>], folder: &Path) -> Result<()> {
        let sweeps = begun.iter().map(FoldRun::sweeps).sum();
        if !begun.iter().all(FoldRun::is_done) {
            let one = NonZero::<usize>::MIN;
            let threads = self.workers().threads.get();
            let chains = begun.iter().map(FoldRun::chains).max().unwrap_or(1);
            // Those that a device does only wait for it, and it has room for all of them.
            let wait = begun.iter().all(FoldRun::is_on_device);
            let many = if wait { begun.len().min(MOST_AT_ONCE) } else { threads / chains };
            let at_once = NonZero::new(many).unwrap_or(one);
            let share = NonZero::new(threads / at_once).unwrap_or(one);
            let progress = JobProgress::new(self.watched.output, "folds", sweeps);
            let results =
                run_jobs(begun.len(), at_once, |job| match self.watched.interrupt.signal() {
                    Some(_) => Ok(()),
                    None => {
                        let (write, seen) =
                            (options(self.watched.interrupt), || progress.finish_one());
                        let part = PartOptions { threads: share, write: &write, seen: &seen };
                        begun[job].run(part).map(|_| ())
                    }
                });
            progress.finish();
            results.into_iter().collect::<Result<Vec<()>, _>>()?;
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

    fn valued(&self, division: &Division, fold: usize) -> Result<Option<Vec<RowUtilities>>> {
        match (&self.watched.collected, self.valuation) {
            (Some(collected), Some(asked)) => {
                collected.valued(&self.subject.path, (division, fold), asked)
            }
            _ => Ok(None),
        }
    }

    fn refit(
        &self,
        division: &Division,
        indices: &[usize],
        each: &mut EachFold<'_, Failure>,
    ) -> Result<()> {
        let folds = self.folds(division, indices)?;
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
