//! Columns of a Python table.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use numpy::PyReadonlyArray1;
use posteria::data::{self, Column};
use pyo3::prelude::*;

use crate::error::{self, DataError};

/// A table of named columns.
#[pyclass(frozen, module = "posteria._posteria")]
pub(crate) struct Table {
    /// Gone when a fit has encoded it: a large table is not held twice while chains run.
    table: Mutex<Option<Arc<data::Table>>>,
}

impl Table {
    fn new(table: data::Table) -> Self {
        Table { table: Mutex::new(Some(Arc::new(table))) }
    }

    /// The table itself.
    pub(crate) fn get(&self) -> PyResult<Arc<data::Table>> {
        let held = self.table.lock().unwrap_or_else(PoisonError::into_inner);
        held.clone().ok_or_else(|| error::of::<DataError>("the table was given to a fit"))
    }

    /// The table, which nobody has any more after this.
    pub(crate) fn take(&self) -> PyResult<Arc<data::Table>> {
        let table = self.get()?;
        *self.table.lock().unwrap_or_else(PoisonError::into_inner) = None;
        Ok(table)
    }
}

#[pymethods]
impl Table {
    /// Of columns by name: one-dimensional arrays of 64-bit floats, in which NaN is a missing cell, lists
    /// of texts, in which None is, or pairs of labels and codes of categories, in which -1 is. `source`
    /// is what errors call the table.
    #[staticmethod]
    fn from_columns(source: &str, columns: Vec<(String, Bound<'_, PyAny>)>) -> PyResult<Self> {
        let read = |(name, values): (String, Bound<'_, PyAny>)| {
            let column = column(&values).map_err(|error| {
                let reason = error.value(values.py()).to_string();
                error::of::<DataError>(format!("{source}: column {name}: {reason}"))
            })?;
            Ok((name, column))
        };
        let columns = columns.into_iter().map(read).collect::<PyResult<Vec<_>>>()?;
        let table = data::Table::new(source, columns).map_err(error::of::<DataError>)?;
        Ok(Table::new(table))
    }

    /// Of a text file.
    #[staticmethod]
    fn read(py: Python<'_>, path: PathBuf) -> PyResult<Self> {
        let table = py.detach(|| data::Table::read(path)).map_err(error::of::<DataError>)?;
        Ok(Table::new(table))
    }

    /// Names of the columns.
    #[getter]
    fn names(&self) -> PyResult<Vec<String>> {
        Ok(self.get()?.names().to_vec())
    }

    /// For every row a number that is the same where the cells of a column are.
    fn labels(&self, column: &str) -> PyResult<Vec<usize>> {
        let table = self.get()?;
        let rows: Vec<usize> = (0..table.rows()).collect();
        table.labels(column, &rows).map_err(error::of::<DataError>)
    }

    /// Number of rows.
    #[getter]
    fn rows(&self) -> PyResult<usize> {
        Ok(self.get()?.rows())
    }
}

fn column(values: &Bound<'_, PyAny>) -> PyResult<Column> {
    if let Ok(numbers) = values.extract::<PyReadonlyArray1<'_, f64>>() {
        // Whatever the strides are: a column of a frame lies across the memory of its rows.
        return Ok(Column::numbers(numbers.as_array().to_vec()));
    }
    let too_long = || error::of::<DataError>("its texts take more than 4 GiB");
    if let Ok((labels, codes)) = values.extract::<(Vec<String>, PyReadonlyArray1<'_, i64>)>() {
        let name = |code: &i64| usize::try_from(*code).ok().and_then(|it| labels.get(it));
        let codes = codes.as_array();
        let names = codes.iter().map(|code| name(code).map_or("", String::as_str));
        return Column::categories(names).ok_or_else(too_long);
    }
    let texts: Vec<Option<String>> = values.extract()?;
    let texts = texts.iter().map(|text| text.as_deref().unwrap_or(""));
    Column::from_texts(texts).ok_or_else(too_long)
}
