//! Take draws × rows through a predictor: the predictive distribution of every row.

use std::ops::Range;

use posteria_linalg::Matrix;

use super::{Family, Predictive, Predictor};
use crate::draws::Draws;

/// Draws that are evaluated before their parameters are sorted by row: enough to write whole
/// cache lines.
const TILE: usize = 16;

/// Numbers that a table should hold at most: 128 MiB. Fewer would save memory, but a model that
/// has to factorise something for every draw does so again for every table.
const MOST_NUMBERS: usize = 1 << 24;

/// The predictive distributions of some rows. Holds draws × rows × [`Family::width`] numbers:
/// take many rows in blocks of [`PredictiveTable::rows_at_once`].
///
/// ```
/// use posteria::draws::{Draws, Layout};
/// use posteria::predict::{Family, PredictiveTable, Predictor};
/// use posteria_linalg::Matrix;
///
/// /// y ~ N(draw[0] · x, 1).
/// struct Slope;
///
/// impl Predictor for Slope {
///     fn family(&self) -> Family {
///         Family::Normal { outputs: 1 }
///     }
///     fn at(&mut self, draw: &[f64], inputs: &Matrix, parameters: &mut [f64]) {
///         for (row, place) in parameters.chunks_exact_mut(2).enumerate() {
///             place.copy_from_slice(&[draw[0] * inputs[(row, 0)], 1.0]);
///         }
///     }
///     fn functions(&mut self, draw: &[f64], inputs: &Matrix, outputs: &mut [f64]) {
///         for (output, input) in outputs.iter_mut().zip(inputs.column(0)) {
///             *output = draw[0] * input;
///         }
///     }
///     fn at_training_rows(&mut self, _draw: &[f64], _parameters: &mut [f64]) {
///         // It was not fitted to any.
///     }
/// }
///
/// let mut layout = Layout::new();
/// layout.push_scalar("slope");
/// let values = vec![1.9, 2.0, 2.1];
/// let draws = Draws { draws: 3, values, ..Draws::empty(layout, 1, 0) };
/// let inputs = Matrix::from_fn(2, 1, |row, _| row as f64);
/// let table = PredictiveTable::new(&mut Slope, &draws, 0..3, &inputs);
/// assert!((table.predictive(1).mean(0).unwrap() - 2.0).abs() < 1e-12);
/// ```
#[derive(Clone, Debug)]
pub struct PredictiveTable {
    family: Family,
    rows: usize,
    draws: usize,
    /// Parameter j of draw s of row i at index (i · draws + s) · width + j.
    parameters: Vec<f64>,
}

impl PredictiveTable {
    /// Evaluates the draws with numbers `range` (counted through all chains, draw `s` of chain `c`
    /// is number c · draws per chain + s) at every row of `inputs`.
    ///
    /// # Panics
    /// If there are no such draws, or none at all.
    pub fn new(
        predictor: &mut dyn Predictor,
        draws: &Draws,
        range: Range<usize>,
        inputs: &Matrix,
    ) -> Self {
        let rows = inputs.rows();
        let at = |predictor: &mut dyn Predictor, draw: &[f64], parameters: &mut [f64]| {
            predictor.at(draw, inputs, parameters);
        };
        PredictiveTable::filled(
            predictor,
            (draws, range),
            (rows, &(0..rows).collect::<Vec<_>>()),
            at,
        )
    }

    /// As [`PredictiveTable::new`], at the rows `chosen` of the `all` rows of the fit
    /// ([`Predictor::at_training_rows`]).
    ///
    /// # Panics
    /// If there are no such draws or rows.
    pub fn at_training_rows(
        predictor: &mut dyn Predictor,
        (draws, range): (&Draws, Range<usize>),
        (all, chosen): (usize, Range<usize>),
    ) -> Self {
        let at = |predictor: &mut dyn Predictor, draw: &[f64], parameters: &mut [f64]| {
            predictor.at_training_rows(draw, parameters);
        };
        PredictiveTable::filled(predictor, (draws, range), (all, &chosen.collect::<Vec<_>>()), at)
    }

    /// As [`PredictiveTable::at_training_rows`], for every row given the other rows
    /// ([`Predictor::leave_one_out`]).
    ///
    /// # Panics
    /// If there are no such draws or rows.
    pub fn leave_one_out(
        predictor: &mut dyn Predictor,
        (draws, range): (&Draws, Range<usize>),
        (all, chosen): (usize, Range<usize>),
    ) -> Self {
        let rows: Vec<usize> = chosen.collect();
        PredictiveTable::leave_one_out_of(predictor, (draws, range), (all, &rows))
    }

