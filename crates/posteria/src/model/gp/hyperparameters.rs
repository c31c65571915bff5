//! Keep the hyperparameters of one covariance function, with their priors, in a state.

mod of_inputs;

use std::ops::Range;

use self::of_inputs::{ABSENT, ABSENT_MEAN, ABSENT_SD, OfInput};
use super::covariance::{Covariance, Parameter};
use super::scale_prior::ScalePrior;
use super::spec::{GroupPrior, GroupPriors, Known};
use crate::density::{Categorical, ParameterError};
use crate::model::prior::{
    Above, DofChoice, DofGrid, DofSource, LOG_SCALE_LIMIT, Levels, Spread, SpreadChoice, limited,
};
use crate::random::Stream;

/// What a group of hyperparameters is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Magnitude,
    Relevance,
    Shape,
    Period,
    Bias,
}

impl Kind {
    pub(super) const ALL: [Kind; 5] =
        [Kind::Magnitude, Kind::Relevance, Kind::Shape, Kind::Period, Kind::Bias];

    pub(super) fn name(self) -> &'static str {
        match self {
            Kind::Magnitude => "magnitude",
            Kind::Relevance => "relevance",
            Kind::Shape => "shape",
            Kind::Period => "period",
            Kind::Bias => "bias",
        }
    }

    pub(super) fn of(parameter: &Parameter) -> Self {
        match parameter {
            Parameter::Magnitude { .. } => Kind::Magnitude,
            Parameter::Relevance { .. } => Kind::Relevance,
            Parameter::Shape { .. } => Kind::Shape,
            Parameter::Period { .. } => Kind::Period,
            Parameter::Bias { .. } => Kind::Bias,
        }
    }
}

/// The hyperparameters of one covariance function.
///
/// Of the state they take first the sampled degrees of freedom, then `slots`: logarithms of
/// the sampled hyperparameters and of the levels above them. Trajectories move `slots`, which
/// are one block; every relevance is its own coordinate whatever the level above (centred).
#[derive(Clone, Debug)]
pub(super) struct Hyperparameters {
    /// Logarithms of those that are known.
    known: Vec<Option<f64>>,
    pub(super) groups: Vec<Group>,
    /// Entries of the state that trajectories move.
    pub(super) slots: Range<usize>,
    /// Where these hyperparameters end in the state.
    pub(super) end: usize,
    /// Parameters of the covariance that belong to one input, and where the state says whether it
    /// is in; empty if no input may leave.
    of_inputs: Vec<OfInput>,
}

/// Hyperparameters with the same prior.
#[derive(Clone, Debug)]
pub(super) struct Group {
    pub(super) kind: Kind,
    /// Term and factor of the covariance; the factor is 0 for magnitudes.
    pub(super) place: (usize, usize),
    /// Which parameters of the covariance they are.
    pub(super) parameters: Range<usize>,
    pub(super) prior: GroupDensity,
    /// Entries of the state with their logarithms: one each, or one for all of them.
    pub(super) slots: Range<usize>,
}

#[derive(Clone, Debug)]
pub(super) enum GroupDensity {
    /// Independent.
    Each(ScalePrior),
    /// Inverse gamma about a common scale, or with degrees of freedom to be sampled.
    Levels(Levels),
}

