//! Classify rows as methods without a posterior do, for reference [Vehtari 2001, table 2.3].

use std::num::NonZero;

use posteria::data::{Folds, Table};
use posteria::fit::run_jobs;
use posteria::random::{Purpose, Seed};
use smartcore::linalg::basic::matrix::DenseMatrix;
use smartcore::tree::decision_tree_classifier::{
    DecisionTreeClassifier, DecisionTreeClassifierParameters,
};

use super::{mean_and_sd, numbers};
use crate::Result;

/// Most neighbours that vote.
const MOST_NEIGHBOURS: usize = 25;
/// Depths of trees, and the fewest rows of a leaf.
const DEPTHS: [u16; 5] = [1, 2, 4, 7, 12];
const LEAF: usize = 5;
/// One of so many parts of the training images chooses the depth.
const CHOOSING: usize = 4;

/// The classes of some rows (second) as others (first) say, whose images are known.
pub type Classify = fn(&References, &[usize], &[usize]) -> Result<Vec<usize>>;

/// Rows that are to be classified: standardised inputs, row by row, classes, and images.
pub struct References {
    rows: Vec<Vec<f64>>,
    classes: Vec<usize>,
    images: Vec<usize>,
    seed: Seed,
}

impl References {
    /// Those of a table whose columns are inputs, but for the class.
    pub fn new(table: &Table, target: &str, images: &[usize], seed: Seed) -> Self {
        let inputs = table.names().iter().filter(|name| *name != target).map(|name| {
            let values = numbers(table, name);
            let (mean, sd) = mean_and_sd(values);
            values.iter().map(|value| (value - mean) / sd).collect::<Vec<f64>>()
        });
        let inputs: Vec<Vec<f64>> = inputs.collect();
        let rows = (0..table.rows()).map(|row| inputs.iter().map(|column| column[row]).collect());
        let classes = numbers(table, target).iter().map(|class| *class as usize).collect();
        References { rows: rows.collect(), classes, images: images.to_vec(), seed }
    }

    /// Whether (1) or not (0) every row is classified wrongly by the rows outside of its fold.
    pub fn in_folds(
        &self,
        folds: &Folds,
        classify: Classify,
        threads: NonZero<usize>,
    ) -> Result<Vec<f64>> {
        let found = run_jobs(folds.count(), threads, |fold| {
            classify(self, &folds.training(fold), folds.held_out(fold))
        });
        let mut wrong = vec![f64::NAN; self.rows.len()];
        for (fold, found) in found.into_iter().enumerate() {
            for (row, class) in folds.held_out(fold).iter().zip(found?) {
                wrong[*row] = f64::from(u8::from(class != self.classes[*row]));
            }
        }
        Ok(wrong)
    }

    /// By the most frequent class among the nearest training rows, as many as are best where every
    /// training row is left out in turn; of equally good numbers the smallest.
    pub fn neighbours(&self, training: &[usize], new: &[usize]) -> Result<Vec<usize>> {
        let mut wrong = [0_usize; MOST_NEIGHBOURS];
        for row in training {
            let nearest = self.nearest(*row, training);
            // Odd numbers alone, which two classes cannot share.
            for k in (1..=nearest.len()).step_by(2) {
                wrong[k - 1] += usize::from(self.vote(&nearest[..k]) != self.classes[*row]);
            }
        }
        let all = (1..=MOST_NEIGHBOURS.min(training.len() - 1)).step_by(2);
        let k = all.min_by_key(|k| wrong[k - 1]).unwrap_or(1);
        let classify = |row: &usize| {
            let nearest = self.nearest(*row, training);
            self.vote(&nearest[..k.min(nearest.len())])
        };
        Ok(new.iter().map(classify).collect())
    }

    /// The training rows nearest to a row other than itself, nearest first.
    fn nearest(&self, row: usize, training: &[usize]) -> Vec<usize> {
        let square = |other: usize| -> f64 {
            self.rows[row].iter().zip(&self.rows[other]).map(|(a, b)| (a - b).powi(2)).sum()
        };
        let others = training.iter().filter(|other| **other != row);
        let mut near: Vec<(f64, usize)> = others.map(|other| (square(*other), *other)).collect();
        let most = MOST_NEIGHBOURS.min(near.len());
        if most < near.len() {
            near.select_nth_unstable_by(most, |a, b| a.0.total_cmp(&b.0));
            near.truncate(most);
        }
        near.sort_by(|a, b| a.0.total_cmp(&b.0));
        near.into_iter().map(|(_, other)| other).collect()
    }

