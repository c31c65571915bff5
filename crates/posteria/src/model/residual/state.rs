//! Draw a residual model from its prior, know its prior density, and start chains.

use posteria_linalg::{Cholesky, Matrix};

use super::{Noise, Residual};
use crate::random::Stream;

/// Scales start about this standard deviation, of the order of standardised data.
const SCALE: f64 = 0.5;
/// Spread of the logarithms of starting scales between chains.
const SPREAD: f64 = 0.5;

impl Residual {
    /// Log prior density of scales, slopes and degrees of freedom (κ integrated out).
    pub(in crate::model) fn log_prior(&self, state: &[f64]) -> f64 {
        self.slopes.as_ref().map_or(0.0, |slopes| slopes.log_prior(state, |_, _| {}))
            + self.dof.log_prior(state, self.dof_groups())
            + match &self.noise {
                Noise::Scales { .. } if self.known_scales.is_some() => 0.0,
                Noise::Scales { levels, .. } => levels.log_prior(state),
                Noise::Covariance { slots, prior } => {
                    let dim = self.outputs;
                    let matrix = Matrix::from_fn(dim, dim, |r, c| state[slots.start + c * dim + r]);
                    match Cholesky::new(&matrix) {
                        Ok(factor) => prior.log_density(&factor, &mut vec![0.0; dim]),
                        Err(_) => f64::NAN,
                    }
                }
            }
    }

    /// Entries of the state that the log prior is a density of; `None` if degrees of freedom are
    /// sampled, κ is a parameter, or there is a covariance matrix.
    pub(in crate::model) fn density_slots(&self) -> Option<Vec<usize>> {
        match &self.noise {
            Noise::Covariance { .. } => None,
            // κ that are parameters are not on the scale that their density is of.
            _ if self.dof.slot().is_some() || self.samples_cases => None,
            Noise::Scales { .. } => Some(self.movable_slots()),
        }
    }

    /// The same given degrees of freedom and covariance matrix.
    pub(in crate::model) fn movable_slots(&self) -> Vec<usize> {
        let mut slots = match &self.noise {
            Noise::Scales { levels, .. } if self.known_scales.is_none() => levels.movable_slots(),
            _ => Vec::new(),
        };
        slots.extend(self.slopes.iter().flat_map(|slopes| slopes.slots.clone()));
        slots
    }

    /// Draws scales, slopes, degrees of freedom and κ from the prior.
    pub(in crate::model) fn draw_prior(&self, state: &mut [f64], stream: &mut Stream) {
        self.dof.draw_prior(state, self.dof_groups(), stream);
        if let Some(slopes) = &self.slopes {
            slopes.draw_prior(state, stream);
        }
        match &self.noise {
            Noise::Scales { levels, .. } => match &self.known_scales {
                Some(logs) => state[levels.slots.clone()].copy_from_slice(logs),
                None => levels.draw_prior(state, stream),
            },
            Noise::Covariance { slots, prior } => {
                let mut covariance = Matrix::zeros(self.outputs, self.outputs);
                prior.draw(stream, &mut covariance);
                state[slots.clone()].copy_from_slice(covariance.values());
            }
        }
        self.start_cases(state);
    }

    /// Puts scales and degrees of freedom where chains start: of the order of standardised data,
    /// different for every chain.
    pub(in crate::model) fn start(&self, state: &mut [f64], stream: &mut Stream) {
        match &self.noise {
            Noise::Scales { .. } if self.known_scales.is_some() => {}
            Noise::Scales { levels, .. } => levels.start(state, SCALE.ln(), SPREAD, stream),
            Noise::Covariance { slots, .. } => {
                let covariance = &mut state[slots.clone()];
                covariance.fill(0.0);
                for output in 0..self.outputs {
                    covariance[output * (self.outputs + 1)] = SCALE * SCALE;
                }
            }
        }
        if let Some(slopes) = &self.slopes {
            slopes.start(state, stream);
        }
        self.dof.start(state, self.dof_groups());
    }

    /// Puts κ where it starts.
    pub(in crate::model) fn start_cases(&self, state: &mut [f64]) {
        if let Some(cases) = &self.cases {
            state[cases.clone()].fill(1.0);
        }
    }
}
