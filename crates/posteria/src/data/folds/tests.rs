//! Divisions hold out every row once, and keep their promises.

use proptest::prelude::*;

use super::*;
use crate::random::{Purpose, Seed};

fn stream(seed: u64) -> Stream {
    Seed(seed).stream(Purpose::Folds, [0, 0])
}

/// Every row held out once, and never trained on where it is held out.
fn check_division(folds: &Folds, rows: usize) -> Result<(), TestCaseError> {
    let mut seen = vec![0; rows];
    for fold in 0..folds.count() {
        let training = folds.training(fold);
        prop_assert!(!training.is_empty() && !folds.held_out(fold).is_empty());
        for &row in folds.held_out(fold) {
            seen[row] += 1;
            prop_assert!(training.binary_search(&row).is_err());
        }
        if folds.gap == 0 {
            prop_assert_eq!(training.len() + folds.held_out(fold).len(), rows);
        }
    }
    prop_assert!(seen.iter().all(|count| *count == 1));
    Ok(())
}

fn spread(sizes: impl Iterator<Item = usize> + Clone) -> usize {
    sizes.clone().max().unwrap_or(0) - sizes.min().unwrap_or(0)
}

fn sizes(folds: &Folds) -> impl Iterator<Item = usize> + Clone {
    (0..folds.count()).map(|fold| folds.held_out(fold).len())
}

proptest! {
    #![proptest_config(ProptestConfig {
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn random_and_stratified_folds_are_balanced(
        classes in prop::collection::vec(0usize..5, 2..60),
        folds in 2usize..12,
        seed: u64,
    ) {
        prop_assume!(folds <= classes.len());
        let random = Folds::random(classes.len(), folds, &mut stream(seed)).unwrap();
        let stratified = Folds::stratified(&classes, folds, &mut stream(seed)).unwrap();
        for division in [&random, &stratified] {
            check_division(division, classes.len())?;
            prop_assert_eq!(division.count(), folds);
            prop_assert!(spread(sizes(division)) <= 1);
        }
        for class in 0..5 {
            let of_class = (0..folds).map(|fold| {
                let held_out = stratified.held_out(fold);
                held_out.iter().filter(|row| classes[**row] == class).count()
            });
            prop_assert!(spread(of_class) <= 1);
        }
    }

    #[test]
    fn groups_are_never_split(
        groups in prop::collection::vec(0usize..15, 2..60),
        folds in 2usize..6,
        seed: u64,
    ) {
        let count = dense(&groups).iter().max().unwrap() + 1;
        let result = Folds::grouped(&groups, folds, &mut stream(seed));
        if folds > count {
            let expected = if folds > groups.len() {
                FoldError::MoreThanRows { folds, rows: groups.len() }
            } else {
                FoldError::MoreThanGroups { folds, groups: count }
            };
            prop_assert_eq!(result, Err(expected));
            return Ok(());
        }
        let division = result.unwrap();
        check_division(&division, groups.len())?;
        let mut largest = 0;
        for group in 0..15 {
            let inside = |fold: &usize| {
                division.held_out(*fold).iter().any(|row| groups[*row] == group)
            };
            prop_assert!((0..folds).filter(inside).count() <= 1);
            largest = largest.max(groups.iter().filter(|g| **g == group).count());
        }
        prop_assert!(spread(sizes(&division)) <= largest);
    }

    #[test]
    fn blocks_keep_their_distance(rows in 2usize..60, folds in 2usize..60, gap in 0usize..30) {
        match Folds::blocks(rows, folds, gap) {
            Ok(division) => {
                check_division(&division, rows)?;
                prop_assert!(spread(sizes(&division)) <= 1);
                for fold in 0..folds {
                    let held_out = division.held_out(fold);
                    prop_assert_eq!(held_out[held_out.len() - 1] - held_out[0] + 1, held_out.len());
                    let far = |row: &usize| held_out.iter().all(|h| row.abs_diff(*h) > gap);
                    let expected: Vec<usize> = (0..rows).filter(far).collect();
                    prop_assert_eq!(division.training(fold), expected);
                }
            }
            Err(FoldError::MoreThanRows { .. }) => prop_assert!(folds > rows),
            // Some row must be within the gap of everything.
            Err(error) => prop_assert!(2 * gap + rows.div_ceil(folds) >= rows, "{error}"),
        }
    }

    #[test]
    fn regions_keep_their_distance(
        coordinates in prop::collection::vec((-5.0..5.0_f64, 0.0..1.0_f64), 2..50),
        folds in 2usize..12,
        buffer in 0.0..4.0_f64,
    ) {
        let points: Vec<Vec<f64>> = coordinates.iter().map(|(a, b)| vec![*a, *b]).collect();
        prop_assume!(folds <= points.len());
        let Ok(division) = Folds::regions(&points, folds, buffer) else {
            prop_assert!(buffer > 0.0);
            return Ok(());
        };
        prop_assert!(spread(sizes(&division)) <= 1);
        let distance = |a: usize, b: usize| {
            (points[a][0] - points[b][0]).hypot(points[a][1] - points[b][1])
        };
        let mut seen = vec![0; points.len()];
        for fold in 0..folds {
            let held_out = division.held_out(fold);
            held_out.iter().for_each(|row| seen[*row] += 1);
            let far = |row: &usize| {
                !held_out.contains(row)
                    && held_out.iter().all(|held| distance(*row, *held) >= buffer - 1e-12)
            };
            let expected: Vec<usize> = (0..points.len()).filter(far).collect();
            prop_assert_eq!(division.training(fold), expected);
        }
        prop_assert!(seen.iter().all(|count| *count == 1));
    }

    #[test]
    fn given_folds_hold_out_rows_of_one_label(labels in prop::collection::vec(0usize..9, 2..40)) {
        match Folds::given(&labels) {
            Ok(division) => {
                check_division(&division, labels.len())?;
                for fold in 0..division.count() {
                    let held_out = division.held_out(fold);
                    let label = labels[held_out[0]];
                    prop_assert!(held_out.iter().all(|row| labels[*row] == label));
                }
            }
            Err(error) => {
                prop_assert_eq!(error, FoldError::TooFew { folds: 1 });
                prop_assert!(labels.iter().all(|label| *label == labels[0]));
            }
        }
    }
}

#[test]
fn impossible_divisions_are_refused() {
    let random = |rows, folds| Folds::random(rows, folds, &mut stream(1)).unwrap_err();
    assert_eq!(random(5, 1), FoldError::TooFew { folds: 1 });
    assert_eq!(random(5, 6).to_string(), "5 row(s) cannot be divided into 6 folds; use at most 5");
    assert_eq!(random(0, 2), FoldError::MoreThanRows { folds: 2, rows: 0 });
    assert_eq!(Folds::leave_one_out(1).unwrap_err(), FoldError::TooFew { folds: 1 });
    assert_eq!(
        Folds::leave_one_block_out(5, 2).unwrap_err(),
        FoldError::GapTooWide { gap: 2, rows: 5, fold: 3 }
    );
    assert_eq!(Folds::leave_one_block_out(6, 2).unwrap().training(2), [5]);
    assert_eq!(
        Folds::blocks(5, 2, usize::MAX).unwrap_err(),
        FoldError::GapTooWide { gap: usize::MAX, rows: 5, fold: 1 }
    );
}

#[test]
fn the_stream_decides_the_division() {
    let draw = |seed| Folds::random(30, 5, &mut stream(seed)).unwrap();
    assert_eq!(draw(1), draw(1));
    assert_ne!(draw(1), draw(2));
}
