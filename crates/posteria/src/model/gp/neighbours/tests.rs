//! With all rows as neighbours nothing is approximated; with fewer, little.

use posteria_linalg::Matrix;

use super::super::marginal::Marginal;
use super::super::tests::{data, posterior};
use super::*;
use crate::model::Posterior;
use crate::random::{Purpose, Seed};
use crate::sample::Stage;

#[test]
fn neighbours_are_the_nearest_earlier_rows_and_nothing_is_its_own_ancestor() {
    let inputs = Matrix::from_fn(40, 2, |row, column| {
        ((row * 7 + column * 3) as f64 * 0.37).sin() * (1.0 + column as f64)
    });
    let neighbours = Neighbours::new(&inputs, 5);
    // Every order of conditioning is acyclic: the number of rows without any neighbour is 1,
    // and following neighbours always ends there.
    let alone = neighbours.sets.iter().filter(|set| set.len() == 1).count();
    assert_eq!(alone, 1);
    let mut sizes: Vec<usize> = neighbours.sets.iter().map(|set| set.len() - 1).collect();
    sizes.sort_unstable();
    assert_eq!(sizes[..6], [0, 1, 2, 3, 4, 5]);
    assert!(sizes[5..].iter().all(|size| *size == 5));
    // All others of a full set that come earlier are further away: the set of every row can
    // be found again among the rows that have it as a possible ancestor.
    let distance = |a: usize, b: usize| -> f64 {
        (0..2).map(|k| (inputs[(a, k)] - inputs[(b, k)]).powi(2)).sum()
    };
    for (row, set) in neighbours.sets.iter().enumerate() {
        assert_eq!(set.last(), Some(&row));
        let distances: Vec<f64> =
            set[..set.len() - 1].iter().map(|other| distance(row, *other)).collect();
        assert!(distances.windows(2).all(|pair| pair[0] <= pair[1]));
    }
}

#[test]
fn all_rows_are_neighbours_where_so_many_are_asked_for() {
    let inputs = Matrix::from_fn(6, 1, |row, _| row as f64);
    let neighbours = Neighbours::new(&inputs, 100);
    let total: usize = neighbours.sets.iter().map(|set| set.len() - 1).sum();
    assert_eq!((neighbours.most, total), (5, 15));
}

fn wave(a: f64, b: f64) -> f64 {
    3.0 * (0.8 * a).sin() + 0.02 * b + 0.3 * (17.0 * a).sin()
}

const LOGS: [f64; 3] = [0.2, -0.3, 0.4];

/// Density and derivatives with respect to log parameters and one common log residual scale.
fn found(most: usize, log_scale: f64, logs: &[f64]) -> (f64, Vec<f64>) {
    let data = data(24, &[&wave]);
    let posterior = posterior("", &data);
    let neighbours = Neighbours::new(&posterior.inputs, most);
    let mut marginal =
        NeighbourMarginal::new(&neighbours, &posterior.covariance, &posterior.inputs, 0.05);
    marginal.set(logs);
    let variances = [(2.0 * log_scale).exp(); 24];
    let (mut of_logs, mut of_scales, mut rows) = (vec![0.0; 3], vec![0.0; 24], vec![0.0; 24]);
    let derivatives = Derivatives { parameters: &mut of_logs, log_scales: &mut of_scales };
    let value =
        marginal.log_density(&posterior.targets, &variances, &mut rows, Some(derivatives)).unwrap();
    assert!((rows.iter().sum::<f64>() - value).abs() < 1e-10);
    of_logs.push(of_scales.iter().sum());
    (value, of_logs)
}

#[test]
fn with_all_neighbours_the_density_and_its_derivatives_are_exact() {
    let (value, gradient) = found(23, -1.0, &LOGS);
    let data = data(24, &[&wave]);
    let posterior = posterior("", &data);
    let mut marginal = Marginal::new(&posterior.covariance, &posterior.inputs, 0.05);
    marginal.set(&LOGS);
    marginal.factorize(&[2.0_f64.exp(); 24]).unwrap();
    let mut solved = vec![0.0; 24];
    let square = marginal.solve(&posterior.targets, &mut solved);
    // N(y; 0, K + σ²) = |B|^(-½) exp(-½ …) (2πσ²)^(-n/2).
    let constant = 24.0 * (-1.0 + 0.5 * std::f64::consts::TAU.ln());
    let expected = marginal.log_volume() - 0.5 * square - constant;
    assert!((value - expected).abs() < 1e-9, "{value} {expected}");
    let mut of_logs = vec![0.0; 3];
    marginal.invert();
    marginal.gradient(&solved, &mut of_logs);
    for (found, expected) in gradient.iter().zip(&of_logs) {
        assert!((found - expected).abs() < 1e-8, "{gradient:?} {of_logs:?}");
    }
}

