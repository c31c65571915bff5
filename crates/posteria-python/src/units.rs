//! Folds of fits as units for other machines: planned here, done anywhere, assessed here.

use std::path::PathBuf;

use posteria::assess::{AssessError, Division, FittedFolds, Method, RowUtilities, Valuation};
use posteria::draws::Draws;
use posteria::evidence::{LadderMemory, posterior_alone};
use posteria::fit as fitted;
use posteria_store::{
    Cadence, NewPlan, PartError, PartOptions, PlanFolds, PlannedDivision, PlannedLadders,
    PlannedRun, Ran, RunSource, WorkError, WorkPlan, WriteOptions,
};
use pyo3::prelude::*;
use serde_json::json;

use crate::error::{self, PosteriaError, SpecificationError};
use crate::fit::{Fit, Working, asked as work_asked};
use crate::questions::{Asked, evidence_options, facts_of, of_several, utilities_of};
use crate::work::run;

/// What plans of fits in memory are for.
pub(crate) const OWN: &str = "python";

/// Writes the folds of fits as a plan into a new folder; what the units are, as JSON. `method` is that
/// of an assessment, `utilities` what predictions are worth.
#[pyfunction]
pub(crate) fn plan_folds(
    py: Python<'_>,
    fits: Vec<(String, Py<Fit>)>,
    method: &str,
    utilities: Vec<String>,
    path: PathBuf,
    working: Working<'_>,
) -> PyResult<String> {
    of_several(py, &fits, (working, 1), |fits| {
        let arguments = serde_json::from_str(method).map_err(error::of::<SpecificationError>)?;
        let runs = divided(fits, method, &utilities)?;
        let new = NewPlan { action: OWN, arguments, runs };
        let plan = WorkPlan::create(&path, &new).map_err(error::of_work)?;
        units_of(&plan)
    })
}

/// Fits with their folds, for a plan.
pub(crate) fn divided<'f>(
    fits: &[(&str, &'f fitted::Fit)],
    method: &str,
    utilities: &[String],
) -> PyResult<Vec<PlannedRun<'f>>> {
    let asked: Asked = serde_json::from_str(method).map_err(error::of::<SpecificationError>)?;
    let facts = facts_of(fits);
    let utilities = utilities_of(utilities, &facts[0])?;
    let seed = asked.seed().unwrap_or(fits[0].1.prepared.spec.sampling.seed());
    let runs = fits.iter().zip(&facts).map(|((name, fit), targets)| {
        planned(name, fit, (&asked, &Valuation::new(&utilities, targets, seed)))
    });
    runs.collect()
}

/// Writes the ladders of the evidences of fits as a plan into a new folder; what the units are, as JSON.
#[pyfunction]
pub(crate) fn plan_ladders(
    py: Python<'_>,
    fits: Vec<(String, Py<Fit>)>,
    methods: Vec<String>,
    path: PathBuf,
    working: Working<'_>,
) -> PyResult<String> {
    let options = evidence_options(&methods)?;
    of_several(py, &fits, (working, 1), |fits| {
        let model = |(_, fit): &(&str, &fitted::Fit)| {
            let fitted::Prepared { spec, data, encoder, .. } = &fit.prepared;
            let spec = posterior_alone(spec.clone());
            let model = fitted::Prepared::of_dataset(spec, data.clone(), encoder.clone(), None);
            let model = model.map_err(error::of::<SpecificationError>)?;
            options.check(&model.posterior).map_err(error::of_evidence)?;
            Ok(model)
        };
        let models = fits.iter().map(model).collect::<PyResult<Vec<_>>>()?;
        let runs = fits.iter().zip(&models).map(|((name, _), model)| PlannedRun {
            ladders: options
                .ladders(&model.posterior)
                .map(|asked| PlannedLadders { seed: model.spec.sampling.seed, asked }),
            ..PlannedRun::of(name, RunSource::Model(model, None))
        });
        let runs: Vec<PlannedRun<'_>> = runs.collect();
        if runs.iter().all(|run| run.ladders.is_none()) {
            let words =
                "none of these methods runs ladders, which alone are done elsewhere; omit client";
            return Err(error::of::<SpecificationError>(words));
        }
        let new = NewPlan { action: OWN, arguments: json!(methods), runs };
        let plan = WorkPlan::create(&path, &new).map_err(error::of_work)?;
        units_of(&plan)
    })
}

/// Adds the units that can be done now that others are; how many.
#[pyfunction]
pub(crate) fn next_stage(path: PathBuf) -> PyResult<usize> {
    let mut plan = WorkPlan::open(&path).map_err(error::of_work)?;
    plan.place_ladders().map_err(error::of_work)
}

/// What the ladders of the models of a plan have found, if there is one.
pub(crate) fn ladders(path: Option<PathBuf>) -> PyResult<Vec<Option<LadderMemory>>> {
    let Some(path) = path else { return Ok(Vec::new()) };
    let plan = WorkPlan::open(&path).map_err(error::of_work)?;
    let (models, units) = (0..plan.run_names().count(), plan.units().map_err(error::of_work)?);
    models.map(|model| plan.ladder_memory(model, &units).map_err(error::of_work)).collect()
}

