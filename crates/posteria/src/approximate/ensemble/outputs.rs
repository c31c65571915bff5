//! Condition output weights on hidden weights, and follow what is left of the density.

use posteria_linalg::{
    Cholesky, Matrix, NotPositiveDefinite, add_scaled, dot, multiply, multiply_transposed,
    symmetric_rank_k, tanh, transposed_multiply,
};

use crate::model::mlp::{GaussianNetwork, Shape};

/// What the density of weights is made of besides precisions.
#[derive(Clone, Debug)]
pub(super) struct Design {
    pub(super) shape: Shape,
    /// Rows × inputs, then a column of ones.
    inputs: Matrix,
    /// Standardised targets, o·n + i.
    targets: Vec<f64>,
}

impl Design {
    pub(super) fn new(network: &GaussianNetwork<'_>) -> Self {
        let (shape, inputs) = (*network.shape(), network.inputs_and_ones());
        Design { shape, inputs, targets: network.targets().to_vec() }
    }

    pub(super) fn rows(&self) -> usize {
        self.inputs.rows()
    }

    /// The weight of a column of the design of an output.
    fn weight(&self, column: usize, output: usize) -> usize {
        self.shape.tail().start + column * self.shape.outputs + output
    }
}

/// Precisions that are held: of all residuals, o·n + i, and of all weights.
#[derive(Clone, Copy)]
pub(super) struct Held<'a> {
    pub(super) residuals: &'a [f64],
    pub(super) weights: &'a [f64],
}

/// The output weights v of one output given the hidden weights: N(m, A⁻¹) with A = ΦᵀTΦ + α and
/// m = A⁻¹ΦᵀTy, where Φ has the hidden units, ones and the inputs with direct weights, and T the
/// precisions of the residuals.
struct Output {
    precision: Cholesky,
    mean: Vec<f64>,
    /// y - Φm.
    residuals: Vec<f64>,
    /// A⁻¹ and ΦA⁻¹.
    covariance: Matrix,
    spread: Matrix,
}

/// A network whose output weights are integrated out, or known by their distribution, given hidden
/// weights u and precisions: up to what does not depend on u the log density of the targets is
///
/// F(u) = Σ_o (½ mᵀΦᵀTy - ½ log |A|).
pub(super) struct OutputsGiven<'d> {
    design: &'d Design,
    /// Φ, and Φ with rows times √T.
    columns: Matrix,
    scaled: Matrix,
    outputs: Vec<Output>,
    /// Derivatives of the units by what goes into them.
    slopes: Matrix,
}

impl<'d> OutputsGiven<'d> {
    pub(super) fn new(design: &'d Design) -> Self {
        let (rows, count) = (design.rows(), design.shape.columns());
        let mut columns = Matrix::zeros(rows, count);
        let hidden = design.shape.hidden;
        columns.column_mut(hidden).fill(1.0);
        for column in hidden + 1..count {
            let input = design.inputs.column(column - hidden - 1);
            columns.column_mut(column).copy_from_slice(input);
        }
        let output = |_| Output {
            precision: Cholesky::identity(count),
            mean: vec![0.0; count],
            residuals: vec![0.0; rows],
            covariance: Matrix::zeros(count, count),
            spread: Matrix::zeros(rows, count),
        };
        OutputsGiven {
            design,
            scaled: columns.clone(),
            columns,
            outputs: (0..design.shape.outputs).map(output).collect(),
            slopes: Matrix::zeros(rows, hidden),
        }
    }

    /// Takes these hidden weights and precisions; returns F.
    pub(super) fn condition(
        &mut self,
        hidden: &[f64],
        held: Held<'_>,
    ) -> Result<f64, NotPositiveDefinite> {
        let (rows, units) = (self.design.rows(), self.design.shape.hidden);
        if units > 0 {
            let inputs = self.design.inputs.columns();
            let weights = Matrix::from_fn(units, inputs, |h, k| hidden[k * units + h]);
            multiply_transposed(&self.design.inputs, &weights, &mut self.slopes);
            tanh(self.slopes.values_mut());
            self.columns.values_mut()[..rows * units].copy_from_slice(self.slopes.values());
            self.slopes.values_mut().iter_mut().for_each(|unit| *unit = 1.0 - *unit * *unit);
        }
        let mut value = 0.0;
        for (o, output) in self.outputs.iter_mut().enumerate() {
            let targets = &self.design.targets[o * rows..][..rows];
            let own = &held.residuals[o * rows..][..rows];
            let roots: Vec<f64> = own.iter().map(|precision| precision.sqrt()).collect();
            let pulled: Vec<f64> = targets.iter().zip(own).map(|(y, t)| t * y).collect();
            let mut pull = vec![0.0; self.columns.columns()];
            for (column, slot) in pull.iter_mut().enumerate() {
                *slot = dot(self.columns.column(column), &pulled);
                let scaled = self.scaled.column_mut(column).iter_mut();
                let from = self.columns.column(column).iter().zip(&roots);
                scaled.zip(from).for_each(|(slot, (value, root))| *slot = value * root);
            }
            symmetric_rank_k(&self.scaled, &mut output.covariance);
            for column in 0..pull.len() {
                let weight = self.design.weight(column, o);
                output.covariance[(column, column)] += held.weights[weight];
            }
            output.precision.factorize(&output.covariance)?;
            output.mean.copy_from_slice(&pull);
            output.precision.solve(&mut output.mean);
            output.residuals.copy_from_slice(targets);
            for (column, weight) in output.mean.iter().enumerate() {
                add_scaled(&mut output.residuals, -weight, self.columns.column(column));
            }
            value += 0.5 * (dot(&pull, &output.mean) - output.precision.log_determinant());
        }
        Ok(value)
    }

