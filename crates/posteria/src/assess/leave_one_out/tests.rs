//! Leaving out rows: threads, harmonic means, degenerate rows.

use super::*;
use crate::random::{Purpose, Seed};

fn one() -> NonZero<usize> {
    NonZero::<usize>::MIN
}

fn noise(size: usize, scale: f64) -> Vec<f64> {
    let mut stream = Seed(8).stream(Purpose::Data, [0, 0]);
    (0..size).map(|_| -scale * stream.normal().powi(2)).collect()
}

#[test]
fn threads_change_nothing() {
    let values = noise(2 * 60 * 13, 0.3);
    let matrix = LogLikelihoods::new(&values, 2, 60, 13).expect("usable");
    let options = LeaveOneOutOptions::default();
    let alone = leave_one_out(&matrix, &options, one()).expect("usable");
    let many = leave_one_out(&matrix, &options, 3.try_into().expect("three")).expect("usable");
    assert_eq!(alone, many);
    let weights = matrix.weights_without(4, Smoothing::Pareto, alone.relative_efficiency);
    let weights = weights.expect("weights");
    let elpd = weights.log_mean_exp(&matrix.row(4));
    assert_eq!(elpd.to_bits(), alone.pointwise[4].elpd.to_bits());
}

#[test]
fn plain_weights_give_the_harmonic_mean() {
    let values = noise(40 * 2, 0.5);
    let matrix = LogLikelihoods::new(&values, 1, 40, 2).expect("usable");
    let options = LeaveOneOutOptions { smoothing: Smoothing::Plain, ..Default::default() };
    let found = leave_one_out(&matrix, &options, one()).expect("usable");
    for row in 0..2 {
        let inverse = matrix.row(row).iter().map(|value| (-value).exp()).sum::<f64>() / 40.0;
        assert!((found.pointwise[row].elpd + inverse.ln()).abs() < 1e-12);
    }
}

#[test]
fn a_constant_row_is_known_exactly() {
    let values: Vec<f64> = noise(100, 0.2).into_iter().flat_map(|x| [x, -1.25]).collect();
    let matrix = LogLikelihoods::new(&values, 2, 50, 2).expect("usable");
    let found = leave_one_out(&matrix, &LeaveOneOutOptions::default(), one()).expect("usable");
    let row = found.pointwise[1];
    assert!((row.elpd + 1.25).abs() < 1e-12 && (row.effective_size - 100.0).abs() < 1e-9);
    assert!(row.mcse < 1e-12 && found.cautions.is_empty(), "{:?}", found.cautions);
    assert_eq!([found.shapes.good + found.shapes.ok, found.shapes.bad], [2, 0]);
}

#[test]
fn one_row_few_draws_and_impossible_rows_are_answered_and_doubted() {
    let values = noise(12, 0.5);
    let matrix = LogLikelihoods::new(&values, 1, 12, 1).expect("usable");
    let found = leave_one_out(&matrix, &LeaveOneOutOptions::default(), one()).expect("usable");
    assert!(found.elpd.is_finite() && found.se.is_nan());
    assert!(matches!(found.cautions[..], [Caution::FewTailDraws { draws: 12, needed: 21 }]));

    let mut values = noise(4 * 50 * 3, 0.1);
    values[3 * 57 + 1] = f64::NEG_INFINITY;
    let matrix = LogLikelihoods::new(&values, 4, 50, 3).expect("usable");
    let found = leave_one_out(&matrix, &LeaveOneOutOptions::default(), one()).expect("usable");
    assert!(found.elpd == f64::NEG_INFINITY && found.se.is_nan());
    assert!(found.pointwise[1].lppd.is_finite() && found.pointwise[0].elpd.is_finite());
    let expected = Caution::ImpossibleRow { row: 1, draw: 57, count: 1 };
    assert_eq!(found.cautions, [expected]);
    assert_eq!([found.shapes.good, found.shapes.ok, found.shapes.bad], [2, 0, 1]);
}
