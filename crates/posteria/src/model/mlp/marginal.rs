//! Integrate the output weights out where residuals are normal with known precisions.

use posteria_linalg::{Cholesky, Matrix, dot};

use super::network::{Rows, Shape};
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
            log_scales: vec![0.0; shape.columns() * shape.outputs],
            squares: vec![0.0; shape.outputs * rows.len()],
        }
    }
}

/// The density of the targets given the hidden layer, output weights integrated out: with design
/// rows φ_i (hidden units, 1, inputs if direct), Ψ = Φ diag(a), B = I + ΨᵀPΨ, ẑ = B⁻¹ΨᵀPy and
/// r = y - Ψẑ the log density of one output is -½ log|B| - ½ (Σ p r² + |ẑ|²).
#[derive(Clone, Debug)]
pub struct Marginal<'p> {
    shape: Shape,
    rows: &'p Rows,
    /// Ψ of one output.
    design: Matrix,
    activation: Matrix,
    scales: Vec<f64>,
    factors: Vec<Cholesky>,
    matrix: Matrix,
    inverse: Matrix,
    /// ẑ at o·J + j.
    mean: Vec<f64>,
    residual: Vec<f64>,
    product: Vec<f64>,
    delta: Matrix,
}

impl<'p> Marginal<'p> {
    /// Buffers for a network of this shape.
    ///
    /// # Panics
    /// If the rows have another number of inputs.
    pub fn new(shape: Shape, rows: &'p Rows) -> Self {
        assert_eq!(shape.inputs, rows.inputs(), "as many inputs as the rows have");
        let (n, columns) = (rows.len(), shape.columns());
        Marginal {
            shape,
            rows,
            design: Matrix::zeros(n, columns),
            activation: Matrix::zeros(n, shape.hidden),
            scales: vec![0.0; columns * shape.outputs],
            factors: vec![Cholesky::identity(columns); shape.outputs],
            matrix: Matrix::zeros(columns, columns),
            inverse: Matrix::zeros(columns, columns),
            mean: vec![0.0; columns * shape.outputs],
            residual: vec![0.0; n],
            product: vec![0.0; columns],
            delta: Matrix::zeros(n, shape.hidden),
        }
    }

    fn activate(&mut self, hidden: &[f64]) {
        let x = self.rows.matrix();
        let units = self.shape.hidden;
        for h in 0..units {
            for row in 0..self.rows.len() {
                let sum: f64 =
                    (0..self.shape.inputs).map(|k| hidden[k * units + h] * x[(row, k)]).sum();
                self.activation[(row, h)] = (sum + hidden[self.shape.inputs * units + h]).tanh();
            }
        }
    }

    fn factorize(&mut self, output: usize, targets: &[f64], p: &[f64]) -> Result<f64, Infeasible> {
        let (n, columns) = (self.rows.len(), self.shape.columns());
        for j in 0..columns {
            let scale = self.scales[j * self.shape.outputs + output];
            for row in 0..n {
                let value = match j.checked_sub(self.shape.hidden) {
                    None => self.activation[(row, j)],
                    Some(0) => 1.0,
                    Some(k) => self.rows.matrix()[(row, k - 1)],
                };
                self.design[(row, j)] = scale * value;
            }
        }
        for column in 0..columns {
            for row in 0..columns {
                let one = if row == column { 1.0 } else { 0.0 };
                let (a, b) = (self.design.column(row), self.design.column(column));
                self.matrix[(row, column)] = one + (0..n).map(|i| p[i] * a[i] * b[i]).sum::<f64>();
            }
        }
        let factor = &mut self.factors[output];
        factor
            .factorize(&self.matrix)
            .map_err(|error| Infeasible::NotPositiveDefinite { pivot: error.pivot })?;
        let mean = &mut self.mean[output * columns..(output + 1) * columns];
        for (j, slot) in mean.iter_mut().enumerate() {
            let column = self.design.column(j);
            *slot = (0..n).map(|i| p[i] * column[i] * targets[i]).sum();
        }
        factor.solve(mean);
        let mut squares = dot(mean, mean);
        for i in 0..n {
            let fit: f64 = (0..columns).map(|j| self.design[(i, j)] * mean[j]).sum();
            self.residual[i] = targets[i] - fit;
            squares += p[i] * self.residual[i] * self.residual[i];
        }
        Ok(-0.5 * (factor.log_determinant() + squares))
    }