    /// Finds A⁻¹ and ΦA⁻¹, which the following need.
    pub(super) fn spread(&mut self) {
        for output in &mut self.outputs {
            output.precision.inverse(&mut output.covariance);
            multiply(&self.columns, &output.covariance, &mut output.spread);
        }
    }

    /// Adds E v² of all output weights, at their places among all weights, and E(y - Φv)² of all
    /// residuals, times `share`.
    pub(super) fn add_squares(&self, share: f64, weights: &mut [f64], residuals: &mut [f64]) {
        let rows = self.design.rows();
        for (o, output) in self.outputs.iter().enumerate() {
            for (column, mean) in output.mean.iter().enumerate() {
                let square = mean * mean + output.covariance[(column, column)];
                weights[self.design.weight(column, o)] += share * square;
            }
            let own = &mut residuals[o * rows..][..rows];
            for (slot, residual) in own.iter_mut().zip(&output.residuals) {
                *slot += share * residual * residual;
            }
            for column in 0..self.columns.columns() {
                let pairs = self.columns.column(column).iter().zip(output.spread.column(column));
                own.iter_mut().zip(pairs).for_each(|(slot, (a, b))| *slot += share * a * b);
            }
        }
    }

    /// Writes the variances of all output weights, at their places among all weights.
    pub(super) fn write_variances(&self, weights: &mut [f64]) {
        for (o, output) in self.outputs.iter().enumerate() {
            for column in 0..self.columns.columns() {
                weights[self.design.weight(column, o)] = output.covariance[(column, column)];
            }
        }
    }

    /// Writes the output weights m + L⁻ᵀz, z being what they hold, or what z they are of.
    pub(super) fn place(&self, weights: &mut [f64]) {
        self.each(weights, |output, own| {
            output.precision.solve_lower_transposed(own);
            own.iter_mut().zip(&output.mean).for_each(|(slot, mean)| *slot += mean);
        });
    }

    /// ½ log |A| - ½ |Lᵀ(v - m)|², the log density of output weights but for its constant.
    pub(super) fn log_density(&self, weights: &mut [f64]) -> f64 {
        let mut density = 0.0;
        self.each(weights, |output, own| {
            own.iter_mut().zip(&output.mean).for_each(|(slot, mean)| *slot -= mean);
            output.precision.multiply_lower_transposed(own);
            density += 0.5 * (output.precision.log_determinant() - dot(own, own));
        });
        density
    }

    /// Lets the output weights of every output, among all weights, be changed.
    fn each(&self, weights: &mut [f64], mut change: impl FnMut(&Output, &mut [f64])) {
        let mut own = vec![0.0; self.columns.columns()];
        for (o, output) in self.outputs.iter().enumerate() {
            let place = |column: usize| self.design.weight(column, o);
            own.iter_mut().enumerate().for_each(|(column, slot)| *slot = weights[place(column)]);
            change(output, &mut own);
            own.iter().enumerate().for_each(|(column, value)| weights[place(column)] = *value);
        }
    }

    /// Adds the derivatives of F by the hidden weights times `share`, after [`Self::spread`]: they are
    /// the means, over v, of those of -½ Σ T (y - Φv)².
    pub(super) fn add_gradient(&self, held: Held<'_>, share: f64, gradient: &mut [f64]) -> Matrix {
        let units = self.design.shape.hidden;
        let rows = self.design.rows();
        // By what goes into every unit of every row.
        let mut pulls = Matrix::zeros(rows, units);
        for (o, output) in self.outputs.iter().enumerate() {
            let own = &held.residuals[o * rows..][..rows];
            for h in 0..units {
                let from = output.residuals.iter().zip(output.spread.column(h)).zip(own);
                let from = from.zip(self.slopes.column(h));
                let slots = pulls.column_mut(h).iter_mut();
                for (slot, (((residual, spread), precision), slope)) in slots.zip(from) {
                    *slot += precision * (residual * output.mean[h] - spread) * slope;
                }
            }
        }
        for h in 0..units {
            for k in 0..self.design.inputs.columns() {
                let sum = dot(self.design.inputs.column(k), pulls.column(h));
                gradient[k * units + h] += share * sum;
            }
        }
        pulls
    }

