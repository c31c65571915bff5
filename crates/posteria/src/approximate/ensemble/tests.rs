//! Tests of ensemble learning.

use posteria_linalg::{Cholesky, Matrix};

use super::*;
use crate::data::{Column, Dataset, Roles, Table};
use crate::density::special::log_sum_exp;
use crate::density::{InverseGamma, MultivariateNormal};
use crate::model::mlp::Mlp;
use crate::model::spec::Spec;
use crate::model::{Posterior, Tempering};
use crate::predict::PredictiveTable;

fn stream(index: u64) -> Stream {
    Seed(79).stream(Purpose::Data, [index, 0])
}

/// Rows of two inputs with a smooth target.
fn dataset(rows: usize, inputs: usize, index: u64) -> Dataset {
    let mut stream = stream(index);
    let mut columns: Vec<(String, Column)> = Vec::new();
    let x: Vec<Vec<f64>> =
        (0..inputs).map(|_| (0..rows).map(|_| stream.normal()).collect()).collect();
    let y = (0..rows).map(|row| 3.0 + 2.0 * x[0][row].tanh() + 0.3 * stream.normal()).collect();
    for (k, values) in x.into_iter().enumerate() {
        columns.push((format!("x{k}"), Column::numbers(values)));
    }
    columns.push(("y".into(), Column::numbers(y)));
    let table = Table::new("memory", columns).unwrap();
    let roles = Roles { targets: vec!["y".into()], ..Roles::default() };
    Dataset::new(&table, &roles).unwrap().0
}

fn posterior(data: &Dataset, text: &str) -> MlpPosterior {
    let spec = Spec::from_toml(&format!("[model]\nkind = 'mlp'\n{text}")).unwrap();
    Mlp::new(&spec).unwrap().condition(data, None).unwrap()
}

/// A linear network of two scales, so that the evidence is a double integral.
const LINEAR: &str = "hidden = 0\n[prior.output_bias]\nfixed = 2.0\n[prior.direct_weights]\n\
    sharing = 'common'\nscale = 0.7\ndof = 3.0\nwidth_scaled = false\n\
    [residual]\nscale = 0.4\nscale_dof = 3.0";

#[test]
fn the_bound_of_a_linear_network_is_below_the_evidence() {
    let data = dataset(12, 2, 0);
    let posterior = posterior(&data, LINEAR);
    let options = EnsembleOptions { first_temperature: 1.0, ..EnsembleOptions::default() };
    let ensemble = Ensemble::learn(&posterior, &options, Seed(1)).unwrap();
    let findings = ensemble.findings();
    assert!(findings.settled && findings.bounds.len() > 3);
    // log ∫∫ N(y; 0, σ²I + a² X Xᵀ + 4 1 1ᵀ) p(log a) p(log σ) by the midpoint rule.
    let crate::data::Targets::Real { values, .. } = &data.targets else { panic!("real") };
    let (a_prior, s_prior) =
        (InverseGamma::new(0.7, 3.0).unwrap(), InverseGamma::new(0.4, 3.0).unwrap());
    let step = 0.05;
    let mut terms = Vec::new();
    for i in -80..80 {
        for j in -80..60 {
            let (log_a, log_s) = (f64::from(i) * step, f64::from(j) * step);
            let covariance = Matrix::from_fn(12, 12, |r, c| {
                let inner: f64 = (0..2).map(|k| data.inputs[(r, k)] * data.inputs[(c, k)]).sum();
                let noise = if r == c { (2.0 * log_s).exp() } else { 0.0 };
                noise + (2.0 * log_a).exp() * inner + 4.0
            });
            let Ok(factor) = Cholesky::new(&covariance) else { continue };
            let normal = MultivariateNormal::new(vec![0.0; 12], factor).unwrap();
            terms.push(
                normal.log_density(values.column(0), &mut [0.0; 12])
                    + a_prior.log_density_of_log_scale(log_a)
                    + s_prior.log_density_of_log_scale(log_s)
                    + 2.0 * step.ln(),
            );
        }
    }
    let unit = 12.0 * data.target_scaling[0].scale.ln();
    let evidence = log_sum_exp(&terms) - unit;
    let gap = evidence - ensemble.bound();
    // False-alarm rate 3e-6.
    assert!(
        gap > -4.5 * findings.bound_error && gap < 0.1,
        "{} below {evidence}",
        ensemble.bound()
    );
    // Importance weights correct what the bound misses. |z| < 4.5: false-alarm rate 7e-6.
    let sample = ensemble.importance_sample(20_000, &mut stream(1));
    let relative = (1.0 / sample.effective_size - 1.0 / 20_000.0).sqrt();
    let z = (sample.log_evidence - evidence) / relative;
    assert!(z.abs() < 4.5, "{} for {evidence}", sample.log_evidence);
    assert!(sample.effective_size > 5000.0, "{}", sample.effective_size);
    // Resampling keeps weighted means: shares are exact to one draw in 4000.
    let resampled = sample.resampled(4000, &mut stream(2)).unwrap();
    assert!((3999..=4000).contains(&resampled.draws));
    let total = log_sum_exp(&sample.log_weights);
    let mut drawn = vec![0.0; sample.draws.layout.len()];
    let mut weighed = drawn.clone();
    for draw in resampled.values.chunks(drawn.len()) {
        drawn.iter_mut().zip(draw).for_each(|(sum, x)| *sum += x / resampled.draws as f64);
    }
    for (draw, weight) in sample.draws.values.chunks(weighed.len()).zip(&sample.log_weights) {
        let share = (weight - total).exp();
        weighed.iter_mut().zip(draw).for_each(|(sum, x)| *sum += share * x);
    }
    for (a, b) in drawn.iter().zip(&weighed) {
        // Systematic resampling is better than 4000 independent draws, of sd about 1.
        assert!((a - b).abs() < 4.5 / 4000f64.sqrt(), "{drawn:?} for {weighed:?}");
    }
}