    /// Σ_o log ∫ exp(-½ Σ_i p_io (y_io - φ_iᵀw_o)²) Π_j N(w_jo; 0, a_jo²) dw_o, where `hidden`
    /// holds input weights and hidden biases and `scales` holds a at j·O + o.
    ///
    /// # Errors
    /// [`Infeasible`] if the value is not finite or overflows on the way.
    pub fn log_density(
        &mut self,
        hidden: &[f64],
        scales: &[f64],
        targets: &[f64],
        precisions: &[f64],
    ) -> Result<f64, Infeasible> {
        let n = self.rows.len();
        self.activate(hidden);
        self.scales.copy_from_slice(scales);
        let mut value = 0.0;
        for o in 0..self.shape.outputs {
            let range = o * n..(o + 1) * n;
            value += self.factorize(o, &targets[range.clone()], &precisions[range])?;
        }
        if value.is_finite() { Ok(value) } else { Err(Infeasible::NotFinite) }
    }

    /// The value of [`Marginal::log_density`]; its derivatives go into `gradient`.
    ///
    /// # Errors
    /// As [`Marginal::log_density`].
    pub fn log_density_gradient(
        &mut self,
        hidden: &[f64],
        scales: &[f64],
        targets: &[f64],
        precisions: &[f64],
        gradient: &mut MarginalGradient,
    ) -> Result<f64, Infeasible> {
        let (n, columns, units) = (self.rows.len(), self.shape.columns(), self.shape.hidden);
        let outputs = self.shape.outputs;
        self.activate(hidden);
        self.scales.copy_from_slice(scales);
        self.delta.values_mut().fill(0.0);
        let mut value = 0.0;
        for o in 0..outputs {
            let range = o * n..(o + 1) * n;
            let p = &precisions[range.clone()];
            value += self.factorize(o, &targets[range], p)?;
            self.factors[o].inverse(&mut self.inverse);
            let mean = &self.mean[o * columns..(o + 1) * columns];
            for j in 0..columns {
                gradient.log_scales[j * outputs + o] =
                    mean[j] * mean[j] + self.inverse[(j, j)] - 1.0;
            }
            for i in 0..n {
                let mut quadratic = 0.0;
                for j in 0..columns {
                    self.product[j] =
                        (0..columns).map(|l| self.inverse[(l, j)] * self.design[(i, l)]).sum();
                    quadratic += self.product[j] * self.design[(i, j)];
                }
                let r = self.residual[i];
                gradient.squares[o * n + i] = p[i] * (r * r + quadratic);
                for h in 0..units {
                    let scale = self.scales[h * outputs + o];
                    self.delta[(i, h)] += p[i] * scale * (r * mean[h] - self.product[h]);
                }
            }
        }
        gradient.hidden.fill(0.0);
        for h in 0..units {
            for i in 0..n {
                let activation = self.activation[(i, h)];
                let back = self.delta[(i, h)] * (1.0 - activation * activation);
                gradient.hidden[self.shape.inputs * units + h] += back;
                for k in 0..self.shape.inputs {
                    gradient.hidden[k * units + h] += back * self.rows.matrix()[(i, k)];
                }
            }
        }
        if value.is_finite() { Ok(value) } else { Err(Infeasible::NotFinite) }
    }

    /// Draws the output weights (tail order j·O + o) from their normal conditional distribution
    /// at the arguments of the latest evaluation that succeeded.
    pub fn draw_output_weights(&mut self, stream: &mut Stream, tail: &mut [f64]) {
        let (columns, outputs) = (self.shape.columns(), self.shape.outputs);
        for o in 0..outputs {
            stream.fill_normal(&mut self.product);
            self.factors[o].solve_lower_transposed(&mut self.product);
            for j in 0..columns {
                let at = j * outputs + o;
                tail[at] = self.scales[at] * (self.mean[o * columns + j] + self.product[j]);
            }
        }
    }
}

#[cfg(test)]
mod tests;
