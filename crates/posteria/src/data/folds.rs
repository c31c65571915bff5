//! Divide rows into folds, each held out once while the others train.

use std::ops::Range;

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
    /// Other rows left out of training in each fold, in order; none for any if empty.
    near: Vec<Vec<usize>>,
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

    /// Folds that are regions of a space in which every row is a point: the space is halved where it
    /// is widest, again and again, so that sizes differ by at most one. Rows nearer than `buffer` to
    /// any held-out row are left out of training, so that dependence on neighbours does not flatter
    /// predictions: blocks around a point in place of an interval of time.
    ///
    /// # Errors
    /// [`FoldError`] unless 2 ≤ `folds` ≤ number of rows and every fold keeps a row to train on.
    ///
    /// # Panics
    /// If points have different numbers of coordinates.
    pub fn regions(points: &[Vec<f64>], folds: usize, buffer: f64) -> Result<Self, FoldError> {
        let rows = points.len();
        check(rows, folds)?;
        let mut fold_of = vec![0; rows];
        halve(points, (0..rows).collect(), 0..folds, &mut fold_of);
        let mut regions = Folds::assigned(&fold_of, folds);
        if buffer > 0.0 {
            let is_near = |a: usize, b: usize| {
                let squares = points[a].iter().zip(&points[b]).map(|(a, b)| (a - b).powi(2));
                squares.sum::<f64>().sqrt() < buffer
            };
            let near = |held_out: &Vec<usize>| -> Vec<usize> {
                let own = fold_of[held_out[0]];
                let others = (0..rows).filter(|row| fold_of[*row] != own);
                others.filter(|row| held_out.iter().any(|held| is_near(*row, *held))).collect()
            };
            regions.near = regions.held_out.iter().map(near).collect();
        }
        let is_empty = |fold: &usize| regions.training(*fold).is_empty();
        match (0..folds).find(is_empty) {
            Some(fold) => Err(FoldError::BufferTooWide { rows, fold: fold + 1 }),
            None => Ok(regions),
        }
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
        Folds { held_out, rows: fold_of.len(), gap: 0, near: Vec::new() }
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
        self.near.get(fold).into_iter().flatten().for_each(|row| trains[*row] = false);
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

/// Gives these rows to these folds: halves, as nearly as the number of folds allows, along the
/// coordinate in which they are spread most.
fn halve(points: &[Vec<f64>], mut rows: Vec<usize>, folds: Range<usize>, fold_of: &mut [usize]) {
    if folds.len() == 1 {
        rows.iter().for_each(|row| fold_of[*row] = folds.start);
        return;
    }
    let width = |coordinate: usize| {
        let values = rows.iter().map(|row| points[*row][coordinate]);
        let (least, most) = values.fold((f64::INFINITY, f64::NEG_INFINITY), |(least, most), x| {
            (least.min(x), most.max(x))
        });
        most - least
    };
    let coordinates = points.first().map_or(0, Vec::len);
    let widest = (0..coordinates).max_by(|a, b| width(*a).total_cmp(&width(*b)));
    if let Some(widest) = widest {
        // Stable: rows of the same place stay in their order.
        rows.sort_by(|a, b| points[*a][widest].total_cmp(&points[*b][widest]));
    }
    let middle = folds.start + folds.len() / 2;
    let upper = rows.split_off(rows.len() * (folds.len() / 2) / folds.len());
    halve(points, rows, folds.start..middle, fold_of);
    halve(points, upper, middle..folds.end, fold_of);
}

/// The same labels as 0, 1, … without holes, in order.
fn dense(labels: &[usize]) -> Vec<usize> {
    let mut levels = labels.to_vec();
    levels.sort_unstable();
    levels.dedup();
    labels.iter().map(|label| levels.partition_point(|level| level < label)).collect()
}

#[cfg(test)]
mod tests;
