//! Evaluate the network, the log likelihood of its outputs and the gradient by the weights.

use std::ops::Range;

use posteria_linalg::Matrix;

/// Sizes of a network f_o(x) = b_o + Σ_h v_ho tanh(a_h + Σ_k u_kh x_k) + Σ_k d_ko x_k, and
/// where its blocks lie in the flat vector of weights.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Number of inputs K.
    pub inputs: usize,
    /// Number of hidden units H; 0 makes a generalised linear model.
    pub hidden: usize,
    /// Number of outputs O.
    pub outputs: usize,
    /// Whether there are direct weights from inputs to outputs.
    pub direct: bool,
}

impl Shape {
    /// Number of weights and biases.
    pub fn len(&self) -> usize {
        self.tail().end
    }

    /// Whether there is no weight at all (no output).
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Input weights u_kh at k·H + h.
    pub fn input_weights(&self) -> Range<usize> {
        0..self.inputs * self.hidden
    }

    /// Hidden biases a_h at h.
    pub fn hidden_bias(&self) -> Range<usize> {
        let start = self.input_weights().end;
        start..start + self.hidden
    }

    /// Output weights v_ho at h·O + o.
    pub fn output_weights(&self) -> Range<usize> {
        let start = self.hidden_bias().end;
        start..start + self.hidden * self.outputs
    }

    /// Output biases b_o at o.
    pub fn output_bias(&self) -> Range<usize> {
        let start = self.output_weights().end;
        start..start + self.outputs
    }

    /// Direct weights d_ko at k·O + o; empty unless there are direct weights.
    pub fn direct_weights(&self) -> Range<usize> {
        let start = self.output_bias().end;
        start..start + if self.direct { self.inputs * self.outputs } else { 0 }
    }

    /// Everything that the outputs are linear in: output weights, output biases and direct
    /// weights, at j·O + o for design column j (hidden units, the constant, inputs).
    pub fn tail(&self) -> Range<usize> {
        self.output_weights().start..self.direct_weights().end
    }

    /// Number of design columns J = H + 1, and K more with direct weights.
    pub fn columns(&self) -> usize {
        self.hidden + 1 + if self.direct { self.inputs } else { 0 }
    }
}

/// Input rows packed for the network, shared by all chains.
#[derive(Clone, Debug)]
pub struct Rows {
    inputs: Matrix,
}

impl Rows {
    /// Packs the rows of `inputs` (one column per input).
    pub fn new(inputs: &Matrix) -> Self {
        Rows { inputs: inputs.clone() }
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        self.inputs.rows()
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Number of inputs.
    pub fn inputs(&self) -> usize {
        self.inputs.columns()
    }

    pub(super) fn matrix(&self) -> &Matrix {
        &self.inputs
    }
}

/// Log likelihood of outputs f, up to constants that are the caller's. Slices hold one entry
/// per output and row, at o·n + i.
#[derive(Clone, Copy, Debug)]
pub enum Likelihood<'a> {
    /// -½ Σ p (y - f)².
    Squares {
        /// Targets y.
        targets: &'a [f64],
        /// Precisions p.
        precisions: &'a [f64],
    },
    /// -½ (ν + 1) Σ log(1 + ((y - f)/σ)²/ν).
    StudentT {
        /// Targets y.
        targets: &'a [f64],
        /// Inverse scales 1/σ.
        inverse_scales: &'a [f64],
        /// Degrees of freedom ν.
        dof: f64,
    },
    /// -Σ |y - f|/s; the derivative at y = f is taken as 0.
    Absolute {
        /// Targets y.
        targets: &'a [f64],
        /// Inverse scales 1/s.
        inverse_scales: &'a [f64],
    },
    /// -Σ log(1 + exp(-s f)).
    Logistic {
        /// Signs s: 1 for the event, -1 for its absence.
        signs: &'a [f64],
    },
    /// Σ_i f_{c_i} - log Σ_o exp f_o.
    Softmax {
        /// Class c of every row, counted from 0.
        codes: &'a [u32],
    },
}

impl Likelihood<'_> {
    /// Value of one row and derivatives by its outputs `f`.
    fn row(&self, f: &[f64], (i, n): (usize, usize), derivative: &mut [f64]) -> f64 {
        if let Likelihood::Softmax { codes } = *self {
            let class = codes[i] as usize;
            let top = f.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            let sum: f64 = f.iter().map(|f| (f - top).exp()).sum();
            for (o, slot) in derivative.iter_mut().enumerate() {
                *slot = if o == class { 1.0 } else { 0.0 } - (f[o] - top).exp() / sum;
            }
            return f[class] - top - sum.ln();
        }
        let mut value = 0.0;
        for (o, slot) in derivative.iter_mut().enumerate() {
            let at = o * n + i;
            let (term, slope) = match *self {
                Likelihood::Squares { targets, precisions } => {
                    let residual = targets[at] - f[o];
                    (-0.5 * precisions[at] * residual * residual, precisions[at] * residual)
                }
                Likelihood::StudentT { targets, inverse_scales, dof } => {
                    let z = (targets[at] - f[o]) * inverse_scales[at];
                    let slope = (dof + 1.0) * z * inverse_scales[at] / (dof + z * z);
                    (-0.5 * (dof + 1.0) * (z * z / dof).ln_1p(), slope)
                }
                Likelihood::Absolute { targets, inverse_scales } => {
                    let z = (targets[at] - f[o]) * inverse_scales[at];
                    let slope = if z == 0.0 { 0.0 } else { inverse_scales[at].copysign(z) };
                    (-z.abs(), slope)
                }
                Likelihood::Logistic { signs } => {
                    let margin = signs[at] * f[o];
                    let small = (-margin.abs()).exp();
                    let wrong = if margin < 0.0 { 1.0 } else { small } / (1.0 + small);
                    (margin.min(0.0) - small.ln_1p(), signs[at] * wrong)
                }
                Likelihood::Softmax { .. } => unreachable!("treated above"),
            };
            value += term;
            *slot = slope;
        }
        value
    }
}