#[test]
fn densities_of_draws_are_those_of_the_weights() {
    let data = dataset(15, 2, 2);
    for text in [LINEAR, "hidden = 2\n[residual]\nscale_dof = 4.0", STUDENT] {
        let posterior = posterior(&data, text);
        let options = EnsembleOptions { starts: 1, ..EnsembleOptions::default() };
        let ensemble = Ensemble::learn(&posterior, &options, Seed(1)).unwrap();
        let mut evaluator = posterior.evaluator();
        let mut state = vec![0.0; posterior.state_len()];
        let (mut draw, mut rows) = (vec![0.0; posterior.layout().len()], vec![0.0; 15]);
        ensemble.draw(&mut stream(3), &mut state);
        let terms = evaluator.evaluate(&state, &mut draw, &mut rows).unwrap();
        let log_weight = terms.at(1.0) - ensemble.log_density(&state);
        let first = ensemble.importance_sample(1, &mut stream(3)).log_weights[0];
        assert!((log_weight - first).abs() < 1e-8, "{text}: {first} {log_weight}");
    }
}

const STUDENT: &str =
    "hidden = 2\n[residual]\nfamily = 'student-t'\ndof = 'continuous'\nscale_dof = 4.0";

/// By the change of variables w = sz, s of every weight, and u = log(ν - ν₀).
#[test]
fn densities_of_heavy_tailed_residuals_are_those_of_the_states() {
    let data = dataset(15, 2, 2);
    for (family, limit) in [
        (STUDENT, Some(0.0)),
        ("hidden = 2\n[residual]\nfamily = 'student-t'\ndof = 3.5", None),
        ("hidden = 1\n[residual]\nfamily = 'laplace'", None),
    ] {
        let posterior = posterior(&data, family);
        let mut coordinates = posterior.ensemble_coordinates(1.0, &[]).unwrap();
        let mut evaluator = posterior.evaluator();
        let (mut draw, mut rows) = (vec![0.0; posterior.layout().len()], vec![0.0; 15]);
        for index in 0..20 {
            let state = posterior.draw_prior_state(&mut stream(20 + index)).unwrap();
            let mut position = vec![0.0; coordinates.dim()];
            coordinates.enter(&state, &mut position);
            let found = coordinates.log_density(&position).unwrap() + posterior.ensemble_constant();
            let known = evaluator.evaluate(&state, &mut draw, &mut rows).unwrap().at(1.0);
            let of_weights: f64 = posterior.prior_scales(&state).iter().map(|s| s.ln()).sum();
            let of_dof = limit.map_or(0.0, |_| position[0]);
            let difference = found - known - of_weights - of_dof;
            assert!(difference.abs() < 1e-8 * (1.0 + known.abs()), "{family}: {difference}");
        }
    }
}

