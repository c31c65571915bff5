//! Keep the scales of all groups of weights in a chain's state.

mod conditionals;

use std::ops::Range;

use super::defaults::GROUPS;
use super::network::Shape;
use super::spec::{GroupScale, Mlp, WeightFamily};
use super::width::{fan_in, width_scaling};
use crate::density::{Categorical, InverseGamma, Laplace, Normal, ParameterError, StudentT};
use crate::model::prior::{
    Above, DofChoice, DofGrid, DofSource, Levels, Spread, SpreadChoice, limited,
};
use crate::model::selection::Selection;
use crate::model::spec::Sharing;
use crate::random::Stream;

/// One group of weights with its prior.
///
/// The standard deviation of weight i is a_k m_i: a_k the scale of the part k of the group it
/// belongs to (one part, or one per input), m_i a multiplier of its own for families other than
/// normal. Given the multipliers every weight is normal, whatever its family: m² is inverse
/// gamma for Student's t and exponential with mean 2 for Laplace [Andrews & Mallows 1974].
#[derive(Clone, Debug)]
pub(super) struct Group {
    pub(super) name: &'static str,
    /// Whether every input has a scale of its own.
    pub(super) per_input: bool,
    /// Number of weights of one input, of groups that belong to inputs.
    pub(super) width: Option<usize>,
    /// Where the weights are in the state.
    pub(super) members: Range<usize>,
    pub(super) scale: Scale,
    pub(super) multipliers: Option<Multipliers>,
}

#[derive(Clone, Debug)]
pub(super) enum Scale {
    Fixed(f64),
    Sampled(Levels),
}

#[derive(Clone, Debug)]
pub(super) struct Multipliers {
    /// Entries of the state with log m_i.
    pub(super) slots: Range<usize>,
    pub(super) family: MultiplierFamily,
}

#[derive(Clone, Debug)]
pub(super) enum MultiplierFamily {
    Laplace,
    StudentT(DofSource),
}

/// The groups of a network and their place in the state: the weights first, then what the
/// groups sample.
#[derive(Clone, Debug)]
pub(super) struct Hierarchy {
    pub(super) groups: Vec<Group>,
    /// Length of weights and hyperparameters together.
    pub(super) len: usize,
    /// Which inputs may leave.
    pub(super) selection: Option<Selection>,
}

impl Hierarchy {
    pub(super) fn new(model: &Mlp, shape: &Shape) -> Result<Self, ParameterError> {
        let ranges = [
            shape.input_weights(),
            shape.hidden_bias(),
            shape.output_weights(),
            shape.output_bias(),
            shape.direct_weights(),
        ];
        let mut next = shape.len();
        let mut take = |count: usize| {
            next += count;
            next - count..next
        };
        let mut groups = Vec::new();
        for (index, members) in ranges.into_iter().enumerate() {
            if members.is_empty() {
                continue;
            }
            let prior = &model.groups[index];
            let parts = match prior.sharing {
                Sharing::PerInput => shape.inputs,
                Sharing::Common => 1,
            };
            let fan_in = fan_in(index, shape.inputs, shape.hidden);
            let scale = match &prior.scale {
                GroupScale::Fixed(scale) => Scale::Fixed(*scale),
                GroupScale::Sampled { scale, spread, top, width } => {
                    let divisor =
                        width_scaling(prior, *width, fan_in).map_or(1.0, |by| by.divisor());
                    let scale = scale / divisor;
                    let slots = take(parts);
                    let above = match top {
                        None => Above::Fixed(scale),
                        Some(top) => {
                            Above::Sampled { slot: take(1).start, prior: top.about(scale)? }
                        }
                    };
                    let spread = match spread {
                        SpreadChoice::Dof(dof) => Spread::InverseGamma(dof_source(dof, &mut take)?),
                        SpreadChoice::LogSd(log_sd) => Spread::LogNormal { log_sd: *log_sd },
                    };
                    Scale::Sampled(Levels { slots, spread, above })
                }
            };
            let multipliers = match &prior.family {
                WeightFamily::Normal => None,
                WeightFamily::Laplace => Some(MultiplierFamily::Laplace),
                WeightFamily::StudentT(dof) => {
                    Some(MultiplierFamily::StudentT(dof_source(dof, &mut take)?))
                }
            };
            let multipliers =
                multipliers.map(|family| Multipliers { slots: take(members.len()), family });
            let per_input = prior.sharing == Sharing::PerInput;
            let name = GROUPS[index];
            let width = match name {
                "input_weights" => Some(shape.hidden),
                "direct_weights" => Some(shape.outputs),
                _ => None,
            };
            groups.push(Group { name, per_input, width, members, scale, multipliers });
        }
        Ok(Hierarchy { groups, len: next, selection: None })
    }

