//! Tests of principal components.

use posteria_linalg::{Cholesky, Matrix};

use super::ascent::Ascent;
use super::scatter::Scatter;
use super::{Pca, PcaPosterior};
use crate::data::{Column, Dataset, Roles, Table};
use crate::density::MultivariateNormal;
use crate::density::special::log_sum_exp;
use crate::draws::Draws;
use crate::model::Posterior;
use crate::model::spec::Spec;
use crate::predict::PredictiveTable;
use crate::random::{Purpose, Seed, Stream};

fn stream(index: u64) -> Stream {
    Seed(78).stream(Purpose::Data, [index, 0])
}

fn dataset(columns: &[Vec<f64>]) -> Dataset {
    let named = columns.iter().enumerate();
    let named = named.map(|(k, values)| (format!("x{k}"), Column::numbers(values.clone())));
    let table = Table::new("memory", named.collect()).unwrap();
    Dataset::new(&table, &Roles::default()).unwrap().0
}

fn posterior(columns: &[Vec<f64>], rest: &str) -> PcaPosterior {
    let spec = Spec::from_toml(&format!("[model]\nkind = 'pca'\n{rest}")).unwrap();
    Pca::new(&spec).unwrap().condition(&dataset(columns)).unwrap()
}

/// Draws of the posterior, as one chain.
fn draws(posterior: &dyn Posterior, count: usize, stream: &mut Stream) -> Draws {
    let layout = posterior.layout().clone();
    let mut state = posterior.start(stream);
    let (mut sweep, mut evaluator) = (posterior.sweep(1.0), posterior.evaluator());
    let (mut draw, mut own) = (vec![0.0; layout.len()], vec![0.0; posterior.rows()]);
    let mut values = Vec::new();
    for _ in 0..count {
        sweep.pass(&mut state, stream);
        evaluator.evaluate(&state, &mut draw, &mut own).unwrap();
        values.extend_from_slice(&draw);
    }
    Draws { draws: count, values, ..Draws::empty(layout, 1, 0) }
}

/// Rows in `planted` dimensions plus noise.
fn planted(
    (rows, dim): (usize, usize),
    planted: usize,
    noise: f64,
    stream: &mut Stream,
) -> Vec<Vec<f64>> {
    // Rows of length 1: columns of equal variance, so that noise is the same when standardised.
    let mut loadings: Vec<f64> = (0..dim * planted).map(|_| stream.normal()).collect();
    for row in loadings.chunks_mut(planted.max(1)) {
        let length = row.iter().map(|w| w * w).sum::<f64>().sqrt();
        row.iter_mut().for_each(|w| *w /= length);
    }
    let mut columns = vec![Vec::new(); dim];
    for _ in 0..rows {
        let z: Vec<f64> = (0..planted).map(|_| stream.normal()).collect();
        for (column, values) in columns.iter_mut().enumerate() {
            let part: f64 =
                z.iter().enumerate().map(|(k, z)| loadings[column * planted + k] * z).sum();
            values.push(7.0 + part + noise * stream.normal());
        }
    }
    columns
}

#[test]
fn the_bound_never_decreases() {
    // Rounding of the traces of which the bound is a difference.
    const ROUNDING: f64 = 1e-11;
    for (index, (rows, dim, q)) in
        [(100, 6, 5), (30, 4, 2), (8, 12, 11), (2, 3, 2), (1, 2, 1)].into_iter().enumerate()
    {
        let mut stream = stream(index as u64);
        let columns = planted((rows, dim), 2, 0.3, &mut stream);
        let posterior = posterior(&columns, &format!("components = {q}"));
        // A mean away from zero, so that it takes part in the climb.
        let inputs = Matrix::from_fn(rows, dim, |row, column| {
            posterior.inputs[(row, column)] + column as f64
        });
        let scatter = Scatter::of(&inputs);
        let loadings = Matrix::from_fn(dim, q, |_, _| stream.normal());
        let climb =
            Ascent::new(&scatter, &posterior.prior, loadings, 1.0).unwrap().climb(10_000).unwrap();
        for bounds in [&climb.bounds[..], posterior.approximation().bounds()] {
            assert!(bounds.len() >= 2);
            for pair in bounds.windows(2) {
                let lost = pair[0] - pair[1];
                assert!(lost <= ROUNDING * (1.0 + pair[0].abs()), "{rows} × {dim}: lost {lost}");
            }
        }
        // A random start finds nothing better than the best of the principal ones.
        let best = *posterior.approximation().bounds().last().unwrap();
        assert!(index > 0 || best.is_finite());
    }
}

