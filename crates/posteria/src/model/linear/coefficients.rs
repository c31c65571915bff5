//! Lay out the coefficients: their groups and scales in the state.

use std::ops::Range;

use posteria_linalg::{Matrix, matrix_vector};

use super::columns::Columns;
use super::scale::ScalePrior;
use super::spec::{Linear, WeightPrior};
use crate::density::special::LOG_SQRT_2PI;
use crate::model::prior::{ScaleDensity, Squares};
use crate::model::selection::Selection;
use crate::model::spec::Sharing;
use crate::random::Stream;

/// Coefficients with one scale: a range of the state, and where their log scale lies in it.
#[derive(Clone, Debug)]
pub(super) struct Group {
    pub(super) members: Range<usize>,
    /// The input that it belongs to, of groups of a single one.
    pub(super) input: Option<usize>,
    pub(super) scale: GroupScale,
}

/// Where the standard deviation of a group comes from.
#[derive(Clone, Copy, Debug)]
pub(super) enum GroupScale {
    Fixed(f64),
    /// Its logarithm is sampled, at this index of the state.
    Sampled(usize, ScaleDensity),
}

impl Group {
    pub(super) fn log_scale(&self, state: &[f64]) -> f64 {
        match self.scale {
            GroupScale::Fixed(scale) => scale.ln(),
            GroupScale::Sampled(slot, _) => state[slot],
        }
    }
}

/// The coefficients of the state, intercept first, and their prior N(0, scale²) by groups; no
/// groups under the conjugate prior. That of column k and output o is at k·O + o: one output per
/// real target, one for two classes, one per class for more. Outputs share the scales.
#[derive(Clone, Debug)]
pub(super) struct Coefficients {
    /// Number of all coefficients.
    pub(super) count: usize,
    pub(super) outputs: usize,
    pub(super) groups: Vec<Group>,
    /// State entries of coefficients and log scales.
    pub(super) state_len: usize,
    /// The input of every coefficient; none of intercepts.
    pub(super) input_of: Vec<Option<usize>>,
    /// Which inputs may leave.
    pub(super) selection: Option<Selection>,
}

impl Coefficients {
    pub(super) fn new(model: &Linear, columns: &Columns, outputs: usize) -> Self {
        let first = usize::from(model.intercept);
        let count = (first + columns.len()) * outputs;
        let mut input_of = vec![None; count];
        for (input, span) in columns.spans.iter().enumerate() {
            input_of[(first + span.start) * outputs..(first + span.end) * outputs]
                .fill(Some(input));
        }
        let groups = Vec::new();
        let mut all =
            Coefficients { count, outputs, groups, state_len: count, input_of, selection: None };
        let WeightPrior::Normal { sharing, scale } = model.weights else {
            return all;
        };
        match sharing {
            // All functions of an input share its scale.
            Sharing::PerInput => columns.spans.iter().enumerate().for_each(|(input, span)| {
                let members = (first + span.start) * outputs..(first + span.end) * outputs;
                all.push(members, Some(input), scale);
            }),
            Sharing::Common if columns.len() > 0 => all.push(first * outputs..count, None, scale),
            Sharing::Common => {}
        }
        if model.intercept {
            all.push(0..outputs, None, model.intercept_prior);
        }
        all
    }

    fn push(&mut self, members: Range<usize>, input: Option<usize>, prior: ScalePrior) {
        let scale = match prior {
            ScalePrior::Fixed(scale) => GroupScale::Fixed(scale),
            ScalePrior::Sampled(prior) => {
                self.state_len += 1;
                GroupScale::Sampled(self.state_len - 1, prior)
            }
        };
        self.groups.push(Group { members, input, scale });
    }

    /// Whether the input of a coefficient is out.
    pub(super) fn excludes(&self, state: &[f64], coefficient: usize) -> bool {
        match (&self.selection, self.input_of[coefficient]) {
            (Some(selection), Some(input)) => !selection.has(state, input),
            _ => false,
        }
    }

    /// Whether the one input of a group is out.
    pub(super) fn excludes_group(&self, state: &[f64], group: &Group) -> bool {
        group.input.is_some_and(|_| self.excludes(state, group.members.start))
    }

    /// Writes the coefficients as the likelihood sees them: 0 where the input is out.
    pub(super) fn write_seen(&self, state: &[f64], seen: &mut [f64]) {
        seen.copy_from_slice(&state[..self.count]);
        if self.selection.is_some() {
            for (coefficient, value) in seen.iter_mut().enumerate() {
                if self.excludes(state, coefficient) {
                    *value = 0.0;
                }
            }
        }
    }

