//! What chains, their store and predictions ask of every posterior, and what only some can do.

use std::ops::Range;

use super::evaluator::MlpEvaluator;
use super::hierarchy::Scale;
use super::observed::Observed;
use super::posterior::MlpPosterior;
use super::predictor::MlpPredictor;
use super::{start, sweep};
use crate::draws::Layout;
use crate::model::accelerator::AcceleratorError;
use crate::model::prior::Above;
use crate::model::{Evaluator, Posterior, StateDensity, Tempering};
use crate::predict::Predictor;
use crate::random::Stream;
use crate::sample::Sweep;

impl Posterior for MlpPosterior {
    fn layout(&self) -> &Layout {
        &self.layout
    }

    fn rows(&self) -> usize {
        self.rows.len()
    }

    fn state_len(&self) -> usize {
        self.state_len
    }

    fn row_parts(&self) -> Vec<Range<usize>> {
        match &self.observed {
            Observed::Real(residual) => residual.cases.clone().into_iter().collect(),
            _ => Vec::new(),
        }
    }

    fn start(&self, stream: &mut Stream) -> Vec<f64> {
        start::start(self, stream)
    }

    fn sweep<'p>(&'p self, inverse_temperature: f64) -> Sweep<'p> {
        let own = self.device_sweep(inverse_temperature);
        own.unwrap_or_else(|| sweep::sweep(self, inverse_temperature))
    }

    fn evaluator<'p>(&'p self) -> Box<dyn Evaluator + 'p> {
        Box::new(MlpEvaluator::new(self))
    }

    fn draw_prior(&self, stream: &mut Stream) -> Option<Vec<f64>> {
        let state = self.draw_prior_state(stream)?;
        let mut draw = vec![0.0; self.layout.len()];
        MlpEvaluator::new(self).draw(&state, &mut draw);
        Some(draw)
    }

    fn predictor<'p>(&'p self) -> Option<Box<dyn Predictor + 'p>> {
        Some(Box::new(MlpPredictor::new(self, &self.layout)))
    }

    fn device_failure(&self) -> Option<&AcceleratorError> {
        self.failure()
    }

    fn tempering(&self) -> Option<&dyn Tempering> {
        Some(self)
    }

    fn state_density(&self) -> Option<&dyn StateDensity> {
        Some(self)
    }
}

impl Tempering for MlpPosterior {
    fn short_sweep<'p>(&'p self, inverse_temperature: f64) -> Sweep<'p> {
        sweep::short_sweep(self, inverse_temperature)
    }

    fn draw_prior_state(&self, stream: &mut Stream) -> Option<Vec<f64>> {
        let mut state = start::from_prior(self, stream);
        if let Observed::Real(residual) = &self.observed {
            residual.draw_case_variances(&mut state, stream);
        }
        Some(state)
    }
}

impl StateDensity for MlpPosterior {
    fn density_slots(&self) -> Option<Vec<usize>> {
        let mut slots: Vec<usize> = (0..self.shape.len()).collect();
        for group in &self.hierarchy.groups {
            if group.weight_dof_slot().is_some() {
                return None;
            }
            if let Scale::Sampled(levels) = &group.scale {
                slots.extend(levels.density_slots()?);
            }
        }
        if let Observed::Real(residual) = &self.observed {
            slots.extend(residual.density_slots()?);
        }
        if let Observed::Outcomes(outcomes) = &self.observed {
            slots.extend(outcomes.slots());
        }
        Some(slots)
    }

    fn state_of(&self, draw: &[f64]) -> Option<Vec<f64>> {
        if self.hierarchy.selection.is_some() {
            return None;
        }
        let mut state = vec![0.0; self.state_len];
        let weights = self.shape.len();
        state[..weights].copy_from_slice(&draw[..weights]);
        let mut next = weights;
        let mut take = || {
            next += 1;
            draw[next - 1]
        };
        for group in &self.hierarchy.groups {
            if let Scale::Sampled(levels) = &group.scale {
                state[levels.slots.clone()].fill_with(|| take().ln());
                if let Above::Sampled { slot, .. } = levels.above {
                    state[slot] = take().ln();
                }
                if let Some(slot) = group.dof_slot() {
                    state[slot] = take();
                }
            }
            if let Some(slot) = group.weight_dof_slot() {
                state[slot] = take();
            }
        }
        if let Observed::Real(residual) = &self.observed {
            residual.restore(take, &self.target_scaling, &mut state);
        } else if let Observed::Outcomes(outcomes) = &self.observed {
            outcomes.restore(take, 0.0, &mut state);
        }
        Some(state)
    }

    fn movable_slots(&self) -> Vec<usize> {
        let mut slots: Vec<usize> = (0..self.shape.len()).collect();
        for group in &self.hierarchy.groups {
            if let Scale::Sampled(levels) = &group.scale {
                slots.extend(levels.movable_slots());
            }
        }
        if let Observed::Real(residual) = &self.observed {
            slots.extend(residual.movable_slots());
        }
        if let Observed::Outcomes(outcomes) = &self.observed {
            slots.extend(outcomes.slots());
        }
        slots
    }
}
