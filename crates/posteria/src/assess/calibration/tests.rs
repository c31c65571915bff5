//! Check calibration on predictions whose truth is known.

use super::*;
use crate::density::checks::assert_relative;
use crate::predict::Family;
use crate::random::{Purpose, Seed};

fn real() -> TargetFacts {
    TargetFacts::Real { names: vec!["t".into()], deviations: vec![1.0] }
}

/// Rows drawn from a mixture of two normal variables, predicted with scales `by` times theirs.
fn predicted(by: f64, rows: usize, number: u64) -> ProbabilityIntegralTransform {
    let mut stream = Seed(3).stream(Purpose::Data, [7, number]);
    let mut record = CalibrationRecord::new(&real());
    for row in 0..rows {
        let centre = row as f64;
        let truth = [centre, 1.0, centre + 2.0, 0.5];
        let family = Family::Normal { outputs: 1 };
        let mut y = [0.0];
        Predictive::new(family, &truth).draw(&mut stream, &mut y);
        let given = [centre, by, centre + 2.0, 0.5 * by];
        record.add(&Predictive::new(family, &given), &y);
    }
    record.finish().expect("rows").targets.remove(0)
}

#[test]
fn the_truth_is_calibrated() {
    let pit = predicted(1.0, 2000, 0);
    // False-alarm rates 1e-4 each, seed fixed; sd of the spread: 12 √(1/180) / √n = 0.02.
    assert!(pit.p_value > 1e-4 && pit.statistic < 0.05, "{} {}", pit.p_value, pit.statistic);
    assert!((pit.spread - 1.0).abs() < 0.08, "{}", pit.spread);
    for Coverage { mass, observed } in &pit.coverage {
        let sd = (mass * (1.0 - mass) / 2000.0).sqrt();
        assert!((observed.value - mass).abs() < 4.0 * sd, "{mass} {observed:?}");
        assert!(observed.low < observed.value && observed.value < observed.high);
    }
    assert_eq!((pit.values.len(), pit.ecdf.len()), (2000, 99));
}

#[test]
fn bands_and_p_values_hold_what_they_promise() {
    // Of 60 data sets at most 0.05 leave the band on average: 11 or more have probability 2e-4
    // at most. P-values below ½: 30 ± 4.5 · 3.9.
    let all: Vec<_> = (0..60).map(|number| predicted(1.0, 400, number)).collect();
    let leaves = |pit: &&ProbabilityIntegralTransform| {
        pit.ecdf.iter().any(|point| point.difference.abs() > pit.band)
    };
    assert!(all.iter().filter(leaves).count() <= 10);
    let low = all.iter().filter(|pit| pit.p_value < 0.5).count();
    assert!((13..=47).contains(&low), "{low}");
}

#[test]
fn wrong_widths_are_seen() {
    // The spread of calibrated predictions has sd 0.04: 1 ± 4.5 of them.
    let (narrow, wide) = (predicted(0.5, 500, 0), predicted(2.0, 500, 0));
    assert!(narrow.p_value < 1e-4 && narrow.spread > 1.18, "{} {}", narrow.p_value, narrow.spread);
    assert!(wide.p_value < 1e-4 && wide.spread < 0.82, "{} {}", wide.p_value, wide.spread);
    assert!(narrow.coverage[2].observed.high < 0.9 && wide.coverage[0].observed.low > 0.5);
    assert!(narrow.ecdf.iter().any(|point| point.difference.abs() > narrow.band));
}

#[test]
fn the_distance_is_found_on_both_sides_of_a_step() {
    let pit = ProbabilityIntegralTransform::new("t".into(), vec![0.5, 0.6, 0.7]);
    // Just below 0.5 no row is there.
    assert_relative(pit.statistic, 0.5, 1e-15);
    assert_relative(pit.ecdf[54].difference, 1.0 / 3.0 - 0.55, 1e-12);
    let odd = ProbabilityIntegralTransform::new("t".into(), vec![0.5, f64::NAN]);
    assert!(odd.statistic.is_nan() && odd.p_value.is_nan());
    assert!(CalibrationRecord::new(&real()).finish().is_none());
}

