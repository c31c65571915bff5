//! Choose where the chains of a Gaussian process start.

use posteria_linalg::{Cholesky, Matrix};

use super::evaluator::LatentEvaluator;
use super::latent;
use super::marginal::Marginal;
use super::observed::Observed;
use super::pilot;
use super::posterior::GpPosterior;
use crate::model::Posterior;
use crate::model::spec::StartChoice;
use crate::random::{Purpose, Seed, Stream};

/// Climbs to modes: as many as all of them together have so many rows, …
const CLIMBED_ROWS: usize = 8000;
/// … and not fewer than this, …
const FEWEST_CLIMBS: usize = 2;
/// … nor more than this.
const MOST_CLIMBS: usize = 8;

/// A starting state.
pub(super) fn start(posterior: &GpPosterior, stream: &mut Stream) -> Vec<f64> {
    let drawn = match posterior.moves.start {
        StartChoice::Prior => from_prior(posterior, stream),
        _ => None,
    };
    drawn.unwrap_or_else(|| dispersed(posterior, stream))
}

/// Starts of climbs to the modes of some entries of the state: the same for all chains and seeds.
/// Where a part of many rows has only one mode, that takes the place of most of them.
pub(super) fn hyperparameters(posterior: &GpPosterior, slots: &[usize]) -> Vec<Vec<f64>> {
    let count = (CLIMBED_ROWS / posterior.row_count().max(1)).clamp(FEWEST_CLIMBS, MOST_CLIMBS);
    let start = |index: usize| {
        let mut stream = Seed(0).stream(Purpose::Start, [index as u64, u64::MAX]);
        let state = dispersed(posterior, &mut stream);
        slots.iter().map(|slot| state[*slot]).collect()
    };
    match pilot::modes(posterior, slots) {
        Some(only) if only.len() == 1 => {
            only.into_iter().chain((1..FEWEST_CLIMBS).map(start)).collect()
        }
        _ => (0..count).map(start).collect(),
    }
}

/// Moderate hyperparameters; functions of classes near their mode, others at zero, since chains
/// draw them first.
fn dispersed(posterior: &GpPosterior, stream: &mut Stream) -> Vec<f64> {
    let mut state = vec![0.0; posterior.latents.end];
    if let Some(selection) = &posterior.selection {
        selection.draw_prior(&mut state, stream);
    }
    for process in &posterior.processes {
        process.hyperparameters.start(&mut state, stream);
        process.hyperparameters.retire_absent(&mut state, stream);
    }
    match &posterior.observed {
        Observed::Real(residual) => {
            residual.draw_prior(&mut state, stream);
            residual.start(&mut state, stream);
        }
        Observed::Outcomes(outcomes) => {
            outcomes.start(&mut state, stream);
            latent::start(posterior, &mut state, stream);
        }
        _ => latent::start(posterior, &mut state, stream),
    }
    state
}

/// A draw of everything from the prior; `None` if its covariance cannot be factorised.
pub(super) fn from_prior(posterior: &GpPosterior, stream: &mut Stream) -> Option<Vec<f64>> {
    let mut state = vec![0.0; posterior.latents.end];
    if let Some(selection) = &posterior.selection {
        selection.draw_prior(&mut state, stream);
    }
    if let Observed::Real(residual) = &posterior.observed {
        residual.draw_prior(&mut state, stream);
    }
    if let Observed::Outcomes(outcomes) = &posterior.observed {
        outcomes.draw_prior(&mut state, stream);
    }
    if !posterior.keeps_latents() {
        if let Observed::Real(residual) = &posterior.observed {
            residual.draw_case_variances(&mut state, stream);
        }
        for process in &posterior.processes {
            process.hyperparameters.draw_prior(&mut state, stream);
            process.hyperparameters.retire_absent(&mut state, stream);
        }
        return Some(state);
    }
    let rows = posterior.row_count();
    let mut marginal = Marginal::new(&posterior.covariance, &posterior.inputs, posterior.jitter);
    let mut factor = Cholesky::identity(rows);
    for process in &posterior.processes {
        let hyperparameters = &process.hyperparameters;
        hyperparameters.draw_prior(&mut state, stream);
        hyperparameters.retire_absent(&mut state, stream);
        let mut log_parameters = vec![0.0; hyperparameters.parameters()];
        hyperparameters.write_parameters(&state, &mut log_parameters);
        marginal.set(&log_parameters);
        marginal.factorize_prior(&mut factor).ok()?;
        for target in process.targets.clone() {
            let first = posterior.latents.start + target * rows;
            let function = &mut state[first..first + rows];
            stream.fill_normal(function);
            factor.multiply_lower(function);
        }
    }
    Some(state)
}

/// A draw of everything from the prior, functions at the rows that draws keep included; `None`
/// if their covariance cannot be factorised.
pub(super) fn draw_prior(posterior: &GpPosterior, stream: &mut Stream) -> Option<Vec<f64>> {
    let mut state = from_prior(posterior, stream)?;
    let mut draw = vec![0.0; posterior.layout().len()];
    let Observed::Real(residual) = &posterior.observed else {
        LatentEvaluator::new(posterior).draw(&state, &mut draw);
        return Some(draw);
    };
    residual.draw_case_variances(&mut state, stream);
    if posterior.keeps_latents() {
        LatentEvaluator::new(posterior).draw(&state, &mut draw);
        return Some(draw);
    }
    let rows = &posterior.fitted_rows;
    let mut covariance = posterior.covariance.evaluator(&posterior.inputs);
    let mut matrix = Matrix::zeros(rows.len(), rows.len());
    let mut functions = vec![0.0; rows.len() * residual.outputs];
    for process in &posterior.processes {
        let mut log_parameters = vec![0.0; process.hyperparameters.parameters()];
        process.hyperparameters.write_parameters(&state, &mut log_parameters);
        covariance.set(&log_parameters);
        covariance.fill_rows(rows, &mut matrix);
        for row in 0..rows.len() {
            matrix[(row, row)] += posterior.jitter * posterior.jitter;
        }
        let factor = Cholesky::new(&matrix).ok()?;
        for target in process.targets.clone() {
            let function = &mut functions[target * rows.len()..(target + 1) * rows.len()];
            stream.fill_normal(function);
            factor.multiply_lower(function);
        }
    }
    // A test error would need functions at the test rows too.
    let test = vec![f64::NAN; posterior.test.as_ref().map_or(0, |test| test.targets.len())];
    posterior.write_integrated(residual, &state, (&functions, &test), &mut draw);
    Some(draw)
}