impl Hyperparameters {
    /// Those of `covariance`, in the state from entry `first` on. With `tied` relevances all
    /// inputs of a factor have the same one, although the covariance has one for each.
    pub(super) fn new(
        covariance: &Covariance,
        priors: &GroupPriors,
        (known, tied): (&Known<'_>, bool),
        first: usize,
    ) -> Result<Self, ParameterError> {
        let parameters = covariance.parameters();
        let known = known.logs(parameters);
        // Runs of sampled parameters of one kind, term and factor.
        let mut runs: Vec<(Kind, (usize, usize), Range<usize>)> = Vec::new();
        for (index, parameter) in parameters.iter().enumerate() {
            if known[index].is_some() {
                continue;
            }
            let (kind, place) = (Kind::of(parameter), place(parameter));
            match runs.last_mut() {
                Some((k, p, range)) if (*k, *p) == (kind, place) && range.end == index => {
                    range.end += 1;
                }
                _ => runs.push((kind, place, index..index + 1)),
            }
        }
        let dofs = runs.iter().filter(|(kind, ..)| priors.of(*kind).has_sampled_dof()).count();
        let (mut next_dof, start) = (first, first + dofs);
        let mut next = start;
        let mut groups = Vec::new();
        for (kind, place, parameters) in runs {
            let own = if tied && kind == Kind::Relevance { 1 } else { parameters.len() };
            let slots = next..next + own;
            next = slots.end;
            let prior = match priors.of(kind) {
                GroupPrior::Each(prior) => GroupDensity::Each(*prior),
                GroupPrior::Levels { scale, spread, top, by_root } => {
                    let scale = match by_root {
                        true => scale / (covariance.inputs_of(place) as f64).sqrt(),
                        false => *scale,
                    };
                    let spread = match spread {
                        SpreadChoice::LogSd(log_sd) => Spread::LogNormal { log_sd: *log_sd },
                        SpreadChoice::Dof(DofChoice::Grid(values)) => {
                            let uniform = Categorical::new(&vec![1.0; values.len()])?;
                            let grid = DofGrid::new(values, &uniform)?;
                            next_dof += 1;
                            let slot = next_dof - 1;
                            Spread::InverseGamma(DofSource::Sampled { slot, grid })
                        }
                        SpreadChoice::Dof(DofChoice::Known(dof)) => {
                            Spread::InverseGamma(DofSource::Fixed(*dof))
                        }
                        SpreadChoice::Dof(DofChoice::Continuous(_)) => {
                            unreachable!("checked with the specification")
                        }
                    };
                    let above = match top {
                        None => Above::Fixed(scale),
                        Some(top) => {
                            let slot = next;
                            next += 1;
                            Above::Sampled { slot, prior: top.about(scale)? }
                        }
                    };
                    GroupDensity::Levels(Levels { slots: slots.clone(), spread, above })
                }
            };
            groups.push(Group { kind, place, parameters, prior, slots });
        }
        let of_inputs = Vec::new();
        Ok(Hyperparameters { known, groups, slots: start..next, end: next, of_inputs })
    }

    /// Number of parameters of the covariance function.
    pub(super) fn parameters(&self) -> usize {
        self.known.len()
    }

    /// Writes the logarithms of all parameters of the covariance function.
    pub(super) fn write_parameters(&self, state: &[f64], log_parameters: &mut [f64]) {
        for (slot, known) in log_parameters.iter_mut().zip(&self.known) {
            if let Some(known) = known {
                *slot = *known;
            }
        }
        for group in &self.groups {
            let parameters = &mut log_parameters[group.parameters.clone()];
            match group.is_tied() {
                true => parameters.fill(state[group.slots.start]),
                false => parameters.copy_from_slice(&state[group.slots.clone()]),
            }
        }
        for of in self.of_inputs.iter().filter(|of| of.is_relevance && state[of.slot] < 0.5) {
            log_parameters[of.parameter] = ABSENT;
        }
    }

    /// Hands the derivatives with respect to the log parameters of the covariance function to
    /// the entries of the state that hold them.
    pub(super) fn add_gradient(&self, of_parameters: &[f64], mut add: impl FnMut(usize, f64)) {
        for group in &self.groups {
            let derivatives = &of_parameters[group.parameters.clone()];
            if group.is_tied() {
                // Inputs that are out add nothing.
                add(group.slots.start, derivatives.iter().sum());
                continue;
            }
            for (slot, derivative) in group.slots.clone().zip(derivatives) {
                add(slot, *derivative);
            }
        }
    }

    /// Log prior density of the entries `slots`, given the degrees of freedom (of those that belong
    /// to inputs that are out, the density that they have instead); `add` receives
    /// the derivative with respect to every entry.
    ///
    /// `None` outside the support, and where a square is not a number.
    pub(super) fn log_prior(&self, state: &[f64], mut add: impl FnMut(usize, f64)) -> Option<f64> {
        let mut value = self.log_density_of_absent(state);
        for entry in self.absent(state) {
            add(entry, (ABSENT_MEAN - state[entry]) / (ABSENT_SD * ABSENT_SD));
        }
        for group in &self.groups {
            let first = group.parameters.start;
            let is_in = |k: usize| !self.excludes(state, first + k);
            match &group.prior {
                GroupDensity::Levels(levels) => {
                    value += levels.centred_log_density_of(state, is_in, &mut add)?;
                }
                GroupDensity::Each(prior) => {
                    for slot in group.slots.clone().filter(|slot| is_in(slot - group.slots.start)) {
                        let log_value = state[slot];
                        if log_value.abs() > LOG_SCALE_LIMIT {
                            return None;
                        }
                        let (log_density, derivative) = prior.log_density(log_value)?;
                        value += log_density;
                        add(slot, derivative);
                    }
                }
            }
        }
        Some(value)
    }

    /// Log prior probability of the sampled degrees of freedom.
    pub(super) fn log_prior_of_dofs(&self, state: &[f64]) -> f64 {
        let levels = self.groups.iter().filter_map(Group::levels);
        levels.map(|levels| levels.spread.log_prior(state)).sum()
    }

    /// Draws everything that is not known from the prior.
    pub(super) fn draw_prior(&self, state: &mut [f64], stream: &mut Stream) {
        for group in &self.groups {
            match &group.prior {
                GroupDensity::Levels(levels) => levels.draw_prior(state, stream),
                GroupDensity::Each(prior) => {
                    for slot in &mut state[group.slots.clone()] {
                        *slot = limited(prior.draw_log(stream));
                    }
                }
            }
        }
    }

    /// Moderate hyperparameters, different for every chain: functions of the size of the
    /// targets that change over about the spread of the inputs.
    pub(super) fn start(&self, state: &mut [f64], stream: &mut Stream) {
        self.draw_prior(state, stream);
        for group in &self.groups {
            let middle = match group.kind {
                Kind::Magnitude | Kind::Bias | Kind::Shape | Kind::Period => 0.0,
                Kind::Relevance => 0.5_f64.ln(),
            };
            for slot in &mut state[group.slots.clone()] {
                *slot = middle + 0.5 * stream.normal();
                if let GroupDensity::Each(prior) = &group.prior {
                    *slot = prior.nearest(*slot);
                }
            }
            if let Some(Levels { above: Above::Sampled { slot, .. }, .. }) = group.levels() {
                state[*slot] = middle + 0.5 * stream.normal();
            }
        }
    }

    /// Draws the sampled degrees of freedom of all levels.
    pub(super) fn gibbs_dofs(&mut self, state: &mut [f64], stream: &mut Stream) -> bool {
        let mut fine = true;
        let of_inputs = &self.of_inputs;
        for group in &mut self.groups {
            let first = group.parameters.start;
            let out: Vec<usize> = of_inputs
                .iter()
                .filter(|of| of.is_own && state[of.slot] < 0.5)
                .filter(|of| group.parameters.contains(&of.parameter))
                .map(|of| of.parameter - first)
                .collect();
            if let GroupDensity::Levels(levels) = &mut group.prior
                && levels.spread.sampled_dof().is_some()
            {
                fine &= levels.gibbs_above_of(state, |k| !out.contains(&k), stream);
            }
        }
        fine
    }

    /// Whether degrees of freedom are sampled.
    pub(super) fn has_sampled_dof(&self) -> bool {
        let mut levels = self.groups.iter().filter_map(Group::levels);
        levels.any(|levels| levels.spread.sampled_dof().is_some())
    }
}

impl Group {
    /// Whether one entry of the state stands for several parameters.
    pub(super) fn is_tied(&self) -> bool {
        self.slots.len() < self.parameters.len()
    }

    pub(super) fn levels(&self) -> Option<&Levels> {
        match &self.prior {
            GroupDensity::Levels(levels) => Some(levels),
            GroupDensity::Each(_) => None,
        }
    }
}

/// Term of a parameter.
pub(super) fn term(parameter: &Parameter) -> usize {
    place(parameter).0
}

/// Term and factor; the factor of a magnitude is 0.
fn place(parameter: &Parameter) -> (usize, usize) {
    match parameter {
        Parameter::Magnitude { term } => (*term, 0),
        Parameter::Relevance { term, factor, .. }
        | Parameter::Shape { term, factor }
        | Parameter::Period { term, factor, .. }
        | Parameter::Bias { term, factor } => (*term, *factor),
    }
}
