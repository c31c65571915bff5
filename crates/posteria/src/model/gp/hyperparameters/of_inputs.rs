//! Keep what belongs to single inputs, in or out.

use super::super::covariance::{Covariance, Parameter};
use super::{Group, GroupDensity, Hyperparameters};
use crate::density::special::LOG_SQRT_2PI;
use crate::model::prior::limited;
use crate::model::selection::Selection;
use crate::random::Stream;

/// A parameter that belongs to one input.
#[derive(Clone, Copy, Debug)]
pub(super) struct OfInput {
    pub(super) parameter: usize,
    pub(super) input: usize,
    /// Entry of the state that is 1 if the input is in.
    pub(super) slot: usize,
    /// Whether it is a relevance, which is as good as 0 if the input is out.
    pub(super) is_relevance: bool,
    /// Whether it is the input's own, not one that all inputs of a factor share.
    pub(super) is_own: bool,
}

/// Logarithm of the relevance of an input that is out: e^-300 vanishes beside any squared distance.
pub(super) const ABSENT: f64 = -150.0;
/// Mean and standard deviation of the entries of the state that such an input leaves behind.
pub(super) const ABSENT_MEAN: f64 = -0.7;
pub(super) const ABSENT_SD: f64 = 0.4;

impl Hyperparameters {
    /// Lets inputs leave.
    pub(in crate::model::gp) fn may_leave(
        &mut self,
        covariance: &Covariance,
        selection: &Selection,
    ) {
        let all = covariance.parameters().iter().enumerate();
        let of_input = |(parameter, it): (usize, &Parameter)| {
            let (input, is_relevance) = match it {
                Parameter::Relevance { input: Some(input), .. } => (*input, true),
                Parameter::Period { input, .. } => (*input, false),
                _ => return None,
            };
            let slot = selection.slots.start + input;
            let tied = |group: &Group| group.is_tied() && group.parameters.contains(&parameter);
            let is_own = !self.groups.iter().any(tied);
            Some(OfInput { parameter, input, slot, is_relevance, is_own })
        };
        self.of_inputs = all.filter_map(of_input).collect();
    }

    /// Parameters that belong to one input alone.
    fn own(&self) -> impl Iterator<Item = &OfInput> {
        self.of_inputs.iter().filter(|of| of.is_own)
    }

    /// Whether a parameter belongs to an input that is out, and to no other.
    pub(in crate::model::gp) fn excludes(&self, state: &[f64], parameter: usize) -> bool {
        self.own().any(|of| of.parameter == parameter && state[of.slot] < 0.5)
    }

    /// Draws what belongs to one input from its prior given the rest.
    pub(in crate::model::gp) fn draw_input(
        &self,
        input: usize,
        state: &mut [f64],
        stream: &mut Stream,
    ) {
        for of in self.own().filter(|of| of.input == input) {
            let own = |group: &&Group| group.parameters.contains(&of.parameter);
            let Some(group) = self.groups.iter().find(own) else { continue };
            let k = of.parameter - group.parameters.start;
            match &group.prior {
                GroupDensity::Levels(levels) => levels.draw_scale(k, state, stream),
                GroupDensity::Each(prior) => {
                    state[group.slots.start + k] = limited(prior.draw_log(stream));
                }
            }
        }
    }

    /// Whether sampled parameters belong to single inputs.
    pub(in crate::model::gp) fn has_own(&self) -> bool {
        let sampled = |of: &OfInput| self.known[of.parameter].is_none();
        self.own().any(sampled)
    }

    /// Entries of the state that belong to inputs that are out.
    pub(super) fn absent<'a>(&'a self, state: &'a [f64]) -> impl Iterator<Item = usize> + 'a {
        let absent = self.own().filter(|of| state[of.slot] < 0.5);
        absent.filter_map(|of| self.entry(of.parameter))
    }

    /// The entry of the state with a parameter of the covariance, if it is sampled.
    fn entry(&self, parameter: usize) -> Option<usize> {
        let group = self.groups.iter().find(|group| group.parameters.contains(&parameter))?;
        Some(group.slots.start + parameter - group.parameters.start)
    }

    /// Draws what belongs to an input that is out from the distribution that it has meanwhile: a
    /// normal one of the width of a posterior, apart from everything else. The prior, which is
    /// wide and heavy-tailed, would spoil the moves of all hyperparameters.
    pub(in crate::model::gp) fn retire(
        &self,
        input: usize,
        state: &mut [f64],
        stream: &mut Stream,
    ) {
        for of in self.own().filter(|of| of.input == input) {
            if let Some(entry) = self.entry(of.parameter) {
                state[entry] = ABSENT_MEAN + ABSENT_SD * stream.normal();
            }
        }
    }

    /// As [`Hyperparameters::retire`], of all inputs that are out.
    pub(in crate::model::gp) fn retire_absent(&self, state: &mut [f64], stream: &mut Stream) {
        for of in self.own() {
            if let (true, Some(entry)) = (state[of.slot] < 0.5, self.entry(of.parameter)) {
                state[entry] = ABSENT_MEAN + ABSENT_SD * stream.normal();
            }
        }
    }

    /// Log density of what belongs to inputs that are out.
    pub(in crate::model::gp) fn log_density_of_absent(&self, state: &[f64]) -> f64 {
        let z = |entry: usize| (state[entry] - ABSENT_MEAN) / ABSENT_SD;
        let constant = LOG_SQRT_2PI + ABSENT_SD.ln();
        self.absent(state).map(|entry| -0.5 * z(entry).powi(2) - constant).sum()
    }
}
