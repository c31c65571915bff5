//! Open a run that is to be assessed.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use posteria::data::{Cell, Missing, Table};
use posteria::diagnose::mean_effective_size;
use posteria::draws::Draws;
use posteria::fit::ChainMemory;
use posteria::model::spec::{MissingPolicy, Spec};
use posteria_linalg::Matrix;
use posteria_store::Run;

use crate::commands::Context;
use crate::failure::{Classify, Failure, Result};
use crate::fitted::{Fitted, fitted, observed};
use crate::folds::Whole;
use crate::prepare::read_table;
use crate::sampling::{open, spec_of, store_failure};
use crate::verdict;

/// A run that is to be assessed.
pub struct Subject {
    /// Its folder.
    pub path: PathBuf,
    /// Its specification.
    pub spec: Spec,
    /// Its data and its model.
    pub fitted: Fitted,
    /// Its draws, without log likelihoods.
    pub draws: Draws,
    /// Its folder as it was opened.
    pub run: Run,
    /// The targets of every row on the user's scale; classes as their indices.
    pub observed: Vec<Vec<f64>>,
    memories: Vec<ChainMemory>,
    /// Rows that it has not seen, if it is judged by them.
    test: Option<Test>,
    /// Logarithms of the weights of its draws at these rows, where they are not equal.
    pub log_weights: Option<Vec<f64>>,
    /// The table of the rows that it is judged by, and the row of it behind each of them; read when
    /// first asked for.
    table: OnceLock<(Table, Vec<usize>)>,
}

/// Rows that a run has not seen.
struct Test {
    /// Inputs, standardised like those of the run.
    inputs: Matrix,
    /// The targets on the user's scale; classes as their indices.
    observed: Vec<Vec<f64>>,
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
        let draws = run.draws_of_variables().map_err(store_failure)?;
        let draws = draws.laid_out_as(fitted.posterior.layout());
        if draws.draws == 0 {
            return Err(Failure::bad_input(format!(
                "{shown} has no draws yet; wait for some, or go on with posteria resume {shown}"
            )));
        }
        let observed = observed(&fitted.dataset.targets, &fitted.encoder);
        let memories = run.memories().into_iter().flatten().collect();
        let (path, table) = (path.to_path_buf(), OnceLock::new());
        let (test, log_weights) = (None, None);
        Ok(Subject { path, spec, fitted, draws, run, observed, memories, test, log_weights, table })
    }

    /// Repeats what is to be said about the draws of the run.
    pub fn repeat_verdict(&self, context: &Context) {
        let inference = self.spec.sampling.inference();
        let found = self.run.approximation();
        verdict::repeat(&self.path, &self.draws, inference, found, context);
    }

    /// Judges the run by the rows of the table `path`, which it must not have seen.
    pub fn hold_out(&mut self, path: &Path) -> Result<()> {
        let (table, digest) = read_table(path, self.spec.data.header)?;
        let (shown, run) = (path.display(), self.path.display());
        if self.spec.data.sha256.as_ref() == Some(&digest) {
            return Err(Failure::bad_input(format!(
                "{shown} is the table that {run} was fitted to; give rows that it has not seen, or \
                 use --method posterior"
            )));
        }
        let encoder = &self.fitted.encoder;
        let table = encoder.name_by_position(table).bad_input()?;
        let missing = match self.spec.data.missing {
            MissingPolicy::Error => Missing::Error,
            MissingPolicy::Drop => Missing::Drop,
        };
        let encoded = encoder.encode(&table, missing).bad_input()?;
        let targets = encoded.targets.ok_or_else(|| {
            let names = encoder.target_names().join(", ");
            Failure::bad_input(format!("{shown}: predictions are valued by the target {names}"))
        })?;
        if encoded.inputs.rows() == 0 {
            return Err(Failure::bad_input(format!("{shown} has no complete row")));
        }
        let observed = observed(&targets, encoder);
        self.test = Some(Test { inputs: encoded.inputs, observed });
        self.table = OnceLock::from((table, encoded.rows));
        Ok(())
    }

    /// The targets of the rows that it is judged by: its own unless others were held out.
    pub fn judged(&self) -> &[Vec<f64>] {
        self.test.as_ref().map_or(&self.observed, |test| &test.observed)
    }

    /// Inputs of rows that were held out.
    pub fn test_inputs(&self) -> Option<&Matrix> {
        self.test.as_ref().map(|test| &test.inputs)
    }

    /// Groups of the rows that it is judged by, by the column that the run was given for them.
    pub fn groups(&self) -> Result<Option<Vec<usize>>> {
        let column = self.spec.data.group.as_ref();
        match (column, self.test.is_some()) {
            (Some(column), true) => {
                let (table, rows) = self.table()?;
                Ok(Some(table.labels(column, rows).bad_input()?))
            }
            _ => Ok(self.fitted.dataset.groups.clone()),
        }
    }

    /// Number of rows that it was fitted to.
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
            warmup: self.run.extent().warmup,
            posterior: &*self.fitted.posterior,
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
            self.fitted.encoder.encode(&table, Missing::Drop).bad_input()?.rows
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
