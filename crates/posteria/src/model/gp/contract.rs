//! What chains, their store and predictions ask of every posterior, and what only some can do.

use std::ops::Range;

use super::evaluator::LatentEvaluator;
use super::integrated::IntegratedEvaluator;
use super::layout::read;
use super::neighbours::NeighbourEvaluator;
use super::observed::Observed;
use super::on_device::OnDevice;
use super::posterior::GpPosterior;
use super::predictor::GpPredictor;
use super::process::Process;
use super::updates::ResidualUpdate;
use super::{start, sweep};
use crate::draws::Layout;
use crate::model::accelerator::AcceleratorError;
use crate::model::{Evaluator, Posterior, StateDensity, Tempering};
use crate::predict::Predictor;
use crate::random::{Purpose, Seed, Stream};
use crate::sample::{Sweep, Update};

impl Posterior for GpPosterior {
    fn layout(&self) -> &Layout {
        &self.layout
    }

    fn rows(&self) -> usize {
        self.row_count()
    }

    fn state_len(&self) -> usize {
        self.latents.end
    }

    fn row_parts(&self) -> Vec<Range<usize>> {
        let cases = match &self.observed {
            Observed::Real(residual) => residual.cases.clone(),
            _ => None,
        };
        let latents = Some(self.latents.clone()).filter(|latents| !latents.is_empty());
        cases.into_iter().chain(latents).collect()
    }

    fn start(&self, stream: &mut Stream) -> Vec<f64> {
        start::start(self, stream)
    }

    fn sweep<'p>(&'p self, inverse_temperature: f64) -> Sweep<'p> {
        sweep::sweep(self, inverse_temperature)
    }

    fn evaluator<'p>(&'p self) -> Box<dyn Evaluator + 'p> {
        match (&self.observed, &self.neighbours) {
            (Observed::Real(residual), Some(neighbours)) => {
                Box::new(NeighbourEvaluator::new(self, residual, neighbours))
            }
            (Observed::Real(residual), None) if !self.keeps_latents() => {
                Box::new(IntegratedEvaluator::new(self, residual))
            }
            _ => Box::new(LatentEvaluator::new(self)),
        }
    }

    fn draw_prior(&self, stream: &mut Stream) -> Option<Vec<f64>> {
        start::draw_prior(self, stream)
    }

    fn predictor<'p>(&'p self) -> Option<Box<dyn Predictor + 'p>> {
        Some(Box::new(GpPredictor::new(self, &self.layout)))
    }

    fn device_failure(&self) -> Option<&AcceleratorError> {
        self.device.as_ref().and_then(OnDevice::failure)
    }

    fn tempering(&self) -> Option<&dyn Tempering> {
        Some(self)
    }

    fn state_density(&self) -> Option<&dyn StateDensity> {
        Some(self)
    }
}

impl Tempering for GpPosterior {
    fn draw_prior_state(&self, stream: &mut Stream) -> Option<Vec<f64>> {
        start::from_prior(self, stream)
    }

    fn short_sweep<'p>(&'p self, inverse_temperature: f64) -> Sweep<'p> {
        sweep::short_sweep(self, inverse_temperature)
    }

    fn refresh<'p>(&'p self, inverse_temperature: f64) -> Option<Box<dyn Update + 'p>> {
        match &self.observed {
            Observed::Real(residual) if self.keeps_latents() => {
                let latents = self.latents.clone();
                Some(Box::new(ResidualUpdate::new(residual, latents, inverse_temperature)))
            }
            _ => None,
        }
    }
}

impl StateDensity for GpPosterior {
    fn density_slots(&self) -> Option<Vec<usize>> {
        let mut slots = Vec::new();
        for process in &self.processes {
            if process.hyperparameters.has_sampled_dof() {
                return None;
            }
            slots.extend(process.hyperparameters.slots.clone());
        }
        if let Observed::Real(residual) = &self.observed {
            slots.extend(residual.density_slots()?);
        }
        if let Observed::Outcomes(outcomes) = &self.observed {
            slots.extend(outcomes.slots());
        }
        slots.extend(self.latents.clone());
        Some(slots)
    }

    /// Of processes whose functions are integrated out: an affine map of latent values is blind to
    /// how closely their prior binds them to each other.
    fn state_of(&self, draw: &[f64]) -> Option<Vec<f64>> {
        if self.keeps_latents() || self.observed.needs_latents() || self.selection.is_some() {
            return None;
        }
        let mut state = vec![0.0; self.state_len()];
        let mut next = read(self, draw, &mut state);
        if let Observed::Real(residual) = &self.observed {
            let take = || {
                next += 1;
                draw[next - 1]
            };
            residual.restore(take, &self.target_scaling, &mut state);
        }
        Some(state)
    }

    fn movable_slots(&self) -> Vec<usize> {
        let of = |process: &Process| process.hyperparameters.slots.clone();
        let mut slots: Vec<usize> = self.processes.iter().flat_map(of).collect();
        if let Observed::Real(residual) = &self.observed {
            slots.extend(residual.movable_slots());
        }
        if let Observed::Outcomes(outcomes) = &self.observed {
            slots.extend(outcomes.slots());
        }
        slots
    }

    /// Known where all hyperparameters are and functions are integrated out: log p(y | θ).
    fn exact_log_evidence(&self) -> Option<f64> {
        if !self.density_slots()?.is_empty() {
            return None;
        }
        let state = start::from_prior(self, &mut Seed(0).stream(Purpose::Start, [0, 0]))?;
        let mut draw = vec![0.0; self.layout.len()];
        let mut rows = vec![0.0; self.row_count()];
        let terms = self.evaluator().evaluate(&state, &mut draw, &mut rows).ok()?;
        Some(terms.log_likelihood)
    }
}
