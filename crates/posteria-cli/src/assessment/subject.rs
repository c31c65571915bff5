//! Open a run that is to be assessed.

use std::path::{Path, PathBuf};

use posteria::data::{Cell, Table};
use posteria::diagnose::mean_effective_size;
use posteria::draws::Draws;
use posteria::fit::ChainMemory;
use posteria::model::spec::Spec;
use posteria_store::Run;

use crate::failure::{Classify, Failure, Result};
use crate::fitted::{Fitted, fitted, observed};
use crate::folds::Whole;
use crate::prepare::read_table;
use crate::sampling::{open, spec_of, store_failure};

/// A run that is to be assessed.
pub struct Subject {
    /// Its folder.
    pub path: PathBuf,
    /// Its specification.
    pub spec: Spec,
    /// Its data and its model.
    pub fitted: Fitted,
    /// Its draws, with the log likelihood of every row.
    pub draws: Draws,
    /// The targets of every row on the user's scale; classes as their indices.
    pub observed: Vec<Vec<f64>>,
    memories: Vec<ChainMemory>,
}

impl Subject {
    /// Opens the run in `path`, which must have draws, predict something, and know all rows.
    pub fn open(path: &Path) -> Result<Self> {
        let subject = Subject::open_part(path)?;
        match subject.spec.data.fold {
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
        let spec = spec_of((path, &run))?;
        if spec.model.kind.is_unsupervised() {
            let kind = spec.model.kind.name();
            return Err(Failure::bad_input(format!(
                "{shown} is a {kind} model, which has no targets to predict"
            )));
        }
        let fitted = fitted((path, &run), &spec, None)?;
        let draws = run.draws().map_err(store_failure)?;
        if draws.draws == 0 {
            return Err(Failure::bad_input(format!(
                "{shown} has no draws yet; wait for some, or go on with posteria resume {shown}"
            )));
        }
        let observed = observed(&fitted.dataset.targets, &fitted.encoder);
        let memories = run.memories().into_iter().flatten().collect();
        Ok(Subject { path: path.to_path_buf(), spec, fitted, draws, observed, memories })
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.observed.len()
    }

    /// Effective number of draws over their number: the mean over all variables, as ArviZ has it
    /// for the length of tails; 1 for one chain.
    pub fn relative_efficiency(&self) -> f64 {
        let draws = &self.draws;
        if draws.chains < 2 {
            return 1.0;
        }
        let total = (draws.chains * draws.draws) as f64;
        let efficiency = |component: usize| {
            let size = mean_effective_size(&draws.component(component)) / total;
            // What does not move is known exactly.
            if size.is_finite() { size } else { 1.0 }
        };
        let length = draws.layout.len();
        let mean = (0..length).map(efficiency).sum::<f64>() / length as f64;
        if mean > 0.0 { mean } else { 1.0 }
    }

    /// What its folds are made of.
    pub fn whole(&self) -> Whole<'_> {
        Whole {
            path: &self.path,
            spec: &self.spec,
            data: &self.fitted.dataset,
            encoder: &self.fitted.encoder,
            memories: self.memories.clone(),
            posterior: &*self.fitted.posterior,
        }
    }

    /// The table that the run was fitted to, and the row of it behind every row of the fit.
    pub fn table(&self) -> Result<(Table, Vec<usize>)> {
        let shown = self.path.display();
        let path = self.spec.data.path.as_ref().map(PathBuf::from).ok_or_else(|| {
            Failure::bad_input(format!("{shown} does not say where its data are"))
        })?;
        if !path.exists() {
            return Err(Failure::bad_input(format!(
                "the data of {shown}, {}, are not there any more; put the file back",
                path.display()
            )));
        }
        let (table, digest) = read_table(&path, self.spec.data.header)?;
        if self.spec.data.sha256.as_ref().is_some_and(|expected| *expected != digest) {
            return Err(Failure::bad_input(format!(
                "{} has changed since {shown} was fitted to it",
                path.display()
            )));
        }
        let table = self.fitted.encoder.name_by_position(table).bad_input()?;
        let rows = if table.rows() == self.rows() {
            (0..self.rows()).collect()
        } else {
            let missing = posteria::data::Missing::Drop;
            self.fitted.encoder.encode(&table, missing).bad_input()?.rows
        };
        if rows.len() != self.rows() {
            return Err(Failure::bad_input(format!(
                "{} has other complete rows than {shown} was fitted to",
                path.display()
            )));
        }
        Ok((table, rows))
    }

    /// The numbers of a column of its table, in the order of its rows.
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
