//! Evaluate a covariance function and its derivatives at given points.

use std::ops::Range;

use posteria_linalg::{Buffer, Matrix, Pairs, Points, add_scaled, dot, multiply_by};

use super::Covariance;
use super::form::{Form, Weighted};
use super::tiles::{Piece, TILE, Tiles};

/// Evaluates a [`Covariance`] at the rows of a matrix of points (the training rows), and between
/// them and others. Owns its buffers; works tile by tile in the fastest cache.
///
/// Log relevances, shapes, periods and biases beyond ±150 count as ±150. Where a covariance is
/// not finite, neither is anything computed from it.
pub struct Evaluator<'a> {
    points: &'a Matrix,
    terms: Vec<TermState>,
    pieces: Vec<Piece>,
    /// Covariances, or weights times the other factors, of a tile.
    tile: Buffer<f64>,
    /// Weights of a tile.
    weights: Buffer<f64>,
    /// Weights of a column, padded to full vectors.
    column: Vec<f64>,
    variances: Vec<f64>,
}

struct TermState {
    magnitude: Option<usize>,
    /// η².
    square: f64,
    factors: Vec<FactorState>,
    /// Σ weight × product of the factors.
    total: f64,
}

struct FactorState {
    form: Box<dyn Form>,
    parameters: Range<usize>,
    /// Features of the training rows, of some of them, and of new points.
    training: Points,
    some: Points,
    new: Points,
    other: Vec<f64>,
    values: Buffer<f64>,
    slopes: Buffer<f64>,
    others: Buffer<f64>,
    sums: Vec<f64>,
    totals: Vec<f64>,
    gradient: Vec<f64>,
}

/// Which points a tile has in its rows and columns.
#[derive(Clone, Copy, PartialEq)]
enum Among {
    Training,
    Some,
    NewAndTraining,
    SomeAndNew,
}

impl<'a> Evaluator<'a> {
    pub(super) fn new(covariance: &Covariance, points: &'a Matrix) -> Self {
        let rows = points.rows();
        let terms = covariance.terms.iter().map(|term| TermState {
            magnitude: term.magnitude,
            square: 1.0,
            factors: term
                .factors
                .iter()
                .map(|(factor, parameters)| {
                    FactorState::new(factor.form(), parameters.clone(), rows)
                })
                .collect(),
            total: 0.0,
        });
        let mut evaluator = Evaluator {
            points,
            terms: terms.collect(),
            pieces: Vec::with_capacity(TILE / Points::LANES),
            tile: Buffer::new(TILE),
            weights: Buffer::new(TILE),
            column: vec![0.0; rows.next_multiple_of(Points::LANES)],
            variances: Vec::new(),
        };
        evaluator.set(&vec![0.0; covariance.parameters.len()]);
        evaluator
    }

    /// New values of all log parameters, in the order of [`Covariance::parameters`]; linear in
    /// the number of points.
    ///
    /// # Panics
    /// If there are too few.
    pub fn set(&mut self, log_parameters: &[f64]) {
        for term in &mut self.terms {
            term.square = term.magnitude.map_or(1.0, |index| (2.0 * log_parameters[index]).exp());
            for factor in &mut term.factors {
                factor.form.set(&log_parameters[factor.parameters.clone()]);
                factor.form.write_features(self.points, &mut factor.training);
            }
        }
    }

    /// Writes K(X, X) into the lower half of `out`, with its diagonal; what is above stays as it
    /// is. No jitter or residual variance is added.
    ///
    /// # Panics
    /// If `out` is not square with one row per point.
    pub fn fill(&mut self, out: &mut Matrix) {
        self.fill_lower(Among::Training, self.points.rows(), out);
    }

    /// As [`Evaluator::fill`], among the listed training rows only; `out` has one row for each.
    ///
    /// # Panics
    /// If there is no such row, or `out` is not square with one row for each.
    pub fn fill_rows(&mut self, rows: &[usize], out: &mut Matrix) {
        self.gather(rows);
        self.fill_lower(Among::Some, rows.len(), out);
    }

    /// gradient_p = tr(W ∂K/∂log θ_p) for a symmetric matrix W, of which `column(j, w)` writes
    /// the rows from j on of column j into `w`.
    ///
    /// # Panics
    /// If `gradient` has not one entry per parameter.
    pub fn gradient(&mut self, column: &mut dyn FnMut(usize, &mut [f64]), gradient: &mut [f64]) {
        gradient.fill(0.0);
        self.add_gradient(Among::Training, self.points.rows(), column, gradient);
    }

