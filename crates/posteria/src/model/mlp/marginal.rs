//! Integrate the output weights out where residuals are normal with known precisions.

use posteria_linalg::{Buffer, Cholesky, Layer, Matrix, Real, Residuals, dot, scale_rows};

use super::network::{Rows, Shape, Tile, Tiles};
use crate::random::Stream;
use crate::target::Infeasible;

/// Derivatives of the marginal log density.
#[derive(Clone, Debug, PartialEq)]
pub struct MarginalGradient {
    /// By the input weights and hidden biases, K·H + H.
    pub hidden: Vec<f64>,
    /// By the logarithms of the prior scales, at j·O + o.
    pub log_scales: Vec<f64>,
    /// p (r² + φᵀS⁻¹φ) at o·n + i: the expected weighted square of the residual. The
    /// derivative by the logarithm of a residual scale is their sum minus the number of rows.
    pub squares: Vec<f64>,
}

impl MarginalGradient {
    /// Room for the derivatives.
    pub fn new(shape: &Shape, rows: &Rows) -> Self {
        MarginalGradient {
            hidden: vec![0.0; shape.tail().start],
            log_scales: vec![0.0; shape.tail().len()],
            squares: vec![0.0; shape.outputs * rows.len()],
        }
    }
}

/// The density of the targets given the hidden layer, output weights integrated out.
///
/// With design rows φ_i (hidden units, 1, inputs if direct), prior scales a, precisions P,
/// Ψ = Φ diag(a), B = I + ΨᵀPΨ, ẑ = B⁻¹ΨᵀPy and r = y - Ψẑ, the log density of one output is
/// -½ log|B| - ½ (Σ p r² + |ẑ|²): no difference of large numbers. The weights w = a z have the
/// conditional mean m = a ẑ and covariance S⁻¹ = diag(a) B⁻¹ diag(a). Derivatives:
/// p_i (r_i m - S⁻¹φ_i) by φ_i and ẑ_j² + (B⁻¹)_jj - 1 by log a_j.
#[derive(Clone, Debug)]
pub struct Marginal<'p> {
    shape: Shape,
    tiles: &'p Tiles<f64>,
    /// Φ tile by tile: hidden units, ones, inputs if direct, and room for targets.
    design: Buffer<f64>,
    /// PΦ of one tile; then S⁻¹φ of its rows and their fits.
    weighted: Buffer<f64>,
    delta: Buffer<f64>,
    fits: Buffer<f64>,
    /// Precisions of one output, padded.
    precisions: Buffer<f64>,
    squares: Buffer<f64>,
    /// Partial sums of (Φ, y)ᵀPΦ, and of the gradient by the hidden layer.
    products: Buffer<f64>,
    head: Buffer<f64>,
    head_totals: Vec<f64>,
    moments: Vec<f64>,
    scales: Vec<f64>,
    matrix: Matrix,
    factors: Vec<Cholesky>,
    inverse: Matrix,
    /// ẑ at o·J + j.
    means: Vec<f64>,
    /// m of one output.
    weights: Vec<f64>,
    /// (S⁻¹, m) of one output, row by row.
    spread: Vec<f64>,
    zeros: Vec<f64>,
}

impl<'p> Marginal<'p> {
    /// Buffers for a network of this shape.
    ///
    /// # Panics
    /// If the rows have another number of inputs.
    pub fn new(shape: Shape, rows: &'p Rows) -> Self {
        assert_eq!(shape.inputs, rows.inputs(), "as many inputs as the rows have");
        let tiles = rows.double();
        let (columns, height) = (shape.columns(), tiles.height());
        let padded = rows.len().next_multiple_of(f64::LANES);
        let mut design = Buffer::new((columns + 1) * padded);
        for tile in tiles.iter() {
            let rows = tile.rows;
            let panel = &mut design[(columns + 1) * tile.range.start..];
            let (inputs, ones) = tile.panel.split_at(shape.inputs * rows);
            panel[shape.hidden * rows..][..rows].copy_from_slice(ones);
            if shape.direct {
                panel[(shape.hidden + 1) * rows..][..inputs.len()].copy_from_slice(inputs);
            }
        }
        Marginal {
            shape,
            tiles,
            design,
            weighted: Buffer::new((columns + 1) * height),
            delta: Buffer::new(shape.hidden * height),
            fits: Buffer::new(height),
            precisions: Buffer::new(padded),
            squares: Buffer::new(height),
            products: Buffer::new((columns + 1) * columns * f64::LANES),
            head: Buffer::new(shape.tail().start * f64::LANES),
            head_totals: vec![0.0; shape.tail().start],
            moments: vec![0.0; (columns + 1) * columns],
            scales: vec![0.0; columns * shape.outputs],
            matrix: Matrix::zeros(columns, columns),
            factors: vec![Cholesky::identity(columns); shape.outputs],
            inverse: Matrix::zeros(columns, columns),
            means: vec![0.0; columns * shape.outputs],
            weights: vec![0.0; columns],
            spread: vec![0.0; columns * (columns + 1)],
            zeros: vec![0.0; columns + 1],
        }
    }

