//! Accumulate mean and covariance of the positions a chain visits.

use posteria_linalg::Matrix;

use super::memory::{ForeignMemory, MemoryReader};

/// How many imaginary uncorrelated positions the estimate is mixed with: correlations of few
/// positions are noise, their variances less so.
const PRIOR_MOVES: f64 = 5.0;

/// How many imaginary positions per coordinate stand for a covariance that is known beforehand.
const IMAGINARY: f64 = 3.0;

/// Running mean and covariance, updated without cancellation [Welford 1962].
#[derive(Clone, Debug)]
pub(super) struct Moments {
    count: f64,
    moves: f64,
    mean: Vec<f64>,
    /// Lower half of Σ (x - mean)(x - mean)ᵀ.
    scatter: Matrix,
    deviation: Vec<f64>,
}

impl Moments {
    pub(super) fn new(dim: usize) -> Self {
        Moments {
            count: 0.0,
            moves: 0.0,
            mean: vec![0.0; dim],
            scatter: Matrix::zeros(dim, dim),
            deviation: vec![0.0; dim],
        }
    }

    /// Adds a position; `moved` says whether it differs from the previous one.
    pub(super) fn add(&mut self, position: &[f64], moved: bool) {
        self.count += 1.0;
        self.moves += f64::from(u8::from(moved));
        for ((deviation, mean), x) in self.deviation.iter_mut().zip(&mut self.mean).zip(position) {
            *deviation = x - *mean;
            *mean += *deviation / self.count;
        }
        let shrinkage = (self.count - 1.0) / self.count;
        for column in 0..self.mean.len() {
            let factor = shrinkage * self.deviation[column];
            let entries = &mut self.scatter.column_mut(column)[column..];
            for (entry, deviation) in entries.iter_mut().zip(&self.deviation[column..]) {
                *entry += factor * deviation;
            }
        }
    }

    pub(super) fn mean(&self) -> &[f64] {
        &self.mean
    }

    /// The covariance, its correlations shrunk by moves / (moves + 5). `None` while the chain
    /// has moved too rarely (fewer than 2 dim + 4 times) for the estimate to be of use, or
    /// some coordinate not at all.
    pub(super) fn covariance(&self) -> Option<Matrix> {
        let dim = self.mean.len();
        if self.moves < (2 * dim + 4) as f64 {
            return None;
        }
        let kept = self.moves / (self.moves + PRIOR_MOVES);
        let covariance = Matrix::from_fn(dim, dim, |row, column| {
            let (low, high) = (row.min(column), row.max(column));
            let entry = self.scatter[(high, low)] / (self.count - 1.0);
            if row == column { entry } else { kept * entry }
        });
        (0..dim)
            .all(|i| covariance[(i, i)] > 0.0 && covariance[(i, i)].is_finite())
            .then_some(covariance)
    }

    /// The covariance of the positions together with imaginary ones, three per coordinate, that have
    /// the covariance `reference`.
    pub(super) fn covariance_with(&self, reference: &Matrix) -> Matrix {
        let dim = self.mean.len();
        let imaginary = IMAGINARY * dim as f64;
        Matrix::from_fn(dim, dim, |row, column| {
            let (low, high) = (row.min(column), row.max(column));
            let sum = self.scatter[(high, low)] + imaginary * reference[(high, low)];
            sum / (self.count + imaginary)
        })
    }

    pub(super) fn clear(&mut self) {
        self.count = 0.0;
        self.moves = 0.0;
        self.mean.fill(0.0);
        self.scatter.values_mut().fill(0.0);
    }

    pub(super) fn write(&self, memory: &mut Vec<f64>) {
        memory.extend([self.count, self.moves]);
        memory.extend(&self.mean);
        memory.extend(self.scatter.values());
    }

    pub(super) fn read(&mut self, memory: &mut MemoryReader<'_>) -> Result<(), ForeignMemory> {
        self.count = memory.number()?;
        self.moves = memory.number()?;
        memory.fill(&mut self.mean)?;
        memory.fill(self.scatter.values_mut())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mean_and_covariance_equal_the_two_pass_formulas() {
        // Far from the origin, where the one-pass formula Σx² - n mean² loses all digits.
        let positions: Vec<[f64; 2]> = (0..50)
            .map(|i| {
                let x = f64::from(i);
                [1e8 + (x * 0.7).sin(), (x * 0.7).sin() + (x * 1.3).cos()]
            })
            .collect();
        let mut moments = Moments::new(2);
        for position in &positions {
            moments.add(position, true);
        }
        let mean = [0, 1]
            .map(|i| positions.iter().map(|x| x[i] - 1e8 * (1.0 - i as f64)).sum::<f64>() / 50.0);
        let entry = |a: usize, b: usize| {
            let centred = |x: &[f64; 2], i: usize| x[i] - 1e8 * (1.0 - i as f64) - mean[i];
            positions.iter().map(|x| centred(x, a) * centred(x, b)).sum::<f64>() / 49.0
        };
        let covariance = moments.covariance().expect("the chain moved fifty times");
        assert!((covariance[(0, 0)] - entry(0, 0)).abs() < 1e-7);
        assert!((covariance[(0, 1)] - entry(0, 1) * 50.0 / 55.0).abs() < 1e-7);
        assert!((covariance[(1, 0)] - entry(0, 1) * 50.0 / 55.0).abs() < 1e-7);
        assert!((covariance[(1, 1)] - entry(1, 1)).abs() < 1e-12);
    }

    #[test]
    fn a_chain_that_hardly_moved_teaches_nothing() {
        let mut moments = Moments::new(1);
        for i in 0..1000 {
            moments.add(&[f64::from(i % 2)], i < 5);
        }
        assert!(moments.covariance().is_none());
        moments.add(&[1.0], true);
        assert!(moments.covariance().is_some());
    }

    #[test]
    fn a_coordinate_that_never_moved_has_no_covariance() {
        let mut moments = Moments::new(2);
        for i in 0..1000 {
            moments.add(&[f64::from(i), 3.0], true);
        }
        assert!(moments.covariance().is_none());
    }
}
