//! Draws from the prior of a model, before it is fitted.

use numpy::{PyArray1, PyArray2, PyArray3, PyArrayMethods};
use posteria::fit::{Prepared, PriorDraws};
use posteria_store::MOST_PREDICTIVE_BYTES;
use pyo3::prelude::*;
use serde_json::json;

use crate::chains;
use crate::error::{self, SpecificationError};
use crate::fit::{Working, asked, checked};
use crate::table::Table;
use crate::work::run;

/// What the prior of a model says, before it is fitted: JSON with the layout, names of the targets and
/// labels of classes; draws by component; targets by draw and row.
type OfPrior<'py> = (String, Bound<'py, PyArray2<f64>>, Bound<'py, PyArray3<f64>>);

/// Draws of parameters from their prior, and new targets at the rows of a table that follow from each.
#[pyfunction]
pub(crate) fn prior_draws<'py>(
    py: Python<'py>,
    table: &Table,
    spec: &str,
    count: usize,
    working: Working<'py>,
) -> PyResult<OfPrior<'py>> {
    let spec = checked(spec)?;
    let table = table.get()?;
    let (about, found, rows, length) = run(py, asked(working, false), |workers| {
        let prepared = Prepared::new(spec, &table, None);
        let prepared = prepared.map_err(|error| error::of_prepare(&error))?;
        let cannot = || {
            let kind = prepared.spec.model.kind.name();
            let words = format!("this {kind} model cannot draw from its prior");
            error::of::<SpecificationError>(words)
        };
        let family = prepared.posterior.predictor().map(|it| it.family()).ok_or_else(cannot)?;
        let (rows, layout) = (prepared.data.rows(), prepared.posterior.layout());
        let width = (rows * family.targets()).max(layout.len()).max(1);
        if width.saturating_mul(count).saturating_mul(8) > MOST_PREDICTIVE_BYTES {
            let most = MOST_PREDICTIVE_BYTES / (8 * width);
            let words = format!("{count} draws of {width} numbers are too many; ask for {most}");
            return Err(error::of::<SpecificationError>(words));
        }
        let found = prepared.prior_draws(count, workers).map_err(error::of_fit)?;
        let found = found.ok_or_else(cannot)?;
        let encoder = &prepared.encoder;
        let about = json!({
            "layout": chains::layout(layout),
            "targets": encoder.target_names(),
            "labels": encoder.labels(),
            "warnings": chains::warnings(&prepared.cautions),
        });
        Ok((about.to_string(), found, rows, layout.len()))
    })?;
    let PriorDraws { draws, targets, values } = found;
    let count = draws.len();
    let draws = PyArray1::from_vec(py, draws.concat()).reshape([count, length])?;
    let values = PyArray1::from_vec(py, values).reshape([count, rows, targets])?;
    Ok((about, draws, values))
}