#[test]
fn residuals_with_outliers_have_an_ensemble_near_their_posterior() {
    let mut stream = stream(14);
    let x: Vec<f64> = (0..80).map(|_| stream.normal()).collect();
    let y = x.iter().enumerate().map(|(row, x)| {
        let outlier = if row % 10 == 0 { 8.0 } else { 0.0 };
        3.0 + 2.0 * x.tanh() + 0.3 * stream.normal() + outlier
    });
    let y = Column::numbers(y.collect());
    let table = vec![("x".into(), Column::numbers(x.clone())), ("y".into(), y)];
    let table = Table::new("memory", table).unwrap();
    let roles = Roles { targets: vec!["y".into()], ..Roles::default() };
    let (data, _) = Dataset::new(&table, &roles).unwrap();
    let text = "[model]\nkind = 'mlp'\nhidden = 1\n[residual]\nfamily = 'student-t'\n\
                [sampling]\ninference = 'variational'";
    let mut spec = Spec::from_toml(text).unwrap();
    spec.complete(data.task).unwrap();
    let posterior = Mlp::new(&spec).unwrap().condition(&data, None).unwrap();
    let ensemble = Ensemble::learn(&posterior, &EnsembleOptions::default(), Seed(1)).unwrap();
    let worth = ensemble.findings().worth.unwrap();
    assert!(worth.effective_size > 100.0, "{worth:?}");
    let sample = ensemble.importance_sample(2000, &mut self::stream(15));
    let gap = sample.log_evidence - ensemble.bound();
    assert!(gap > 0.0 && gap < 2.0, "{gap}");
    // Not drawn up by every tenth row.
    let inputs = Matrix::from_fn(5, 1, |row, _| -1.0 + 0.5 * row as f64);
    let mut predictor = posterior.predictor().unwrap();
    let table = PredictiveTable::new(&mut *predictor, &sample.draws, 0..2000, &inputs);
    for row in 0..5 {
        let median = table.weighted(row, &sample.log_weights).quantile(0, 0.5);
        let x = data.input_scaling[0].invert(inputs[(row, 0)]);
        assert!((median - (3.0 + 2.0 * x.tanh())).abs() < 0.4, "{median} at {x}");
    }
}

#[test]
fn a_network_with_hidden_units_is_near_its_posterior() {
    let data = dataset(60, 1, 4);
    let posterior = posterior(
        &data,
        "hidden = 1\npriors = 'mcmcstuff'\n\
         [prior.input_weights]\nsharing = 'common'\nscale = 1.0\ndof = 4.0\n\
         [prior.output_weights]\nscale = 1.0\ndof = 4.0\n[prior.output_bias]\nfixed = 1.0",
    );
    let ensemble = Ensemble::learn(&posterior, &EnsembleOptions::default(), Seed(1)).unwrap();
    assert_eq!(ensemble.findings().starts, 5);
    let sample = ensemble.importance_sample(4000, &mut stream(5));
    assert!(sample.effective_size > 400.0, "{}", sample.effective_size);
    let gap = sample.log_evidence - ensemble.bound();
    assert!(gap > 0.0 && gap < 1.0, "{} {}", sample.log_evidence, ensemble.bound());
    let inputs = Matrix::from_fn(5, 1, |row, _| -1.0 + 0.5 * row as f64);
    let mut predictor = posterior.predictor().unwrap();
    let table = PredictiveTable::new(&mut *predictor, &sample.draws, 0..4000, &inputs);
    for row in 0..5 {
        let mean = table.predictive(row).mean(0).unwrap();
        let weighted = table.weighted(row, &sample.log_weights).mean(0).unwrap();
        let x = data.input_scaling[0].invert(inputs[(row, 0)]);
        for mean in [mean, weighted] {
            assert!((mean - (3.0 + 2.0 * x.tanh())).abs() < 0.5, "{mean} at {x}");
        }
    }
}

/// Rows of four inputs with a target that is nearly linear in them.
fn nearly_linear(rows: usize) -> Dataset {
    let mut stream = stream(9);
    let x: Vec<Vec<f64>> = (0..4).map(|_| (0..rows).map(|_| stream.normal()).collect()).collect();
    let y = (0..rows).map(|row| {
        let sum = 1.5 * x[0][row] - x[1][row] + 0.5 * x[2][row];
        sum + 0.1 * x[0][row] * x[1][row] + 0.5 * stream.normal()
    });
    let y = Column::numbers(y.collect());
    let names = (0..4).map(|k| format!("x{k}"));
    let mut columns: Vec<_> = names.zip(x.into_iter().map(Column::numbers)).collect();
    columns.push(("y".into(), y));
    let table = Table::new("memory", columns).unwrap();
    let roles = Roles { targets: vec!["y".into()], ..Roles::default() };
    Dataset::new(&table, &roles).unwrap().0
}

