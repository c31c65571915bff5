//! Draws and summaries as arrays and JSON.

use numpy::{PyArray1, PyArray3, PyArrayMethods};
use posteria::assess::PointwiseRow;
use posteria::caution::Caution;
use posteria::diagnose::{Summary, VariableSummary};
use posteria::draws::{Draws, Layout, Statistics};
use pyo3::prelude::*;
use serde::Serialize;
use serde_json::{Value, json};

use crate::error::{self, PosteriaError, in_python};

/// All components of all draws: chain, draw, component.
pub(crate) fn values<'py>(py: Python<'py>, draws: &Draws) -> PyResult<Bound<'py, PyArray3<f64>>> {
    let shape = [draws.chains, draws.draws, draws.layout.len()];
    PyArray1::from_slice(py, &draws.values).reshape(shape)
}

/// The statistics of all draws: chain, draw, statistic; none of draws that came without.
pub(crate) fn statistics<'py>(
    py: Python<'py>,
    draws: &Draws,
) -> PyResult<Option<Bound<'py, PyArray3<f64>>>> {
    if draws.statistics.is_empty() {
        return Ok(None);
    }
    let all: Vec<f64> = draws.statistics.iter().flat_map(|draw| draw.to_array()).collect();
    let shape = [draws.chains, draws.draws, Statistics::LEN];
    PyArray1::from_vec(py, all).reshape(shape).map(Some)
}

/// The log likelihood of every row: chain, draw, row; none if it was not kept.
pub(crate) fn log_likelihood<'py>(
    py: Python<'py>,
    draws: &Draws,
) -> PyResult<Option<Bound<'py, PyArray3<f64>>>> {
    if draws.rows == 0 {
        return Ok(None);
    }
    let shape = [draws.chains, draws.draws, draws.rows];
    PyArray1::from_slice(py, &draws.log_likelihood).reshape(shape).map(Some)
}

/// What the components are called and where they lie.
pub(crate) fn layout(layout: &Layout) -> Value {
    let variables = layout.variables().iter().map(|variable| {
        let dimensions = variable.dimensions.iter();
        json!({
            "name": variable.name,
            "dimensions": dimensions.map(|it| json!({"name": it.name, "labels": it.labels}))
                .collect::<Vec<_>>(),
            "offset": variable.offset,
            "length": variable.len(),
            "identified": variable.identified,
        })
    });
    json!({ "variables": variables.collect::<Vec<_>>(), "statistics": Statistics::NAMES })
}

/// A summary, with the keys of `posteria summary --json`.
pub(crate) fn summary(summary: &Summary) -> PyResult<String> {
    #[derive(Serialize)]
    struct Variables<'s> {
        variables: &'s [VariableSummary],
    }
    report(&Variables { variables: &summary.variables }, None, &summary.cautions)
}

/// A report as JSON, its keys in their order, with figures of rows and what to be careful about.
pub(crate) fn report<'c, R: Serialize>(
    report: &R,
    pointwise: Option<&[PointwiseRow]>,
    cautions: impl IntoIterator<Item = &'c Caution>,
) -> PyResult<String> {
    whole(report, pointwise, warnings(cautions))
}

/// A report of several models as JSON, where cautions may be about one of them, by its name.
pub(crate) fn report_of_several<'c, R: Serialize>(
    report: &R,
    cautions: impl IntoIterator<Item = (Option<&'c str>, &'c Caution)>,
) -> PyResult<String> {
    let each = cautions.into_iter().map(|(run, caution)| {
        let mut told = warning(caution);
        if let Some(run) = run {
            told["run"] = json!(run);
        }
        told
    });
    whole(report, None, each.collect())
}

fn whole<R: Serialize>(
    report: &R,
    pointwise: Option<&[PointwiseRow]>,
    warnings: Vec<Value>,
) -> PyResult<String> {
    #[derive(Serialize)]
    struct Whole<'r, R> {
        #[serde(flatten)]
        report: &'r R,
        #[serde(skip_serializing_if = "Option::is_none")]
        pointwise: Option<&'r [PointwiseRow]>,
        warnings: Vec<Value>,
    }
    let whole = Whole { report, pointwise, warnings };
    serde_json::to_string(&whole).map_err(error::of::<PosteriaError>)
}

/// What to be careful about, with the keys of the JSON of every command.
pub(crate) fn warnings<'c>(cautions: impl IntoIterator<Item = &'c Caution>) -> Vec<Value> {
    cautions.into_iter().map(warning).collect()
}

fn warning(caution: &Caution) -> Value {
    let (message, cure) = caution.message_and_cure();
    let (code, doubt) = (caution.code(), caution.is_doubt());
    let (message, cure) = (in_python(&message), cure.as_deref().map(in_python));
    let of_predictions = caution.concerns_predictions();
    json!({
        "code": code, "message": message, "cure": cure, "doubt": doubt,
        "of_predictions": of_predictions,
    })
}
