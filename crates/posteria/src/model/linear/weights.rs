//! Draw all coefficients of a regression from their full conditional.

use posteria_linalg::{Cholesky, Matrix, dot, symmetric_rank_k, transposed_matrix_vector};

use super::coefficients::Coefficients;
use super::posterior::Regression;
use crate::model::residual::Noise;
use crate::random::Stream;
use crate::sample::{Step, Update};
use crate::target::Infeasible;

/// All coefficients at once: given scales and the precision d_i = κ_i/σ_i² of every row those of
/// a target are normal with precision XᵀDX + diag(1/a_k²) and mean its inverse times XᵀDy. Where
/// all rows have the same, D is a number and XᵀX and Xᵀy are known. Targets are independent given
/// the scales. Given a covariance Σ of their residuals they are not: all coefficients w_ko are then
/// normal together, with precision XᵀX ⊗ Σ⁻¹ + diag(1/a_k²) and mean its inverse times the
/// entries of XᵀYΣ⁻¹ [Zellner 1971, §8.5, with a proper prior].
pub(super) struct WeightsUpdate<'p> {
    x: &'p Matrix,
    regression: &'p Regression,
    coefficients: &'p Coefficients,
    inverse_temperature: f64,
    rows: RowPrecisions,
    /// Prior precisions of all coefficients.
    precisions: Vec<f64>,
    blocks: Vec<Block>,
}

/// Coefficients that are normal together: those of one target, or of all.
struct Block {
    /// Where they are.
    members: Vec<usize>,
    /// XᵀDX and XᵀDy.
    gram: Matrix,
    moment: Vec<f64>,
    precision: Matrix,
    cholesky: Cholesky,
    draw: Vec<f64>,
}

/// What is known about the precisions of the rows.
enum RowPrecisions {
    /// All rows of a target have the same.
    Equal,
    Different(Weighted),
    /// Those of all targets of a row are a matrix, Σ⁻¹.
    Matrix {
        covariance: Matrix,
        factor: Cholesky,
        inverse: Matrix,
    },
}

/// Room for rows of different precision.
struct Weighted {
    /// d_i, then its root; o·n + i.
    roots: Vec<f64>,
    /// √d_i x_i and √d_i y_i of one target.
    x: Matrix,
    y: Vec<f64>,
}

impl Block {
    fn new(members: Vec<usize>) -> Self {
        let dim = members.len();
        Block {
            members,
            gram: Matrix::zeros(dim, dim),
            moment: vec![0.0; dim],
            precision: Matrix::zeros(dim, dim),
            cholesky: Cholesky::identity(dim),
            draw: vec![0.0; dim],
        }
    }

    /// XᵀX and Xᵀy of one target, by the precision of its rows.
    fn of_equal_rows(
        &mut self,
        regression: &Regression,
        beta: f64,
        (output, state): (usize, &[f64]),
    ) {
        let residual = &regression.residual;
        let power = beta * (-2.0 * residual.log_scale(state, output * residual.rows)).exp();
        for (slot, gram) in self.gram.values_mut().iter_mut().zip(regression.gram.values()) {
            *slot = power * gram;
        }
        for (slot, moment) in self.moment.iter_mut().zip(regression.moments.column(output)) {
            *slot = power * moment;
        }
    }

    /// XᵀX ⊗ Σ⁻¹ and XᵀYΣ⁻¹ with the coefficients of column k and output o at k·O + o.
    fn of_all_targets(&mut self, regression: &Regression, inverse: &Matrix) {
        let outputs = inverse.columns();
        for i in 0..self.moment.len() {
            let (k, o) = (i / outputs, i % outputs);
            let along = |p: usize| regression.moments[(k, p)] * inverse[(p, o)];
            self.moment[i] = (0..outputs).map(along).sum();
            for j in 0..self.moment.len() {
                let (l, p) = (j / outputs, j % outputs);
                self.gram[(i, j)] = regression.gram[(k, l)] * inverse[(o, p)];
            }
        }
    }
}

impl Weighted {
    fn write(
        &mut self,
        design: &Matrix,
        (regression, beta, state): (&Regression, f64, &[f64]),
        blocks: &mut [Block],
    ) {
        let (residual, Weighted { roots, x, y }) = (&regression.residual, self);
        residual.precisions(state, beta, roots);
        roots.iter_mut().for_each(|root| *root = root.sqrt());
        let targets = residual.targets.chunks_exact(residual.rows);
        let by_target = roots.chunks_exact(residual.rows).zip(targets);
        for (block, (roots, targets)) in blocks.iter_mut().zip(by_target) {
            for column in 0..design.columns() {
                let values = design.column(column).iter().zip(roots);
                for (slot, (value, root)) in x.column_mut(column).iter_mut().zip(values) {
                    *slot = value * root;
                }
            }
            for (slot, (target, root)) in y.iter_mut().zip(targets.iter().zip(roots)) {
                *slot = target * root;
            }
            symmetric_rank_k(x, &mut block.gram);
            transposed_matrix_vector(x, y, &mut block.moment);
        }
    }
}

