//! κ of one row has the density that the densities of all rows give it.

use super::super::NeighbourMarginal;
use super::*;
use crate::model::Posterior;
use crate::model::gp::observed::Observed;
use crate::model::gp::tests::{data, posterior};
use crate::random::{Purpose, Seed};

fn wave(a: f64, b: f64) -> f64 {
    3.0 * (0.8 * a).sin() + 0.02 * b + 0.3 * (17.0 * a).sin()
}

/// Targets given hyperparameters and κ by their neighbours, one after the other; `variances` are those of the
/// residuals.
pub(in crate::model::gp) fn draw_targets(
    posterior: &GpPosterior,
    target: usize,
    (state, variances): (&[f64], &[f64]),
    stream: &mut Stream,
) -> Vec<f64> {
    let neighbours = posterior.neighbours.as_ref().unwrap();
    let process = posterior.processes.iter().find(|p| p.targets.contains(&target)).unwrap();
    let mut logs = vec![0.0; posterior.covariance.parameters().len()];
    process.hyperparameters.write_parameters(state, &mut logs);
    let mut covariance = posterior.covariance.evaluator(&posterior.inputs);
    covariance.set(&logs);
    let mut targets = vec![f64::NAN; variances.len()];
    while targets.iter().any(|y| y.is_nan()) {
        for set in &neighbours.sets {
            let (own, near) = set.split_last().unwrap();
            if !targets[*own].is_nan() || near.iter().any(|row| targets[*row].is_nan()) {
                continue;
            }
            let mut matrix = Matrix::zeros(set.len(), set.len());
            covariance.fill_rows(set, &mut matrix);
            for (place, row) in set.iter().enumerate() {
                matrix[(place, place)] += posterior.jitter.powi(2) + variances[*row];
            }
            let factor = Cholesky::new(&matrix).unwrap();
            let mut values: Vec<f64> = near.iter().map(|row| targets[*row]).collect();
            values.push(0.0);
            factor.solve_lower(&mut values);
            values[near.len()] = stream.normal();
            factor.multiply_lower(&mut values);
            targets[*own] = values[near.len()];
        }
    }
    targets
}

#[test]
fn densities_of_single_cases_are_those_of_all_rows_before_and_after_changes() {
    let data = data(24, &[&wave]);
    let posterior = posterior("neighbours = 5\n[residual]\nfamily = 'laplace'", &data);
    let Observed::Real(residual) = &posterior.observed else { unreachable!() };
    let neighbours = posterior.neighbours.as_ref().unwrap();
    let mut stream = Seed(3).stream(Purpose::Data, [0, 0]);
    let mut state = posterior.start(&mut stream);
    residual.draw_case_variances(&mut state, &mut stream);
    let mut update = CasesUpdate::new(&posterior, residual, neighbours, 1.0);
    let hyperparameters = &posterior.processes[0].hyperparameters;
    hyperparameters.write_parameters(&state, &mut update.log_parameters);
    update.covariance.set(&update.log_parameters);
    update.invert(0, &state).unwrap();
    let GpPosterior { covariance, inputs, jitter, .. } = &posterior;
    let mut marginal = NeighbourMarginal::new(neighbours, covariance, inputs, *jitter);
    marginal.set(&update.log_parameters);
    let mut total = |variances: &[f64]| {
        let mut rows = vec![0.0; 24];
        marginal.log_density(&posterior.targets, variances, &mut rows, None).unwrap()
    };
    for row in (0..24).cycle().take(60) {
        let views: Vec<View> = update.places[row]
            .iter()
            .map(|(set, place)| {
                update.sets[*set].view(*place, update.variances[row], jitter * jitter)
            })
            .collect();
        let one = |variance: f64| views.iter().map(|view| view.log_density(variance)).sum::<f64>();
        let present = total(&update.variances);
        for variance in [1e-6, 0.02, 1.7, 1e5] {
            let mut changed = update.variances.clone();
            changed[row] = variance;
            let expected = total(&changed) - present;
            let found = one(variance) - one(update.variances[row]);
            assert!((found - expected).abs() < 1e-6 * (1.0 + expected.abs()), "{found} {expected}");
        }
        update.draw_case(0, row, &mut state, &mut stream);
    }
}
