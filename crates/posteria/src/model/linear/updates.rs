//! Draw scales and residuals of a regression from their full conditionals.

use posteria_linalg::{Matrix, NotPositiveDefinite};

use super::closed_form::ClosedForm;
use super::coefficients::{Coefficients, GroupScale};
use super::posterior::Regression;
use crate::model::prior::limited;
use crate::model::residual::ResidualConditional;
use crate::random::Stream;
use crate::sample::{Step, Update};
use crate::target::Infeasible;

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