/// A network on fixed rows, with the buffers of one chain.
#[derive(Clone, Debug)]
pub struct Network<'p> {
    shape: Shape,
    rows: &'p Rows,
    hidden: Vec<f64>,
    output: Vec<f64>,
    slope: Vec<f64>,
    discarded: Vec<f64>,
}

impl<'p> Network<'p> {
    /// Buffers for a network of this shape.
    ///
    /// # Panics
    /// If the rows have another number of inputs.
    pub fn new(shape: Shape, rows: &'p Rows) -> Self {
        assert_eq!(shape.inputs, rows.inputs(), "as many inputs as the rows have");
        Network {
            shape,
            rows,
            hidden: vec![0.0; shape.hidden],
            output: vec![0.0; shape.outputs],
            slope: vec![0.0; shape.outputs],
            discarded: vec![0.0; shape.len()],
        }
    }

    fn forward(&mut self, weights: &[f64], row: usize) {
        let Shape { inputs, hidden, outputs, direct } = self.shape;
        let x = self.rows.matrix();
        for h in 0..hidden {
            let sum: f64 = (0..inputs).map(|k| weights[k * hidden + h] * x[(row, k)]).sum();
            self.hidden[h] = (sum + weights[inputs * hidden + h]).tanh();
        }
        let tail = &weights[self.shape.tail()];
        for o in 0..outputs {
            let mut sum = tail[hidden * outputs + o];
            for h in 0..hidden {
                sum += tail[h * outputs + o] * self.hidden[h];
            }
            for k in 0..if direct { inputs } else { 0 } {
                sum += tail[(hidden + 1 + k) * outputs + o] * x[(row, k)];
            }
            self.output[o] = sum;
        }
    }

    /// The outputs f, at o·n + i.
    pub fn outputs(&mut self, weights: &[f64], outputs: &mut [f64]) {
        let n = self.rows.len();
        for row in 0..n {
            self.forward(weights, row);
            for (o, value) in self.output.iter().enumerate() {
                outputs[o * n + row] = *value;
            }
        }
    }

    /// The log likelihood of the outputs.
    pub fn log_likelihood(&mut self, weights: &[f64], likelihood: &Likelihood<'_>) -> f64 {
        let mut gradient = std::mem::take(&mut self.discarded);
        let value = self.log_likelihood_gradient(weights, likelihood, &mut gradient);
        self.discarded = gradient;
        value
    }

    /// The log likelihood of the outputs; its gradient by the weights goes into `gradient`.
    pub fn log_likelihood_gradient(
        &mut self,
        weights: &[f64],
        likelihood: &Likelihood<'_>,
        gradient: &mut [f64],
    ) -> f64 {
        let Shape { inputs, hidden, outputs, direct } = self.shape;
        let n = self.rows.len();
        gradient.fill(0.0);
        let start = self.shape.tail().start;
        let mut value = 0.0;
        for row in 0..n {
            self.forward(weights, row);
            value += likelihood.row(&self.output, (row, n), &mut self.slope);
            let x = self.rows.matrix();
            for (o, slope) in self.slope.iter().enumerate() {
                gradient[start + hidden * outputs + o] += slope;
                for k in 0..if direct { inputs } else { 0 } {
                    gradient[start + (hidden + 1 + k) * outputs + o] += slope * x[(row, k)];
                }
            }
            for h in 0..hidden {
                let mut back = 0.0;
                for (o, slope) in self.slope.iter().enumerate() {
                    gradient[start + h * outputs + o] += slope * self.hidden[h];
                    back += slope * weights[start + h * outputs + o];
                }
                back *= 1.0 - self.hidden[h] * self.hidden[h];
                gradient[inputs * hidden + h] += back;
                for k in 0..inputs {
                    gradient[k * hidden + h] += back * x[(row, k)];
                }
            }
        }
        value
    }

    /// The gradient of the log likelihood in single precision, for the forces of a trajectory
    /// whose energies are computed in double precision.
    pub fn force(&mut self, weights: &[f64], likelihood: &Likelihood<'_>, gradient: &mut [f64]) {
        self.log_likelihood_gradient(weights, likelihood, gradient);
    }
}

#[cfg(test)]
mod tests;
