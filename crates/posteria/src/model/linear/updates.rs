//! Draw every block of a regression from its full conditional.

use posteria_linalg::{
    Cholesky, Matrix, NotPositiveDefinite, matrix_vector, symmetric_rank_k,
    transposed_matrix_vector,
};

use super::closed_form::ClosedForm;
use super::coefficients::{Coefficients, GroupScale};
use super::posterior::Regression;
use crate::model::prior::{Squares, variance_given_normal};
use crate::model::residual::ResidualConditional;
use crate::random::Stream;
use crate::sample::{Step, Update};
use crate::target::Infeasible;

/// All coefficients at once: given scales and the precision d_i = κ_i/σ_i² of every row they are
/// normal with precision XᵀDX + diag(1/a_k²) and mean its inverse times XᵀDy. Where all rows have
/// the same, D is a number and XᵀX and Xᵀy are known.
pub(super) struct WeightsUpdate<'p> {
    x: &'p Matrix,
    regression: &'p Regression,
    coefficients: &'p Coefficients,
    inverse_temperature: f64,
    weighted: Option<Weighted>,
    precisions: Vec<f64>,
    precision: Matrix,
    cholesky: Cholesky,
    draw: Vec<f64>,
}

/// Room for rows of different precision.
struct Weighted {
    /// d_i, then its root.
    roots: Vec<f64>,
    /// √d_i x_i and √d_i y_i.
    x: Matrix,
    y: Vec<f64>,
}

impl<'p> WeightsUpdate<'p> {
    pub(super) fn new(
        x: &'p Matrix,
        regression: &'p Regression,
        coefficients: &'p Coefficients,
        inverse_temperature: f64,
    ) -> Self {
        let (dim, rows) = (coefficients.count, x.rows());
        let weighted = (!regression.is_homogeneous()).then(|| Weighted {
            roots: vec![0.0; rows],
            x: Matrix::zeros(rows, dim),
            y: vec![0.0; rows],
        });
        WeightsUpdate {
            x,
            regression,
            coefficients,
            inverse_temperature,
            weighted,
            precisions: vec![0.0; dim],
            precision: Matrix::zeros(dim, dim),
            cholesky: Cholesky::identity(dim),
            draw: vec![0.0; dim],
        }
    }

    /// Writes XᵀDX and XᵀDy.
    fn moments(&mut self, state: &[f64]) {
        let residual = &self.regression.residual;
        let Some(Weighted { roots, x, y }) = &mut self.weighted else {
            let power = self.inverse_temperature * (-2.0 * residual.log_scale(state, 0)).exp();
            let gram = self.regression.gram.values();
            for (slot, gram) in self.precision.values_mut().iter_mut().zip(gram) {
                *slot = power * gram;
            }
            for (slot, moment) in self.draw.iter_mut().zip(&self.regression.moment) {
                *slot = power * moment;
            }
            return;
        };
        residual.precisions(state, self.inverse_temperature, roots);
        roots.iter_mut().for_each(|root| *root = root.sqrt());
        for column in 0..self.x.columns() {
            let values = self.x.column(column).iter().zip(roots.iter());
            for (slot, (value, root)) in x.column_mut(column).iter_mut().zip(values) {
                *slot = value * root;
            }
        }
        for (slot, (target, root)) in y.iter_mut().zip(residual.targets.iter().zip(roots.iter())) {
            *slot = target * root;
        }
        symmetric_rank_k(x, &mut self.precision);
        transposed_matrix_vector(x, y, &mut self.draw);
    }
}

impl Update for WeightsUpdate<'_> {
    fn name(&self) -> &str {
        "weights"
    }

    fn update(&mut self, state: &mut [f64], stream: &mut Stream) -> Step {
        self.coefficients.precisions(state, &mut self.precisions);
        self.moments(state);
        for (i, precision) in self.precisions.iter().enumerate() {
            self.precision[(i, i)] += precision;
        }
        if let Err(NotPositiveDefinite { pivot }) = self.cholesky.factorize(&self.precision) {
            return Step::stayed(Infeasible::NotPositiveDefinite { pivot });
        }
        // L⁻ᵀ(L⁻¹ XᵀDy + z) has the mean and the covariance.
        self.cholesky.solve_lower(&mut self.draw);
        for slot in &mut self.draw {
            *slot += stream.normal();
        }
        self.cholesky.solve_lower_transposed(&mut self.draw);
        if !self.draw.iter().sum::<f64>().is_finite() {
            return Step::stayed(Infeasible::NotFinite);
        }
        state[..self.draw.len()].copy_from_slice(&self.draw);
        Step::default()
    }
}

/// The scale of every group of coefficients given its members.
pub(super) struct ScalesUpdate<'p> {
    pub(super) coefficients: &'p Coefficients,
}

impl Update for ScalesUpdate<'_> {
    fn name(&self) -> &str {
        "weight_scales"
    }

    fn update(&mut self, state: &mut [f64], stream: &mut Stream) -> Step {
        let mut step = Step::default();
        for group in &self.coefficients.groups {
            let GroupScale::Sampled(slot, prior) = group.scale else {
                continue;
            };
            let members = Squares::of(state[group.members.clone()].iter().copied());
            // The weights are no data: their density is not tempered.
            match variance_given_normal(members, &prior, 1.0) {
                Ok(conditional) => state[slot] = conditional.draw_log_scale(stream),
                Err(_) => step = Step::stayed(Infeasible::NotFinite),
            }
        }
        step
    }
}

/// The residual model given the coefficients: degrees of freedom, κ of every row, scales.
pub(super) struct ResidualUpdate<'p> {
    x: &'p Matrix,
    conditional: ResidualConditional,
    count: usize,
}

impl<'p> ResidualUpdate<'p> {
    pub(super) fn new(
        x: &'p Matrix,
        regression: &Regression,
        coefficients: &Coefficients,
        inverse_temperature: f64,
    ) -> Self {
        let conditional = ResidualConditional::new(&regression.residual, inverse_temperature);
        ResidualUpdate { x, conditional, count: coefficients.count }
    }
}

impl Update for ResidualUpdate<'_> {
    fn name(&self) -> &str {
        "residual_scale"
    }

    fn update(&mut self, state: &mut [f64], stream: &mut Stream) -> Step {
        let (x, count) = (self.x, self.count);
        let outputs =
            |state: &[f64], outputs: &mut [f64]| matrix_vector(x, &state[..count], outputs);
        match self.conditional.draw(state, outputs, stream) {
            true => Step::default(),
            false => Step::stayed(Infeasible::NotFinite),
        }
    }
}

/// An independent draw of everything from the conjugate posterior.
pub(super) struct ConjugateUpdate {
    pub(super) closed_form: Result<ClosedForm, NotPositiveDefinite>,
}

impl Update for ConjugateUpdate {
    fn name(&self) -> &str {
        "weights"
    }

    fn update(&mut self, state: &mut [f64], stream: &mut Stream) -> Step {
        match &self.closed_form {
            Ok(closed_form) => {
                let last = state.len() - 1;
                let (weights, residual) = state.split_at_mut(last);
                residual[0] = closed_form.draw(weights, stream);
                Step::default()
            }
            Err(NotPositiveDefinite { pivot }) => {
                Step::stayed(Infeasible::NotPositiveDefinite { pivot: *pivot })
            }
        }
    }
}
