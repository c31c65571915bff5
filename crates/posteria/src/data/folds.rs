//! Divide rows into folds, each held out once while the others train.

use super::FoldError;
use crate::random::Stream;

/// Which rows are held out in which fold. Every row is held out exactly once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Folds {
    /// The rows held out in each fold, in order.
    held_out: Vec<Vec<usize>>,
    rows: usize,
    /// Rows left out of training on each side of every held-out row.
    gap: usize,
}

impl Folds {
    /// Folds at random, whose sizes differ by at most one.
    ///
    /// # Errors
    /// [`FoldError`] unless 2 ≤ `folds` ≤ `rows`.
    pub fn random(rows: usize, folds: usize, stream: &mut Stream) -> Result<Self, FoldError> {
        Folds::stratified(&vec![0; rows], folds, stream)
    }

    /// Folds at random in which every class has its share: neither the sizes of folds nor the
    /// number of rows of any class in them differ by more than one.
    ///
    /// # Errors
    /// [`FoldError`] unless 2 ≤ `folds` ≤ number of rows.
    pub fn stratified(
        classes: &[usize],
        folds: usize,
        stream: &mut Stream,
    ) -> Result<Self, FoldError> {
        let rows = classes.len();
        check(rows, folds)?;
        let mut order: Vec<usize> = (0..rows).collect();
        stream.shuffle(&mut order);
        // Stable, so that rows of one class stay in random order. Dealing them like cards,
        // without starting anew at the next class, is what bounds both differences.
        order.sort_by_key(|row| classes[*row]);
        let mut fold_of = vec![0; rows];
        for (position, row) in order.into_iter().enumerate() {
            fold_of[row] = position % folds;
        }
        Ok(Folds::assigned(&fold_of, folds))
    }

    /// Folds at random that never split a group. The largest groups are placed first, always in
    /// the smallest fold, so that sizes differ by no more than the size of the largest group.
    ///
    /// # Errors
    /// [`FoldError`] unless 2 ≤ `folds` ≤ number of groups.
    pub fn grouped(groups: &[usize], folds: usize, stream: &mut Stream) -> Result<Self, FoldError> {
        check(groups.len(), folds)?;
        let codes = dense(groups);
        let count = codes.iter().max().map_or(0, |last| last + 1);
        if folds > count {
            return Err(FoldError::MoreThanGroups { folds, groups: count });
        }
        let mut sizes = vec![0; count];
        codes.iter().for_each(|code| sizes[*code] += 1);
        let mut order: Vec<usize> = (0..count).collect();
        stream.shuffle(&mut order);
        order.sort_by_key(|group| std::cmp::Reverse(sizes[*group]));
        let mut fold_sizes = vec![0; folds];
        let mut fold_of_group = vec![0; count];
        for group in order {
            let smallest = (0..folds).min_by_key(|fold| fold_sizes[*fold]).unwrap_or_default();
            fold_sizes[smallest] += sizes[group];
            fold_of_group[group] = smallest;
        }
        let fold_of: Vec<usize> = codes.iter().map(|code| fold_of_group[*code]).collect();
        Ok(Folds::assigned(&fold_of, folds))
    }

    /// Folds of rows that follow each other, sizes differing by at most one, for rows in order
    /// of time: `gap` rows on each side of a fold are left out of its training rows, so that
    /// dependence on neighbours does not flatter predictions (h-block cross-validation,
    /// [Burman, Chow and Nolan 1994]).
    ///
    /// # Errors
    /// [`FoldError`] unless 2 ≤ `folds` ≤ `rows` and every fold keeps a row to train on.
    pub fn blocks(rows: usize, folds: usize, gap: usize) -> Result<Self, FoldError> {
        check(rows, folds)?;
        // Rounding the product down spreads the remainder evenly; u128 holds any product.
        let fold_of = |row: usize| (row as u128 * folds as u128 / rows as u128) as usize;
        let fold_of: Vec<usize> = (0..rows).map(fold_of).collect();
        let blocks = Folds { gap, ..Folds::assigned(&fold_of, folds) };
        for (fold, held_out) in blocks.held_out.iter().enumerate() {
            let (first, last) = (held_out[0], held_out[held_out.len() - 1]);
            if first <= gap && rows - 1 - last <= gap {
                return Err(FoldError::GapTooWide { gap, rows, fold: fold + 1 });
            }
        }
        Ok(blocks)
    }

    /// Every row a fold of its own.
    ///
    /// # Errors
    /// [`FoldError`] if there are fewer than two rows.
    pub fn leave_one_out(rows: usize) -> Result<Self, FoldError> {
        Folds::blocks(rows, rows, 0)
    }

    /// Every row a fold of its own, with `gap` rows on each side of it left out of training.
    ///
    /// # Errors
    /// [`FoldError`] if a row keeps no rows to train on.
    pub fn leave_one_block_out(rows: usize, gap: usize) -> Result<Self, FoldError> {
        Folds::blocks(rows, rows, gap)
    }

    /// The folds that `labels` say, in the order of the labels: rows of one label are held out
    /// together.
    ///
    /// # Errors
    /// [`FoldError`] if there are fewer than two labels.
    pub fn given(labels: &[usize]) -> Result<Self, FoldError> {
        let fold_of = dense(labels);
        let folds = fold_of.iter().max().map_or(0, |last| last + 1);
        check(labels.len(), folds)?;
        Ok(Folds::assigned(&fold_of, folds))
    }

    fn assigned(fold_of: &[usize], folds: usize) -> Self {
        let mut held_out = vec![Vec::new(); folds];
        for (row, fold) in fold_of.iter().enumerate() {
            held_out[*fold].push(row);
        }
        Folds { held_out, rows: fold_of.len(), gap: 0 }
    }

    /// Number of folds.
    pub fn count(&self) -> usize {
        self.held_out.len()
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Rows held out in a fold, in order.
    ///
    /// # Panics
    /// If there is no such fold.
    pub fn held_out(&self, fold: usize) -> &[usize] {
        &self.held_out[fold]
    }

    /// Rows to train on in a fold, in order. They are found when asked for: folds of single
    /// rows would need the square of the number of rows in memory.
    ///
    /// # Panics
    /// If there is no such fold.
    pub fn training(&self, fold: usize) -> Vec<usize> {
        let mut trains = vec![true; self.rows];
        for &row in &self.held_out[fold] {
            let end = row.saturating_add(self.gap).min(self.rows - 1);
            trains[row.saturating_sub(self.gap)..=end].fill(false);
        }
        (0..self.rows).filter(|row| trains[*row]).collect()
    }
}

fn check(rows: usize, folds: usize) -> Result<(), FoldError> {
    match folds {
        0 | 1 => Err(FoldError::TooFew { folds }),
        _ if folds > rows => Err(FoldError::MoreThanRows { folds, rows }),
        _ => Ok(()),
    }
}

/// The same labels as 0, 1, … without holes, in order.
fn dense(labels: &[usize]) -> Vec<usize> {
    let mut levels = labels.to_vec();
    levels.sort_unstable();
    levels.dedup();
    labels.iter().map(|label| levels.partition_point(|level| level < label)).collect()
}

#[cfg(test)]
mod tests {
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
        assert_eq!(
            random(5, 6).to_string(),
            "5 row(s) cannot be divided into 6 folds; use at most 5"
        );
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
}