    /// Σ_o log ∫ exp(-½ Σ_i p_io (y_io - φ_iᵀw_o)²) Π_j N(w_jo; 0, a_jo²) dw_o, where `hidden`
    /// holds input weights and hidden biases and `scales` holds a at j·O + o.
    ///
    /// # Errors
    /// [`Infeasible`] if the value is not finite or overflows on the way.
    ///
    /// # Panics
    /// If a length does not fit.
    pub fn log_density(
        &mut self,
        hidden: &[f64],
        scales: &[f64],
        targets: &[f64],
        precisions: &[f64],
    ) -> Result<f64, Infeasible> {
        self.evaluate(hidden, scales, (targets, precisions), None)
    }

    /// The value of [`Marginal::log_density`]; its derivatives go into `gradient`.
    ///
    /// # Errors
    /// As [`Marginal::log_density`].
    ///
    /// # Panics
    /// If a length does not fit.
    pub fn log_density_gradient(
        &mut self,
        hidden: &[f64],
        scales: &[f64],
        targets: &[f64],
        precisions: &[f64],
        gradient: &mut MarginalGradient,
    ) -> Result<f64, Infeasible> {
        self.evaluate(hidden, scales, (targets, precisions), Some(gradient))
    }

    fn evaluate(
        &mut self,
        hidden: &[f64],
        scales: &[f64],
        (targets, precisions): (&[f64], &[f64]),
        mut gradient: Option<&mut MarginalGradient>,
    ) -> Result<f64, Infeasible> {
        let n = self.tiles.rows;
        assert_eq!(hidden.len(), self.shape.tail().start, "one number per weight");
        assert_eq!(targets.len(), self.shape.outputs * n, "one target per output and row");
        assert_eq!(precisions.len(), targets.len(), "one precision per target");
        self.scales.copy_from_slice(scales);
        self.activate(hidden);
        if let Some(gradient) = gradient.as_deref_mut() {
            gradient.hidden.fill(0.0);
        }
        let mut value = 0.0;
        for output in 0..self.shape.outputs {
            let data = (&targets[output * n..][..n], &precisions[output * n..][..n]);
            self.moments(data);
            value += self.condition(output)?;
            if let Some(gradient) = gradient.as_deref_mut() {
                value += self.derivatives(output, gradient);
            } else {
                value += self.misfit();
            }
        }
        if value.is_finite() { Ok(value) } else { Err(Infeasible::NotFinite) }
    }

    /// The columns of Φ that hold hidden units.
    fn activate(&mut self, hidden: &[f64]) {
        let Shape { inputs, hidden: units, .. } = self.shape;
        let columns = self.shape.columns() + 1;
        let (input, bias) = hidden.split_at(inputs * units);
        let layer = Layer { input, bias, output: &[], output_bias: &[] };
        for tile in self.tiles.iter() {
            let design = &mut self.design[columns * tile.range.start..][..units * tile.rows];
            let x = &tile.panel[..inputs * tile.rows];
            f64::forward(layer, x, (design, &mut []), tile.rows);
        }
    }

    /// (Φ, y)ᵀPΦ.
    fn moments(&mut self, (targets, precisions): (&[f64], &[f64])) {
        let columns = self.shape.columns();
        if self.tiles.rows == 0 {
            self.products.fill(0.0);
        }
        for tile in self.tiles.iter() {
            let rows = tile.rows;
            let design = &mut self.design[(columns + 1) * tile.range.start..];
            let design = &mut design[..(columns + 1) * rows];
            f64::convert(&targets[tile.range.clone()], &mut design[columns * rows..], 0.0);
            let weights = &mut self.precisions[tile.range.start..][..rows];
            f64::convert(&precisions[tile.range.clone()], weights, 0.0);
            let weighted = &mut self.weighted[..columns * rows];
            scale_rows(&design[..columns * rows], weights, weighted);
            f64::cross_products_lower(
                design,
                weighted,
                &mut self.products,
                rows,
                tile.range.start > 0,
            );
        }
        f64::totals(&self.products, &mut self.moments);
    }

    /// Factorises B and solves for ẑ; returns -½ (log|B| + |ẑ|²).
    fn condition(&mut self, output: usize) -> Result<f64, Infeasible> {
        let (columns, outputs) = (self.shape.columns(), self.shape.outputs);
        let scale = |j: usize| self.scales[j * outputs + output];
        for i in 0..columns {
            let (own, moments) = (scale(i), &self.moments[i * columns..][..=i]);
            for (j, moment) in moments.iter().enumerate() {
                self.matrix[(i, j)] = own * moment * scale(j);
            }
            self.matrix[(i, i)] += 1.0;
        }
        let factor = &mut self.factors[output];
        factor
            .factorize(&self.matrix)
            .map_err(|error| Infeasible::NotPositiveDefinite { pivot: error.pivot })?;
        let mean = &mut self.means[output * columns..][..columns];
        for (j, slot) in mean.iter_mut().enumerate() {
            *slot = scale(j) * self.moments[columns * columns + j];
        }
        factor.solve(mean);
        for (j, weight) in self.weights.iter_mut().enumerate() {
            *weight = scale(j) * mean[j];
        }
        Ok(-0.5 * (factor.log_determinant() + dot(mean, mean)))
    }