    /// Adds to `gradient` what [`Evaluator::gradient`] would write among the listed training rows
    /// only; W has one row for each.
    ///
    /// # Panics
    /// If there is no such row, or `gradient` has not one entry per parameter.
    pub fn gradient_rows(
        &mut self,
        rows: &[usize],
        column: &mut dyn FnMut(usize, &mut [f64]),
        gradient: &mut [f64],
    ) {
        self.gather(rows);
        self.add_gradient(Among::Some, rows.len(), column, gradient);
    }

    /// Writes K(X*, X) between new points X* and the training rows: one row per new point.
    ///
    /// # Panics
    /// If the dimensions do not fit.
    pub fn cross(&mut self, new: &Matrix, out: &mut Matrix) {
        let (rows, columns) = (new.rows(), self.points.rows());
        assert!(out.rows() == rows && out.columns() == columns, "a {rows} x {columns} matrix");
        self.write_new(new);
        self.fill_rectangle(Among::NewAndTraining, out);
    }

    /// Writes K(X_rows, X*) between the listed training rows and new points: one column per new
    /// point.
    ///
    /// # Panics
    /// If the dimensions do not fit.
    pub fn cross_rows(&mut self, rows: &[usize], new: &Matrix, out: &mut Matrix) {
        let columns = new.rows();
        assert!(out.rows() == rows.len() && out.columns() == columns, "a row for each listed");
        self.gather(rows);
        self.write_new(new);
        self.fill_rectangle(Among::SomeAndNew, out);
    }

    fn fill_rectangle(&mut self, among: Among, out: &mut Matrix) {
        let rows = out.rows();
        let mut tiles = Tiles::rectangle(rows, out.columns());
        while tiles.next(&mut self.pieces) > 0 {
            self.evaluate(among);
            for piece in &self.pieces {
                let end = (piece.start + piece.len).min(rows);
                let values = &self.tile[piece.offset..][..end - piece.start];
                out.column_mut(piece.column)[piece.start..end].copy_from_slice(values);
            }
        }
    }

    /// Writes the prior variances K(x*, x*) of new points.
    ///
    /// # Panics
    /// If the dimensions do not fit.
    pub fn diagonal(&mut self, new: &Matrix, out: &mut [f64]) {
        assert_eq!(out.len(), new.rows(), "one variance per point");
        self.write_new(new);
        out.fill(0.0);
        self.variances.resize(2 * out.len(), 0.0);
        let (product, variances) = self.variances.split_at_mut(out.len());
        for term in &self.terms {
            product.fill(term.square);
            for factor in &term.factors {
                factor.form.variances(&factor.new, variances);
                multiply_by(product, variances);
            }
            add_scaled(out, 1.0, product);
        }
    }

    fn gather(&mut self, rows: &[usize]) {
        for factor in self.terms.iter_mut().flat_map(|term| &mut term.factors) {
            factor.some.gather(&factor.training, rows);
        }
    }

    fn write_new(&mut self, new: &Matrix) {
        assert_eq!(new.columns(), self.points.columns(), "one column per input");
        for factor in self.terms.iter_mut().flat_map(|term| &mut term.factors) {
            factor.new.resize(new.rows());
            factor.form.write_features(new, &mut factor.new);
        }
    }

    fn fill_lower(&mut self, among: Among, rows: usize, out: &mut Matrix) {
        assert!(out.rows() == rows && out.columns() == rows, "a {rows} x {rows} matrix");
        let mut tiles = Tiles::lower(rows);
        while tiles.next(&mut self.pieces) > 0 {
            self.evaluate(among);
            for piece in &self.pieces {
                let (start, end) = piece.wanted(rows);
                let values = &self.tile[piece.offset + start - piece.start..][..end - start];
                out.column_mut(piece.column)[start..end].copy_from_slice(values);
            }
        }
    }

    /// Covariances of the pieces at hand.
    fn evaluate(&mut self, among: Among) {
        let len = length(&self.pieces);
        let tile = &mut self.tile[..len];
        tile.fill(0.0);
        for term in &mut self.terms {
            for factor in &mut term.factors {
                factor.compare(&self.pieces, among);
                factor.form.values(&mut factor.values[..len]);
            }
            let (first, rest) = term.factors.split_first_mut().expect("a factor in every term");
            for factor in rest {
                multiply_by(&mut first.values[..len], &factor.values[..len]);
            }
            add_scaled(tile, term.square, &first.values[..len]);
        }
    }

