//! Draw scales and residual parameters from their full conditionals.

use super::hierarchy::Hierarchy;
use super::network::{Network, Rows, Shape};
use crate::model::residual::{Residual, ResidualConditional};
use crate::model::selection::Selection;
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
        let Hierarchy { groups, selection, .. } = &mut self.hierarchy;
        for group in groups {
            fine &= group.gibbs(state, selection.as_ref(), stream);
        }
        if fine { Step::default() } else { Step::stayed(Infeasible::NotFinite) }
    }
}

/// The residual model, given the outputs.
pub(super) struct ResidualUpdate<'p> {
    conditional: ResidualConditional,
    network: Network<'p>,
    selection: Option<&'p Selection>,
    count: usize,
}

impl<'p> ResidualUpdate<'p> {
    pub(super) fn new(
        (shape, rows): (Shape, &'p Rows),
        hierarchy: &'p Hierarchy,
        residual: &Residual,
        inverse_temperature: f64,
    ) -> Self {
        ResidualUpdate {
            conditional: ResidualConditional::new(residual, inverse_temperature),
            network: Network::new(shape, rows),
            selection: hierarchy.selection.as_ref(),
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
        network.include(self.selection, state);
        let write = |state: &[f64], out: &mut [f64]| network.outputs(&state[..count], out);
        let fine = self.conditional.draw(state, write, stream);
        if fine { Step::default() } else { Step::stayed(Infeasible::NotFinite) }
    }
}