#[test]
fn the_planted_dimension_is_found() {
    for (index, (rows, dim, true_dimension, noise)) in
        [(200, 10, 3, 0.5), (100, 6, 1, 0.7), (300, 9, 4, 0.2), (25, 40, 2, 0.3), (150, 8, 0, 1.0)]
            .into_iter()
            .enumerate()
    {
        let columns = planted((rows, dim), true_dimension, noise, &mut stream(20 + index as u64));
        let found = posterior(&columns, "").findings();
        assert_eq!(found.effective_dimension, true_dimension, "{:?}", found.explained_variance);
        let shares = found.explained_variance.iter().sum::<f64>() + found.noise_share;
        assert!((shares - 1.0).abs() < 1e-9);
        assert!(found.explained_variance.is_sorted_by(|a, b| a >= b));
    }
}

#[test]
fn the_bound_is_the_average_of_log_ratios() {
    // E_q [log p(X, z, θ) - log q(z, θ)], by draws of everything; few rows keep it steady.
    let columns = planted((6, 3), 1, 0.5, &mut stream(40));
    let posterior = posterior(
        &columns,
        "components = 2\n[prior.loadings]\ndof = 4.0\n[prior.mean]\nfixed = 0.5",
    );
    // Away from zero, where a strong prior pulls the mean.
    let inputs = Matrix::from_fn(6, 3, |row, column| posterior.inputs[(row, column)] + 1.0);
    let (scatter, prior) = (Scatter::of(&inputs), &posterior.prior);
    let first = Matrix::from_fn(3, 2, |row, k| 0.5 + 0.3 * row as f64 - 0.7 * k as f64);
    // Not at the optimum, where errors of first order would hide. q(z) is found with the mean of
    // the round before.
    let climb = Ascent::new(&scatter, prior, first, 0.5).unwrap().climb(1).unwrap();
    let before = climb.mean.clone();
    let climb = climb.climb(1).unwrap();
    let (bound, gain, scores) = (climb.bound(), climb.gain.clone(), climb.scores.clone());
    let q = super::PcaApproximation::new(climb.clone(), 1).unwrap();
    let order: Vec<usize> = {
        let size = |k: usize| climb.loadings.column(k).iter().map(|w| w * w).sum::<f64>();
        if size(0) >= size(1) { vec![0, 1] } else { vec![1, 0] }
    };
    let mut covariance = Matrix::zeros(2, 2);
    scores.inverse(&mut covariance);
    let normal =
        MultivariateNormal::new(vec![0.0; 2], Cholesky::new(&covariance).unwrap()).unwrap();
    let (mut stream, mut state) = (stream(41), vec![0.0; q.state_len()]);
    let mut ratios = Vec::new();
    for _ in 0..40_000 {
        q.draw(&mut stream, &mut state);
        let tau = state[state.len() - 1];
        let mut ratio = super::evaluator::log_prior(&posterior, &state) - q.log_density(&state);
        for row in 0..6 {
            let x = |column: usize| inputs[(row, column)];
            let mut z = [0.0; 2];
            normal.draw(&mut stream, &mut z);
            ratio -= normal.log_density(&z, &mut [0.0; 2]);
            for (k, z) in z.iter_mut().enumerate() {
                *z += (0..3).map(|c| gain[(k, c)] * (x(c) - before[c])).sum::<f64>();
                ratio -= 0.5 * *z * *z + crate::density::special::LOG_SQRT_2PI;
            }
            for column in 0..3 {
                let w = |k: usize| state[3 + column * 2 + k];
                let output = state[column] + w(0) * z[order[0]] + w(1) * z[order[1]];
                ratio += 0.5 * (tau - tau.exp() * (x(column) - output).powi(2))
                    - crate::density::special::LOG_SQRT_2PI;
            }
        }
        ratios.push(ratio);
    }
    let mean = ratios.iter().sum::<f64>() / 40_000.0;
    let variance = ratios.iter().map(|r| (r - mean).powi(2)).sum::<f64>() / 40_000.0;
    // |z| < 4.5: false-alarm rate 7e-6, seed fixed.
    let z = (mean - bound) / (variance / 40_000.0).sqrt();
    assert!(z.abs() < 4.5, "{mean} for {bound}: z = {z}");
}

