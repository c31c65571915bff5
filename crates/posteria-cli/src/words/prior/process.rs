//! Draw functions from the prior of a Gaussian process.
//!
//! A draw of a process is its hyperparameters and its values at the rows it is conditioned on, so
//! the process is conditioned on the places where functions are looked at, in place of the data:
//! the prior sees no targets.

use posteria::data::{Dataset, Targets, Task};
use posteria::fit::{Conditioned, Prepared};
use posteria_linalg::Matrix;

use super::{Drawn, MEASURED, deviation, some_rows, stream};
use posteria::draws::Role;

/// Rows of the data at which the size of functions is measured; together with the places of the
/// grid as many as a draw keeps fitted values of.
const ROWS: usize = 60;

/// Draws functions at the rows of `grid`, and keeps so many to be shown; `None` if that is not
/// possible.
pub(super) fn draw(prepared: &Prepared, grid: &Matrix, kept: usize) -> Option<Drawn> {
    let Prepared { data, .. } = prepared;
    let measured = some_rows(&data.inputs, ROWS);
    let places = grid.rows();
    let rows = places + measured.rows();
    let inputs = Matrix::from_fn(rows, grid.columns(), |row, k| match row < places {
        true => grid[(row, k)],
        false => measured[(row - places, k)],
    });
    let targets = match &data.targets {
        Targets::Real { names, .. } => {
            Targets::Real { names: names.clone(), values: Matrix::zeros(rows, names.len()) }
        }
        Targets::Classes { name, labels, .. } => {
            Targets::Classes { name: name.clone(), labels: labels.clone(), codes: vec![0; rows] }
        }
        Targets::Durations { name, times, censored } => Targets::Durations {
            name: name.clone(),
            times: vec![times[0]; rows],
            censored: censored.as_ref().map(|_| vec![false; rows]),
        },
        // Functions are about the mean rate, which stays what it is.
        Targets::Counts { name, values } => {
            let total: f64 = match &data.offsets {
                Some(offsets) => offsets.iter().map(|offset| offset.exp()).sum(),
                None => values.len() as f64,
            };
            let rate = values.iter().sum::<f64>() / total;
            let mut values = vec![0.0; rows];
            values[0] = (rate * rows as f64).round();
            Targets::Counts { name: name.clone(), values }
        }
    };
    let mut spec = prepared.spec.clone();
    // Rows of the grid have values of their own, which are no groups; and there are few of them.
    let by = spec.residual.as_mut().and_then(|residual| residual.by.take());
    if let Some(residual) = &mut spec.residual {
        residual.dof_by = None;
        if by.is_some() {
            residual.top_dof = None;
        }
    }
    spec.model.neighbours = None;
    let places_only = Dataset { inputs, targets, groups: None, offsets: None, ..data.clone() };
    spec.sampling.device = None;
    let posterior = Conditioned::new(&spec, &places_only, None).ok()?;
    let layout = posterior.layout();
    let fitted = layout.of_role(Role::Fitted)?;
    let answers = fitted.len() / rows;
    if fitted.dimensions.first()?.labels.len() != rows {
        return None;
    }
    // Functions of classes are seen as probabilities, and measured before these.
    let (measured, width) = match data.task {
        Task::Regression => (fitted, answers),
        _ => {
            let latents = layout.of_role(Role::Latents)?;
            (latents, latents.len() / rows)
        }
    };
    // Latent functions of durations are of standardised logarithms.
    let unit = match data.task {
        Task::Duration => data.target_scaling[0].scale,
        _ => 1.0,
    };
    let shown = fitted.range().step_by(answers);
    let scale = layout.of_role(Role::ResidualScale).filter(|_| by.is_none()).map(|v| v.offset);
    let mut drawn = Drawn { functions: Vec::new(), deviations: Vec::new(), scales: Vec::new() };
    for index in 0..MEASURED {
        // A covariance of extreme hyperparameters may be none for a computer.
        let Some(draw) = posterior.draw_prior(&mut stream(prepared, index)) else { continue };
        if drawn.functions.len() < kept {
            drawn.functions.push(shown.clone().take(places).map(|at| draw[at]).collect());
        }
        let values = measured.range().step_by(width).skip(places).map(|at| draw[at]);
        drawn.deviations.push(unit * deviation(&values.collect::<Vec<_>>()));
        drawn.scales.extend(scale.map(|at| draw[at]));
    }
    (drawn.functions.len() == kept).then_some(drawn)
}
