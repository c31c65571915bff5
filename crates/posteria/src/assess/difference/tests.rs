//! Check differences: orientation, pairing, ties.

use super::*;
use crate::assess::utility::{AbsoluteError, Elpd};
use crate::assess::{Evaluation, Terms};
use crate::density::checks::assert_relative;
use crate::density::special::normal_cdf;
use crate::random::{Purpose, Seed};

fn normals(count: usize, stream: u64) -> Vec<f64> {
    let mut stream = Seed(5).stream(Purpose::Data, [stream, 0]);
    (0..count).map(|_| stream.normal()).collect()
}

fn elpd(values: &[f64]) -> PointwiseUtilities {
    PointwiseUtilities::new(&Elpd, Terms::from(values.to_vec()))
}

fn mae(values: &[f64]) -> PointwiseUtilities {
    PointwiseUtilities::new(&AbsoluteError::mean(), Terms::from(values.to_vec()))
}

#[test]
fn equals_are_better_half_of_the_time() {
    let values = normals(50, 0);
    let same = difference(&elpd(&values), &elpd(&values), &Bootstrap::new(Seed(1))).unwrap();
    assert_eq!(same.probability_better().to_bits(), 0.5f64.to_bits());
    assert!(same.effect_size().abs() <= 0.0 && same.sd().abs() <= 0.0);
    assert!(same.probability_better_by(0.0).abs() <= 0.0);
}

#[test]
fn a_few_rows_that_differ_are_not_certainty() {
    let hits = |missed: &[usize]| {
        let values = (0..32).map(|row| f64::from(u8::from(!missed.contains(&row))));
        elpd(&values.collect::<Vec<_>>())
    };
    let of = |first: &[usize], second: &[usize], groups: Option<Vec<usize>>| {
        let bootstrap = Bootstrap { groups, ..Bootstrap::new(Seed(3)) };
        difference(&hits(first), &hits(second), &bootstrap).unwrap()
    };
    // Two rows for the first, none for the second: 7/8 [a uniform prior, two of two].
    let two = of(&[1], &[1, 5, 9], None);
    assert_relative(two.probability_better(), 0.875, 1e-15);
    assert_relative(two.probability_better_by(0.0), 0.875, 1e-15);
    assert_relative(of(&[1, 5, 9], &[1], None).probability_better(), 0.125, 1e-15);
    // Rows of one group are one.
    let one = of(&[1], &[1, 5, 9], Some((0..32).map(|row| row % 4).collect()));
    assert_relative(one.probability_better(), 0.75, 1e-15);
    // P(a gamma variable of shape 3 is above one of shape 1) = 1 - 2^-3: nothing is bounded.
    let mixed = of(&[1], &[2, 5, 9], None);
    assert!((mixed.probability_better() - 0.875).abs() < 0.025);
}

#[test]
fn common_rows_cancel_and_the_better_is_found() {
    // u_B = u_A + d: what is common has sd 1, the difference 0.1 about 0.02.
    let (common, own) = (normals(100, 1), normals(100, 2));
    let first: Vec<f64> = common.iter().zip(&own).map(|(u, d)| u + 0.02 + 0.1 * d).collect();
    let bootstrap = Bootstrap::new(Seed(2));
    let found = difference(&elpd(&first), &elpd(&common), &bootstrap).unwrap();
    let differences: Vec<f64> = first.iter().zip(&common).map(|(a, b)| a - b).collect();
    let centre = mean(&differences);
    let sd = (variance(&differences) * 99.0 / (100.0 * 101.0)).sqrt();
    // Errors of 4000 replicates: 1.6 % of the sd for the mean, 1.1 % for the sd itself.
    assert!((found.mean() - centre).abs() < 4.5 * 0.016 * sd, "{} {centre}", found.mean());
    assert!((found.sd() / sd - 1.0).abs() < 0.05, "{} {sd}", found.sd());
    assert_relative(found.estimate, centre, 1e-12);
    assert_relative(found.components.data, found.sd(), 1e-12);
    // The normal limit; 0.03 is four Monte Carlo errors.
    for margin in [0.0, 0.01, 0.03] {
        let expected = normal_cdf((centre - margin) / sd);
        let probability = found.probability_better_by(margin);
        assert!((probability - expected).abs() < 0.03, "{probability} {expected}");
    }
    let reversed = difference(&elpd(&common), &elpd(&first), &bootstrap).unwrap();
    assert_relative(reversed.probability_better(), 1.0 - found.probability_better(), 1e-12);
    assert_relative(reversed.effect_size(), -found.effect_size(), 1e-12);
    // An error that is larger is worse.
    let as_error = difference(&mae(&first), &mae(&common), &bootstrap).unwrap();
    assert_relative(as_error.probability_better(), 1.0 - found.probability_better(), 1e-12);
    assert_relative(as_error.effect_size(), -found.effect_size(), 1e-12);
    assert!(as_error.pseudo_bayes_factor().is_none());
    let factor = found.pseudo_bayes_factor().expect("of elpd");
    assert_relative(factor.log, differences.iter().sum(), 1e-9);
    assert_relative(factor.per_row, centre.exp(), 1e-9);
    assert_relative(mean(&factor.log_replicates), 100.0 * found.mean(), 1e-12);
}

