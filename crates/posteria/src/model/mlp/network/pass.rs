//! Run through all tiles of rows, forwards and backwards, in one precision.

use posteria_linalg::{Backward, Buffer, Layer, Real, Sums, Terms};

use super::likelihood::Likelihood;
use super::rows::{Tile, Tiles};
use super::shape::Shape;

/// Buffers for passes over the rows in the precision of `T`.
#[derive(Clone, Debug)]
pub(super) struct Pass<'p, T: Real> {
    shape: Shape,
    tiles: &'p Tiles<T>,
    weights: Buffer<T>,
    /// Values of the hidden units in one tile.
    hidden: Buffer<T>,
    /// Outputs in one tile; then derivatives of the log likelihood by them.
    outputs: Buffer<T>,
    /// Derivatives by what goes into the hidden units.
    delta: Buffer<T>,
    /// What the likelihood knows of the rows of one tile.
    data: [Buffer<T>; 2],
    /// Partial sums of the gradient by input weights and hidden biases.
    head: Buffer<T>,
    /// Partial sums of the gradient by the rest.
    tail: Buffer<T>,
}

impl<'p, T: Real> Pass<'p, T> {
    pub(super) fn new(shape: Shape, tiles: &'p Tiles<T>) -> Self {
        let height = tiles.height();
        Pass {
            shape,
            tiles,
            weights: Buffer::new(shape.len()),
            hidden: Buffer::new(shape.hidden * height),
            outputs: Buffer::new(shape.outputs * height),
            delta: Buffer::new(shape.hidden * height),
            data: [Buffer::new(shape.outputs * height), Buffer::new(shape.outputs * height)],
            head: Buffer::new(shape.tail().start * T::LANES),
            tail: Buffer::new(shape.tail().len() * T::LANES),
        }
    }

    /// Outputs of the rows of a tile.
    fn forward(&mut self, tile: &Tile<'_, T>) {
        let Shape { inputs, hidden, outputs, direct } = self.shape;
        let rows = tile.rows;
        let x = &tile.panel[..inputs * rows];
        let shape = &self.shape;
        let weights = |range| &self.weights[range];
        let layer = Layer {
            input: weights(shape.input_weights()),
            bias: weights(shape.hidden_bias()),
            output: weights(shape.output_weights()),
            output_bias: weights(shape.output_bias()),
        };
        let units = &mut self.hidden[..hidden * rows];
        let f = &mut self.outputs[..outputs * rows];
        T::forward(layer, x, (units, f), rows);
        if direct {
            T::add_product(x, weights(shape.direct_weights()), f, rows);
        }
    }

    /// Outputs become derivatives of the log likelihood by them.
    fn slopes(&mut self, tile: &Tile<'_, T>, likelihood: &Likelihood<'_>) -> Terms {
        let (count, rows) = (self.shape.outputs, tile.rows);
        let n = self.tiles.rows;
        let f = &mut self.outputs[..count * rows];
        let [first, second] = &mut self.data;
        let (first, second) = (&mut first[..count * rows], &mut second[..count * rows]);
        let pack = |values: &[f64], packed: &mut [T]| {
            for (o, packed) in packed.chunks_exact_mut(rows).enumerate() {
                T::convert(&values[o * n..][tile.range.clone()], packed, 0.0);
            }
        };
        match *likelihood {
            Likelihood::Squares { targets, precisions } => {
                pack(targets, first);
                pack(precisions, second);
                T::squares(f, first, second)
            }
            Likelihood::StudentT { targets, inverse_scales, dof } => {
                pack(targets, first);
                pack(inverse_scales, second);
                T::student_t(f, first, second, dof)
            }
            Likelihood::Absolute { targets, inverse_scales } => {
                pack(targets, first);
                pack(inverse_scales, second);
                T::absolute(f, first, second)
            }
            Likelihood::Logistic { signs } => {
                pack(signs, first);
                T::logistic(f, first)
            }
            Likelihood::Softmax { codes } => {
                let classes = &mut first[..rows];
                T::convert_codes(&codes[tile.range.clone()], classes);
                T::softmax(f, classes)
            }
            Likelihood::Outcomes { outcomes, given } => {
                let mut terms = Terms::default();
                for (index, f) in f.iter_mut().enumerate() {
                    let row = tile.range.start + index;
                    // Rows that only fill the tile have no slope.
                    let (mut value, mut slope) = (0.0, 0.0);
                    if row < tile.range.end {
                        let row = outcomes.terms(row, f.to_f64(), given);
                        (value, slope) = (row.value, row.slope);
                    }
                    terms.sum -= value;
                    *f = T::from_f64(slope);
                }
                terms
            }
        }
    }

    /// The gradient of the rows of a tile, added to that of earlier ones if told so.
    fn backward(&mut self, tile: &Tile<'_, T>, add: bool) {
        let Shape { inputs, hidden, outputs, direct } = self.shape;
        let rows = tile.rows;
        let slopes = &self.outputs[..outputs * rows];
        let output = &self.weights[self.shape.output_weights()];
        let units = &self.hidden[..hidden * rows];
        let pass = Backward { inputs: tile.panel, hidden: units, slopes, output };
        let (tail, rest) = self.tail.split_at_mut((hidden + 1) * outputs * T::LANES);
        let sums = Sums { head: &mut self.head, tail };
        T::backward(pass, &mut self.delta[..hidden * rows], sums, rows, add);
        if direct {
            T::cross_products(&tile.panel[..inputs * rows], slopes, rest, rows, add);
        }
    }

    /// Writes the outputs at o·n + i.
    pub(super) fn outputs(&mut self, weights: &[f64], outputs: &mut [f64]) {
        T::convert(weights, &mut self.weights, 0.0);
        let (tiles, n) = (self.tiles, self.tiles.rows);
        for tile in tiles.iter() {
            self.forward(&tile);
            for (o, f) in self.outputs.chunks_exact(tile.rows).take(self.shape.outputs).enumerate()
            {
                for (slot, f) in outputs[o * n..][tile.range.clone()].iter_mut().zip(f) {
                    *slot = f.to_f64();
                }
            }
        }
    }

    pub(super) fn log_likelihood(&mut self, weights: &[f64], likelihood: &Likelihood<'_>) -> f64 {
        T::convert(weights, &mut self.weights, 0.0);
        let mut terms = Terms::default();
        let tiles = self.tiles;
        for tile in tiles.iter() {
            self.forward(&tile);
            terms.add(self.slopes(&tile, likelihood));
        }
        likelihood.value(&terms)
    }

    pub(super) fn gradient(
        &mut self,
        weights: &[f64],
        likelihood: &Likelihood<'_>,
        gradient: &mut [f64],
    ) -> f64 {
        T::convert(weights, &mut self.weights, 0.0);
        if self.tiles.rows == 0 {
            self.head.fill(T::ZERO);
            self.tail.fill(T::ZERO);
        }
        let mut terms = Terms::default();
        let tiles = self.tiles;
        for tile in tiles.iter() {
            self.forward(&tile);
            terms.add(self.slopes(&tile, likelihood));
            self.backward(&tile, tile.range.start > 0);
        }
        let (head, tail) = gradient.split_at_mut(self.shape.tail().start);
        T::totals(&self.head, head);
        T::totals(&self.tail, tail);
        likelihood.value(&terms)
    }
}
