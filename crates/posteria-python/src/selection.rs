//! Which inputs matter: here, or by units that are done elsewhere.

use std::num::NonZero;
use std::path::PathBuf;
use std::sync::Arc;

use posteria::assess::{Better, TargetFacts, Utility};
use posteria::data::Table as Rows;
use posteria::fit::{FitOptions, Workers};
use posteria::model::spec::{Spec, TimeBudget};
use posteria::select::{
    SelectOptions, Selection, SelectionError, prepare_search, select_inputs,
    select_inputs_elsewhere,
};
use posteria_store::{NewPlan, PlanFits, PlannedRun, WorkPlan};
use pyo3::prelude::*;
use serde_json::{Value, json};

use crate::chains;
use crate::error::{self, SpecificationError};
use crate::fit::{Working, asked};
use crate::table::Table;
use crate::units::OWN;
use crate::work::run;

/// What is asked for.
struct Search {
    table: Arc<Rows>,
    target: String,
    spec: Spec,
    how: Value,
}

impl Search {
    fn new(table: &Table, target: &str, spec: &str, how: &str) -> PyResult<Self> {
        let spec = Spec::from_json(spec).map_err(error::of::<SpecificationError>)?;
        let how = serde_json::from_str(how).map_err(error::of::<SpecificationError>)?;
        Ok(Search { table: table.get()?, target: target.into(), spec, how })
    }

    fn options(&self, workers: &Workers) -> PyResult<(FitOptions, SelectOptions)> {
        let how = &self.how;
        let number = |key: &str| how[key].as_u64().map(|it| it as usize);
        let time = how["time"].as_str().map(str::parse::<TimeBudget>).transpose();
        let options = FitOptions {
            chains: number("chains").and_then(NonZero::new),
            warmup: number("warmup"),
            draws: number("draws").and_then(NonZero::new),
            ess: how["ess"].as_f64(),
            time: time.map_err(error::of::<SpecificationError>)?,
            seed: how["seed"].as_u64(),
            workers: workers.clone(),
        };
        let utility = how["utility"].as_str().map(|name| {
            // What the targets are is known when the table is encoded, which refuses it then.
            let real =
                TargetFacts::Real { names: vec![self.target.clone()], deviations: vec![1.0] };
            let classes = TargetFacts::Classes { labels: vec!["a".into(), "b".into()] };
            let read = |targets| Utility::parse(name, targets, Better::Higher);
            read(&real).or_else(|error| read(&classes).map_err(|_| error))
        });
        let utility = utility.transpose().map_err(error::of::<SpecificationError>)?;
        let select = SelectOptions { utility, folds: number("folds"), ..SelectOptions::default() };
        Ok((options, select))
    }
}

/// Which inputs matter for a target: the JSON of `posteria select`. `how` is JSON too. With a plan, by
/// the fits that it has made; nothing if others are needed first, which it has units of then.
#[pyfunction]
pub(crate) fn select(
    py: Python<'_>,
    table: &Table,
    target: &str,
    spec: &str,
    how: &str,
    plan: Option<PathBuf>,
    working: Working<'_>,
) -> PyResult<Option<String>> {
    let search = Search::new(table, target, spec, how)?;
    run(py, asked(working, false), |workers| {
        let (options, select) = search.options(workers)?;
        let Search { table, target, spec, .. } = &search;
        let Some(path) = plan else {
            let found = select_inputs(table, target, spec.clone(), (&options, &select));
            return told(&found.map_err(error::of_selection)?).map(Some);
        };
        let fits = WorkPlan::open(&path).and_then(PlanFits::new).map_err(error::of_work)?;
        let prepared = prepare_search(table, target, spec.clone(), &options);
        let prepared = prepared.map_err(error::of_selection)?;
        match select_inputs_elsewhere(table, prepared, (&options, &select), &fits) {
            Ok(found) => told(&found).map(Some),
            Err(SelectionError::Elsewhere) => {
                fits.extend().map_err(error::of_work)?;
                Ok(None)
            }
            Err(error) => Err(error::of_selection(error)),
        }
    })
}

/// Writes the chains of a search over input sets as a plan into a new folder.
#[pyfunction]
pub(crate) fn plan_selection(
    py: Python<'_>,
    table: &Table,
    target: &str,
    spec: &str,
    how: &str,
    path: PathBuf,
    working: Working<'_>,
) -> PyResult<()> {
    let search = Search::new(table, target, spec, how)?;
    run(py, asked(working, false), |workers| {
        let (options, _) = search.options(workers)?;
        let Search { table, target, spec, how } = &search;
        let prepared = prepare_search(table, target, spec.clone(), &options);
        let prepared = prepared.map_err(error::of_selection)?;
        if !prepared.has_independent_chains() {
            return Err(error::of_selection(SelectionError::NotIndependent));
        }
        let runs = vec![PlannedRun::of_chains(Selection::SEARCH, &prepared)];
        let new = NewPlan { action: OWN, arguments: json!({ "select": how }), runs };
        WorkPlan::create(&path, &new).map(drop).map_err(error::of_work)
    })
}

fn told(found: &Selection) -> PyResult<String> {
    let report = found.report().map_err(error::of_selection)?;
    chains::report(&report, None, &found.search.summary().cautions)
}
