//! A fit as Python sees it.

use std::num::NonZero;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};

use numpy::{PyArray1, PyArray3, PyArrayMethods};
use posteria::assess::AssessError;
use posteria::caution::Caution;
use posteria::data::{Encoder, Missing};
use posteria::fit::{self, Prepared, ResumeOptions, Workers};
use posteria::model::spec::{Spec, TimeBudget};
use posteria_store::{Labels, MOST_PREDICTIVE_BYTES, RunFolder, StaticArray, TrainingArrays};
use pyo3::prelude::*;
use serde_json::{Value, json};

use crate::chains;
use crate::error::{self, DataError, PosteriaError, SamplingError, SpecificationError};
use crate::table::Table;
use crate::work::{Asked, run};

/// Checks a specification, given as JSON with the keys of a specification file, as far as it does not
/// depend on data.
#[pyfunction]
pub(crate) fn check_spec(spec: &str) -> PyResult<()> {
    read(spec).map(drop)
}

fn read(spec: &str) -> PyResult<Spec> {
    let spec = Spec::from_json(spec).map_err(error::of::<SpecificationError>)?;
    spec.check().map_err(error::of::<SpecificationError>)?;
    Ok(spec)
}

/// A specification of a model of data, which says what the target is.
pub(crate) fn checked(spec: &str) -> PyResult<Spec> {
    let spec = read(spec)?;
    match spec.data.target.is_empty() && !spec.model.kind.is_unsupervised() {
        true => Err(error::of::<SpecificationError>("say which column is the target")),
        false => Ok(spec),
    }
}

/// The sections of a specification and the keys of each.
#[pyfunction]
pub(crate) fn spec_keys() -> Vec<(&'static str, Vec<&'static str>)> {
    Spec::keys().into_iter().map(|(section, keys)| (section, keys.to_vec())).collect()
}

/// A model with its data and the draws of its posterior.
#[pyclass(frozen, module = "posteria._posteria")]
pub(crate) struct Fit {
    fit: Mutex<fit::Fit>,
}

/// An array of data: group, name, dimensions as JSON, values.
type DataArray<'py> = (&'static str, String, String, Bound<'py, PyArray1<f64>>);

/// What every long work is told: threads, and who is shown how far it is.
pub(crate) type Working<'py> = (Option<NonZero<usize>>, Option<Bound<'py, PyAny>>);

