//! Keep the degrees of freedom of residuals in a chain's state.

use crate::model::prior::{DofDensity, DofGrid, DofSource};
use crate::random::Stream;

/// Degrees of freedom start at the value of the grid next to this one.
const STARTING_DOF: f64 = 4.0;

/// Degrees of freedom of residuals: known, one of a grid, or with a density.
#[derive(Clone, Debug)]
pub(in crate::model) enum ResidualDof {
    Fixed(f64),
    Grid { slot: usize, grid: DofGrid },
    Continuous { slot: usize, prior: DofDensity },
}

impl ResidualDof {
    pub(in crate::model) fn value(&self, state: &[f64]) -> f64 {
        match self {
            ResidualDof::Fixed(dof) => *dof,
            ResidualDof::Grid { slot, .. } | ResidualDof::Continuous { slot, .. } => state[*slot],
        }
    }

    pub(in crate::model) fn slot(&self) -> Option<usize> {
        match self {
            ResidualDof::Fixed(_) => None,
            ResidualDof::Grid { slot, .. } | ResidualDof::Continuous { slot, .. } => Some(*slot),
        }
    }

    pub(super) fn log_prior(&self, state: &[f64]) -> f64 {
        match self {
            ResidualDof::Fixed(_) => 0.0,
            ResidualDof::Grid { slot, grid } => grid.log_prior_of(state[*slot]),
            ResidualDof::Continuous { slot, prior } => prior.log_density(state[*slot]),
        }
    }

    pub(super) fn draw_prior(&self, state: &mut [f64], stream: &mut Stream) {
        match self {
            ResidualDof::Fixed(_) => {}
            ResidualDof::Grid { slot, grid } => {
                DofSource::Sampled { slot: *slot, grid: grid.clone() }.draw_prior(state, stream);
            }
            ResidualDof::Continuous { slot, prior } => state[*slot] = prior.draw(stream),
        }
    }

    /// Puts the degrees of freedom where chains start.
    pub(super) fn start(&self, state: &mut [f64]) {
        match self {
            ResidualDof::Fixed(_) => {}
            ResidualDof::Grid { slot, grid } => {
                let distance = |dof: &&f64| (**dof - STARTING_DOF).abs();
                let nearest = grid.dofs().iter().min_by(|a, b| distance(a).total_cmp(&distance(b)));
                state[*slot] = nearest.copied().unwrap_or(STARTING_DOF);
            }
            ResidualDof::Continuous { slot, prior } => {
                state[*slot] = STARTING_DOF.max(2.0 * prior.limit());
            }
        }
    }
}