    fn add_gradient(
        &mut self,
        among: Among,
        rows: usize,
        column: &mut dyn FnMut(usize, &mut [f64]),
        gradient: &mut [f64],
    ) {
        for term in &mut self.terms {
            term.total = 0.0;
            term.factors.iter_mut().for_each(|factor| factor.sums.fill(0.0));
        }
        let padded = rows.next_multiple_of(Points::LANES);
        if self.column.len() < padded {
            self.column.resize(padded, 0.0);
        }
        // The weights of the whole are twice those of the lower half, but for the diagonal.
        self.column[rows..padded].fill(0.0);
        let mut tiles = Tiles::lower(rows);
        while tiles.next(&mut self.pieces) > 0 {
            for piece in &self.pieces {
                if piece.start <= piece.column {
                    self.column[piece.start..piece.column].fill(0.0);
                    column(piece.column, &mut self.column[piece.column..rows]);
                    self.column[piece.column] *= 0.5;
                }
                let weights = &self.column[piece.start..piece.start + piece.len];
                self.weights[piece.offset..piece.offset + piece.len].copy_from_slice(weights);
            }
            self.accumulate(among);
        }
        for term in &mut self.terms {
            if let Some(index) = term.magnitude {
                gradient[index] += 4.0 * term.square * term.total;
            }
            for factor in &mut term.factors {
                factor.add_gradient(2.0 * term.square, gradient);
            }
        }
    }

    /// Adds the pieces at hand to the sums that make up derivatives.
    fn accumulate(&mut self, among: Among) {
        let len = length(&self.pieces);
        let weights = &self.weights[..len];
        for term in &mut self.terms {
            for factor in &mut term.factors {
                factor.compare_for_slopes(&self.pieces, among);
                let FactorState { form, values, slopes, others, .. } = factor;
                form.slopes(&mut values[..len], &mut slopes[..len], &mut others[..len]);
            }
            if let [factor] = &mut term.factors[..] {
                if term.magnitude.is_some() {
                    term.total += dot(weights, &factor.values[..len]);
                }
                factor.accumulate(&self.pieces, among, weights);
                continue;
            }
            let product = &mut self.tile[..len];
            for index in 0..term.factors.len() {
                // Never by division: a factor may be zero.
                product.copy_from_slice(weights);
                for (other, factor) in term.factors.iter().enumerate() {
                    if other != index {
                        multiply_by(product, &factor.values[..len]);
                    }
                }
                let factor = &mut term.factors[index];
                if index == 0 {
                    term.total += dot(product, &factor.values[..len]);
                }
                factor.accumulate(&self.pieces, among, product);
            }
        }
    }
}

fn length(pieces: &[Piece]) -> usize {
    pieces.last().map_or(0, |piece| piece.offset + piece.len)
}

impl FactorState {
    fn new(form: Box<dyn Form>, parameters: Range<usize>, rows: usize) -> Self {
        let (features, sums) = (form.features(), form.sums());
        FactorState {
            training: Points::new(rows, features),
            some: Points::new(0, features),
            new: Points::new(0, features),
            other: vec![0.0; features],
            values: Buffer::new(TILE),
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

    fn compare(&mut self, pieces: &[Piece], among: Among) {
        let FactorState { form, training, some, new, other, values, .. } = self;
        Self::each((training, some, new), other, pieces, among, |pairs, range| {
            form.compare(pairs, &mut values[range]);
        });
    }

    fn compare_for_slopes(&mut self, pieces: &[Piece], among: Among) {
        let FactorState { form, training, some, new, other, values, slopes, others, .. } = self;
        Self::each((training, some, new), other, pieces, among, |pairs, range| {
            let (values, slopes) = (&mut values[range.clone()], &mut slopes[range.clone()]);
            form.compare_for_slopes(pairs, values, slopes, &mut others[range]);
        });
    }

    fn accumulate(&mut self, pieces: &[Piece], among: Among, weights: &[f64]) {
        let FactorState { form, training, some, new, other, slopes, others, sums, .. } = self;
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
    fn add_gradient(&mut self, scale: f64, gradient: &mut [f64]) {
        Pairs::totals(&self.sums, &mut self.totals);
        self.gradient.fill(0.0);
        self.form.add_gradient(&self.totals, &mut self.gradient);
        add_scaled(&mut gradient[self.parameters.clone()], scale, &self.gradient);
    }
}
