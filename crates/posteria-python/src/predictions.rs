//! Predictions of new rows, what to do about them, and what inputs do to them.

use numpy::{PyArray1, PyArrayMethods};
use posteria::assess::decision::{CostError, Costs, Rule};
use posteria::assess::{FitChains, PredictOptions, Predictions, RowPrediction, TargetFacts};
use posteria::caution::Caution;
use posteria::data::{Missing, Task};
use posteria::fit::NamedEffect;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use serde::Deserialize;
use serde_json::json;

use crate::chains;
use crate::error::{self, PosteriaError, SpecificationError};
use crate::fit::{Fit, Working};
use crate::table::Table;

/// What is asked besides quantiles, as JSON.
#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct How {
    /// Whether rows with missing cells are left out.
    drop: bool,
    /// Times after which durations are asked for.
    at: Vec<f64>,
    /// Whether chains are weighed by stacking.
    stacked: bool,
    /// What actions cost: a formula, …
    formula: Option<String>,
    /// … or a table of this name, as text.
    table: Option<(String, String)>,
    /// What there is to choose from, where costs are a formula.
    actions: Vec<String>,
    /// Whether the worst that may come counts, and not what comes on average.
    minimax: bool,
}

/// Predicts every row of a table: a dictionary of arrays, and JSON of what is no array. `how` is JSON
/// too.
#[pyfunction]
pub(crate) fn predict<'py>(
    py: Python<'py>,
    fit: &Fit,
    table: &Table,
    quantiles: Vec<f64>,
    how: &str,
    working: Working<'py>,
) -> PyResult<Bound<'py, PyDict>> {
    let how: How = serde_json::from_str(how).map_err(error::of::<SpecificationError>)?;
    if let Some(bad) = quantiles.iter().find(|p| !(**p > 0.0 && **p < 1.0)) {
        let words = format!("the quantile {bad} is not a probability between 0 and 1");
        return Err(error::of::<SpecificationError>(words));
    }
    if let Some(bad) = how.at.iter().find(|time| !(**time > 0.0 && **time < f64::INFINITY)) {
        let words = format!("at is {bad}; a duration is longer than a finite time above 0");
        return Err(error::of::<SpecificationError>(words));
    }
    let table = table.get()?;
    let (found, chains) = fit.work(py, working, |fit| {
        if !how.at.is_empty() && fit.prepared.data.task != Task::Duration {
            let words = "at asks for the probability that a duration is longer, and the target is none; omit it";
            return Err(error::of::<SpecificationError>(words));
        }
        let costs = costs(&how, &TargetFacts::of(&fit.prepared.data))?;
        let rule = if how.minimax { Rule::MINIMAX } else { Rule::Expected };
        let stack = || fit.stack_chains(None).map_err(error::of_assess);
        let chains = how.stacked.then(stack).transpose()?;
        let options = PredictOptions {
            quantiles: &quantiles,
            at: &how.at,
            decide: costs.as_ref().map(|costs| (costs, rule)),
            missing: if how.drop { Missing::Drop } else { Missing::Error },
            chains: chains.as_ref(),
        };
        let found = fit.predict_with(&table, &options).map_err(error::of_assess)?;
        Ok((found, chains))
    })?;
    predicted(py, &found, chains.as_ref(), quantiles.len())
}

/// What every input does to the predictions, as JSON.
#[pyfunction]
pub(crate) fn effects(py: Python<'_>, fit: &Fit, working: Working<'_>) -> PyResult<String> {
    fit.work(py, working, |fit| {
        let found: Vec<NamedEffect> = fit.effects().map_err(error::of_assess)?;
        serde_json::to_string(&found).map_err(error::of::<PosteriaError>)
    })
}

