//! Keep the degrees of freedom of residuals in a chain's state.

use crate::model::prior::{DofDensity, DofGrid, DofSource};
use crate::random::Stream;

/// Degrees of freedom start at the value of the grid next to this one.
const STARTING_DOF: f64 = 4.0;

/// Degrees of freedom of residuals: known, one of a grid, or with a density. Those of groups of
/// rows, which have the same prior, are next to each other in the state.
#[derive(Clone, Debug)]
pub(in crate::model) enum ResidualDof {
    Fixed(f64),
    Grid { slot: usize, grid: DofGrid },
    Continuous { slot: usize, prior: DofDensity },
}

impl ResidualDof {
    /// Those of all rows, or of the first group.
    pub(in crate::model) fn value(&self, state: &[f64]) -> f64 {
        self.of_group(state, 0)
    }

    /// Those of a group of rows.
    pub(super) fn of_group(&self, state: &[f64], group: usize) -> f64 {
        match (self, self.slot()) {
            (_, Some(slot)) => state[slot + group],
            (ResidualDof::Fixed(dof), None) => *dof,
            (_, None) => f64::NAN,
        }
    }

    pub(in crate::model) fn slot(&self) -> Option<usize> {
        match self {
            ResidualDof::Fixed(_) => None,
            ResidualDof::Grid { slot, .. } | ResidualDof::Continuous { slot, .. } => Some(*slot),
        }
    }

    pub(super) fn log_prior(&self, state: &[f64], groups: usize) -> f64 {
        let of_group = |group: usize| match self {
            ResidualDof::Fixed(_) => 0.0,
            ResidualDof::Grid { slot, grid } => grid.log_prior_of(state[slot + group]),
            ResidualDof::Continuous { slot, prior } => prior.log_density(state[slot + group]),
        };
        (0..groups).map(of_group).sum()
    }

    pub(super) fn draw_prior(&self, state: &mut [f64], groups: usize, stream: &mut Stream) {
        for group in 0..groups {
            match self {
                ResidualDof::Fixed(_) => {}
                ResidualDof::Grid { slot, grid } => {
                    let (slot, grid) = (slot + group, grid.clone());
                    DofSource::Sampled { slot, grid }.draw_prior(state, stream);
                }
                ResidualDof::Continuous { slot, prior } => {
                    state[slot + group] = prior.draw(stream);
                }
            }
        }
    }

    /// Puts the degrees of freedom where chains start.
    pub(super) fn start(&self, state: &mut [f64], groups: usize) {
        let first = match self {
            ResidualDof::Fixed(_) => return,
            ResidualDof::Grid { grid, .. } => {
                let distance = |dof: &&f64| (**dof - STARTING_DOF).abs();
                let nearest = grid.dofs().iter().min_by(|a, b| distance(a).total_cmp(&distance(b)));
                nearest.copied().unwrap_or(STARTING_DOF)
            }
            ResidualDof::Continuous { prior, .. } => STARTING_DOF.max(2.0 * prior.limit()),
        };
        if let Some(slot) = self.slot() {
            state[slot..slot + groups].fill(first);
        }
    }
}