/// The folds of a fit, and by what predictions are valued.
fn planned<'f>(
    name: &str,
    fit: &'f fitted::Fit,
    (asked, valuation): (&Asked, &Valuation),
) -> PyResult<PlannedRun<'f>> {
    let Method::KFold { schemes, draws } = asked.method(fit)? else {
        return Err(error::of::<SpecificationError>("only folds are units"));
    };
    let labels = |_: &str| Ok::<_, WorkError>(asked.labels.clone().unwrap_or_default());
    if asked.labels.as_ref().is_some_and(|labels| labels.len() != fit.rows()) {
        return Err(error::of::<SpecificationError>("give one group for every row of the fit"));
    }
    let all = Division::all(fit, (&schemes, draws), labels).map_err(error::of_work)?;
    let divisions = all.iter().map(|division| {
        let labels = division.scheme.column.as_ref().and(asked.labels.clone());
        PlannedDivision::of(division, labels, Some(valuation))
    });
    let divisions = divisions.collect();
    let each_chain = asked.each_chain;
    Ok(PlannedRun { divisions, each_chain, ..PlannedRun::of(name, RunSource::Fit(fit)) })
}

fn units_of(plan: &WorkPlan) -> PyResult<String> {
    let units = plan.units().map_err(error::of_work)?;
    let each = units.into_iter().map(|unit| {
        let done = plan.has_whole_result(&unit).map_err(error::of_work)?;
        Ok(json!({ "id": unit.id, "what": unit.what, "cost": unit.cost, "seed": unit.seed, "done": done }))
    });
    Ok(json!(each.collect::<PyResult<Vec<_>>>()?).to_string())
}

/// What the units of the plan in a folder are, as JSON.
#[pyfunction]
pub(crate) fn plan_units(path: PathBuf) -> PyResult<String> {
    units_of(&WorkPlan::open(&path).map_err(error::of_work)?)
}

/// Does a unit of the plan in a folder on one thread; its result.
#[pyfunction]
pub(crate) fn run_unit(py: Python<'_>, path: PathBuf, unit: usize) -> PyResult<Vec<u8>> {
    run(py, work_asked((std::num::NonZero::new(1), None), false), |workers| {
        let plan = WorkPlan::open(&path).map_err(error::of_work)?;
        let write = WriteOptions { cadence: Cadence::by_time(), ..WriteOptions::default() };
        let seen = || {
            if workers.go_on().is_err() {
                write.cancel.store(true, std::sync::atomic::Ordering::Relaxed);
            }
        };
        let threads = workers.threads;
        let part = PartOptions { threads, write: &write, seen: &seen };
        let read = |_: &_, _: &_| {
            let message = "the plan of a fit is done by posteria run-unit".into();
            Err(PartError::Table { message })
        };
        let ran = match plan.action() == OWN {
            true => plan.run_unit(unit, &read, part),
            // As the command would, which made it.
            false => posteria_cli::do_unit(&plan, unit, threads, (&write, &seen)),
        };
        match ran.map_err(error::of_work)? {
            Ran::Stopped => Err(error::cancelled()),
            Ran::Done | Ran::Before => plan.result_bytes(unit).map_err(error::of_work),
        }
    })
}

/// Puts the result of a unit into the plan in a folder, if it is of that.
#[pyfunction]
pub(crate) fn add_result(path: PathBuf, unit: usize, result: &[u8]) -> PyResult<()> {
    let plan = WorkPlan::open(&path).map_err(error::of_work)?;
    plan.add_result(unit, result).map_err(error::of_work)
}

/// The folds of a plan: those of its runs that have any, in order.
#[derive(Debug)]
pub(crate) struct Folds {
    folds: PlanFolds,
    runs: Vec<usize>,
}

impl Folds {
    /// Which run a fit is in the plan; one that is not there has no folds.
    fn run(&self, fit: usize) -> usize {
        self.runs.get(fit).copied().unwrap_or(usize::MAX)
    }
}

impl FittedFolds for Folds {
    fn draws(&self, fit: usize, division: &Division, fold: usize) -> Result<Draws, AssessError> {
        self.folds.draws(self.run(fit), division, fold)
    }

    fn valued(
        &self,
        fit: usize,
        of: (&Division, usize),
        asked: &Valuation,
    ) -> Result<Option<Vec<RowUtilities>>, AssessError> {
        self.folds.valued(self.run(fit), of, asked)
    }
}

/// The folds that a plan has found, if there is one.
pub(crate) fn folds(path: Option<PathBuf>) -> PyResult<Option<Folds>> {
    let open = |path: PathBuf| {
        let folds = WorkPlan::open(&path).and_then(PlanFolds::new)?;
        Ok(Folds { runs: folds.runs(), folds })
    };
    path.map(open).transpose().map_err(|error: WorkError| error::of::<PosteriaError>(error))
}