/// What actions cost, if that is given.
fn costs(how: &How, targets: &TargetFacts) -> PyResult<Option<Costs>> {
    let found = match (&how.formula, &how.table) {
        (Some(formula), _) => Costs::from_formula(formula, targets, &how.actions),
        (None, Some((name, text))) => Costs::from_table(name, text, targets),
        (None, None) => return Ok(None),
    };
    found.map(Some).map_err(|error| {
        error::of::<SpecificationError>(match error {
            // On one line.
            CostError::Formula(error) => format!("cost: {} of {}", error.message(), error.formula),
            CostError::NoChoice => format!("cost: {error}, by actions"),
            error => format!("cost: {error}"),
        })
    })
}

/// Whether a caution is worth a warning whenever rows are predicted: some rows at the edge are not.
fn is_telling(caution: &Caution) -> bool {
    !matches!(caution, Caution::Extrapolation(found) if !found.exceeds_chance())
}

/// Predictions as arrays: row, target (and quantile, or class).
fn predicted<'py>(
    py: Python<'py>,
    found: &Predictions,
    chains: Option<&FitChains>,
    quantiles: usize,
) -> PyResult<Bound<'py, PyDict>> {
    let rows = found.rows.len();
    let result = PyDict::new(py);
    let targets = found.rows.first().map_or(0, |row| row.outputs.len());
    let outputs = || found.rows.iter().flat_map(|row| &row.outputs);
    let of = |values: Vec<f64>, width: usize| PyArray1::from_vec(py, values).reshape([rows, width]);
    if targets > 0 {
        result.set_item("mean", of(outputs().map(|it| it.mean).collect(), targets)?)?;
        result.set_item("sd", of(outputs().map(|it| it.sd).collect(), targets)?)?;
        let all = outputs().flat_map(|it| &it.quantiles).copied().collect();
        let all = PyArray1::from_vec(py, all).reshape([rows, targets, quantiles])?;
        result.set_item("quantiles", all)?;
    }
    if !found.survival.is_empty() {
        let all = found.rows.iter().flat_map(|row| &row.survival).copied().collect();
        result.set_item("survival", of(all, found.survival.len())?)?;
    }
    if !found.labels.is_empty() {
        let all = found.rows.iter().flat_map(|row| &row.probabilities).copied().collect();
        result.set_item("prob", of(all, found.labels.len())?)?;
        let class = |row: &RowPrediction| row.predicted.unwrap_or(0);
        let predicted = found.rows.iter().map(class).collect();
        result.set_item("predicted", PyArray1::from_vec(py, predicted))?;
    }
    let densities: Option<Vec<f64>> = found.rows.iter().map(|row| row.log_density).collect();
    if let Some(densities) = densities.filter(|_| rows > 0) {
        result.set_item("log_density", PyArray1::from_vec(py, densities))?;
    }
    if !found.actions.is_empty() {
        let decisions = || found.rows.iter().filter_map(|row| row.decision);
        let numbers = |values: Vec<f64>| PyArray1::from_vec(py, values);
        let actions: Vec<usize> = decisions().map(|it| it.action).collect();
        result.set_item("action", PyArray1::from_vec(py, actions))?;
        let expected = decisions().map(|it| it.expected_cost).collect();
        result.set_item("expected_cost", numbers(expected))?;
        let worst: Option<Vec<f64>> = decisions().map(|it| it.worst_cost).collect();
        if let Some(worst) = worst.filter(|_| rows > 0) {
            result.set_item("worst_cost", numbers(worst))?;
        }
    }
    let doubts = chains.map(|it| [it.doubt(), it.no_better()]);
    let doubts = doubts.iter().flatten().flatten();
    let telling = found.cautions.iter().filter(|it| is_telling(it));
    let figures = json!({
        "targets": found.targets,
        "labels": found.labels,
        "survival": found.survival,
        "quantiles": found.quantiles,
        "actions": found.actions,
        "numbers": found.numbers,
        "mean_log_density": found.mean_log_density,
        "rmse": found.figures.map(|it| it.rmse),
        "mae": found.figures.map(|it| it.mae),
        "accuracy": found.accuracy,
        "mean_cost": found.mean_cost,
        "stacking": chains.map(FitChains::stacked),
        "warnings": chains::warnings(doubts.chain(telling)),
    });
    result.set_item("json", figures.to_string())?;
    Ok(result)
}
