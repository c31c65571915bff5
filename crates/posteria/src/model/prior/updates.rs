//! Move the scales of a prior hierarchy by exact draws from their full conditionals.
//!
//! Every scale stands in the state as log standard deviation.

use std::ops::Range;

use super::{WeightGroup, common_log_scale_given_log_scales, variance_given_normal};
use crate::density::{InverseGamma, ParameterError};
use crate::random::Stream;
use crate::sample::{Step, Update};
use crate::target::Infeasible;

/// Largest |log scale| a draw may put into the state: the variance e^±700 is still a double.
/// Only priors of a few hundredths of a degree of freedom ever reach it.
pub const LOG_SCALE_LIMIT: f64 = 350.0;

/// Where an inverse gamma level takes its scale from.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ScaleAbove {
    /// A fixed standard deviation: the hierarchy ends here.
    Fixed(f64),
    /// The entry of the state that holds the log scale of the level above.
    Sampled {
        /// Its index.
        index: usize,
    },
}

impl ScaleAbove {
    fn prior(self, dof: f64, state: &[f64]) -> Result<InverseGamma, ParameterError> {
        match self {
            ScaleAbove::Fixed(scale) => InverseGamma::new(scale, dof),
            ScaleAbove::Sampled { index } => InverseGamma::new(state[index].exp(), dof),
        }
    }

    fn check(self, dof: f64) -> Result<(), ParameterError> {
        let scale = if let ScaleAbove::Fixed(scale) = self { scale } else { 1.0 };
        InverseGamma::new(scale, dof).map(|_| ())
    }
}

/// Draws the scales a_k of groups of normal weights, w_kj ~ N(0, a_k²) and
/// a_k² ~ Inv-gamma(scale above², ν): one group is a common scale, one group per input is
/// automatic relevance determination.
#[derive(Clone, Debug)]
pub struct GroupScales {
    name: String,
    groups: Vec<WeightGroup>,
    first: usize,
    above: ScaleAbove,
    dof: f64,
    inverse_temperature: f64,
}

impl GroupScales {
    /// Log a_k of group k stands at `state[first + k]`.
    ///
    /// # Errors
    /// [`ParameterError`] unless ν and a fixed scale above are positive and finite.
    pub fn new(
        name: impl Into<String>,
        groups: Vec<WeightGroup>,
        first: usize,
        above: ScaleAbove,
        dof: f64,
    ) -> Result<Self, ParameterError> {
        above.check(dof)?;
        let name = name.into();
        Ok(GroupScales { name, groups, first, above, dof, inverse_temperature: 1.0 })
    }

    /// Raises the normal density of the members to β: for scales of residuals, whose density
    /// is the likelihood. Scales of weights belong to the prior and stay at 1.
    pub fn tempered(mut self, inverse_temperature: f64) -> Self {
        self.inverse_temperature = inverse_temperature;
        self
    }
}

impl Update for GroupScales {
    fn name(&self) -> &str {
        &self.name
    }

    fn update(&mut self, state: &mut [f64], stream: &mut Stream) -> Step {
        let Ok(prior) = self.above.prior(self.dof, state) else {
            return Step::stayed(Infeasible::NotFinite);
        };
        let mut step = Step::default();
        for (k, group) in self.groups.iter().enumerate() {
            let squares = group.squares(state);
            match variance_given_normal(squares, &prior, self.inverse_temperature) {
                Ok(conditional) => {
                    let log_scale = conditional.draw_log_scale(stream);
                    state[self.first + k] = log_scale.clamp(-LOG_SCALE_LIMIT, LOG_SCALE_LIMIT);
                }
                Err(_) => step = Step::stayed(Infeasible::NotFinite),
            }
        }
        step
    }
}

/// Draws the common scale a_ave of group scales, a_k² ~ Inv-gamma(a_ave², ν) and
/// a_ave² ~ Inv-gamma(scale above², ν_ave).
#[derive(Clone, Debug)]
pub struct CommonScale {
    name: String,
    members: Range<usize>,
    members_dof: f64,
    index: usize,
    above: ScaleAbove,
    dof: f64,
}

impl CommonScale {
    /// Log a_ave stands at `state[index]`, the log a_k at `state[members]`; they have
    /// `members_dof` = ν degrees of freedom, the common scale has `dof` = ν_ave.
    ///
    /// # Errors
    /// [`ParameterError`] unless both degrees of freedom and a fixed scale above are positive
    /// and finite.
    pub fn new(
        name: impl Into<String>,
        members: Range<usize>,
        members_dof: f64,
        index: usize,
        above: ScaleAbove,
        dof: f64,
    ) -> Result<Self, ParameterError> {
        above.check(dof)?;
        above.check(members_dof)?;
        Ok(CommonScale { name: name.into(), members, members_dof, index, above, dof })
    }
}

impl Update for CommonScale {
    fn name(&self) -> &str {
        &self.name
    }

    fn update(&mut self, state: &mut [f64], stream: &mut Stream) -> Step {
        let Ok(prior) = self.above.prior(self.dof, state) else {
            return Step::stayed(Infeasible::NotFinite);
        };
        let members = state[self.members.clone()].iter().copied();
        // All of this is prior: the likelihood's power does not reach it.
        match common_log_scale_given_log_scales(members, self.members_dof, &prior, 1.0, stream) {
            Some(log_scale) => {
                state[self.index] = log_scale.clamp(-LOG_SCALE_LIMIT, LOG_SCALE_LIMIT);
                Step::default()
            }
            None => Step::stayed(Infeasible::NotFinite),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::{Purpose, Seed};

    #[test]
    fn a_state_that_is_not_finite_is_left_alone_and_reported() {
        let groups = vec![WeightGroup::contiguous(0, 1), WeightGroup::contiguous(1, 1)];
        let above = ScaleAbove::Sampled { index: 4 };
        let mut scales = GroupScales::new("scales", groups, 2, above, 0.5).unwrap();
        let mut common =
            CommonScale::new("common", 2..4, 0.5, 4, ScaleAbove::Fixed(1.0), 0.5).unwrap();
        let mut stream = Seed(4).stream(Purpose::Data, [0, 0]);
        let mut state = [f64::NAN, 1.0, 0.5, f64::NAN, 0.25];
        let step = common.update(&mut state, &mut stream);
        assert!(!step.accepted && (state[4] - 0.25).abs() < 1e-15);
        let step = scales.update(&mut state, &mut stream);
        assert!(!step.accepted && step.infeasible == Some(Infeasible::NotFinite));
        assert!((state[2] - 0.5).abs() < 1e-15 && state[3].is_finite());
        assert!(common.update(&mut state, &mut stream).accepted);
    }

    #[test]
    fn settings_are_checked() {
        let above = ScaleAbove::Fixed(0.0);
        assert!(GroupScales::new("a", vec![], 0, above, 1.0).is_err());
        let above = ScaleAbove::Sampled { index: 0 };
        assert!(GroupScales::new("a", vec![], 0, above, 0.0).is_err());
        assert!(CommonScale::new("a", 0..1, 0.0, 1, above, 1.0).is_err());
        assert!(CommonScale::new("a", 0..1, 1.0, 1, above, -1.0).is_err());
    }
}