#[test]
fn draws_of_many_hidden_units_fit_a_nearly_linear_table() {
    let data = nearly_linear(60);
    let mut spec = Spec::from_toml("[model]\nkind = 'mlp'\nhidden = 8").unwrap();
    spec.complete(data.task).unwrap();
    let posterior = Mlp::new(&spec).unwrap().condition(&data, None).unwrap();
    let options = EnsembleOptions { starts: 1, ..EnsembleOptions::default() };
    let ensemble = Ensemble::learn(&posterior, &options, Seed(1)).unwrap();
    assert!(ensemble.findings().settled);
    let sample = ensemble.importance_sample(200, &mut stream(5));
    let at = sample.draws.layout.variable("training_error").unwrap().range().start;
    let len = sample.draws.layout.len();
    let mut errors: Vec<f64> = sample.draws.values.chunks(len).map(|draw| draw[at]).collect();
    errors.sort_by(f64::total_cmp);
    // Residuals have 0.5; targets 1.9.
    assert!(errors[0] > 0.3 && errors[100] < 0.6 && errors[199] < 1.2, "{errors:?}");
}

#[test]
fn draws_of_three_hidden_units_are_worth_many_of_the_posterior() {
    let data = dataset(80, 1, 12);
    let mut spec = Spec::from_toml("[model]\nkind = 'mlp'\nhidden = 3").unwrap();
    spec.complete(data.task).unwrap();
    let posterior = Mlp::new(&spec).unwrap().condition(&data, None).unwrap();
    let options = EnsembleOptions { starts: 2, ..EnsembleOptions::default() };
    let ensemble = Ensemble::learn(&posterior, &options, Seed(1)).unwrap();
    let worth = ensemble.findings().worth.unwrap();
    assert!(worth.effective_size > 40.0, "{worth:?}");
}

#[test]
fn classes_have_an_ensemble_near_their_posterior() {
    let mut stream = stream(10);
    let x: Vec<f64> = (0..80).map(|_| stream.normal()).collect();
    let class = x.iter().map(|x| if 2.0 * x + stream.normal() > 0.5 { "b" } else { "a" });
    let class = Column::from_texts(class.collect::<Vec<_>>()).unwrap();
    let columns = vec![("x".into(), Column::numbers(x.clone())), ("y".into(), class)];
    let table = Table::new("memory", columns).unwrap();
    let roles = Roles { targets: vec!["y".into()], ..Roles::default() };
    let (data, _) = Dataset::new(&table, &roles).unwrap();
    let mut spec = Spec::from_toml("[model]\nkind = 'mlp'\nhidden = 1").unwrap();
    spec.complete(data.task).unwrap();
    let posterior = Mlp::new(&spec).unwrap().condition(&data, None).unwrap();
    let ensemble = Ensemble::learn(&posterior, &EnsembleOptions::default(), Seed(1)).unwrap();
    let worth = ensemble.findings().worth.unwrap();
    assert!(worth.effective_size > 100.0, "{worth:?}");
    let sample = ensemble.importance_sample(2000, &mut self::stream(11));
    let gap = sample.log_evidence - ensemble.bound();
    assert!(gap > 0.0 && gap < 2.0, "{gap}");
}

#[test]
fn draws_are_states_and_starts_depend_on_the_seed_alone() {
    let data = dataset(30, 2, 6);
    let posterior = posterior(&data, "hidden = 3");
    let learn = |seed| {
        let options = EnsembleOptions { starts: 2, ..EnsembleOptions::default() };
        Ensemble::learn(&posterior, &options, Seed(seed)).unwrap()
    };
    let (first, again) = (learn(3), learn(3));
    assert_eq!(first.findings(), again.findings());
    let mut state = vec![0.0; posterior.state_len()];
    first.draw(&mut stream(7), &mut state);
    let mut draw = vec![0.0; posterior.layout().len()];
    let mut own = vec![0.0; 30];
    let terms = posterior.evaluator().evaluate(&state, &mut draw, &mut own).unwrap();
    assert!(terms.at(1.0).is_finite() && first.log_density(&state).is_finite());
    assert_eq!(first.covariance().rows(), first.mean().len());
}