#[test]
fn importance_weights_average_above_the_bound() {
    let columns = planted((12, 3), 1, 0.5, &mut stream(50));
    let posterior = posterior(&columns, "[prior.loadings]\ndof = 2.0");
    let mut evaluator = posterior.evaluator();
    let (mut draw, mut own) = (vec![0.0; posterior.layout().len()], vec![0.0; 12]);
    let mut stream = stream(51);
    let weights: Vec<f64> = (0..4000)
        .map(|_| {
            let state = posterior.start(&mut stream);
            let terms = evaluator.evaluate(&state, &mut draw, &mut own).unwrap();
            terms.at(1.0) - posterior.approximation().log_density(&state)
        })
        .collect();
    let (evidence, bound) = (log_sum_exp(&weights) - 4000f64.ln(), posterior.findings().bound);
    // Scores are integrated out exactly here, so even the mean of the logarithms is above.
    assert!(weights.iter().sum::<f64>() / 4000.0 > bound, "{bound}");
    assert!(evidence > bound && evidence < bound + 8.0, "{evidence} {bound}");
}

#[test]
fn densities_of_new_rows_are_those_of_the_covariance() {
    let columns = planted((40, 4), 2, 0.3, &mut stream(60));
    let posterior = posterior(&columns, "components = 3");
    let draws = draws(&posterior, 100, &mut stream(62));
    let draws_len = posterior.layout().len();
    let mut predictor = posterior.predictor().unwrap();
    let table = PredictiveTable::new(&mut *predictor, &draws, 0..100, &posterior.inputs);
    for number in [0, 57] {
        let draw = &draws.values[number * draws_len..][..draws_len];
        let covariance = Matrix::from_fn(4, 4, |row, column| {
            let part: f64 = (0..3).map(|k| draw[4 + row * 3 + k] * draw[4 + column * 3 + k]).sum();
            part + if row == column { draw[4 + 12 + 3 + row].powi(2) } else { 0.0 }
        });
        let normal =
            MultivariateNormal::new(draw[..4].to_vec(), Cholesky::new(&covariance).unwrap());
        for row in [0, 7] {
            let x: Vec<f64> = columns.iter().map(|values| values[row]).collect();
            let expected = normal.as_ref().unwrap().log_density(&x, &mut [0.0; 4]);
            assert!(
                (table.parameters(row)[number] - expected).abs() < 1e-9 * expected.abs().max(1.0)
            );
        }
    }
    assert!(table.predictive(0).log_density(&[]).is_finite());
    assert_eq!(table.family().classes(), 0);
}

#[test]
fn rows_are_reconstructed_without_their_noise() {
    let columns = planted((400, 6), 2, 0.5, &mut stream(61));
    let posterior = posterior(&columns, "");
    let clean = planted((400, 6), 2, 0.0, &mut stream(61));
    // The same stream: normal draws of the noise are drawn all the same, and times zero.
    let (mut before, mut after) = (0.0, 0.0);
    for row in 0..400 {
        let x: Vec<f64> = columns.iter().map(|values| values[row]).collect();
        let rebuilt = posterior.reconstruct(&x);
        for column in 0..6 {
            let truth = clean[column][row];
            before += (x[column] - truth).powi(2);
            after += (rebuilt[column] - truth).powi(2);
        }
    }
    // Two of six dimensions keep their noise.
    assert!(after < 0.45 * before, "{after} of {before}");
    assert_eq!(posterior.scores(&[7.0; 6]).len(), 5);
}

#[test]
fn degenerate_rows_give_a_proper_posterior() {
    let mut stream = stream(70);
    let line: Vec<f64> = (0..30).map(|_| stream.normal()).collect();
    let twice: Vec<f64> = line.iter().map(|x| 1e6 + 2e-3 * x).collect();
    let cases = [
        ("one row", vec![vec![3.0], vec![-7.0]]),
        ("the same row", vec![vec![3.0; 20], vec![-7.0; 20]]),
        ("a constant column", vec![line.clone(), vec![5.0; 30]]),
        ("collinear columns", vec![line.clone(), twice.clone(), line.clone()]),
        ("more columns than rows", planted((5, 12), 2, 0.1, &mut stream)),
    ];
    for (name, columns) in cases {
        let posterior = posterior(&columns, "");
        assert!(posterior.findings().bound.is_finite(), "{name}");
        let (mut draw, mut own) =
            (vec![0.0; posterior.layout().len()], vec![0.0; posterior.rows()]);
        for _ in 0..20 {
            let state = posterior.start(&mut stream);
            let terms = posterior.evaluator().evaluate(&state, &mut draw, &mut own);
            assert!(terms.unwrap().at(1.0).is_finite(), "{name}");
        }
    }
    let spec = Spec::from_toml("[model]\nkind = 'pca'\ncomponents = 3").unwrap();
    let pca = Pca::new(&spec).unwrap();
    let error = |columns: &[Vec<f64>]| pca.condition(&dataset(columns)).err().unwrap().to_string();
    assert!(error(std::slice::from_ref(&line)).contains("expected 2, found 1"));
    assert!(error(&[line.clone(), twice.clone(), line]).contains("fewer than there are columns"));
}
