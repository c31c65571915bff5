//! Make utilities of what is known about rows that were predicted by fits without their fold.

use super::pointwise::{BiasTerms, Evaluation, PointwiseUtilities, Terms};
use super::row_utilities::RowUtilities;
use super::utility::UtilityFunction;
use crate::data::Folds;

/// What is known about rows that were predicted by fits without their fold.
pub struct KFoldUtilities {
    /// The utilities of every row, corrected for the size of the training sets.
    pub utilities: Vec<PointwiseUtilities>,
    /// What is known about every row.
    pub rows: Vec<RowUtilities>,
    /// The fold of every row.
    pub fold_of: Vec<usize>,
}

impl KFoldUtilities {
    /// From what is known about all rows given all of them (`training`), beside their targets, and given the training
    /// rows of every fold.
    pub fn new(
        utilities: &[Box<dyn UtilityFunction>],
        (training, observed): (&[RowUtilities], &[Vec<f64>]),
        (folds, by_fold): (&Folds, &[Vec<RowUtilities>]),
    ) -> Self {
        let mut fold_of = vec![0; folds.rows()];
        for fold in 0..folds.count() {
            folds.held_out(fold).iter().for_each(|row| fold_of[*row] = fold);
        }
        let held_out = fold_of.iter().enumerate().map(|(row, fold)| by_fold[*fold][row].clone());
        let evaluated: Vec<RowUtilities> = held_out.collect();
        let utilities =
            pointwise_utilities(utilities, (&evaluated, observed, &fold_of), |utility, of| {
                let values = |rows: &[RowUtilities]| rows.iter().map(of).collect();
                let each = by_fold.iter().enumerate();
                let each = each.map(|(fold, rows)| (folds.held_out(fold).len(), values(rows)));
                Some(BiasTerms::new(utility.summary(), values(training), each.collect()))
            });
        KFoldUtilities { utilities, rows: evaluated, fold_of }
    }
}

/// Each utility of these rows, whose targets are `observed`, predicted by fits without their fold, or all by
/// one if there are no `folds`. `bias` corrects it, given what is looked at of a row: its value, or
/// that of one weighting of the draws.
pub fn pointwise_utilities(
    utilities: &[Box<dyn UtilityFunction>],
    (evaluated, observed, folds): (&[RowUtilities], &[Vec<f64>], &[usize]),
    bias: impl Fn(&dyn UtilityFunction, &dyn Fn(&RowUtilities) -> f64) -> Option<BiasTerms>,
) -> Vec<PointwiseUtilities> {
    let of_utility = |index: usize| {
        let utility = &*utilities[index];
        let terms = |of: &dyn Fn(&RowUtilities) -> f64| Terms {
            values: evaluated.iter().map(of).collect(),
            bias: bias(utility, of),
        };
        let replicates = evaluated.first().map_or(0, |row| row.replicates[index].len());
        let draw_replicates =
            (0..replicates).map(|number| terms(&|row| row.replicates[index][number])).collect();
        let terms = terms(&|row| row.values[index]);
        let takes_targets = utility.summary().takes_targets();
        let folds = if takes_targets { folds.to_vec() } else { Vec::new() };
        let found = PointwiseUtilities::new(utility, Evaluation { terms, folds, draw_replicates });
        match takes_targets {
            true => found.beside(observed.iter().map(|targets| targets[0]).collect()),
            false => found,
        }
    };
    (0..utilities.len()).map(of_utility).collect()
}
