//! See prior times likelihood as a density of the entries of a state that are uncertain.

use super::replica::Energy;
use crate::model::Posterior;
use crate::target::{Infeasible, LogDensity};

/// Step of the differences that gradients are made of, against 1 + |x|: their error is of the
/// order of its square, and rounding costs five digits.
const STEP: f64 = 1e-5;

/// log prior + log likelihood over the entries that [`density_slots`](crate::model::StateDensity::density_slots) names; its
/// gradient is made of central differences.
pub struct Joint<'p> {
    energy: Energy<'p>,
    slots: Vec<usize>,
    state: Vec<f64>,
}

impl<'p> Joint<'p> {
    /// The density about `state`, whose other entries stay as they are. `None` where there is no
    /// density on ℝⁿ, or nothing is uncertain.
    pub fn new(posterior: &'p dyn Posterior, state: Vec<f64>) -> Option<Self> {
        let slots = posterior.uncertain_slots()?;
        Some(Joint { energy: Energy::new(posterior), slots, state })
    }

    /// The uncertain entries of a state.
    pub fn position(&self, state: &[f64]) -> Vec<f64> {
        self.slots.iter().map(|slot| state[*slot]).collect()
    }

    /// Where they are.
    pub fn slots(&self) -> &[usize] {
        &self.slots
    }
}

impl LogDensity for Joint<'_> {
    fn dim(&self) -> usize {
        self.slots.len()
    }

    fn log_density(&mut self, position: &[f64]) -> Result<f64, Infeasible> {
        for (slot, value) in self.slots.iter().zip(position) {
            self.state[*slot] = *value;
        }
        let value = self.energy.log_joint(&self.state);
        if value.is_finite() { Ok(value) } else { Err(Infeasible::NotFinite) }
    }

    fn log_density_gradient(
        &mut self,
        position: &[f64],
        gradient: &mut [f64],
    ) -> Result<f64, Infeasible> {
        let mut moved = position.to_vec();
        for (index, slope) in gradient.iter_mut().enumerate() {
            let step = STEP * (1.0 + position[index].abs());
            moved[index] = position[index] + step;
            let above = self.log_density(&moved)?;
            moved[index] = position[index] - step;
            let below = self.log_density(&moved)?;
            moved[index] = position[index];
            *slope = (above - below) / (2.0 * step);
        }
        self.log_density(position)
    }
}