#[test]
fn with_few_neighbours_gradients_are_derivatives_and_the_density_is_near() {
    let (exact, _) = found(23, -1.0, &LOGS);
    let (near, gradient) = found(8, -1.0, &LOGS);
    assert!((near - exact).abs() < 1.0 && (near - exact).abs() > 1e-6, "{near} {exact}");
    for (index, claimed) in gradient.iter().enumerate() {
        let at = |h: f64| {
            let mut logs = LOGS;
            if index < 3 {
                logs[index] += h;
            }
            found(8, -1.0 + if index == 3 { h } else { 0.0 }, &logs).0
        };
        let numeric = (8.0 * (at(1e-3) - at(-1e-3)) - (at(2e-3) - at(-2e-3))) / 12e-3;
        assert!((claimed - numeric).abs() < 1e-7 * (1.0 + numeric.abs()), "{index}: {numeric}");
    }
}

/// Chains with all rows as neighbours see the same posterior as exact ones.
#[test]
fn chains_and_draws_agree_with_the_exact_ones() {
    let data = data(24, &[&wave]);
    let mean = |text: &str| {
        let posterior = posterior(text, &data);
        let mut stream = Seed(4).stream(Purpose::Data, [0, 0]);
        let mut state = posterior.start(&mut stream);
        let mut sweep = posterior.sweep(1.0);
        for adapt in [crate::sample::Adapt::StepSize, crate::sample::Adapt::Metric] {
            sweep.enter(&Stage { adapt, ..Stage::default() });
            for _ in 0..100 {
                sweep.pass(&mut state, &mut stream);
            }
        }
        sweep.enter(&Stage::default());
        let mut evaluator = posterior.evaluator();
        let at = posterior.layout().variable("residual_scale").unwrap().offset;
        let (mut draw, mut rows) = (vec![0.0; posterior.layout().len()], vec![0.0; 24]);
        let mut logs = Vec::new();
        for _ in 0..1600 {
            sweep.pass(&mut state, &mut stream);
            evaluator.evaluate(&state, &mut draw, &mut rows).unwrap();
            logs.push(draw[at].ln());
        }
        let mean = logs.iter().sum::<f64>() / 1600.0;
        let batches = logs.chunks_exact(50).map(|b| b.iter().sum::<f64>() / 50.0);
        let error = batches.map(|b| (b - mean).powi(2)).sum::<f64>() / (31.0 * 32.0);
        (mean, error)
    };
    for residual in
        ["", "\n[residual]\nfamily = 'student-t'\ndof = 3.0", "\n[residual]\nfamily = 'laplace'"]
    {
        let ((exact, a), (near, b)) = (mean(residual), mean(&format!("neighbours = 23{residual}")));
        // Five errors: 2e-6 by chance altogether.
        let error = (a + b).sqrt();
        assert!((exact - near).abs() < 5.0 * error, "{residual}: {exact} {near} {error}");
    }
}

/// With all rows as neighbours predictions are the exact ones, new rows and rows left out alike.
#[test]
fn predictions_from_all_neighbours_are_exact() {
    let data = data(24, &[&wave]);
    let (exact, near) = (posterior("", &data), posterior("neighbours = 23", &data));
    let mut stream = Seed(6).stream(Purpose::Data, [0, 0]);
    let state = near.start(&mut stream);
    let (mut draw, mut rows) = (vec![0.0; near.layout().len()], vec![0.0; 24]);
    near.evaluator().evaluate(&state, &mut draw, &mut rows).unwrap();
    let (mut other, mut others) = (vec![0.0; exact.layout().len()], vec![0.0; 24]);
    exact.evaluator().evaluate(&state, &mut other, &mut others).unwrap();
    for (found, expected) in rows.iter().zip(&others) {
        assert!((found - expected).abs() < 1e-8 * (1.0 + expected.abs()), "{found} {expected}");
    }
    let new = Matrix::from_fn(5, 2, |row, column| 0.4 * row as f64 - 0.9 * column as f64);
    let (mut a, mut b) = (exact.predictor().unwrap(), near.predictor().unwrap());
    let assert_same = |found: &[f64], expected: &[f64]| {
        for (found, expected) in found.iter().zip(expected) {
            assert!((found - expected).abs() < 1e-8 * (1.0 + expected.abs()), "{found} {expected}");
        }
    };
    let (mut expected, mut found) = (vec![0.0; 10], vec![0.0; 10]);
    a.at(&draw, &new, &mut expected);
    b.at(&draw, &new, &mut found);
    assert_same(&found, &expected);
    let (mut expected, mut found) = (vec![0.0; 48], vec![0.0; 48]);
    a.leave_one_out(&draw, &mut expected);
    b.leave_one_out(&draw, &mut found);
    assert_same(&found, &expected);
    // Joint draws use the same normal numbers, so they are the same functions.
    let (mut expected, mut found) = (vec![0.0; 5], vec![0.0; 5]);
    a.draw_functions(&draw, &new, &mut Seed(7).stream(Purpose::Data, [0, 0]), &mut expected);
    b.draw_functions(&draw, &new, &mut Seed(7).stream(Purpose::Data, [0, 0]), &mut found);
    for (found, expected) in found.iter().zip(&expected) {
        assert!((found - expected).abs() < 1e-4 * (1.0 + expected.abs()), "{found} {expected}");
    }
}
