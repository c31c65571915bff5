//! What is beside f, in a state and in a draw: its prior, where chains start, its name.

use std::ops::Range;

use super::Outcomes;
use super::response::Response;
use crate::draws::{Dimension, Layout, Role};
use crate::model::prior::LOG_SCALE_LIMIT;
use crate::random::Stream;

impl Outcomes {
    /// The log prior density of log σ, or of cut points.
    pub(in crate::model) fn log_prior(&self, state: &[f64]) -> f64 {
        if let Response::Ordered(it) = &self.response {
            return it.log_prior(state);
        }
        self.sampled.map_or(0.0, |(slot, prior)| prior.log_density_of_log_scale(state[slot]))
    }

    /// Entries of the state that any map may move.
    pub(in crate::model) fn slots(&self) -> Range<usize> {
        match (&self.response, self.sampled) {
            (Response::Ordered(it), _) => it.slots.clone(),
            (_, Some((slot, _))) => slot..slot + 1,
            _ => self.end..self.end,
        }
    }

    /// Draws σ or cut points from their prior.
    pub(in crate::model) fn draw_prior(&self, state: &mut [f64], stream: &mut Stream) {
        if let Response::Ordered(it) = &self.response {
            it.draw_prior(state, stream);
        }
        if let Some((slot, prior)) = self.sampled {
            state[slot] = prior.draw_log_scale(stream).clamp(-LOG_SCALE_LIMIT, LOG_SCALE_LIMIT);
        }
    }

    /// Puts σ where chains start, about the middle of its prior; cut points about where they give the
    /// shares of the classes.
    pub(in crate::model) fn start(&self, state: &mut [f64], stream: &mut Stream) {
        if let Response::Ordered(it) = &self.response {
            it.start(state, stream);
        }
        if let Some((slot, prior)) = self.sampled {
            state[slot] = prior.conjugate().scale().ln() + 0.5 * stream.normal();
        }
    }

    /// Names what a draw holds of them.
    pub(in crate::model) fn push_layout(&self, layout: &mut Layout) {
        if let Response::Ordered(it) = &self.response {
            it.push_layout(layout);
        } else if self.sampled.is_some() {
            layout.push_role(self.role(), Vec::new());
        }
    }

    /// What [`Outcomes::expected`] has several numbers of; `None` where it is one.
    pub(in crate::model) fn expected_dimension(&self) -> Option<Dimension> {
        match &self.response {
            Response::Ordered(it) => Some(it.dimension()),
            _ => None,
        }
    }

    /// What σ is to those who read draws.
    pub(super) fn role(&self) -> Role {
        match &self.response {
            Response::Counts { .. } => Role::Overdispersion,
            Response::Durations(_) => Role::ResidualScale,
            Response::Ordered(_) | Response::TwoClasses { .. } => Role::Parameter,
        }
    }

    /// The unit of σ.
    fn unit(&self) -> f64 {
        match &self.response {
            Response::Durations(_) => self.scaling.scale,
            _ => 1.0,
        }
    }

    /// Writes it; cut points where f of a draw is higher by so much than f of a state.
    pub(in crate::model) fn write(&self, state: &[f64], height: f64, mut push: impl FnMut(f64)) {
        if let Response::Ordered(_) = &self.response {
            self.given(state).into_iter().for_each(|cut| push(cut + height));
        }
        if let Some((slot, _)) = self.sampled {
            push(state[slot].exp() * self.unit());
        }
    }

    /// Reads what [`Outcomes::write`] wrote.
    pub(in crate::model) fn restore(
        &self,
        mut take: impl FnMut() -> f64,
        height: f64,
        state: &mut [f64],
    ) {
        if let Response::Ordered(it) = &self.response {
            let cuts: Vec<f64> = it.slots.clone().map(|_| take() - height).collect();
            it.set(cuts, state);
        }
        if let Some((slot, _)) = self.sampled {
            state[slot] = (take() / self.unit()).ln();
        }
    }
}
