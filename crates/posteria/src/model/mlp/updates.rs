//! Draw scales and residual parameters from their full conditionals.

use super::hierarchy::Hierarchy;
use super::network::{Network, Rows, Shape};
use crate::model::residual::{Residual, ResidualConditional};
use crate::random::Stream;
use crate::sample::{Step, Update};
use crate::target::Infeasible;

/// Scales, degrees of freedom and multipliers of all groups of weights, given the weights.
pub(super) struct ScalesUpdate {
    pub(super) hierarchy: Hierarchy,
}

impl Update for ScalesUpdate {
    fn name(&self) -> &str {
        "scales"
    }

    fn update(&mut self, state: &mut [f64], stream: &mut Stream) -> Step {
        let mut fine = true;
        for group in &mut self.hierarchy.groups {
            fine &= group.gibbs(state, stream);
        }
        if fine { Step::default() } else { Step::stayed(Infeasible::NotFinite) }
    }
}

/// The residual model, given the outputs.
pub(super) struct ResidualUpdate<'p> {
    conditional: ResidualConditional,
    network: Network<'p>,
    count: usize,
}

impl<'p> ResidualUpdate<'p> {
    pub(super) fn new(
        (shape, rows): (Shape, &'p Rows),
        residual: &Residual,
        inverse_temperature: f64,
    ) -> Self {
        ResidualUpdate {
            conditional: ResidualConditional::new(residual, inverse_temperature),
            network: Network::new(shape, rows),
            count: shape.len(),
        }
    }
}

impl Update for ResidualUpdate<'_> {
    fn name(&self) -> &str {
        "residual"
    }

    fn update(&mut self, state: &mut [f64], stream: &mut Stream) -> Step {
        let (network, count) = (&mut self.network, self.count);
        let write = |state: &[f64], out: &mut [f64]| network.outputs(&state[..count], out);
        let fine = self.conditional.draw(state, write, stream);
        if fine { Step::default() } else { Step::stayed(Infeasible::NotFinite) }
    }
}