    /// Adds minus the second derivatives of F times `share`: the mean over v of minus those of
    /// log p(y, v | u), less the covariance over v of its first ones [Louis 1982]. `pulls` are those
    /// of [`Self::add_gradient`].
    pub(super) fn add_curvature(
        &self,
        held: Held<'_>,
        share: f64,
        pulls: &Matrix,
        curvature: &mut Matrix,
    ) {
        self.add_mean_curvature(held, share, pulls, curvature);
        let (units, rows) = (self.design.shape.hidden, self.design.rows());
        let (inputs, columns) = (self.design.inputs.columns(), self.columns.columns());
        let count = units * inputs;
        for (o, output) in self.outputs.iter().enumerate() {
            let own = &held.residuals[o * rows..][..rows];
            // Of a derivative by u_kh, with r = y - Φm and v = m + δ: it is, up to a constant,
            // s δ_h - m_h tᵀδ - δ_h tᵀδ, where t = Σ T φ' x Φ and s = Σ T φ' x r.
            let mut t = Matrix::zeros(count, columns);
            let mut linear = Matrix::zeros(count, columns);
            let mut weighted = Matrix::zeros(rows, inputs);
            let mut products = Matrix::zeros(inputs, columns);
            for h in 0..units {
                for k in 0..inputs {
                    let from = self.design.inputs.column(k).iter().zip(self.slopes.column(h));
                    let slots = weighted.column_mut(k).iter_mut().zip(from.zip(own));
                    slots.for_each(|(slot, ((x, slope), t))| *slot = x * slope * t);
                }
                transposed_multiply(&weighted, &self.columns, &mut products);
                for k in 0..inputs {
                    let place = k * units + h;
                    for column in 0..columns {
                        t[(place, column)] = products[(k, column)];
                        linear[(place, column)] = -output.mean[h] * products[(k, column)];
                    }
                    linear[(place, h)] += dot(weighted.column(k), &output.residuals);
                }
            }
            let mut across = Matrix::zeros(count, columns);
            let mut squares = Matrix::zeros(count, count);
            multiply(&linear, &output.covariance, &mut across);
            multiply_transposed(&across, &linear, &mut squares);
            add_scaled(curvature.values_mut(), -share, squares.values());
            multiply(&t, &output.covariance, &mut across);
            multiply_transposed(&across, &t, &mut squares);
            for j in 0..count {
                for i in 0..count {
                    let (h, g) = (i % units, j % units);
                    let both = output.covariance[(h, g)] * squares[(i, j)];
                    curvature[(i, j)] -= share * (both + across[(i, g)] * across[(j, h)]);
                }
            }
        }
    }

    /// The mean over v of Σ T (f' f'ᵀ - (y - f) f'').
    fn add_mean_curvature(
        &self,
        held: Held<'_>,
        share: f64,
        pulls: &Matrix,
        curvature: &mut Matrix,
    ) {
        let (units, rows) = (self.design.shape.hidden, self.design.rows());
        let inputs = self.design.inputs.columns();
        let mut weights = vec![0.0; rows];
        let mut weighted = Matrix::zeros(rows, inputs);
        let mut block = Matrix::zeros(inputs, inputs);
        for h in 0..units {
            for g in 0..=h {
                weights.fill(0.0);
                for (o, output) in self.outputs.iter().enumerate() {
                    let square = output.mean[h] * output.mean[g] + output.covariance[(h, g)];
                    add_scaled(&mut weights, square, &held.residuals[o * rows..][..rows]);
                }
                let slopes = self.slopes.column(h).iter().zip(self.slopes.column(g));
                weights.iter_mut().zip(slopes).for_each(|(slot, (a, b))| *slot *= a * b);
                if h == g {
                    // φ'' = -2 φ φ'.
                    let from = pulls.column(h).iter().zip(self.columns.column(h));
                    weights
                        .iter_mut()
                        .zip(from)
                        .for_each(|(w, (pull, unit))| *w += 2.0 * unit * pull);
                }
                for k in 0..inputs {
                    let from = self.design.inputs.column(k).iter().zip(&weights);
                    let slots = weighted.column_mut(k).iter_mut();
                    slots.zip(from).for_each(|(slot, (x, weight))| *slot = x * weight);
                }
                transposed_multiply(&self.design.inputs, &weighted, &mut block);
                for l in 0..inputs {
                    for k in 0..inputs {
                        let (i, j) = (k * units + h, l * units + g);
                        curvature[(i, j)] += share * block[(k, l)];
                        if h != g {
                            curvature[(j, i)] += share * block[(k, l)];
                        }
                    }
                }
            }
        }
    }
}
