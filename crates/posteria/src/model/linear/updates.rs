//! Draw every block of a regression from its full conditional.

use posteria_linalg::{Cholesky, Matrix, NotPositiveDefinite, matrix_vector};

use super::closed_form::ClosedForm;
use super::coefficients::{Coefficients, GroupScale};
use super::posterior::Regression;
use crate::model::prior::{Squares, variance_given_normal};
use crate::random::Stream;
use crate::sample::{Step, Update};
use crate::target::Infeasible;

/// All coefficients at once: given scales and noise they are normal with precision
/// βτXᵀX + diag(1/a_k²) and mean its inverse times βτXᵀy.
pub(super) struct WeightsUpdate<'p> {
    regression: &'p Regression,
    coefficients: &'p Coefficients,
    inverse_temperature: f64,
    residual_slot: usize,
    precisions: Vec<f64>,
    precision: Matrix,
    cholesky: Cholesky,
    draw: Vec<f64>,
}

impl<'p> WeightsUpdate<'p> {
    pub(super) fn new(
        regression: &'p Regression,
        coefficients: &'p Coefficients,
        inverse_temperature: f64,
    ) -> Self {
        let dim = coefficients.count;
        WeightsUpdate {
            regression,
            coefficients,
            inverse_temperature,
            residual_slot: coefficients.state_len,
            precisions: vec![0.0; dim],
            precision: Matrix::zeros(dim, dim),
            cholesky: Cholesky::identity(dim),
            draw: vec![0.0; dim],
        }
    }
}

impl Update for WeightsUpdate<'_> {
    fn name(&self) -> &str {
        "weights"
    }

    fn update(&mut self, state: &mut [f64], stream: &mut Stream) -> Step {
        let power = self.inverse_temperature * (-2.0 * state[self.residual_slot]).exp();
        self.coefficients.precisions(state, &mut self.precisions);
        for (slot, gram) in
            self.precision.values_mut().iter_mut().zip(self.regression.gram.values())
        {
            *slot = power * gram;
        }
        for (i, precision) in self.precisions.iter().enumerate() {
            self.precision[(i, i)] += precision;
        }
        if let Err(NotPositiveDefinite { pivot }) = self.cholesky.factorize(&self.precision) {
            return Step::stayed(Infeasible::NotPositiveDefinite { pivot });
        }
        // L⁻ᵀ(L⁻¹ βτXᵀy + z) has the mean and the covariance.
        for (slot, moment) in self.draw.iter_mut().zip(&self.regression.moment) {
            *slot = power * moment;
        }
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

/// The residual scale given the coefficients.
pub(super) struct ResidualUpdate<'p> {
    x: &'p Matrix,
    regression: &'p Regression,
    inverse_temperature: f64,
    count: usize,
    slot: usize,
    outputs: Vec<f64>,
}

impl<'p> ResidualUpdate<'p> {
    pub(super) fn new(
        x: &'p Matrix,
        regression: &'p Regression,
        coefficients: &Coefficients,
        inverse_temperature: f64,
    ) -> Self {
        ResidualUpdate {
            x,
            regression,
            inverse_temperature,
            count: coefficients.count,
            slot: coefficients.state_len,
            outputs: vec![0.0; x.rows()],
        }
    }
}

impl Update for ResidualUpdate<'_> {
    fn name(&self) -> &str {
        "residual_scale"
    }

    fn update(&mut self, state: &mut [f64], stream: &mut Stream) -> Step {
        // From the residuals themselves: moments would cancel where the fit is close.
        matrix_vector(self.x, &state[..self.count], &mut self.outputs);
        let pairs = self.regression.targets.iter().zip(&self.outputs);
        let beta = self.inverse_temperature;
        // At β = 0 the data do not count, even where they are infinitely far off.
        let residuals =
            if beta > 0.0 { Squares::of(pairs.map(|(y, f)| y - f)) } else { Squares::default() };
        match variance_given_normal(residuals, &self.regression.residual, beta) {
            Ok(conditional) => {
                state[self.slot] = conditional.draw_log_scale(stream);
                Step::default()
            }
            Err(_) => Step::stayed(Infeasible::NotFinite),
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
