//! Draw every block of a regression from its full conditional.

use posteria_linalg::{
    Cholesky, Matrix, NotPositiveDefinite, dot, symmetric_rank_k, transposed_matrix_vector,
};

use super::closed_form::ClosedForm;
use super::coefficients::{Coefficients, GroupScale};
use super::posterior::Regression;
use crate::model::prior::limited;
use crate::model::residual::ResidualConditional;
use crate::random::Stream;
use crate::sample::{Step, Update};
use crate::target::Infeasible;

/// All coefficients at once: given scales and the precision d_i = κ_i/σ_i² of every row those of
/// a target are normal with precision XᵀDX + diag(1/a_k²) and mean its inverse times XᵀDy. Where
/// all rows have the same, D is a number and XᵀX and Xᵀy are known. Targets are independent given
/// the scales.
pub(super) struct WeightsUpdate<'p> {
    x: &'p Matrix,
    regression: &'p Regression,
    coefficients: &'p Coefficients,
    inverse_temperature: f64,
    weighted: Option<Weighted>,
    /// Prior precisions of all coefficients.
    precisions: Vec<f64>,
    blocks: Vec<Block>,
}

/// The coefficients of one target.
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
}

impl<'p> WeightsUpdate<'p> {
    pub(super) fn new(
        x: &'p Matrix,
        regression: &'p Regression,
        coefficients: &'p Coefficients,
        inverse_temperature: f64,
    ) -> Self {
        let (dim, rows) = (coefficients.columns(), x.rows());
        let weighted = (!regression.is_homogeneous()).then(|| Weighted {
            roots: vec![0.0; rows * coefficients.outputs],
            x: Matrix::zeros(rows, dim),
            y: vec![0.0; rows],
        });
        let members = |output| coefficients.of_output(output).collect();
        WeightsUpdate {
            x,
            regression,
            coefficients,
            inverse_temperature,
            weighted,
            precisions: vec![0.0; coefficients.count],
            blocks: (0..coefficients.outputs).map(members).map(Block::new).collect(),
        }
    }

    pub(super) fn coefficients(&self) -> &'p Coefficients {
        self.coefficients
    }

    /// Writes XᵀDX and XᵀDy of every target.
    pub(super) fn moments(&mut self, state: &[f64]) {
        let (residual, rows) = (&self.regression.residual, self.x.rows());
        let Some(Weighted { roots, x, y }) = &mut self.weighted else {
            for (output, block) in self.blocks.iter_mut().enumerate() {
                let log_scale = residual.log_scale(state, output * rows);
                let power = self.inverse_temperature * (-2.0 * log_scale).exp();
                let gram = self.regression.gram.values();
                for (slot, gram) in block.gram.values_mut().iter_mut().zip(gram) {
                    *slot = power * gram;
                }
                let moment = self.regression.moments.column(output);
                for (slot, moment) in block.moment.iter_mut().zip(moment) {
                    *slot = power * moment;
                }
            }
            return;
        };
        residual.precisions(state, self.inverse_temperature, roots);
        roots.iter_mut().for_each(|root| *root = root.sqrt());
        let targets = residual.targets.chunks_exact(rows);
        let by_target = roots.chunks_exact(rows).zip(targets);
        for (block, (roots, targets)) in self.blocks.iter_mut().zip(by_target) {
            for column in 0..self.x.columns() {
                let values = self.x.column(column).iter().zip(roots);
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
    /// Coefficients of one target, and room for as many.
    own: Vec<f64>,
    room: Vec<f64>,
    /// |r|² of every target.
    squares: Vec<f64>,
}

impl<'p> ResidualUpdate<'p> {
    pub(super) fn new(
        x: &'p Matrix,
        regression: &'p Regression,
        coefficients: &'p Coefficients,
        inverse_temperature: f64,
    ) -> Self {
        let conditional = ResidualConditional::new(&regression.residual, inverse_temperature);
        let [own, room] = [(); 2].map(|()| vec![0.0; coefficients.columns()]);
        let seen = vec![0.0; coefficients.count];
        let squares = vec![0.0; coefficients.outputs];
        ResidualUpdate { x, regression, conditional, coefficients, seen, own, room, squares }
    }
}

impl Update for ResidualUpdate<'_> {
    fn name(&self) -> &str {
        "residual_scale"
    }

    fn update(&mut self, state: &mut [f64], stream: &mut Stream) -> Step {
        let (x, coefficients) = (self.x, self.coefficients);
        let ResidualUpdate { seen, own, room, squares, .. } = self;
        if let Some(of_targets) = &self.regression.squares {
            coefficients.write_seen(state, seen);
            for (output, (slot, of_target)) in squares.iter_mut().zip(of_targets).enumerate() {
                coefficients.gather(output, seen, own);
                *slot = of_target.at(&self.regression.gram, own, room);
            }
            return match self.conditional.draw_given_squares(state, squares, stream) {
                true => Step::default(),
                false => Step::stayed(Infeasible::NotFinite),
            };
        }
        let outputs = |state: &[f64], outputs: &mut [f64]| {
            coefficients.write_seen(state, seen);
            coefficients.write_outputs(x, seen, own, outputs);
        };
        match self.conditional.draw(state, outputs, stream) {
            true => Step::default(),
            false => Step::stayed(Infeasible::NotFinite),
        }
    }
}

/// An independent draw of everything from the conjugate posterior.
pub(super) struct ConjugateUpdate<'p> {
    /// Of every target.
    closed_forms: Result<Vec<ClosedForm>, NotPositiveDefinite>,
    coefficients: &'p Coefficients,
    own: Vec<f64>,
}

impl<'p> ConjugateUpdate<'p> {
    pub(super) fn new(
        closed_forms: Result<Vec<ClosedForm>, NotPositiveDefinite>,
        coefficients: &'p Coefficients,
    ) -> Self {
        ConjugateUpdate { closed_forms, coefficients, own: vec![0.0; coefficients.columns()] }
    }
}

impl Update for ConjugateUpdate<'_> {
    fn name(&self) -> &str {
        "weights"
    }

    fn update(&mut self, state: &mut [f64], stream: &mut Stream) -> Step {
        match &self.closed_forms {
            Ok(closed_forms) => {
                for (output, closed_form) in closed_forms.iter().enumerate() {
                    let log_scale = closed_form.draw(&mut self.own, stream);
                    state[self.coefficients.state_len + output] = log_scale;
                    for (at, value) in self.coefficients.of_output(output).zip(&self.own) {
                        state[at] = *value;
                    }
                }
                Step::default()
            }
            Err(NotPositiveDefinite { pivot }) => {
                Step::stayed(Infeasible::NotPositiveDefinite { pivot: *pivot })
            }
        }
    }
}