pub(crate) fn asked((threads, show): Working<'_>, keeps_part: bool) -> Asked<'_> {
    Asked { threads, show, keeps_part }
}

impl Fit {
    pub(crate) fn of(fit: fit::Fit) -> Self {
        Fit { fit: Mutex::new(fit) }
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, fit::Fit> {
        self.fit.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Looks at the fit without the interpreter's lock: whoever holds the fit may be waiting for it.
    fn look<T: Send>(
        &self,
        py: Python<'_>,
        what: impl FnOnce(&fit::Fit) -> PyResult<T> + Send,
    ) -> PyResult<T> {
        let looked = || catch_unwind(AssertUnwindSafe(|| what(&self.lock())));
        py.detach(looked).unwrap_or_else(|panic| Err(error::of_panic(&*panic)))
    }

    /// The fit itself, waited for without the interpreter's lock.
    fn held(&self, py: Python<'_>) -> MutexGuard<'_, fit::Fit> {
        loop {
            if let Ok(guard) = self.fit.try_lock() {
                return guard;
            }
            py.detach(|| drop(self.lock()));
        }
    }

    /// Does long work with the fit.
    pub(crate) fn work<T: Send>(
        &self,
        py: Python<'_>,
        working: Working<'_>,
        work: impl FnOnce(&fit::Fit) -> PyResult<T> + Send,
    ) -> PyResult<T> {
        run(py, asked(working, false), |workers| {
            let mut fit = self.lock();
            has_draws(&fit)?;
            fit.workers = workers.clone();
            let done = work(&fit);
            fit.workers = Workers::of(workers.threads);
            done
        })
    }
}

#[pymethods]
impl Fit {
    /// Fits the model of a specification to a table.
    #[staticmethod]
    fn of_table(py: Python<'_>, table: &Table, spec: &str, working: Working<'_>) -> PyResult<Self> {
        let spec = checked(spec)?;
        let table = table.take()?;
        let fitted = run(py, asked(working, true), |workers| {
            let prepared = Prepared::new(spec, &table, None);
            drop(table);
            let prepared = prepared.map_err(|error| error::of_prepare(&error))?;
            prepared.fit(workers).map_err(error::of_fit)
        })?;
        Ok(Fit::of(fitted))
    }

    /// The fit of the run in a folder.
    #[staticmethod]
    fn load(py: Python<'_>, path: PathBuf) -> PyResult<Self> {
        let loaded = py.detach(|| RunFolder::load(&path)).map_err(error::of_folder)?;
        Ok(Fit::of(loaded))
    }

    /// Keeps the fit in a new folder; with `force` in place of a run that is there, never of anything
    /// else.
    fn save(&self, py: Python<'_>, path: PathBuf, force: bool) -> PyResult<()> {
        self.look(py, |fit| {
            if force {
                RunFolder::remove(&path).map_err(|error| error::of_folder(error.into()))?;
            }
            RunFolder::save(fit, &path).map_err(error::of_folder)
        })
    }

    /// Lets the chains go on.
    fn resume(
        &self,
        py: Python<'_>,
        draws: Option<NonZero<usize>>,
        ess: Option<f64>,
        time: Option<&str>,
        working: Working<'_>,
    ) -> PyResult<()> {
        let time = time.map(|text| text.parse::<TimeBudget>()).transpose();
        let time = time.map_err(error::of::<SpecificationError>)?;
        run(py, asked(working, true), |workers| {
            let options = ResumeOptions { draws, ess, time };
            self.lock().resume(&options, workers).map_err(error::of_fit)
        })
    }

    /// What the fit is, as JSON.
    fn describe(&self, py: Python<'_>) -> PyResult<String> {
        self.look(py, |fit| {
            let Prepared { spec, encoder, cautions, .. } = &fit.prepared;
            let approximation = fit.approximation.as_ref();
            let doubts = approximation.iter().flat_map(|found| &found.doubts);
            let doubts: Vec<Caution> = doubts.cloned().map(Caution::Approximation).collect();
            let findings = approximation.map(|found| found.findings.report()).transpose();
            let findings = findings.map_err(error::of::<SpecificationError>)?;
            let spec_text = spec.to_toml().map_err(error::of::<SpecificationError>)?;
            Ok(json!({
                "kind": spec.model.kind,
                "task": encoder.task(),
                "targets": encoder.target_names(),
                "labels": encoder.labels(),
                "inputs": input_columns(encoder),
                "rows": fit.rows(),
                "chains": fit.draws.chains,
                "draws": fit.draws.draws,
                "warmup": fit.warmup,
                "seed": spec.sampling.seed,
                "inference": spec.sampling.inference(),
                "stopped": fit.stopped,
                "spec": spec_text,
                "approximation": findings,
                "warnings": chains::warnings(cautions.iter().chain(&doubts)),
            })
            .to_string())
        })
    }

    /// How well chains have mixed where predictions depend on them: the worst, and each for itself, as
    /// JSON; null where there are no chains.
    fn attained(&self, py: Python<'_>) -> PyResult<String> {
        self.look(py, |fit| {
            let drawn = (fit.draws.draws > 0).then_some(fit);
            let found = drawn.and_then(fit::Fit::attained).map(|attained| {
                let mut all = json!(attained.worst());
                if let (Some(all), Value::Object(each)) = (all.as_object_mut(), json!(attained)) {
                    all.extend(each);
                }
                all
            });
            Ok(json!(found).to_string())
        })
    }

    /// Mean, spread and convergence of every variable, as JSON.
    fn summary(&self, py: Python<'_>) -> PyResult<String> {
        self.look(py, |fit| chains::summary(&fit.summary()))
    }

    /// What a draw holds, as JSON.
    fn layout(&self, py: Python<'_>) -> PyResult<String> {
        self.look(py, |fit| Ok(chains::layout(&fit.draws.layout).to_string()))
    }

    /// All draws: chain, draw, component.
    fn values<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray3<f64>>> {
        chains::values(py, &self.held(py).draws)
    }

    /// Their statistics: chain, draw, statistic.
    fn statistics<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyArray3<f64>>>> {
        chains::statistics(py, &self.held(py).draws)
    }

    /// Log likelihoods: chain, draw, row.
    fn log_likelihood<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyArray3<f64>>>> {
        chains::log_likelihood(py, &self.held(py).draws)
    }

    /// The data of the fit: group, name, dimensions as JSON, values.
    fn data<'py>(&self, py: Python<'py>) -> PyResult<Vec<DataArray<'py>>> {
        let arrays = self
            .look(py, |fit| Ok(TrainingArrays::new(&fit.prepared.data, &fit.prepared.encoder)))?;
        let entry = |group: &'static str, array: StaticArray| {
            let axes = array.axes.iter().map(|axis| {
                let labels = match &axis.labels {
                    Labels::Named(names) => json!(names),
                    Labels::Numbered(count) => json!(count),
                };
                json!({ "name": axis.name, "labels": labels })
            });
            let axes = Value::Array(axes.collect()).to_string();
            (group, array.name, axes, PyArray1::from_vec(py, array.values))
        };
        let observed = arrays.observed.into_iter().map(|it| entry("observed_data", it));
        let constant = arrays.constant.into_iter().map(|it| entry("constant_data", it));
        Ok(observed.chain(constant).collect())
    }

    /// What the targets might have been: numbers of the draws of a chain, values by chain and draw, and
    /// those of rows left out where functions are integrated out.
    #[expect(clippy::type_complexity, reason = "a tuple, as Python has it")]
    fn replicates<'py>(
        &self,
        py: Python<'py>,
        working: Working<'py>,
    ) -> PyResult<Option<(Vec<usize>, Bound<'py, PyArray3<f64>>, Option<Bound<'py, PyArray3<f64>>>)>>
    {
        let found = self.work(py, working, |fit| {
            let found = fit.prepared.replicates(&fit.draws, MOST_PREDICTIVE_BYTES, &fit.workers);
            found.map_err(error::of_fit)
        })?;
        let Some(found) = found else { return Ok(None) };
        let width = found.values.len() / (found.chains * found.draws.len());
        let shape = [found.chains, found.draws.len(), width];
        let array = |values: Vec<f64>| PyArray1::from_vec(py, values).reshape(shape);
        let left_out = found.left_out.map(array).transpose()?;
        Ok(Some((found.draws, array(found.values)?, left_out)))
    }

    /// New targets, or functions, at the rows of a table: draw, row, target.
    fn draw<'py>(
        &self,
        py: Python<'py>,
        what: &str,
        table: &Table,
        per_chain: Option<usize>,
        working: Working<'py>,
    ) -> PyResult<Bound<'py, PyArray3<f64>>> {
        let functions = what == "functions";
        let table = table.get()?;
        let (values, shape) = self.work(py, working, |fit| {
            let encoder = &fit.prepared.encoder;
            let new = encoder.encode(&table, Missing::Error).map_err(error::of::<DataError>)?;
            let predictive = fit.predictive().map_err(error::of::<PosteriaError>)?;
            let predictive = predictive.ok_or_else(|| error::of_assess(AssessError::NoTargets))?;
            if predictive.family.targets() == 0 {
                return Err(error::of_assess(AssessError::NoTargets));
            }
            let per_chain = per_chain.unwrap_or(usize::MAX).clamp(1, fit.draws.draws);
            let (values, width) = match functions {
                true => (
                    predictive.draw_functions(&new.inputs, per_chain),
                    predictive.family.functions(),
                ),
                false => (
                    predictive.draw_targets(&new.inputs_and_offsets(), per_chain),
                    predictive.family.targets(),
                ),
            };
            let values = values.map_err(error::of::<PosteriaError>)?;
            Ok((values, [fit.draws.chains * per_chain, new.inputs.rows(), width]))
        })?;
        PyArray1::from_vec(py, values).reshape(shape)
    }
}

/// Columns of the table that the inputs come from, in order.
fn input_columns(encoder: &Encoder) -> Vec<String> {
    let mut columns: Vec<String> = encoder.input_columns().into_iter().map(|it| it.name).collect();
    columns.dedup();
    columns
}

/// Refuses a fit that was stopped before it had drawn anything.
pub(crate) fn has_draws(fit: &fit::Fit) -> PyResult<()> {
    match fit.draws.draws {
        0 => Err(error::of::<SamplingError>("there are no draws yet; go on with fit.resume()")),
        _ => Ok(()),
    }
}
