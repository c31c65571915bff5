//! Open a run that is to be assessed.

use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use posteria::assess::utility::UtilityFunction;
use posteria::assess::{Assessor, HeldOutRows};
use posteria::data::{Cell, Missing, Table};
use posteria::fit::Fit;
use posteria_store::Run;

use super::FoldFolders;
use crate::failure::{Classify, Failure, Result, store_failure};
use crate::fitted::fitted;
use crate::prepare::{Source, read_table};
use crate::sampling::{open, spec_of};
use crate::verdict;
use crate::warning::Warnings;

/// A run that is to be assessed.
pub struct Subject {
    /// Its folder.
    pub path: PathBuf,
    /// Its model, data and draws, without log likelihoods.
    pub fit: Fit,
    /// Its folder as it was opened.
    pub run: Run,
    /// Rows that it has not seen, if it is judged by them.
    test: Option<HeldOutRows>,
    /// The table of the rows that it is judged by, and the row of it behind each of them; read when
    /// first asked for.
    table: OnceLock<(Table, Vec<usize>)>,
}

impl Deref for Subject {
    type Target = Fit;

    fn deref(&self) -> &Fit {
        &self.fit
    }
}

impl Subject {
    /// Opens the run in `path`, which must have draws, predict something, and know all rows.
    pub fn open(path: &Path) -> Result<Self> {
        let subject = Subject::open_part(path)?;
        match subject.prepared.spec.data.fold {
            None => Ok(subject),
            Some(_) => Err(Failure::bad_input(format!(
                "{} is one fold of a cross-validation; give the run that was fitted to all rows",
                path.display()
            ))),
        }
    }

    /// The same of a run that may know only the training rows of a fold.
    pub fn open_part(path: &Path) -> Result<Self> {
        let run: Run = open(path)?;
        let shown = path.display();
        let spec = spec_of(&run)?;
        if spec.model.kind.is_unsupervised() {
            let kind = spec.model.kind.name();
            return Err(Failure::bad_input(format!(
                "{shown} is a {kind} model, which has no targets to predict"
            )));
        }
        let fitted = fitted(&run, &spec, None)?;
        let draws = run.draws_of_variables().map_err(store_failure)?;
        let draws = draws.laid_out_as(fitted.posterior.layout());
        if draws.draws == 0 {
            return Err(Failure::bad_input(format!(
                "{shown} has no draws yet; wait for some, or go on with posteria resume {shown}"
            )));
        }
        let memories = run.memories().into_iter().flatten().collect();
        let fit = Fit::new(fitted, draws, memories, run.extent().warmup);
        let (path, table) = (path.to_path_buf(), OnceLock::new());
        Ok(Subject { path, fit, run, test: None, table })
    }

    /// What assesses it by these utilities, with fits to folds in its folder.
    pub fn assessor<'a>(
        &'a self,
        utilities: &'a [Box<dyn UtilityFunction>],
        refit: &'a FoldFolders<'a>,
    ) -> Assessor<'a, FoldFolders<'a>> {
        let held_out = self.test.as_ref().map(HeldOutRows::as_held_out);
        let (seed, workers) = (refit.seed, refit.workers());
        Assessor { fit: &self.fit, utilities, held_out, seed, workers, refit }
    }

    /// Repeats what is to be said about the draws of the run.
    pub fn repeat_verdict(&self, warnings: &Warnings) {
        let inference = self.prepared.spec.sampling.inference();
        let found = self.run.approximation();
        verdict::repeat(&self.path, &self.draws, inference, found, warnings);
    }

    /// Judges the run by the rows of the table `path`, which it must not have seen.
    pub fn hold_out(&mut self, path: &Path) -> Result<()> {
        let (table, digest) = read_table(path, self.prepared.spec.data.header)?;
        let (shown, run) = (path.display(), self.path.display());
        if self.prepared.spec.data.sha256.as_ref() == Some(&digest) {
            return Err(Failure::bad_input(format!(
                "{shown} is the table that {run} was fitted to; give rows that it has not seen, or \
                 use --method posterior"
            )));
        }
        let encoder = &self.prepared.encoder;
        let table = encoder.name_by_position(table).bad_input()?;
        let test = HeldOutRows::new(&self.prepared, &table)?;
        self.table = OnceLock::from((table, test.rows().to_vec()));
        self.test = Some(test);
        Ok(())
    }

    /// Has the rows that are held out predicted by draws with these logarithms of their weights.
    pub fn weigh_draws(&mut self, log_weights: Vec<f64>) {
        self.test = self.test.take().map(|rows| rows.weighted(Some(log_weights)));
    }

    /// The targets of the rows that it is judged by: its own unless others were held out.
    pub fn judged(&self) -> &[Vec<f64>] {
        self.test.as_ref().map_or(&self.observed, HeldOutRows::observed)
    }

    /// Groups of the rows that it is judged by, by the column that the run was given for them.
    pub fn groups(&self) -> Result<Option<Vec<usize>>> {
        let column = self.prepared.spec.data.group.as_ref();
        match (column, self.test.is_some()) {
            (Some(column), true) => {
                let (table, rows) = self.table()?;
                Ok(Some(table.labels(column, rows).bad_input()?))
            }
            _ => Ok(self.prepared.data.groups.clone()),
        }
    }

    /// The table of the rows that it is judged by, and the row of it behind each of them.
    pub fn table(&self) -> Result<&(Table, Vec<usize>)> {
        if let Some(known) = self.table.get() {
            return Ok(known);
        }
        let read = self.read()?;
        Ok(self.table.get_or_init(|| read))
    }

    /// Reads the table that the run was fitted to.
    fn read(&self) -> Result<(Table, Vec<usize>)> {
        let shown = self.path.display();
        let path = match Source::of_run(&self.run, &self.prepared.spec)? {
            Source::File(path) => path,
            Source::Kept(table) => return Ok((table, (0..self.rows()).collect())),
        };
        let (table, digest) = read_table(&path, self.prepared.spec.data.header)?;
        if self.prepared.spec.data.sha256.as_ref().is_some_and(|expected| *expected != digest) {
            return Err(Failure::bad_input(format!(
                "{} has changed since {shown} was fitted to it",
                path.display()
            )));
        }
        let table = self.prepared.encoder.name_by_position(table).bad_input()?;
        let rows = if table.rows() == self.rows() {
            (0..self.rows()).collect()
        } else {
            self.prepared.encoder.encode(&table, Missing::Drop).bad_input()?.rows
        };
        if rows.len() != self.rows() {
            return Err(Failure::bad_input(format!(
                "{} has other complete rows than {shown} was fitted to",
                path.display()
            )));
        }
        Ok((table, rows))
    }

    /// The numbers of a column of the rows that it is judged by.
    pub fn numbers(&self, column: &str) -> Result<Vec<f64>> {
        let (table, rows) = self.table()?;
        let cells = table.column(column).bad_input()?;
        let number = |row: &usize| match cells.cell(*row) {
            Cell::Number(value) => Ok(value),
            other => Err(Failure::bad_input(format!(
                "{column} is {other} in row {}; a column of numbers is needed",
                row + 1
            ))),
        };
        rows.iter().map(number).collect()
    }
}
