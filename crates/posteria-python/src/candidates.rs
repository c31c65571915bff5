//! Models that are compared by fits whose chains are run elsewhere.

use std::path::PathBuf;

use posteria::data;
use posteria::fit::Prepared;
use posteria::select::FitsElsewhere;
use posteria_store::{NewPlan, PlanFits, PlannedRun, WorkPlan};
use pyo3::prelude::*;
use serde_json::json;

use crate::error::{self, PosteriaError, SpecificationError};
use crate::fit::{Fit, Working, asked, checked};
use crate::questions::of_several;
use crate::table::Table;
use crate::units::{OWN, divided};
use crate::work::run;

/// Models of a table by name, with their specifications as JSON.
type Models = Vec<(String, String)>;

fn prepared(table: &data::Table, models: &Models) -> PyResult<Vec<Prepared>> {
    let each = models.iter().map(|(name, spec)| {
        let prepared = Prepared::new(checked(spec)?, table, None);
        let prepared = prepared.map_err(|error| error::of_prepare(&error))?;
        if !prepared.has_independent_chains() {
            let why = match prepared.is_sampled() {
                true => "say how long each runs with warmup=… and draws=…",
                false => "it has none; give what pt.fit makes of it",
            };
            let words = format!("the chains of {name} cannot be run elsewhere one by one: {why}");
            return Err(error::of::<SpecificationError>(words));
        }
        Ok(prepared)
    });
    each.collect()
}

/// Writes the chains of models of a table as a plan into a new folder.
#[pyfunction]
pub(crate) fn plan_chains(
    py: Python<'_>,
    table: &Table,
    models: Models,
    path: PathBuf,
    working: Working<'_>,
) -> PyResult<()> {
    let table = table.get()?;
    run(py, asked(working, false), |_| {
        let prepared = prepared(&table, &models)?;
        let runs = models.iter().zip(&prepared);
        let runs = runs.map(|((name, _), model)| PlannedRun::of_chains(name, model)).collect();
        let new = NewPlan { action: OWN, arguments: json!({ "models": models }), runs };
        WorkPlan::create(&path, &new).map(drop).map_err(error::of_work)
    })
}

/// The fits of these models by the chains that a plan has run.
#[pyfunction]
pub(crate) fn planned_fits(
    py: Python<'_>,
    table: &Table,
    models: Models,
    path: PathBuf,
    working: Working<'_>,
) -> PyResult<Vec<Fit>> {
    let table = table.get()?;
    run(py, asked(working, false), |_| {
        let fits = WorkPlan::open(&path).and_then(PlanFits::new).map_err(error::of_work)?;
        let models = models.iter().zip(prepared(&table, &models)?);
        let each = models.map(|((name, _), model)| {
            let found = fits.fit(name, model).map_err(error::of_assess)?;
            let none = || error::of::<PosteriaError>(format!("the plan has no chains of {name}"));
            found.map(Fit::of).ok_or_else(none)
        });
        each.collect()
    })
}

/// Adds the folds of fits to a plan, as a stage of units, unless it has them; how many.
#[pyfunction]
pub(crate) fn add_folds(
    py: Python<'_>,
    fits: Vec<(String, Py<Fit>)>,
    method: &str,
    utilities: Vec<String>,
    path: PathBuf,
    working: Working<'_>,
) -> PyResult<usize> {
    of_several(py, &fits, (working, 1), |fits| {
        let mut plan = WorkPlan::open(&path).map_err(error::of_work)?;
        let units = plan.units().map_err(error::of_work)?;
        match units.iter().any(|unit| unit.work.fold().is_some()) {
            true => Ok(0),
            false => plan.extend(&divided(fits, method, &utilities)?).map_err(error::of_work),
        }
    })
}