impl<'p> WeightsUpdate<'p> {
    pub(super) fn new(
        x: &'p Matrix,
        regression: &'p Regression,
        coefficients: &'p Coefficients,
        inverse_temperature: f64,
    ) -> Self {
        let (dim, rows, outputs) = (coefficients.columns(), x.rows(), coefficients.outputs);
        let (rows, members): (_, Vec<Vec<usize>>) = match &regression.residual.noise {
            Noise::Covariance { .. } => {
                let [covariance, inverse] = [(); 2].map(|()| Matrix::zeros(outputs, outputs));
                let factor = Cholesky::identity(outputs);
                let matrix = RowPrecisions::Matrix { covariance, factor, inverse };
                (matrix, vec![(0..coefficients.count).collect()])
            }
            Noise::Scales { .. } => {
                let precisions = match regression.is_homogeneous() {
                    true => RowPrecisions::Equal,
                    false => RowPrecisions::Different(Weighted {
                        roots: vec![0.0; rows * outputs],
                        x: Matrix::zeros(rows, dim),
                        y: vec![0.0; rows],
                    }),
                };
                let members = |output| coefficients.of_output(output).collect();
                (precisions, (0..outputs).map(members).collect())
            }
        };
        WeightsUpdate {
            x,
            regression,
            coefficients,
            inverse_temperature,
            rows,
            precisions: vec![0.0; coefficients.count],
            blocks: members.into_iter().map(Block::new).collect(),
        }
    }

    pub(super) fn coefficients(&self) -> &'p Coefficients {
        self.coefficients
    }

    /// Writes XᵀDX and XᵀDy of every block.
    ///
    /// # Errors
    /// [`Infeasible`] if there is a covariance of the residuals that cannot be factorised.
    pub(super) fn moments(&mut self, state: &[f64]) -> Result<(), Infeasible> {
        let (regression, beta) = (self.regression, self.inverse_temperature);
        match &mut self.rows {
            RowPrecisions::Equal => {
                for (output, block) in self.blocks.iter_mut().enumerate() {
                    block.of_equal_rows(regression, beta, (output, state));
                }
            }
            RowPrecisions::Different(weighted) => {
                weighted.write(self.x, (regression, beta, state), &mut self.blocks);
            }
            RowPrecisions::Matrix { covariance, factor, inverse } => {
                if let Noise::Covariance { slots, .. } = &regression.residual.noise {
                    covariance.values_mut().copy_from_slice(&state[slots.clone()]);
                }
                factor
                    .factorize(covariance)
                    .map_err(|error| Infeasible::NotPositiveDefinite { pivot: error.pivot })?;
                for output in 0..inverse.columns() {
                    let column = inverse.column_mut(output);
                    column.fill(0.0);
                    // The likelihood to the power β.
                    column[output] = beta;
                    factor.solve(column);
                }
                self.blocks[0].of_all_targets(regression, inverse);
            }
        }
        Ok(())
    }

    /// Conditions the coefficients on the targets, given scales and set in `state` and the latest
    /// moments. Those whose input is out keep their prior. Returns the log density of the targets
    /// with the coefficients integrated out, up to a factor of the rows' precisions.
    pub(super) fn condition(&mut self, state: &[f64]) -> Result<f64, Infeasible> {
        self.coefficients.precisions(state, &mut self.precisions);
        let mut value = 0.0;
        for Block { members, gram, moment, precision, cholesky, draw } in &mut self.blocks {
            precision.values_mut().copy_from_slice(gram.values());
            draw.copy_from_slice(moment);
            exclude(self.coefficients, state, members, precision, draw);
            let mut log_prior = 0.0;
            for (i, at) in members.iter().enumerate() {
                let of_prior = self.precisions[*at];
                precision[(i, i)] += of_prior;
                log_prior += of_prior.ln();
            }
            cholesky
                .factorize(precision)
                .map_err(|error| Infeasible::NotPositiveDefinite { pivot: error.pivot })?;
            cholesky.solve_lower(draw);
            value += 0.5 * (log_prior - cholesky.log_determinant() + dot(draw, draw));
        }
        if value.is_finite() { Ok(value) } else { Err(Infeasible::NotFinite) }
    }

    /// Draws the coefficients, after [`WeightsUpdate::condition`].
    pub(super) fn draw(&mut self, state: &mut [f64], stream: &mut Stream) -> Step {
        for Block { cholesky, draw, .. } in &mut self.blocks {
            // L⁻ᵀ(L⁻¹ XᵀDy + z) has the mean and the covariance.
            for slot in draw.iter_mut() {
                *slot += stream.normal();
            }
            cholesky.solve_lower_transposed(draw);
        }
        if !self.blocks.iter().all(|block| block.draw.iter().sum::<f64>().is_finite()) {
            return Step::stayed(Infeasible::NotFinite);
        }
        for Block { members, draw, .. } in &self.blocks {
            members.iter().zip(draw).for_each(|(at, value)| state[*at] = *value);
        }
        Step::default()
    }
}

/// Takes what belongs to inputs that are out from XᵀDX and XᵀDy of the coefficients `members`.
pub(super) fn exclude(
    coefficients: &Coefficients,
    state: &[f64],
    members: &[usize],
    gram: &mut Matrix,
    moment: &mut [f64],
) {
    if coefficients.selection.is_none() {
        return;
    }
    for (i, at) in members.iter().enumerate() {
        if coefficients.excludes(state, *at) {
            moment[i] = 0.0;
            for j in 0..moment.len() {
                gram[(i, j)] = 0.0;
                gram[(j, i)] = 0.0;
            }
        }
    }
}

impl Update for WeightsUpdate<'_> {
    fn name(&self) -> &str {
        "weights"
    }

    fn update(&mut self, state: &mut [f64], stream: &mut Stream) -> Step {
        match self.moments(state).and_then(|()| self.condition(state)) {
            Ok(_) => self.draw(state, stream),
            Err(infeasible) => Step::stayed(infeasible),
        }
    }
}
