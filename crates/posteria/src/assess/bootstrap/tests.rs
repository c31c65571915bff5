//! Check the bootstrap against the theory of the Dirichlet distribution.

use super::*;
use crate::assess::utility::{AbsoluteError, Concordance, Elpd, SquaredError};
use crate::assess::{BiasTerms, Evaluation, Summary, Terms, bayesian_bootstrap};
use crate::density::checks::assert_relative;

fn normals(count: usize, stream: u64) -> Vec<f64> {
    let mut stream = Seed(6).stream(Purpose::Data, [stream, 0]);
    (0..count).map(|_| stream.normal()).collect()
}

fn elpd(values: &[f64]) -> PointwiseUtilities {
    PointwiseUtilities::new(&Elpd, Terms::from(values.to_vec()))
}

fn many(seed: u64) -> Bootstrap {
    Bootstrap { replicates: 20_000, ..Bootstrap::new(Seed(seed)) }
}

/// Σ (u - ū)² / (n (n + 1)).
fn theory(values: &[f64]) -> f64 {
    let count = values.len() as f64;
    variance(values) * (count - 1.0) / (count * (count + 1.0))
}

#[test]
fn moments_meet_the_dirichlet_distribution() {
    // Skew utilities. Errors of 20 000 replicates: sd / 141 for the mean, 1.2 % for the
    // variance (kurtosis near 3.4); 4.5 of them.
    let values: Vec<f64> = normals(30, 0).iter().map(|z| -z.exp()).collect();
    let found = bayesian_bootstrap(&elpd(&values), &many(1)).unwrap();
    let sd = theory(&values).sqrt();
    assert!((found.mean() - mean(&values)).abs() < 4.5 * sd / 141.0);
    assert!((found.sd().powi(2) / theory(&values) - 1.0).abs() < 0.055, "{} {sd}", found.sd());
    assert_relative(found.estimate, mean(&values), 1e-12);
    assert_relative(found.normal.sd, (variance(&values) / 30.0).sqrt(), 1e-12);
    assert!(found.cautions.is_empty() && found.components.monte_carlo.is_none());
}

#[test]
fn many_rows_give_a_normal_distribution_for_every_summary() {
    let errors: Vec<f64> = normals(1000, 1).iter().map(|z| z.abs()).collect();
    let squares: Vec<f64> = errors.iter().map(|e| e * e).collect();
    for (pointwise, tolerance) in [
        (PointwiseUtilities::new(&AbsoluteError::mean(), Terms::from(errors.clone())), 0.05),
        (PointwiseUtilities::new(&SquaredError::rmse(), Terms::from(squares)), 0.05),
        // A density enters: slow to converge.
        (PointwiseUtilities::new(&AbsoluteError::quantile(0.9), Terms::from(errors)), 0.2),
    ] {
        let found = bayesian_bootstrap(&pointwise, &Bootstrap::new(Seed(2))).unwrap();
        let normal = found.normal;
        assert!((found.sd() / normal.sd - 1.0).abs() < tolerance, "{found:?}");
        assert!((found.mean() - normal.mean).abs() < 0.2 * normal.sd);
        for (p, z) in [(0.05, -1.645), (0.5, 0.0), (0.95, 1.645)] {
            let off = (found.quantile(p) - normal.mean - z * normal.sd) / normal.sd;
            assert!(off.abs() < 0.1 + 2.0 * tolerance, "{} {p}: {off}", found.name);
        }
    }
}

#[test]
fn groups_come_together() {
    // 20 groups of 10 rows that are nearly alike.
    let (levels, noise) = (normals(20, 2), normals(200, 3));
    let groups: Vec<usize> = (0..200).map(|row| 1_000_000 * (row % 20)).collect();
    let values: Vec<f64> = (0..200).map(|row| levels[row % 20] + 0.1 * noise[row]).collect();
    let alone = bayesian_bootstrap(&elpd(&values), &many(3)).unwrap();
    let grouped = Bootstrap { groups: Some(groups), ..many(3) };
    let grouped = bayesian_bootstrap(&elpd(&values), &grouped).unwrap();
    let means: Vec<f64> =
        (0..20).map(|group| (0..10).map(|k| values[group + 20 * k] / 10.0).sum()).collect();
    assert!((grouped.sd() / theory(&means).sqrt() - 1.0).abs() < 0.03, "{}", grouped.sd());
    assert!(grouped.sd() > 2.5 * alone.sd());
    assert_relative(grouped.normal.sd, (variance(&means) / 20.0).sqrt(), 1e-9);
    assert_relative(grouped.estimate, alone.estimate, 1e-12);
}

#[test]
fn other_futures_are_weighted_and_bad_weights_refused() {
    let values = [1.0, 2.0, 4.0, f64::NEG_INFINITY];
    let with = |weights: &[f64]| {
        let bootstrap = Bootstrap { row_weights: Some(weights.to_vec()), ..many(4) };
        bayesian_bootstrap(&elpd(&values), &bootstrap)
    };
    let found = with(&[1e300, 1e300, 2e300, 0.0]).unwrap();
    assert_relative(found.estimate, 2.75, 1e-12);
    assert!(found.replicates.iter().all(|value| (1.0..=4.0).contains(value)));
    assert_eq!(found.cautions.len(), 2, "a row that is not finite, and few rows");
    for (weights, says) in [
        (vec![1.0, 1.0], "2 weights for 4 rows"),
        (vec![1.0, -1.0, 1.0, 1.0], "row 2 is -1"),
        (vec![1.0, 1.0, f64::NAN, 1.0], "row 3 is NaN"),
        (vec![0.0; 4], "all rows are 0"),
    ] {
        assert!(with(&weights).unwrap_err().to_string().contains(says), "{says}");
    }
    let groups = Bootstrap { groups: Some(vec![1; 3]), ..many(4) };
    let refused = bayesian_bootstrap(&elpd(&values), &groups).unwrap_err();
    assert!(refused.to_string().contains("3 groups for 4 rows"), "{refused}");
    let none = Bootstrap { replicates: 1, ..many(4) };
    assert!(bayesian_bootstrap(&elpd(&values), &none).is_err());
}