#[test]
fn monte_carlo_errors_are_independent_and_divisions_paired() {
    let values = normals(60, 3);
    let shifted = |by: f64| Terms::from(values.iter().map(|u| u + by).collect::<Vec<_>>());
    let evaluation = |stream: u64, by: f64| Evaluation {
        folds: Vec::new(),
        terms: shifted(by),
        draw_replicates: normals(400, stream).iter().map(|z| shifted(by + 0.2 * z)).collect(),
    };
    let first = PointwiseUtilities::new(&Elpd, evaluation(4, 0.0));
    let second = PointwiseUtilities::new(&Elpd, evaluation(5, 0.0));
    let found = difference(&first, &second, &Bootstrap::new(Seed(3))).unwrap();
    let monte_carlo = found.components.monte_carlo.expect("replicates were given");
    // The sd of 400 replicates is right to 3.5 %.
    assert!((monte_carlo / (0.2 * 2f64.sqrt()) - 1.0).abs() < 0.12, "{monte_carlo}");
    assert!(found.components.data < 1e-12, "rows are common");
    assert!((found.sd() / monte_carlo - 1.0).abs() < 0.05, "{}", found.sd());
    assert!(found.components.folds.is_none() && found.components.bias.is_none());
    // Both models have the same luck with each division.
    let (mut first, mut second) = (elpd(&values), elpd(&values));
    for by in [0.3, -0.4] {
        first.repeat(shifted(by));
        second.repeat(shifted(by + 0.01));
    }
    let found = difference(&first, &second, &Bootstrap::new(Seed(3))).unwrap();
    let folds = found.components.folds.expect("three divisions");
    assert_relative(folds, (variance(&[0.0, 0.01, 0.01]) / 3.0).sqrt(), 1e-9);
}

#[test]
fn tables_of_models_are_complete() {
    let base = normals(40, 6);
    let models: Vec<PointwiseUtilities> = (0..6_u64)
        .map(|k| {
            let noise = normals(40, 10 + k);
            let values: Vec<f64> =
                base.iter().zip(&noise).map(|(u, z)| u + 0.1 * k as f64 + z).collect();
            elpd(&values)
        })
        .collect();
    let names = ["a", "b", "c", "d", "e", "f"];
    let named: Vec<_> = names.into_iter().zip(&models).collect();
    let found = compare(&named, &Bootstrap::new(Seed(4))).unwrap();
    for i in 0..6 {
        assert_relative(found.probability_better[i][i], 0.5, 1e-15);
        for j in 0..6 {
            let both = found.probability_better[i][j] + found.probability_better[j][i];
            assert_relative(both, 1.0, 1e-12);
        }
    }
    let pair = difference(&models[0], &models[1], &Bootstrap::new(Seed(4))).unwrap();
    assert_relative(pair.probability_better(), found.probability_better[0][1], 1e-15);
    let (there, back) = (found.difference(1, 4).unwrap(), found.difference(4, 1).unwrap());
    assert_relative(there.probability_better(), found.probability_better[1][4], 1e-15);
    assert_relative(there.estimate, -back.estimate, 1e-15);
    assert_relative(there.components.data, back.components.data, 1e-12);
    assert!(found.difference(0, 6).is_none());
    assert_eq!(
        compare(&named[..1], &Bootstrap::new(Seed(4))).unwrap_err(),
        ComparisonError::TooFew
    );
    let (short, other) = (elpd(&base[..30]), mae(&base));
    let refused = |other| compare(&[named[0], ("z", other)], &Bootstrap::new(Seed(4)));
    assert!(refused(&short).unwrap_err().to_string().contains("z has 30"));
    assert!(refused(&other).unwrap_err().to_string().contains("z by mae"));
}

#[test]
fn the_best_of_many_is_doubted_unless_it_stands_out() {
    let doubted = |lead: f64| {
        let of = |k: u64| {
            let shift = if k == 0 { lead } else { 0.01 * (k / 2) as f64 };
            mae(&normals(60, 3).iter().map(|u| u.abs() + shift).collect::<Vec<_>>())
        };
        let models: Vec<PointwiseUtilities> = (0..8).map(of).collect();
        let names = ["a", "b", "c", "d", "e", "f", "g", "h"];
        let named: Vec<_> = names.into_iter().zip(&models).collect();
        compare(&named, &Bootstrap::new(Seed(4))).unwrap().cautions
    };
    // Errors: smaller is better. Where two are best by no more than the others differ, that is what
    // chance makes of eight equal ones; one that is better by ten times their spread is not.
    assert!(matches!(&doubted(0.0)[..], [Caution::BestOfMany { models: 8, utility, .. }]
        if utility == "mae"));
    assert!(doubted(-0.4).is_empty());
}
