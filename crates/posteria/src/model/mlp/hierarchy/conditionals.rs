//! Draw what is above the weights of a group from its full conditionals.

use super::{Group, MultiplierFamily, Scale};
use crate::density::{InverseGamma, draw_inverse_gaussian};
use crate::model::prior::{DofSource, Squares, limited, variance_given_normal};
use crate::model::selection::Selection;
use crate::random::Stream;

impl Group {
    /// Draws scales, degrees of freedom and multipliers given the weights of inputs that are in,
    /// then the others from their prior; `false` if something was not finite and stays.
    pub(in crate::model::mlp) fn gibbs(
        &mut self,
        state: &mut [f64],
        selection: Option<&Selection>,
        stream: &mut Stream,
    ) -> bool {
        let part = self.part().max(1);
        let counts = self.width.zip(selection);
        let counts = |state: &[f64], member: usize| {
            counts.is_none_or(|(width, selection)| selection.has(state, member / width.max(1)))
        };
        let (members, slots) =
            (self.members.clone(), self.multipliers.as_ref().map(|m| m.slots.clone()));
        let mut fine = true;
        if let Scale::Sampled(levels) = &mut self.scale {
            let squares = |state: &[f64], k: usize| {
                let of_part = k * part..(k + 1) * part;
                let weights = &state[members.clone()][of_part.clone()];
                let counted = |at: &usize| counts(state, k * part + at);
                match &slots {
                    None => Squares::of((0..part).filter(counted).map(|at| weights[at])),
                    Some(slots) => {
                        let logs = &state[slots.clone()][of_part];
                        let ratio = |at: usize| weights[at] * (-logs[at]).exp();
                        Squares::of((0..part).filter(counted).map(ratio))
                    }
                }
            };
            fine &= levels.gibbs(state, squares, 1.0, stream);
        }
        fine &= self.gibbs_multipliers(state, selection, stream);
        self.refresh(selection, state, stream);
        fine
    }

    fn gibbs_multipliers(
        &mut self,
        state: &mut [f64],
        selection: Option<&Selection>,
        stream: &mut Stream,
    ) -> bool {
        let (part, chunk) = (self.part().max(1), self.chunk(selection));
        let counts = self.width.zip(selection);
        let counts = |state: &[f64], member: usize| {
            counts.is_none_or(|(width, selection)| selection.has(state, member / width.max(1)))
        };
        let log_scales: &Scale = &self.scale;
        let log_scale = |state: &[f64], member: usize| match log_scales {
            Scale::Fixed(scale) => scale.ln(),
            Scale::Sampled(levels) => state[levels.slots.start + member / part],
        };
        let Some(multipliers) = &mut self.multipliers else {
            return true;
        };
        let (members, slots) = (self.members.clone(), multipliers.slots.clone());
        let mut fine = true;
        if let MultiplierFamily::StudentT(DofSource::Sampled { slot, grid }) =
            &mut multipliers.family
        {
            // With the multipliers integrated out; they are drawn anew below.
            grid.begin();
            for first in (0..members.len()).step_by(chunk) {
                if counts(state, first) {
                    let these = members.start + first..members.start + first + chunk;
                    let scale = log_scale(state, first).exp();
                    grid.add_student_t(&state[these], scale, 1.0);
                }
            }
            match grid.draw(stream) {
                Some(index) => state[*slot] = grid.dofs()[index],
                None => fine = false,
            }
        }
        for member in 0..members.len() {
            let ratio = state[members.start + member] * (-log_scale(state, member)).exp();
            let drawn = match &multipliers.family {
                // 1/m² is inverse Gaussian with mean 1/|ratio| and shape 1.
                MultiplierFamily::Laplace => {
                    draw_inverse_gaussian(ratio.abs(), stream).map(|inverse| -0.5 * inverse.ln())
                }
                MultiplierFamily::StudentT(dof) => InverseGamma::new(1.0, dof.value(state))
                    .and_then(|prior| variance_given_normal(Squares::of([ratio]), &prior, 1.0))
                    .map(|conditional| conditional.draw_log_scale(stream))
                    .ok(),
            };
            match drawn {
                Some(log) => state[slots.start + member] = limited(log),
                None => fine = false,
            }
        }
        fine
    }
}
