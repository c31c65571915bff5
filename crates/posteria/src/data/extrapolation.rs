//! Count new rows that are not like those a model was fitted to.

use posteria_linalg::Matrix;

use super::{Dataset, Encoder};
use crate::caution::Extrapolation;

/// Rows of the fit that distances are measured from: more are thinned evenly.
const MOST_ROWS: usize = 2000;

/// Values nearer to the ends of a range than this part of it are inside: training rows that were
/// kept on the user's scale come back to rounding.
const ROUNDING: f64 = 1e-6;

impl Encoder {
    /// How many of the `new` rows, encoded by this encoder, are outside the range of `training` in
    /// some column of numbers, and how many are far from every row of it; `None` if there are none
    /// of either.
    ///
    /// A row is far if its distance to the nearest training row is larger than that of any training
    /// row to the nearest that differs from it. Distances are Euclidean in units of the standard
    /// deviations of the training rows, over columns of numbers that vary; classes do not count,
    /// since a class that the fit did not see is refused when rows are encoded. Of more than 2000
    /// training rows as many, evenly spread, stand for all.
    ///
    /// If new and training rows are exchangeable, a new row is the one of n + 1 that is farthest
    /// from its nearest with a probability of 1/(n + 1), so that a row like those of the fit is
    /// called far no more often than that: the smallest level of a conformal test
    /// [Vovk et al. 2005, ch. 2]. By the same argument it is outside the range of a column with a
    /// probability of at most 2/(n + 1).
    ///
    /// # Panics
    /// If `training` or `new` has other inputs.
    pub fn extrapolation(&self, training: &Dataset, new: &Matrix) -> Option<Extrapolation> {
        let (rows, count) = (training.rows(), new.rows());
        assert_eq!(training.inputs.columns(), new.columns(), "the same inputs");
        let mut columns = Vec::new();
        let mut is_outside = vec![false; count];
        let mut varying = Vec::new();
        for column in self.input_columns().into_iter().filter(|column| column.is_number) {
            let index = column.inputs.start;
            let range = Range::of(training.inputs.column(index))?;
            let mut outside = 0;
            for (flag, value) in is_outside.iter_mut().zip(new.column(index)) {
                if !range.holds(*value) {
                    outside += 1;
                    *flag = true;
                }
            }
            if outside > 0 {
                columns.push((column.name, outside));
            }
            if range.sd > 0.0 {
                varying.push((index, range.sd));
            }
        }
        columns.sort_by_key(|(_, outside)| std::cmp::Reverse(*outside));
        let outside = is_outside.into_iter().filter(|it| *it).count();
        let far = Neighbours::new(&training.inputs, &varying)
            .map_or(0, |rows| rows.far(&Points::new(new, &varying, count)));
        let expected = 2.0 * varying.len() as f64 / (rows as f64 + 1.0);
        let by_chance = count as f64 * expected.min(1.0);
        let found = Extrapolation { rows: count, outside, columns, by_chance, far };
        (outside > 0 || far > 0).then_some(found)
    }
}

/// What the fit has seen of one column.
struct Range {
    low: f64,
    high: f64,
    sd: f64,
}

impl Range {
    fn of(values: &[f64]) -> Option<Self> {
        let first = *values.first()?;
        let (low, high) =
            values.iter().fold((first, first), |(low, high), it| (low.min(*it), high.max(*it)));
        let count = values.len() as f64;
        let unit = high - low;
        if unit <= 0.0 {
            return Some(Range { low, high, sd: 0.0 });
        }
        // In units of the range, so that nothing over- or underflows.
        let part = |value: &f64| (value - low) / unit;
        let mean = values.iter().map(part).sum::<f64>() / count;
        let squares: f64 = values.iter().map(|value| (part(value) - mean).powi(2)).sum();
        Some(Range { low, high, sd: unit * (squares / count).sqrt() })
    }

    fn holds(&self, value: f64) -> bool {
        let spread = self.high - self.low;
        let slack = if spread > 0.0 { spread } else { self.low.abs().max(1.0) };
        value >= self.low - ROUNDING * slack && value <= self.high + ROUNDING * slack
    }
}

/// Rows of a matrix in units of standard deviations, row after row.
struct Points {
    width: usize,
    values: Vec<f64>,
}

impl Points {
    /// At most `most` rows, evenly spread, of these columns, each with its standard deviation.
    fn new(inputs: &Matrix, columns: &[(usize, f64)], most: usize) -> Self {
        let count = inputs.rows().min(most);
        let mut values = Vec::with_capacity(count * columns.len());
        for index in 0..count {
            let row = index * inputs.rows() / count;
            values.extend(columns.iter().map(|(column, sd)| inputs[(row, *column)] / sd));
        }
        Points { width: columns.len(), values }
    }

    fn iter(&self) -> impl Iterator<Item = &[f64]> {
        self.values.chunks_exact(self.width)
    }
}

/// Different training rows in the order of their first number, and how far apart they are.
struct Neighbours {
    points: Vec<Vec<f64>>,
    /// Square of the largest distance of a row to its nearest.
    square: f64,
}

impl Neighbours {
    /// `None` if fewer than two rows differ.
    fn new(inputs: &Matrix, columns: &[(usize, f64)]) -> Option<Self> {
        if columns.is_empty() {
            return None;
        }
        let mut points: Vec<Vec<f64>> =
            Points::new(inputs, columns, MOST_ROWS).iter().map(<[f64]>::to_vec).collect();
        points.sort_unstable_by(|one, other| {
            let mut pairs = one.iter().zip(other).map(|(a, b)| a.total_cmp(b));
            pairs.find(|order| order.is_ne()).unwrap_or(std::cmp::Ordering::Equal)
        });
        // What differs by rounding alone is one row.
        points.dedup_by(|one, other| square(one, other) <= ROUNDING * ROUNDING);
        if points.len() < 2 {
            return None;
        }
        let nearest = |index: usize| {
            let own = &points[index];
            let others = points.iter().enumerate().filter(|(other, _)| *other != index);
            others.map(|(_, other)| square(own, other)).fold(f64::INFINITY, f64::min)
        };
        let square = (0..points.len()).map(nearest).fold(0.0, f64::max);
        Some(Neighbours { points, square })
    }

    /// How many of these rows have no training row within the largest distance of these.
    fn far(&self, new: &Points) -> usize {
        let reach = self.square.sqrt() * (1.0 + ROUNDING);
        let is_far = |row: &&[f64]| {
            // Only rows whose first number is near can be near.
            let start = self.points.partition_point(|point| point[0] < row[0] - reach);
            let near = self.points[start..].iter().take_while(|point| point[0] <= row[0] + reach);
            !near.into_iter().any(|point| square(point, row) <= reach * reach)
        };
        new.iter().filter(is_far).count()
    }
}

/// Square of the distance of two points.
fn square(one: &[f64], other: &[f64]) -> f64 {
    one.iter().zip(other).map(|(a, b)| (a - b).powi(2)).sum()
}

#[cfg(test)]
mod tests;
