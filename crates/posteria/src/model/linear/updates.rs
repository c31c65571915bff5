//! Draw every block of a regression from its full conditional.

use posteria_linalg::{
    Cholesky, Matrix, NotPositiveDefinite, dot, matrix_vector, symmetric_rank_k,
    transposed_matrix_vector,
};

use super::closed_form::ClosedForm;
use super::coefficients::{Coefficients, GroupScale};
use super::posterior::Regression;
use crate::model::prior::limited;
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
    /// XᵀDX and XᵀDy.
    gram: Matrix,
    moment: Vec<f64>,
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
            gram: Matrix::zeros(dim, dim),
            moment: vec![0.0; dim],
            precisions: vec![0.0; dim],
            precision: Matrix::zeros(dim, dim),
            cholesky: Cholesky::identity(dim),
            draw: vec![0.0; dim],
        }
    }

    pub(super) fn coefficients(&self) -> &'p Coefficients {
        self.coefficients
    }

    /// Writes XᵀDX and XᵀDy.
    pub(super) fn moments(&mut self, state: &[f64]) {
        let residual = &self.regression.residual;
        let Some(Weighted { roots, x, y }) = &mut self.weighted else {
            let power = self.inverse_temperature * (-2.0 * residual.log_scale(state, 0)).exp();
            let gram = self.regression.gram.values();
            for (slot, gram) in self.gram.values_mut().iter_mut().zip(gram) {
                *slot = power * gram;
            }
            for (slot, moment) in self.moment.iter_mut().zip(&self.regression.moment) {
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
        symmetric_rank_k(x, &mut self.gram);
        transposed_matrix_vector(x, y, &mut self.moment);
    }

    /// Conditions the coefficients on the targets, given scales and set in `state` and the latest
    /// moments. Those whose input is out keep their prior. Returns the log density of the targets
    /// with the coefficients integrated out, up to a factor of the rows' precisions.
    pub(super) fn condition(&mut self, state: &[f64]) -> Result<f64, Infeasible> {
        self.coefficients.precisions(state, &mut self.precisions);
        self.precision.values_mut().copy_from_slice(self.gram.values());
        self.draw.copy_from_slice(&self.moment);
        exclude(self.coefficients, state, &mut self.precision, &mut self.draw);
        let mut log_prior = 0.0;
        for (i, precision) in self.precisions.iter().enumerate() {
            self.precision[(i, i)] += precision;
            log_prior += precision.ln();
        }
        self.cholesky
            .factorize(&self.precision)
            .map_err(|error| Infeasible::NotPositiveDefinite { pivot: error.pivot })?;
        self.cholesky.solve_lower(&mut self.draw);
        let value =
            0.5 * (log_prior - self.cholesky.log_determinant() + dot(&self.draw, &self.draw));
        if value.is_finite() { Ok(value) } else { Err(Infeasible::NotFinite) }
    }

    /// Draws the coefficients, after [`WeightsUpdate::condition`].
    pub(super) fn draw(&mut self, state: &mut [f64], stream: &mut Stream) -> Step {
        // L⁻ᵀ(L⁻¹ XᵀDy + z) has the mean and the covariance.
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

/// Takes what belongs to inputs that are out from XᵀDX and XᵀDy.
pub(super) fn exclude(
    coefficients: &Coefficients,
    state: &[f64],
    gram: &mut Matrix,
    moment: &mut [f64],
) {
    if coefficients.selection.is_none() {
        return;
    }
    for i in 0..moment.len() {
        if coefficients.excludes(state, i) {
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
        self.moments(state);
        match self.condition(state) {
            Ok(_) => self.draw(state, stream),
            Err(infeasible) => Step::stayed(infeasible),
        }
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
            let members = self.coefficients.squares(state, group);
            // The weights are no data: their density is not tempered.
            match prior.draw_given_normal(members, 1.0, stream) {
                Some(log_scale) => state[slot] = limited(log_scale),
                None => step = Step::stayed(Infeasible::NotFinite),
            }
            // Given the scale alone, which was drawn without them.
            self.coefficients.refresh(state, group, stream);
        }
        step
    }
}

/// The residual model given the coefficients: degrees of freedom, κ of every row, scales.
pub(super) struct ResidualUpdate<'p> {
    x: &'p Matrix,
    regression: &'p Regression,
    conditional: ResidualConditional,
    coefficients: &'p Coefficients,
    seen: Vec<f64>,
    room: Vec<f64>,
}

impl<'p> ResidualUpdate<'p> {
    pub(super) fn new(
        x: &'p Matrix,
        regression: &'p Regression,
        coefficients: &'p Coefficients,
        inverse_temperature: f64,
    ) -> Self {
        let conditional = ResidualConditional::new(&regression.residual, inverse_temperature);
        let [seen, room] = [(); 2].map(|()| vec![0.0; coefficients.count]);
        ResidualUpdate { x, regression, conditional, coefficients, seen, room }
    }
}

impl Update for ResidualUpdate<'_> {
    fn name(&self) -> &str {
        "residual_scale"
    }

    fn update(&mut self, state: &mut [f64], stream: &mut Stream) -> Step {
        let (x, coefficients, seen) = (self.x, self.coefficients, &mut self.seen);
        if let Some(squares) = &self.regression.squares {
            coefficients.write_seen(state, seen);
            let sum = squares.at(&self.regression.gram, seen, &mut self.room);
            return match self.conditional.draw_given_squares(state, sum, stream) {
                true => Step::default(),
                false => Step::stayed(Infeasible::NotFinite),
            };
        }
        let outputs = |state: &[f64], outputs: &mut [f64]| {
            coefficients.write_seen(state, seen);
            matrix_vector(x, seen, outputs);
        };
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
