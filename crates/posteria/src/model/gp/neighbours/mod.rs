//! Let every row depend on its nearest neighbours only, for tables of many rows.
//!
//! In some order of the rows, p(y) = Π_i p(y_i | y_1, …, y_{i-1}) ≈ Π_i p(y_i | y_N(i)) with
//! N(i) the m nearest of the earlier rows [Vecchia 1988; Katzfuss and Guinness 2021]. It is a
//! proper density of the targets for every m, exact for m = n - 1, and costs n m³ instead of n³.
//! The order is random but fixed, so that the neighbours of most rows surround them on all
//! scales; distances are Euclidean on the standardised scale.

mod cases;
mod conditioned;
mod density;
mod evaluator;
mod predict;
mod sequential;
#[cfg(test)]
mod tests;

pub(super) use cases::CasesUpdate;
#[cfg(test)]
pub(super) use cases::tests::draw_targets;
pub(super) use conditioned::NeighbourConditioned;
pub(super) use density::{Derivatives, NeighbourMarginal};
pub(super) use evaluator::NeighbourEvaluator;
pub(super) use predict::NeighbourPredictor;
pub(super) use sequential::Sequential;

use posteria_linalg::Matrix;

use crate::random::{Purpose, Seed};

/// The order is the same in every fit.
const ORDER: Seed = Seed(1988);

/// Neighbours of all rows.
#[derive(Clone, Debug)]
pub(super) struct Neighbours {
    /// For every row: its neighbours, then the row itself.
    sets: Vec<Vec<usize>>,
    /// Most neighbours of a row.
    pub(super) most: usize,
}

impl Neighbours {
    /// Up to `most` neighbours of every row of `inputs`.
    pub(super) fn new(inputs: &Matrix, most: usize) -> Self {
        let rows = inputs.rows();
        let mut order: Vec<usize> = (0..rows).collect();
        let mut stream = ORDER.stream(Purpose::Start, [0, 0]);
        stream.shuffle(&mut order);
        let points = Points::new(inputs);
        let mut sets = vec![Vec::new(); rows];
        let mut room = Vec::new();
        for (place, &row) in order.iter().enumerate() {
            let earlier = order[..place].iter().copied();
            points.nearest(points.row(row), earlier, most, &mut room);
            sets[row] = room.iter().map(|(_, neighbour)| *neighbour).collect();
            sets[row].push(row);
        }
        Neighbours { sets, most: most.min(rows.saturating_sub(1)) }
    }
}

/// Inputs row by row.
#[derive(Clone, Debug)]
struct Points {
    values: Vec<f64>,
    inputs: usize,
}

impl Points {
    fn new(inputs: &Matrix) -> Self {
        let (rows, columns) = (inputs.rows(), inputs.columns());
        let mut values = Vec::with_capacity(rows * columns);
        for row in 0..rows {
            values.extend((0..columns).map(|column| inputs[(row, column)]));
        }
        Points { values, inputs: columns }
    }

    fn row(&self, row: usize) -> &[f64] {
        &self.values[row * self.inputs..(row + 1) * self.inputs]
    }

    /// Writes squared distances and rows of the `most` nearest of `candidates`, nearest first; of
    /// two at the same distance the lower row is nearer.
    fn nearest(
        &self,
        point: &[f64],
        candidates: impl Iterator<Item = usize>,
        most: usize,
        nearest: &mut Vec<(f64, usize)>,
    ) {
        nearest.clear();
        for row in candidates {
            let distance: f64 =
                point.iter().zip(self.row(row)).map(|(a, b)| (a - b) * (a - b)).sum();
            let candidate = (distance, row);
            let nearer = |a: &(f64, usize), b: &(f64, usize)| {
                a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)).is_lt()
            };
            if nearest.len() == most {
                match nearest.last() {
                    Some(last) if nearer(&candidate, last) => nearest.pop(),
                    _ => continue,
                };
            }
            let place = nearest.partition_point(|other| nearer(other, &candidate));
            nearest.insert(place, candidate);
        }
    }
}
