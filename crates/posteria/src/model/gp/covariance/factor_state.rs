//! Evaluate one factor on the pieces of a tile.

use std::ops::Range;

use posteria_linalg::{Buffer, Pairs, Points, add_scaled};

use super::form::{Form, Weighted};
use super::tiles::{Piece, TILE};

/// A factor with its buffers.
pub(super) struct FactorState {
    pub(super) form: Box<dyn Form>,
    pub(super) parameters: Range<usize>,
    /// Features of the training rows, of some of them, and of new points.
    pub(super) training: Points,
    pub(super) some: Points,
    pub(super) new: Points,
    other: Vec<f64>,
    /// Values of one tile, or of all.
    pub(super) values: Buffer<f64>,
    slopes: Buffer<f64>,
    others: Buffer<f64>,
    pub(super) sums: Vec<f64>,
    totals: Vec<f64>,
    gradient: Vec<f64>,
}

/// Which points a tile has in its rows and columns.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Among {
    Training,
    Some,
    NewAndTraining,
    SomeAndNew,
}

/// Number of pairs of pieces.
pub(super) fn length(pieces: &[Piece]) -> usize {
    pieces.last().map_or(0, |piece| piece.offset + piece.len)
}

impl FactorState {
    pub(super) fn new(
        form: Box<dyn Form>,
        parameters: Range<usize>,
        rows: usize,
        room: usize,
    ) -> Self {
        let (features, sums) = (form.features(), form.sums());
        FactorState {
            training: Points::new(rows, features),
            some: Points::new(0, features),
            new: Points::new(0, features),
            other: vec![0.0; features],
            values: Buffer::new(room),
            slopes: Buffer::new(TILE),
            others: Buffer::new(TILE),
            sums: vec![0.0; sums * Points::LANES],
            totals: vec![0.0; sums],
            gradient: vec![0.0; parameters.len()],
            form,
            parameters,
        }
    }

    /// Calls `f` with every piece: its pairs, and where it lies.
    fn each(
        (training, some, new): (&Points, &Points, &Points),
        other: &mut [f64],
        pieces: &[Piece],
        among: Among,
        mut f: impl FnMut(Pairs<'_>, Range<usize>),
    ) {
        let (rows, columns) = match among {
            Among::Training => (training, training),
            Among::Some => (some, some),
            Among::NewAndTraining => (new, training),
            Among::SomeAndNew => (some, new),
        };
        for piece in pieces {
            columns.read_row(piece.column, other);
            let pairs = rows.pairs(piece.start..piece.start + piece.len, other);
            f(pairs, piece.offset..piece.offset + piece.len);
        }
    }

    /// Values of pieces, from `at` on.
    pub(super) fn evaluate(&mut self, pieces: &[Piece], among: Among, at: usize) {
        let FactorState { form, training, some, new, other, values, .. } = self;
        let values = &mut values[at..at + length(pieces)];
        Self::each((training, some, new), other, pieces, among, |pairs, range| {
            form.compare(pairs, &mut values[range]);
        });
        form.values(values);
    }

    /// Values of pieces, from `at` on, and slopes; nothing if both are kept.
    pub(super) fn evaluate_slopes(
        &mut self,
        pieces: &[Piece],
        among: Among,
        at: usize,
        kept: bool,
    ) {
        if self.form.slopes_are_values() {
            if !kept {
                self.evaluate(pieces, among, at);
            }
            return;
        }
        let len = length(pieces);
        let FactorState { form, training, some, new, other, values, slopes, others, .. } = self;
        let values = &mut values[at..at + len];
        Self::each((training, some, new), other, pieces, among, |pairs, range| {
            let (values, slopes) = (&mut values[range.clone()], &mut slopes[range.clone()]);
            form.compare_for_slopes(pairs, values, slopes, &mut others[range]);
        });
        form.slopes(values, &mut slopes[..len], &mut others[..len]);
    }

    /// Adds pieces, whose values lie from `at` on, to the sums.
    pub(super) fn accumulate(
        &mut self,
        pieces: &[Piece],
        among: Among,
        weights: &[f64],
        at: usize,
    ) {
        let FactorState { form, training, some, new, other, values, slopes, others, sums, .. } =
            self;
        let slopes = if form.slopes_are_values() { &values[at..] } else { &slopes[..] };
        Self::each((training, some, new), other, pieces, among, |pairs, range| {
            let weighted = Weighted {
                weights: &weights[range.clone()],
                slopes: &slopes[range.clone()],
                others: &others[range],
            };
            form.accumulate(pairs, weighted, sums);
        });
    }

    /// Adds `scale` × what the sums make up.
    pub(super) fn add_gradient(&mut self, scale: f64, gradient: &mut [f64]) {
        Pairs::totals(&self.sums, &mut self.totals);
        self.gradient.fill(0.0);
        self.form.add_gradient(&self.totals, &mut self.gradient);
        add_scaled(&mut gradient[self.parameters.clone()], scale, &self.gradient);
    }
}
