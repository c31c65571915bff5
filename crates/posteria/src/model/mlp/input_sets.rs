//! The density of the targets as a function of the inputs that are in.

use super::collapsed::Collapsed;
use super::hierarchy::Hierarchy;
use super::network::{Network, Rows, Shape};
use super::observed::{Conditioned, Observed};
use super::posterior::MlpPosterior;
use crate::model::selection::{Jump, Masked};
use crate::random::Stream;
use crate::sample::Update;
use crate::target::Infeasible;

/// Jumps between input sets; `None` if no input may leave.
pub(super) fn jumps(posterior: &MlpPosterior, beta: f64) -> Option<Box<dyn Update + '_>> {
    let MlpPosterior { shape, rows, hierarchy, observed, .. } = posterior;
    let selection = hierarchy.selection.as_ref()?;
    Some(match observed {
        Observed::Real(residual) => {
            let collapsed = Collapsed::new((*shape, rows), hierarchy, residual, beta);
            Box::new(Jump::new(selection, CollapsedSet { collapsed, hierarchy }))
        }
        _ => Box::new(Jump::new(
            selection,
            NetworkSet::new((*shape, rows), hierarchy, observed, beta),
        )),
    })
}

/// Real targets given κ and the residual scales, output weights integrated out.
struct CollapsedSet<'p> {
    collapsed: Collapsed<'p>,
    hierarchy: &'p Hierarchy,
}

impl Masked for CollapsedSet<'_> {
    fn begin(&mut self, state: &[f64], _stream: &mut Stream) -> Result<(), Infeasible> {
        self.collapsed.rotate(state)
    }

    fn log_density(&mut self, state: &[f64]) -> Result<f64, Infeasible> {
        self.collapsed.log_likelihood(state)
    }

    fn draw(&mut self, input: usize, state: &mut [f64], stream: &mut Stream) {
        self.hierarchy.draw_input(input, state, stream);
    }

    fn has_own(&self) -> bool {
        true
    }

    fn conclude(&mut self, state: &mut [f64], stream: &mut Stream) {
        if self.collapsed.log_likelihood(state).is_ok() {
            self.collapsed.draw_tail(state, stream);
        }
    }
}

/// Classes given all weights.
struct NetworkSet<'p> {
    hierarchy: &'p Hierarchy,
    observed: &'p Observed,
    inverse_temperature: f64,
    network: Network<'p>,
    conditioned: Conditioned,
    weights: usize,
}

impl<'p> NetworkSet<'p> {
    fn new(
        (shape, rows): (Shape, &'p Rows),
        hierarchy: &'p Hierarchy,
        observed: &'p Observed,
        inverse_temperature: f64,
    ) -> Self {
        NetworkSet {
            hierarchy,
            observed,
            inverse_temperature,
            network: Network::new(shape, rows),
            conditioned: Conditioned::new(observed),
            weights: shape.len(),
        }
    }
}

impl Masked for NetworkSet<'_> {
    fn begin(&mut self, state: &[f64], _stream: &mut Stream) -> Result<(), Infeasible> {
        self.conditioned.condition(self.observed, state);
        Ok(())
    }

    fn log_density(&mut self, state: &[f64]) -> Result<f64, Infeasible> {
        if self.inverse_temperature <= 0.0 {
            return Ok(0.0);
        }
        self.network.include(self.hierarchy.selection.as_ref(), state);
        let likelihood = self.conditioned.likelihood(self.observed);
        let value = self.network.log_likelihood(&state[..self.weights], &likelihood);
        let value = self.inverse_temperature * (value + self.conditioned.log_constant());
        if value.is_finite() { Ok(value) } else { Err(Infeasible::NotFinite) }
    }

    fn draw(&mut self, input: usize, state: &mut [f64], stream: &mut Stream) {
        self.hierarchy.draw_input(input, state, stream);
    }

    fn has_own(&self) -> bool {
        true
    }

    fn conclude(&mut self, _state: &mut [f64], _stream: &mut Stream) {}
}
