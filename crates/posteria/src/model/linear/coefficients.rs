//! Lay out the coefficients: their groups and scales in the state.

use std::ops::Range;

use super::columns::Columns;
use super::scale::ScalePrior;
use super::spec::{Linear, WeightPrior};
use crate::density::InverseGamma;
use crate::density::special::LOG_SQRT_2PI;
use crate::model::spec::Sharing;
use crate::random::Stream;

/// Coefficients with one scale: a range of the state, and where their log scale lies in it.
#[derive(Clone, Debug)]
pub(super) struct Group {
    pub(super) members: Range<usize>,
    pub(super) scale: GroupScale,
}

/// Where the standard deviation of a group comes from.
#[derive(Clone, Copy, Debug)]
pub(super) enum GroupScale {
    Fixed(f64),
    /// Its logarithm is sampled, at this index of the state.
    Sampled(usize, InverseGamma),
}

impl Group {
    fn log_scale(&self, state: &[f64]) -> f64 {
        match self.scale {
            GroupScale::Fixed(scale) => scale.ln(),
            GroupScale::Sampled(slot, _) => state[slot],
        }
    }
}

/// The coefficients of the state, intercept first, and their prior N(0, scale²) by groups; no
/// groups under the conjugate prior. That of column k and output o is at k·O + o: one output for
/// real targets and two classes, one per class for more.
#[derive(Clone, Debug)]
pub(super) struct Coefficients {
    /// Number of all coefficients.
    pub(super) count: usize,
    pub(super) outputs: usize,
    pub(super) groups: Vec<Group>,
    /// State entries of coefficients and log scales.
    pub(super) state_len: usize,
}

impl Coefficients {
    pub(super) fn new(model: &Linear, columns: &Columns, outputs: usize) -> Self {
        let first = usize::from(model.intercept);
        let count = (first + columns.len()) * outputs;
        let mut all = Coefficients { count, outputs, groups: Vec::new(), state_len: count };
        let WeightPrior::Normal { sharing, scale } = model.weights else {
            return all;
        };
        match sharing {
            // All functions of an input share its scale.
            Sharing::PerInput => columns.spans.iter().for_each(|span| {
                all.push((first + span.start) * outputs..(first + span.end) * outputs, scale);
            }),
            Sharing::Common if columns.len() > 0 => all.push(first * outputs..count, scale),
            Sharing::Common => {}
        }
        if model.intercept {
            all.push(0..outputs, model.intercept_prior);
        }
        all
    }

    fn push(&mut self, members: Range<usize>, prior: ScalePrior) {
        let scale = match prior {
            ScalePrior::Fixed(scale) => GroupScale::Fixed(scale),
            ScalePrior::Sampled(prior) => {
                self.state_len += 1;
                GroupScale::Sampled(self.state_len - 1, prior)
            }
        };
        self.groups.push(Group { members, scale });
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

    /// Log prior density of the coefficients and of their sampled log scales.
    pub(super) fn log_prior(&self, state: &[f64]) -> f64 {
        let mut sum = 0.0;
        for group in &self.groups {
            let log_scale = group.log_scale(state);
            let members = &state[group.members.clone()];
            sum += log_normal(members, log_scale);
            if let GroupScale::Sampled(_, prior) = group.scale {
                sum += prior.log_density_of_log_scale(log_scale);
            }
        }
        sum
    }
}

/// Log density of independent N(0, scale²) values.
pub(super) fn log_normal(values: &[f64], log_scale: f64) -> f64 {
    let sum_of_squares: f64 = values.iter().map(|value| value * value).sum();
    -(values.len() as f64) * (LOG_SQRT_2PI + log_scale)
        - 0.5 * sum_of_squares * (-2.0 * log_scale).exp()
}