#[test]
fn variances_are_told_apart_and_add_up() {
    let values = normals(200, 4);
    let shifted = |by: f64| -> Vec<f64> { values.iter().map(|u| u + by).collect() };
    let bias = normals(200, 5);
    let terms = |by: f64| {
        let folds = vec![(100, shifted(-0.5)), (100, vec![0.0; 200])];
        let training = bias.iter().zip(&values).map(|(b, u)| b + 0.5 * (u - 0.5)).collect();
        let bias = Some(BiasTerms::new(Summary::Mean, training, folds));
        Terms { values: shifted(by), bias }
    };
    // The correction of every row is that of `bias`.
    let evaluation = |by: f64, stream: u64| Evaluation {
        folds: Vec::new(),
        terms: terms(by),
        draw_replicates: normals(300, stream).iter().map(|z| terms(by + 0.05 * z)).collect(),
    };
    let mut pointwise = PointwiseUtilities::new(&Elpd, evaluation(0.1, 6));
    for (by, stream) in [(-0.1, 7), (0.2, 8), (-0.2, 9)] {
        pointwise.repeat(evaluation(by, stream));
    }
    let found = bayesian_bootstrap(&pointwise, &many(5)).unwrap();
    let corrected: Vec<f64> = values.iter().zip(&bias).map(|(u, b)| u + b).collect();
    assert_relative(found.estimate, mean(&corrected), 1e-9);
    assert_relative(found.bias_correction.expect("given"), mean(&bias), 1e-9);
    let parts = found.components;
    assert!((parts.data / theory(&corrected).sqrt() - 1.0).abs() < 0.03, "{parts:?}");
    assert!((parts.bias.expect("given") / theory(&bias).sqrt() - 1.0).abs() < 0.03);
    // Four divisions, each with its own draws; sds of 300 replicates are right to 4 %.
    let monte_carlo = parts.monte_carlo.expect("given");
    assert!((monte_carlo / (0.05 / 2.0) - 1.0).abs() < 0.1, "{monte_carlo}");
    let folds = parts.folds.expect("four divisions").powi(2);
    assert_relative(
        folds,
        (variance(&[0.1, -0.1, 0.2, -0.2]) - 4.0 * monte_carlo.powi(2)) / 4.0,
        1e-9,
    );
    // Divisions are weighted from Dirichlet: Σ (s - s̄)² / (4 · 5), and draws enter with Σ h².
    let divisions = theory(&[0.1, -0.1, 0.2, -0.2]);
    let total = parts.data.powi(2) + divisions + monte_carlo.powi(2) * 4.0 * 2.0 / 5.0;
    assert!((found.sd().powi(2) / total - 1.0).abs() < 0.06, "{} {total}", found.sd().powi(2));
}

/// Remissions of 42 children, 21 treated and 21 not [Freireich et al. 1963], predicted by the treatment alone.
/// Of 713 pairs whose order is known 492 count (ties half): 0.690 with the standard error 0.041, as R's
/// `survival::concordance` has it by the infinitesimal jackknife, which the factor √(42/41) enlarges here.
#[test]
fn concordance_has_its_published_value_and_standard_error() {
    let treated =
        [6, 6, 6, -6, 7, -9, 10, -10, -11, 13, 16, -17, -19, -20, 22, 23, -25, -32, -32, -34, -35];
    let placebo = [1, 1, 2, 2, 3, 4, 4, 5, 5, 8, 8, 8, 8, 11, 11, 12, 12, 15, 17, 22, 23];
    let weeks: Vec<f64> = treated.iter().chain(&placebo).map(|it| f64::from(*it)).collect();
    let medians: Vec<f64> = (0..42).map(|row| if row < 21 { 20.0 } else { 8.0 }).collect();
    let pointwise = PointwiseUtilities::new(&Concordance::new(true), Terms::from(medians));
    let found = bayesian_bootstrap(&pointwise.clone().beside(weeks.clone()), &many(3)).unwrap();
    assert_relative(found.estimate, 492.0 / 713.0, 1e-14);
    assert_relative(found.normal.sd, 0.041_135_388_947_879_13 * (42.0_f64 / 41.0).sqrt(), 1e-12);
    // Of few rows the bootstrap and its linearisation differ by a few per cent.
    assert!((found.sd() / found.normal.sd - 1.0).abs() < 0.1, "{}", found.sd());
    assert!((found.mean() - found.estimate).abs() < 0.1 * found.sd());
    // Both kinds of rows by themselves are tied: ½ in every replicate.
    let half = pointwise.beside(weeks).select(&(0..21).collect::<Vec<_>>());
    let found = bayesian_bootstrap(&half, &Bootstrap::new(Seed(3))).unwrap();
    assert_relative(found.estimate, 0.5, 1e-14);
    assert!(found.sd() < 1e-12 && found.normal.sd < 1e-12);
}