    /// The prior standard deviation of every weight.
    pub(super) fn scales(&self, state: &[f64], scales: &mut [f64]) {
        for group in &self.groups {
            group.scales(state, scales);
        }
    }

    /// Log prior density of weights, scales and degrees of freedom, multipliers integrated out, of
    /// those inputs that are in, and of their set.
    pub(super) fn log_prior(&self, state: &[f64]) -> f64 {
        let selection = self.selection.as_ref();
        let of_set = selection.map_or(0.0, |selection| selection.log_prior(state));
        self.groups.iter().map(|group| group.log_prior(selection, state)).sum::<f64>() + of_set
    }

    /// Draws what belongs to one input from its prior given the rest: scales of its own,
    /// multipliers, weights.
    pub(super) fn draw_input(&self, input: usize, state: &mut [f64], stream: &mut Stream) {
        self.groups.iter().for_each(|group| group.draw_input(input, state, stream));
    }

    /// Draws everything from the prior.
    pub(super) fn draw_prior(&self, state: &mut [f64], stream: &mut Stream) {
        for group in &self.groups {
            group.draw_prior(state, stream);
        }
    }
}

impl Group {
    /// Number of parts with a scale each.
    pub(super) fn parts(&self) -> usize {
        match &self.scale {
            Scale::Fixed(_) => 1,
            Scale::Sampled(levels) => levels.slots.len().max(1),
        }
    }

    /// Number of weights of one part.
    fn part(&self) -> usize {
        self.members.len() / self.parts()
    }

    /// Entry of the state with sampled degrees of freedom of the scales.
    pub(super) fn dof_slot(&self) -> Option<usize> {
        match &self.scale {
            Scale::Sampled(levels) => levels.spread.sampled_dof(),
            Scale::Fixed(_) => None,
        }
    }

    /// Entry of the state with sampled degrees of freedom of the weights.
    pub(super) fn weight_dof_slot(&self) -> Option<usize> {
        match &self.multipliers.as_ref()?.family {
            MultiplierFamily::StudentT(DofSource::Sampled { slot, .. }) => Some(*slot),
            _ => None,
        }
    }

    /// The part that the weight at `member` of the group belongs to.
    pub(super) fn part_of(&self, member: usize) -> usize {
        member / self.part().max(1)
    }

    /// Where the weights of one part are in the state.
    pub(super) fn part_range(&self, part: usize) -> Range<usize> {
        let count = self.part();
        let first = self.members.start + part * count;
        first..first + count
    }

    fn log_scale(&self, state: &[f64], part: usize) -> f64 {
        match &self.scale {
            Scale::Fixed(scale) => scale.ln(),
            Scale::Sampled(levels) => state[levels.slots.start + part],
        }
    }

    fn multiplier(&self, state: &[f64], member: usize) -> f64 {
        self.multipliers.as_ref().map_or(1.0, |m| state[m.slots.start + member].exp())
    }

    /// The standard deviations of the members, at their places in `scales`.
    pub(super) fn scales(&self, state: &[f64], scales: &mut [f64]) {
        let part = self.part().max(1);
        for (k, chunk) in scales[self.members.clone()].chunks_mut(part).enumerate() {
            chunk.fill(self.log_scale(state, k).exp());
        }
        if let Some(multipliers) = &self.multipliers {
            let logs = &state[multipliers.slots.clone()];
            for (scale, log) in scales[self.members.clone()].iter_mut().zip(logs) {
                *scale *= log.exp();
            }
        }
    }

    fn log_prior(&self, selection: Option<&Selection>, state: &[f64]) -> f64 {
        let mut value = match &self.scale {
            Scale::Fixed(_) => 0.0,
            Scale::Sampled(levels) => {
                levels.log_prior_of(state, |part| !self.excludes_part(selection, state, part))
            }
        };
        let dof = match &self.multipliers {
            Some(Multipliers { family: MultiplierFamily::StudentT(dof), .. }) => {
                value += dof.log_prior(state);
                Some(dof.value(state))
            }
            _ => None,
        };
        let chunk = self.chunk(selection);
        for (k, weights) in state[self.members.clone()].chunks(chunk).enumerate() {
            if self.excludes(selection, state, k * chunk) {
                continue;
            }
            let scale = self.log_scale(state, self.part_of(k * chunk)).exp();
            let sum: Result<f64, ParameterError> = match (&self.multipliers, dof) {
                (None, _) => Normal::new(0.0, scale)
                    .map(|normal| weights.iter().map(|w| normal.log_density(*w)).sum()),
                (Some(_), None) => Laplace::new(0.0, scale)
                    .map(|laplace| weights.iter().map(|w| laplace.log_density(*w)).sum()),
                (Some(_), Some(dof)) => StudentT::new(0.0, scale, dof)
                    .map(|t| weights.iter().map(|w| t.log_density(*w)).sum()),
            };
            value += sum.unwrap_or(f64::NAN);
        }
        value
    }

