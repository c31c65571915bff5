//! Integrate over a predictive distribution: cells between quantiles.

use crate::predict::Predictive;

/// Probabilities of the quantiles between which cells lie, up to the median.
const LOWER: [f64; 11] = [1e-6, 1e-4, 1e-3, 0.005, 0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5];
/// Cells between two quantiles.
const CELLS: usize = 12;

/// A cell of a distribution.
#[derive(Clone, Copy, Debug)]
struct Cell {
    from: f64,
    to: f64,
    mass: f64,
    /// Whether it lies between these probabilities.
    between: (f64, f64),
}

/// The predictive distribution of a real target as 240 cells between 21 quantiles, each of which is
/// taken as uniform inside; what lies beyond a probability of 1e-6 on either side counts as that
/// quantile. Simpson's rule within a cell: for smooth costs of distributions
/// with a variance the expectation is good to some 1e-4, for a cost that jumps to half the mass of a
/// cell, less than 0.005 of the jump. Takes about 400 times the price of a distribution function.
#[derive(Debug)]
pub(super) struct Grid {
    cells: Vec<Cell>,
}

impl Grid {
    pub(super) fn new(predictive: &Predictive<'_>) -> Self {
        let upper = LOWER.iter().rev().skip(1).map(|p| 1.0 - p);
        let probabilities: Vec<f64> = LOWER.into_iter().chain(upper).collect();
        let quantiles: Vec<f64> =
            probabilities.iter().map(|p| predictive.quantile(0, *p)).collect();
        let mut cells = Vec::with_capacity(2 + CELLS * (probabilities.len() - 1));
        let last = quantiles.len() - 1;
        let outside = probabilities[0];
        for (end, between) in [(0, (0.0, outside)), (last, (1.0 - outside, 1.0))] {
            cells.push(Cell { from: quantiles[end], to: quantiles[end], mass: outside, between });
        }
        for (ends, p) in quantiles.windows(2).zip(probabilities.windows(2)) {
            let (width, between) = ((ends[1] - ends[0]) / CELLS as f64, (p[0], p[1]));
            let mut below = p[0];
            for cell in 0..CELLS {
                let from = ends[0] + cell as f64 * width;
                let to = if cell + 1 == CELLS { ends[1] } else { from + width };
                // Never more than the quantiles say, also where the function has a step.
                let above = match cell + 1 == CELLS {
                    true => p[1],
                    false => predictive.cdf(0, to).clamp(below, p[1]),
                };
                cells.push(Cell { from, to, mass: above - below, between });
                below = above;
            }
        }
        Grid { cells }
    }

    /// The expectation of a cost.
    pub(super) fn expect(&self, cost: impl Fn(f64) -> f64) -> f64 {
        let of = |cell: &Cell| {
            if cell.mass <= 0.0 {
                return 0.0;
            }
            let middle = cost(0.5 * cell.from + 0.5 * cell.to);
            cell.mass * (cost(cell.from) + 4.0 * middle + cost(cell.to)) / 6.0
        };
        self.cells.iter().map(of).sum()
    }

    /// The greatest cost in the central interval that leaves out `negligible`.
    pub(super) fn greatest(&self, negligible: f64, cost: impl Fn(f64) -> f64) -> f64 {
        let (low, high) = (0.5 * negligible, 1.0 - 0.5 * negligible);
        // The probabilities of the cells are written with few digits.
        let inside = |cell: &&Cell| cell.between.0 >= low - 1e-9 && cell.between.1 <= high + 1e-9;
        let of = |cell: &Cell| {
            [cell.from, 0.5 * cell.from + 0.5 * cell.to, cell.to]
                .map(&cost)
                .into_iter()
                .fold(f64::NEG_INFINITY, worse)
        };
        self.cells.iter().filter(inside).map(of).fold(f64::NEG_INFINITY, worse)
    }
}

/// The greater of two costs; NaN if either is.
pub(super) fn worse(a: f64, b: f64) -> f64 {
    if a.is_nan() || a > b { a } else { b }
}