    /// Where the coefficients of an output are, column by column.
    pub(super) fn of_output(&self, output: usize) -> impl Iterator<Item = usize> + use<> {
        (output..self.count).step_by(self.outputs)
    }

    /// Number of coefficients of one output.
    pub(super) fn columns(&self) -> usize {
        self.count / self.outputs
    }

    /// Writes the outputs o·n + i of the rows of `x` for these coefficients; `room` is as long as
    /// those of one output.
    pub(super) fn write_outputs(
        &self,
        x: &Matrix,
        seen: &[f64],
        room: &mut [f64],
        outputs: &mut [f64],
    ) {
        for (output, outputs) in outputs.chunks_exact_mut(x.rows()).enumerate() {
            self.gather(output, seen, room);
            matrix_vector(x, room, outputs);
        }
    }

    /// Copies the coefficients of one output.
    pub(super) fn gather(&self, output: usize, seen: &[f64], room: &mut [f64]) {
        for (slot, at) in room.iter_mut().zip(self.of_output(output)) {
            *slot = seen[at];
        }
    }

    /// Squares of those members of a group whose input is in.
    pub(super) fn squares(&self, state: &[f64], group: &Group) -> Squares {
        let members = group.members.clone().filter(|at| !self.excludes(state, *at));
        Squares::of(members.map(|at| state[at]))
    }

    /// Draws the members of a group whose input is out from their prior given the scale.
    pub(super) fn refresh(&self, state: &mut [f64], group: &Group, stream: &mut Stream) {
        let scale = group.log_scale(state).exp();
        for at in group.members.clone() {
            if self.excludes(state, at) {
                state[at] = scale * stream.normal();
            }
        }
    }

    /// Draws what belongs to one input from its prior given the rest: its scale, if it has one,
    /// and its coefficients.
    pub(super) fn draw_input(&self, input: usize, state: &mut [f64], stream: &mut Stream) {
        for group in &self.groups {
            if let (Some(own), GroupScale::Sampled(slot, prior)) = (group.input, group.scale)
                && own == input
            {
                state[slot] = prior.draw_log_scale(stream);
            }
            let scale = group.log_scale(state).exp();
            for at in group.members.clone() {
                if self.input_of[at] == Some(input) {
                    state[at] = scale * stream.normal();
                }
            }
        }
    }

    /// Whether sampled scales belong to single inputs.
    pub(super) fn has_own_scales(&self) -> bool {
        let sampled = |group: &Group| matches!(group.scale, GroupScale::Sampled(..));
        self.groups.iter().any(|group| group.input.is_some() && sampled(group))
    }

    /// Writes the prior precision of every coefficient; returns whether any changed.
    pub(super) fn precisions(&self, state: &[f64], precisions: &mut [f64]) -> bool {
        let mut changed = false;
        for group in &self.groups {
            let precision = (-2.0 * group.log_scale(state)).exp();
            for slot in &mut precisions[group.members.clone()] {
                changed |= slot.to_bits() != precision.to_bits();
                *slot = precision;
            }
        }
        changed
    }

    /// Draws sampled scales and coefficients from the prior.
    pub(super) fn draw_prior(&self, state: &mut [f64], stream: &mut Stream) {
        for group in &self.groups {
            if let GroupScale::Sampled(slot, prior) = group.scale {
                state[slot] = prior.draw_log_scale(stream);
            }
            let scale = group.log_scale(state).exp();
            state[group.members.clone()].iter_mut().for_each(|w| *w = scale * stream.normal());
        }
    }

    /// Log prior density of the coefficients and of their sampled log scales, of those inputs that
    /// are in, and of their set.
    pub(super) fn log_prior(&self, state: &[f64]) -> f64 {
        let mut sum = self.selection.as_ref().map_or(0.0, |selection| selection.log_prior(state));
        for group in self.groups.iter().filter(|group| !self.excludes_group(state, group)) {
            let log_scale = group.log_scale(state);
            sum += log_normal(self.squares(state, group), log_scale);
            if let GroupScale::Sampled(_, prior) = group.scale {
                sum += prior.log_density_of_log_scale(log_scale);
            }
        }
        sum
    }
}

/// Log density of independent N(0, scale²) values with these squares.
pub(super) fn log_normal(squares: Squares, log_scale: f64) -> f64 {
    -squares.count * (LOG_SQRT_2PI + log_scale) - 0.5 * squares.sum * (-2.0 * log_scale).exp()
}
