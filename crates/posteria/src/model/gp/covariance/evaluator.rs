//! Evaluate a covariance function and its derivatives at given points.

use posteria_linalg::{Buffer, Matrix, Points, add_scaled, multiply_by, sum_products};

use super::factor_state::{Among, FactorState, length};
use super::tiles::{Piece, TILE, Tiles};
use super::{Covariance, Function};

/// Values of so many points are kept for their derivatives: up to a megabyte for each factor. Of
/// more points they are computed again, which is faster than to fetch them from slow memory.
const KEPT_ROWS: usize = 512;

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
    ones: Buffer<f64>,
    /// Weights of a column, padded to full vectors.
    column: Vec<f64>,
    variances: Vec<f64>,
    /// Whether the factors keep the values of all tiles, and whether they hold them now.
    keep: bool,
    kept: bool,
}

struct TermState {
    magnitude: Option<usize>,
    /// η².
    square: f64,
    /// Whether the term is the same for all pairs.
    constant: bool,
    factors: Vec<FactorState>,
    /// Σ weight × product of the factors.
    total: f64,
}

impl<'a> Evaluator<'a> {
    pub(super) fn new(covariance: &Covariance, points: &'a Matrix) -> Self {
        let rows = points.rows();
        let keep = rows <= KEPT_ROWS;
        let room = if keep { Tiles::lower_len(rows).max(TILE) } else { TILE };
        let terms = covariance.terms.iter().map(|term| TermState {
            magnitude: term.magnitude,
            square: 1.0,
            constant: term.factors.iter().all(|(f, _)| f.function == Function::Constant),
            factors: term
                .factors
                .iter()
                .map(|(factor, parameters)| {
                    FactorState::new(factor.form(), parameters.clone(), rows, room)
                })
                .collect(),
            total: 0.0,
        });
        let mut ones = Buffer::new(TILE);
        ones.fill(1.0);
        let mut evaluator = Evaluator {
            ones,
            points,
            terms: terms.collect(),
            pieces: Vec::with_capacity(TILE / Points::LANES),
            tile: Buffer::new(TILE),
            weights: Buffer::new(TILE),
            column: vec![0.0; rows.next_multiple_of(Points::LANES)],
            variances: Vec::new(),
            keep,
            kept: false,
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
        self.kept = false;
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
        self.kept = self.keep;
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
        self.kept = self.keep;
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
            self.evaluate(among, 0);
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
        let (mut tiles, mut at) = (Tiles::lower(rows), 0);
        let step = self.step(among);
        while tiles.next(&mut self.pieces) > 0 {
            self.evaluate(among, at);
            at += step;
            for piece in &self.pieces {
                let (start, end) = piece.wanted(rows);
                let values = &self.tile[piece.offset + start - piece.start..][..end - start];
                out.column_mut(piece.column)[start..end].copy_from_slice(values);
            }
        }
    }

    /// How far apart the values of neighbouring tiles lie: 0 where only one tile is kept.
    fn step(&self, among: Among) -> usize {
        if self.keep && among == Among::Training { TILE } else { 0 }
    }

    /// Covariances of the pieces at hand, whose factors have their values at `at`.
    fn evaluate(&mut self, among: Among, at: usize) {
        self.kept = false;
        let len = length(&self.pieces);
        let tile = &mut self.tile[..len];
        let constants = self.terms.iter().filter(|term| term.constant);
        tile.fill(constants.map(|term| term.square).sum());
        for term in self.terms.iter_mut().filter(|term| !term.constant) {
            for factor in &mut term.factors {
                factor.evaluate(&self.pieces, among, at);
            }
            let (first, rest) = term.factors.split_first().expect("a factor in every term");
            if rest.is_empty() {
                add_scaled(tile, term.square, &first.values[at..at + len]);
                continue;
            }
            let product = &mut self.weights[..len];
            product.copy_from_slice(&first.values[at..at + len]);
            for factor in rest {
                multiply_by(product, &factor.values[at..at + len]);
            }
            add_scaled(tile, term.square, product);
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
        let (mut tiles, mut at) = (Tiles::lower(rows), 0);
        let step = self.step(among);
        let kept = self.kept && among == Among::Training;
        self.kept = kept;
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
            self.accumulate(among, at);
            at += step;
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

    /// Adds the pieces at hand, whose factors have their values at `at`, to the sums that make up
    /// derivatives.
    fn accumulate(&mut self, among: Among, at: usize) {
        let len = length(&self.pieces);
        let weights = &self.weights[..len];
        for term in &mut self.terms {
            if term.constant {
                term.total += sum_products(weights, &self.ones[..len]);
                continue;
            }
            for factor in &mut term.factors {
                factor.evaluate_slopes(&self.pieces, among, at, self.kept);
            }
            if let [factor] = &mut term.factors[..] {
                if term.magnitude.is_some() {
                    term.total += sum_products(weights, &factor.values[at..at + len]);
                }
                factor.accumulate(&self.pieces, among, weights, at);
                continue;
            }
            let product = &mut self.tile[..len];
            for index in 0..term.factors.len() {
                // Never by division: a factor may be zero.
                product.copy_from_slice(weights);
                for (other, factor) in term.factors.iter().enumerate() {
                    if other != index {
                        multiply_by(product, &factor.values[at..at + len]);
                    }
                }
                let factor = &mut term.factors[index];
                if index == 0 {
                    term.total += sum_products(product, &factor.values[at..at + len]);
                }
                factor.accumulate(&self.pieces, among, product, at);
            }
        }
    }
}