#[test]
fn transforms_are_counted_beside_what_chance_allows() {
    let values = vec![0.0, 0.1, 0.25, 0.6, 1.0, f64::NAN, 0.9, 0.95];
    let pit = ProbabilityIntegralTransform::new("t".into(), values);
    // Two are expected in each of four bins; the end belongs to the last.
    assert_eq!(pit.histogram(4), [1.0, 0.5, 0.5, 1.5]);
    let even: Vec<f64> = (0..100).map(|row| (f64::from(row) + 0.5) / 100.0).collect();
    let pit = ProbabilityIntegralTransform::new("t".into(), even);
    assert!(pit.histogram(10).iter().all(|height| (height - 1.0).abs() < 1e-12));
    // Quantiles of the binomial distribution of 100 rows with probability 0.1: 5 and 16.
    let [low, high] = pit.histogram_band(10);
    assert_relative(low, 0.5, 1e-12);
    assert_relative(high, 1.6, 1e-12);
}

#[test]
fn proportions_have_wilsons_interval() {
    // z = 1.6449: centre (0.5 + z²/20) / (1 + z²/10) = 0.5, half = 0.2311.
    let half = Proportion::new(5, 10);
    assert!((half.low - 0.2692).abs() < 1e-4 && (half.high - 0.7308).abs() < 1e-4, "{half:?}");
    let all = Proportion::new(10, 10);
    assert!((all.high - 1.0).abs() < 1e-15 && (all.low - 10.0 / 12.7055).abs() < 1e-4, "{all:?}");
    assert!(Proportion::new(0, 10).low.abs() < 1e-15);
}

#[test]
fn probabilities_meet_frequencies() {
    let labels = vec!["no".to_string(), "yes".to_string()];
    let facts = TargetFacts::Classes { labels };
    let mut record = CalibrationRecord::new(&facts);
    // p = 0.25: of four rows one happens. p = 0.75: of two rows both happen.
    for (odds, class) in [
        (1.0 / 3.0, 1.0),
        (1.0 / 3.0, 0.0),
        (1.0 / 3.0, 0.0),
        (1.0 / 3.0, 0.0),
        (3.0, 1.0),
        (3.0, 1.0),
    ] {
        let log_odds: f64 = f64::ln(odds);
        record.add(&Predictive::new(Family::Bernoulli, &[log_odds]), &[class]);
    }
    let found = record.finish().expect("rows");
    assert!(found.targets.is_empty());
    let [yes] = &found.classes[..] else { panic!("the second class alone") };
    assert_eq!(yes.class.as_deref(), Some("yes"));
    let [low, high] = &yes.bins[..] else { panic!("two bins") };
    assert_relative(low.predicted, 0.25, 1e-12);
    assert_eq!((low.observed.count, low.observed.of), (1, 4));
    assert_eq!((high.observed.count, high.observed.of), (2, 2));
    assert_relative(yes.expected_calibration_error, 2.0 / 6.0 * 0.25, 1e-12);
    // The most probable class has 0.75 in every row, and is right in five of six.
    let best = found.most_probable.as_ref().expect("classes");
    assert_eq!(best.bins.len(), 1);
    assert_relative(best.expected_calibration_error, 5.0 / 6.0 - 0.75, 1e-12);
    let three = TargetFacts::Classes { labels: ["a", "b", "c"].map(String::from).to_vec() };
    let mut record = CalibrationRecord::new(&three);
    let sure = [0.0, f64::NEG_INFINITY, f64::NEG_INFINITY];
    record.add(&Predictive::new(Family::Categorical { classes: 3 }, &sure), &[0.0]);
    assert_eq!(record.finish().expect("a row").classes.len(), 3);
}
