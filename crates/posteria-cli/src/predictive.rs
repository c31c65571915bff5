//! What the data might have been, as the store of a run holds it.

use posteria::data::{Dataset, Targets};
use posteria::draws::{Draws, Variable};
use posteria::fit::{Prepared, PriorDraws, Workers};
use posteria_store::{Added, AddedArray, AddedGroup, Axis, Labels, MOST_PREDICTIVE_BYTES};

use crate::failure::{Failure, Result};
use crate::text;

/// What the name of a target that is left out ends in.
const LEFT_OUT: &str = "_loo";

/// New targets at the rows of the fit, if the model has targets and the store room for them.
///
/// # Errors
/// [`Failure::Interrupted`] if a signal came.
pub fn posterior_predictive(
    prepared: &Prepared,
    draws: &Draws,
    workers: &Workers,
) -> Result<Option<AddedGroup>> {
    let Some(found) = prepared.replicates(draws, MOST_PREDICTIVE_BYTES, workers)? else {
        return Ok(None);
    };
    let mut all = arrays(&prepared.data, found.targets, &found.values);
    let left_out = found.left_out.iter();
    let left_out = left_out.flat_map(|it| arrays(&prepared.data, found.targets, it));
    all.extend(
        left_out.map(|array| AddedArray { name: format!("{}{LEFT_OUT}", array.name), ..array }),
    );
    let (group, chains) = (Added::PosteriorPredictive, found.chains);
    Ok(Some(AddedGroup { group, chains, draws: found.draws, arrays: all }))
}

/// `count` draws of the parameters from their prior, and new targets that follow from each.
///
/// # Errors
/// If the model cannot draw from its prior, or a signal came.
pub fn prior(prepared: &Prepared, count: usize, workers: &Workers) -> Result<[AddedGroup; 2]> {
    let cannot = || {
        let kind = prepared.spec.model.kind.name();
        Failure::bad_input(format!("this {kind} model cannot draw from its prior; omit --prior"))
    };
    let most = prepared.most_prior_draws(MOST_PREDICTIVE_BYTES);
    if count > most {
        let rows = text::count(prepared.data.rows(), "row");
        return Err(Failure::bad_input(format!(
            "--prior {count}: {count} draws of the targets of {rows} are too many; ask for at most \
             {most}"
        )));
    }
    let found = prepared.prior_draws(count, workers)?.ok_or_else(cannot)?;
    let PriorDraws { draws: drawn, targets, values } = found;
    let numbers: Vec<usize> = (0..drawn.len()).collect();
    let layout = prepared.posterior.layout();
    let parameters = layout.variables().iter().filter(|it| !it.role.is_derived());
    let variable = |variable: &Variable| AddedArray {
        name: variable.name.clone(),
        axes: variable.dimensions.iter().map(axis).collect(),
        whole: false,
        values: drawn.iter().flat_map(|draw| &draw[variable.range()]).copied().collect(),
    };
    let group = |group, arrays| AddedGroup { group, chains: 1, draws: numbers.clone(), arrays };
    Ok([
        group(Added::Prior, parameters.map(variable).collect()),
        group(Added::PriorPredictive, arrays(&prepared.data, targets, &values)),
    ])
}

/// One array per target of values that lie together row by row.
fn arrays(data: &Dataset, targets: usize, values: &[f64]) -> Vec<AddedArray> {
    let (names, whole) = match &data.targets {
        Targets::Real { names, .. } => (names.clone(), false),
        Targets::Durations { name, .. } => (vec![name.clone()], false),
        Targets::Classes { name, .. } | Targets::Counts { name, .. } => (vec![name.clone()], true),
    };
    let array = |(target, name): (usize, String)| AddedArray {
        name,
        axes: vec![Axis::rows(data.rows())],
        whole,
        values: values.iter().skip(target).step_by(targets).copied().collect(),
    };
    names.into_iter().enumerate().map(array).collect()
}

fn axis(dimension: &posteria::draws::Dimension) -> Axis {
    let labels = Labels::Named(dimension.labels.clone());
    Axis { name: dimension.name.clone(), labels }
}