    /// As [`PredictiveTable::leave_one_out`], for these rows in any order.
    ///
    /// # Panics
    /// If there are no such draws or rows.
    pub fn leave_one_out_of(
        predictor: &mut dyn Predictor,
        (draws, range): (&Draws, Range<usize>),
        (all, rows): (usize, &[usize]),
    ) -> Self {
        let at = |predictor: &mut dyn Predictor, draw: &[f64], parameters: &mut [f64]| {
            predictor.leave_one_out(draw, parameters);
        };
        PredictiveTable::filled(predictor, (draws, range), (all, rows), at)
    }

    /// Evaluates draws at `all` rows by `at` and keeps the `chosen` ones.
    fn filled(
        predictor: &mut dyn Predictor,
        (draws, range): (&Draws, Range<usize>),
        (all, chosen): (usize, &[usize]),
        at: impl Fn(&mut dyn Predictor, &[f64], &mut [f64]),
    ) -> Self {
        let (family, rows, count) = (predictor.family(), chosen.len(), range.len());
        assert!(count > 0 && range.end <= draws.chains * draws.draws, "draws that exist");
        assert!(chosen.iter().all(|row| *row < all), "rows that exist");
        let (width, length) = (family.width(), draws.layout.len());
        let mut parameters = vec![0.0; rows * count * width];
        let mut tile = vec![0.0; TILE.min(count) * all * width];
        for first in (0..count).step_by(TILE) {
            let here = TILE.min(count - first);
            for (index, part) in tile.chunks_exact_mut((all * width).max(1)).enumerate().take(here)
            {
                let number = range.start + first + index;
                at(predictor, &draws.values[number * length..][..length], part);
            }
            for (row, own) in parameters.chunks_exact_mut(count * width).enumerate() {
                let places = own[first * width..].chunks_exact_mut(width);
                for (index, place) in places.enumerate().take(here) {
                    let start = (index * all + chosen[row]) * width;
                    place.copy_from_slice(&tile[start..start + width]);
                }
            }
        }
        PredictiveTable { family, rows, draws: count, parameters }
    }

    /// Distributions that are known by their parameters, those of one member of the family per
    /// row: a table of one draw.
    ///
    /// # Panics
    /// If the parameters are not those of whole rows.
    pub fn known(family: Family, parameters: Vec<f64>) -> Self {
        let rows = parameters.len() / family.width();
        assert_eq!(rows * family.width(), parameters.len(), "parameters of whole rows");
        PredictiveTable { family, rows, draws: 1, parameters }
    }

    /// One table of the draws of all parts, in order; the parts are of the same rows.
    ///
    /// # Panics
    /// If there is no part, or parts are of different families or numbers of rows.
    pub fn join(parts: &[PredictiveTable]) -> Self {
        let PredictiveTable { family, rows, .. } = parts[0];
        let same = parts.iter().all(|part| part.family == family && part.rows == rows);
        assert!(same, "parts of the same rows and family");
        let draws = parts.iter().map(|part| part.draws).sum();
        let mut parameters = Vec::with_capacity(rows * draws * family.width());
        for row in 0..rows {
            parts.iter().for_each(|part| parameters.extend_from_slice(part.parameters(row)));
        }
        PredictiveTable { family, rows, draws, parameters }
    }

    /// How many rows a table of so many draws should have at most: at least one, and a number
    /// that depends on nothing else, so that neither do results.
    pub fn rows_at_once(family: Family, draws: usize) -> usize {
        (MOST_NUMBERS / draws.saturating_mul(family.width()).max(1)).max(1)
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Number of draws.
    pub fn draws(&self) -> usize {
        self.draws
    }

    /// What the targets follow given one draw.
    pub fn family(&self) -> Family {
        self.family
    }

    /// The parameters of all draws of a row, draw by draw.
    ///
    /// # Panics
    /// If there is no such row.
    pub fn parameters(&self, row: usize) -> &[f64] {
        let length = self.draws * self.family.width();
        &self.parameters[row * length..(row + 1) * length]
    }

    /// The predictive distribution of a row, all draws with equal weight.
    ///
    /// # Panics
    /// If there is no such row.
    pub fn predictive(&self, row: usize) -> Predictive<'_> {
        Predictive::new(self.family, self.parameters(row))
    }

    /// The predictive distribution of a row with weights of the draws as
    /// [`Predictive::weighted`] takes them.
    ///
    /// # Panics
    /// If there is no such row, or not one weight per draw.
    pub fn weighted<'a>(&'a self, row: usize, log_weights: &'a [f64]) -> Predictive<'a> {
        Predictive::weighted(self.family, self.parameters(row), log_weights)
    }
}