    /// Weights that are in or out together, and have one scale.
    fn chunk(&self, selection: Option<&Selection>) -> usize {
        match (selection, self.width) {
            (Some(_), Some(width)) => width,
            _ => self.part(),
        }
        .max(1)
    }

    /// Whether the input of a member is out.
    fn excludes(&self, selection: Option<&Selection>, state: &[f64], member: usize) -> bool {
        match (selection, self.width) {
            (Some(selection), Some(width)) => !selection.has(state, member / width.max(1)),
            _ => false,
        }
    }

    /// Whether a scale belongs to an input that is out.
    pub(super) fn excludes_part(
        &self,
        selection: Option<&Selection>,
        state: &[f64],
        part: usize,
    ) -> bool {
        match (selection, self.width) {
            (Some(selection), Some(_)) if self.per_input => !selection.has(state, part),
            _ => false,
        }
    }

    fn draw_prior(&self, state: &mut [f64], stream: &mut Stream) {
        if let Scale::Sampled(levels) = &self.scale {
            levels.draw_prior(state, stream);
        }
        if let Some(Multipliers { family: MultiplierFamily::StudentT(dof), .. }) = &self.multipliers
        {
            dof.draw_prior(state, stream);
        }
        self.draw_members(0..self.members.len(), state, stream);
    }

    /// Draws multipliers and weights of some members from their prior given everything above.
    fn draw_members(&self, members: Range<usize>, state: &mut [f64], stream: &mut Stream) {
        if let Some(multipliers) = &self.multipliers {
            let slots =
                multipliers.slots.start + members.start..multipliers.slots.start + members.end;
            match &multipliers.family {
                MultiplierFamily::Laplace => {
                    for slot in slots {
                        state[slot] = limited(0.5 * (2.0 * stream.exponential()).ln());
                    }
                }
                MultiplierFamily::StudentT(dof) => {
                    if let Ok(prior) = InverseGamma::new(1.0, dof.value(state)) {
                        for slot in slots {
                            state[slot] = limited(prior.draw_log_scale(stream));
                        }
                    }
                }
            }
        }
        for member in members {
            let scale = self.log_scale(state, self.part_of(member)).exp();
            state[self.members.start + member] =
                scale * self.multiplier(state, member) * stream.normal();
        }
    }

    /// Draws what belongs to one input from its prior given the rest.
    fn draw_input(&self, input: usize, state: &mut [f64], stream: &mut Stream) {
        let Some(width) = self.width else { return };
        if let (Scale::Sampled(levels), true) = (&self.scale, self.per_input) {
            levels.draw_scale(input, state, stream);
        }
        self.draw_members(input * width..(input + 1) * width, state, stream);
    }

    /// Draws what belongs to inputs that are out from its prior given the scales.
    fn refresh(&self, selection: Option<&Selection>, state: &mut [f64], stream: &mut Stream) {
        let (Some(_), Some(width)) = (selection, self.width) else { return };
        for first in (0..self.members.len()).step_by(width.max(1)) {
            if self.excludes(selection, state, first) {
                self.draw_members(first..first + width, state, stream);
            }
        }
    }
}

/// Reserves the entry of the state that sampled degrees of freedom need.
pub(super) fn dof_source(
    choice: &DofChoice,
    take: &mut impl FnMut(usize) -> Range<usize>,
) -> Result<DofSource, ParameterError> {
    match choice {
        DofChoice::Known(dof) => Ok(DofSource::Fixed(*dof)),
        DofChoice::Grid(values) => {
            let prior = Categorical::new(&vec![1.0; values.len()])?;
            Ok(DofSource::Sampled { slot: take(1).start, grid: DofGrid::new(values, &prior)? })
        }
        // Only residuals have these; a specification that asks for them here was refused.
        DofChoice::Continuous(_) => unreachable!("checked with the specification"),
    }
}