    /// The more frequent of two classes.
    fn vote(&self, rows: &[usize]) -> usize {
        usize::from(2 * rows.iter().map(|row| self.classes[*row]).sum::<usize>() > rows.len())
    }

    /// By a tree of binary splits of the depth that is best for images left out of the training
    /// rows; of equally good depths the smallest.
    pub fn tree(&self, training: &[usize], new: &[usize]) -> Result<Vec<usize>> {
        let images: Vec<usize> = training.iter().map(|row| self.images[*row]).collect();
        let mut labels = images.clone();
        labels.sort_unstable();
        labels.dedup();
        let number = |image: &usize| labels.binary_search(image).unwrap_or_default();
        let groups: Vec<usize> = images.iter().map(number).collect();
        let mut stream = self.seed.stream(Purpose::Data, [32, 2]);
        let inner = Folds::grouped(&groups, CHOOSING.min(labels.len()), &mut stream)?;
        let pick =
            |rows: &[usize]| -> Vec<usize> { rows.iter().map(|row| training[*row]).collect() };
        let (seen, unseen) = (pick(&inner.training(0)), pick(inner.held_out(0)));
        let mut best = (usize::MAX, DEPTHS[0]);
        for depth in DEPTHS {
            let found = self.tree_of(depth, &seen, &unseen)?;
            let pairs = found.iter().zip(&unseen);
            let wrong = pairs.filter(|(class, row)| **class != self.classes[**row]).count();
            best = best.min((wrong, depth));
        }
        self.tree_of(best.1, training, new)
    }

    fn tree_of(&self, depth: u16, training: &[usize], new: &[usize]) -> Result<Vec<usize>> {
        let matrix = |rows: &[usize]| {
            DenseMatrix::from_2d_vec(&rows.iter().map(|row| self.rows[*row].clone()).collect())
        };
        let classes: Vec<u32> = training.iter().map(|row| self.classes[*row] as u32).collect();
        let parameters = DecisionTreeClassifierParameters {
            max_depth: Some(depth),
            min_samples_leaf: LEAF,
            seed: Some(self.seed.0),
            ..DecisionTreeClassifierParameters::default()
        };
        let tree = DecisionTreeClassifier::fit(&matrix(training)?, &classes, parameters)?;
        Ok(tree.predict(&matrix(new)?)?.into_iter().map(|class| class as usize).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::study::table_of;

    /// Two images of each of two classes; the second input says nothing.
    fn apart() -> References {
        let values = |of: fn(usize) -> f64| (0..80).map(of).collect();
        let table = table_of([
            ("x1", values(|row| f64::from(row % 2 == 0) + 0.001 * row as f64)),
            ("x2", values(|row| (row as f64 * 0.7).sin())),
            ("class", values(|row| f64::from(row % 2 == 0))),
        ]);
        let images: Vec<usize> = (0..80).map(|row| row / 20).collect();
        References::new(&table, "class", &images, Seed(1))
    }

    #[test]
    fn classes_that_are_apart_are_told_apart() {
        let references = apart();
        let mut stream = Seed(1).stream(Purpose::Data, [0, 0]);
        let folds = Folds::grouped(&references.images, 4, &mut stream).unwrap();
        for classify in [References::neighbours as Classify, References::tree] {
            let wrong = references.in_folds(&folds, classify, NonZero::<usize>::MIN).unwrap();
            assert!(wrong.iter().all(|wrong| *wrong < 0.5), "{wrong:?}");
        }
    }

    #[test]
    fn a_row_is_not_its_own_neighbour_and_the_nearest_come_first() {
        let table = table_of([
            ("x1", vec![0.0, 1.0, 3.0, 3.5, 9.0]),
            ("class", vec![0.0, 1.0, 0.0, 1.0, 1.0]),
        ]);
        let references = References::new(&table, "class", &[0; 5], Seed(1));
        assert_eq!(references.nearest(2, &[0, 1, 2, 3, 4]), [3, 1, 0, 4]);
        assert_eq!(references.nearest(2, &[0, 4]), [0, 4]);
        assert_eq!((references.vote(&[0, 1, 2]), references.vote(&[1, 2, 3])), (0, 1));
    }
}