    /// The rows of a tile with their fits.
    fn residuals(&mut self, tile: &Tile<'_, f64>) -> Residuals<'_> {
        let (columns, rows) = (self.shape.columns(), tile.rows);
        let design = &self.design[(columns + 1) * tile.range.start..][..(columns + 1) * rows];
        let (design, targets) = design.split_at(columns * rows);
        f64::affine(design, &self.weights, &[0.0], &mut self.fits[..rows], rows);
        let precisions = &self.precisions[tile.range.start..][..rows];
        Residuals { fits: &self.fits[..rows], targets, precisions }
    }

    /// -½ Σ p r².
    fn misfit(&mut self) -> f64 {
        let tiles = self.tiles;
        -0.5 * tiles.iter().map(|tile| self.residuals(&tile).squares()).sum::<f64>()
    }

    /// Derivatives of one output's term, and -½ Σ p r².
    fn derivatives(&mut self, output: usize, gradient: &mut MarginalGradient) -> f64 {
        let (columns, outputs, units) =
            (self.shape.columns(), self.shape.outputs, self.shape.hidden);
        self.factors[output].inverse(&mut self.inverse);
        for j in 0..columns {
            let mean = self.means[output * columns + j];
            gradient.log_scales[j * outputs + output] = mean * mean + self.inverse[(j, j)] - 1.0;
        }
        for (j, row) in self.spread.chunks_exact_mut(columns + 1).enumerate() {
            let scale = self.scales[j * outputs + output];
            let scales = self.scales[output..].iter().step_by(outputs);
            for ((slot, inverse), other) in row.iter_mut().zip(self.inverse.column(j)).zip(scales) {
                *slot = scale * inverse * other;
            }
            row[columns] = self.weights[j];
        }
        let (tiles, n) = (self.tiles, self.tiles.rows);
        let mut sum = 0.0;
        if n == 0 {
            self.head.fill(0.0);
        }
        for tile in tiles.iter() {
            let rows = tile.rows;
            let design = &self.design[(columns + 1) * tile.range.start..][..(columns + 1) * rows];
            let (design, targets) = design.split_at(columns * rows);
            let spread = &mut self.weighted[..(columns + 1) * rows];
            f64::affine(design, &self.spread, &self.zeros, spread, rows);
            let (spread, fits) = spread.split_at(columns * rows);
            let precisions = &self.precisions[tile.range.start..][..rows];
            let (squares, delta) = (&mut self.squares[..rows], &mut self.delta[..units * rows]);
            let residuals = Residuals { fits, targets, precisions };
            sum += residuals.expect((design, spread), &self.weights, squares, delta);
            f64::cross_products(tile.panel, delta, &mut self.head, rows, tile.range.start > 0);
            let kept = &mut gradient.squares[output * n..][tile.range.clone()];
            kept.copy_from_slice(&squares[..tile.range.len()]);
        }
        f64::totals(&self.head, &mut self.head_totals);
        for (slot, total) in gradient.hidden.iter_mut().zip(&self.head_totals) {
            *slot += total;
        }
        -0.5 * sum
    }

    /// Writes the mean outputs of some rows, row by row, at the arguments of the latest
    /// evaluation, which must have succeeded.
    ///
    /// # Panics
    /// If there is not one number per row and output, or a row is not there.
    pub fn mean_outputs(&self, rows: &[usize], means: &mut [f64]) {
        let (columns, outputs) = (self.shape.columns(), self.shape.outputs);
        assert_eq!(means.len(), rows.len() * outputs, "one number per row and output");
        for (row, slots) in rows.iter().zip(means.chunks_mut(outputs)) {
            let tile = self.tiles.iter().find(|tile| tile.range.contains(row)).expect("a row");
            let design = &self.design[columns * tile.range.start + row..];
            for (output, slot) in slots.iter_mut().enumerate() {
                let column = |j: usize| {
                    let weight =
                        self.scales[j * outputs + output] * self.means[output * columns + j];
                    weight * design[j * tile.rows]
                };
                *slot = (0..columns).map(column).sum();
            }
        }
    }

    /// Draws the output weights (tail order j·O + o) from their normal conditional distribution
    /// at the arguments of the latest evaluation, which must have succeeded.
    ///
    /// # Panics
    /// If there is not one number per output weight.
    pub fn draw_output_weights(&mut self, stream: &mut Stream, tail: &mut [f64]) {
        let (columns, outputs) = (self.shape.columns(), self.shape.outputs);
        assert_eq!(tail.len(), columns * outputs, "one number per output weight");
        for output in 0..outputs {
            let draw = &mut self.weights;
            stream.fill_normal(draw);
            self.factors[output].solve_lower_transposed(draw);
            let means = &self.means[output * columns..];
            for (j, (mean, noise)) in means.iter().zip(draw.iter()).enumerate() {
                let at = j * outputs + output;
                tail[at] = self.scales[at] * (mean + noise);
            }
        }
    }
}

#[cfg(test)]
mod tests;
