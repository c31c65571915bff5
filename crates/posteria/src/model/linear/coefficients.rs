//! Lay out the coefficients: their groups and scales in the state, and on the user's scale.

use std::ops::Range;

use super::scale::ScalePrior;
use super::spec::{Linear, WeightPrior};
use crate::data::Standardization;
use crate::density::InverseGamma;
use crate::density::special::LOG_SQRT_2PI;
use crate::draws::Layout;
use crate::model::spec::Sharing;

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
/// groups under the conjugate prior.
#[derive(Clone, Debug)]
pub(super) struct Coefficients {
    pub(super) count: usize,
    pub(super) groups: Vec<Group>,
    /// State entries of coefficients and log scales.
    pub(super) state_len: usize,
}

impl Coefficients {
    pub(super) fn new(model: &Linear, inputs: usize) -> Self {
        let first = usize::from(model.intercept);
        let count = first + inputs;
        let mut all = Coefficients { count, groups: Vec::new(), state_len: count };
        let WeightPrior::Normal { sharing, scale } = model.weights else {
            return all;
        };
        match sharing {
            Sharing::PerInput => (first..count).for_each(|k| all.push(k..k + 1, scale)),
            Sharing::Common if inputs > 0 => all.push(first..count, scale),
            Sharing::Common => {}
        }
        if model.intercept {
            all.push(0..1, model.intercept_prior);
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

/// The way from the standardised scale to the user's: with y = c + s y' and x_k = c_k + s_k x'_k,
/// w_k = w'_k s / s_k and intercept = c + s b' - Σ w_k c_k.
#[derive(Clone, Debug)]
pub(super) struct UserScale {
    pub(super) target: Standardization,
    inputs: Vec<Standardization>,
    intercept: bool,
    shown: bool,
}

impl UserScale {
    pub(super) fn new(
        target: Standardization,
        inputs: Vec<Standardization>,
        intercept: bool,
    ) -> Self {
        let shifted = inputs.iter().chain([&target]).any(|map| map.centre.abs() > 0.0);
        UserScale { target, inputs, intercept, shown: intercept || shifted }
    }

    /// Names the intercept and the weights of a draw. Without an intercept on the standardised
    /// scale there may be one on the user's: the output is then the mean target where all
    /// inputs are at their mean.
    pub(super) fn push_names(&self, layout: &mut Layout, input_names: &[String]) {
        if self.shown {
            layout.push_scalar("intercept");
        }
        if !input_names.is_empty() {
            layout.push_vector("weights", "input", input_names.to_vec());
        }
    }

    /// Writes intercept and weights on the user's scale to the front of a draw; returns how
    /// many numbers that were.
    pub(super) fn write(&self, coefficients: &[f64], draw: &mut [f64]) -> usize {
        let (own, weights) = coefficients.split_at(usize::from(self.intercept));
        let shown = usize::from(self.shown);
        let own = own.first().copied().unwrap_or(0.0);
        let mut intercept = self.target.centre + self.target.scale * own;
        for ((weight, input), slot) in weights.iter().zip(&self.inputs).zip(&mut draw[shown..]) {
            *slot = weight * self.target.scale / input.scale;
            intercept -= *slot * input.centre;
        }
        if self.shown {
            draw[0] = intercept;
        }
        shown + weights.len()
    }

    /// From intercept and weights of a draw, which are on the user's scale, to the line over
    /// standardised inputs: writes its slopes, returns its height where all inputs are at their
    /// centre. Outputs stay on the user's scale.
    pub(super) fn line(&self, draw: &[f64], slopes: &mut [f64]) -> f64 {
        let shown = usize::from(self.shown);
        let mut height = if self.shown { draw[0] } else { 0.0 };
        for ((slope, weight), input) in slopes.iter_mut().zip(&draw[shown..]).zip(&self.inputs) {
            *slope = weight * input.scale;
            height += weight * input.centre;
        }
        height
    }

    /// Number of inputs.
    pub(super) fn inputs(&self) -> usize {
        self.inputs.len()
    }

    /// Writes the row of the design matrix for inputs on the user's scale.
    pub(super) fn design_row(&self, inputs: &[f64], row: &mut [f64]) {
        let first = usize::from(self.intercept);
        row[..first].fill(1.0);
        for ((slot, value), map) in row[first..].iter_mut().zip(inputs).zip(&self.inputs) {
            *slot = map.apply(*value);
        }
    }
}
