//! Move latents by a Metropolis walk that keeps their prior.

use super::shared::{Handle, Shared};
use crate::random::Stream;
use crate::sample::{Adapt, ForeignMemory, MemoryReader, Stage, Step, Update};
use crate::target::Infeasible;

/// Proposals per update.
const REPEATS: usize = 10;
/// The acceptance that the width is tuned to.
const TARGET_ACCEPTANCE: f64 = 0.3;
/// The gain of the recursion falls as t^-0.6 [Andrieu & Thoms 2008 §4.2].
const GAIN_POWER: f64 = -0.6;
/// First width.
const WIDTH: f64 = 0.1;

/// Proposes f' = √(1 - ε²) f + ε L η, η ~ N(0, I), which leaves N(0, K = L Lᵀ) invariant, and
/// accepts on the likelihood alone [Neal 1999; MCMCstuff manual §4.2, eq. 42 with the root that
/// it lacks]. In stages that adapt, ε follows an acceptance of 0.3.
pub(super) struct WalkUpdate<'p> {
    shared: Handle<'p>,
    width: f64,
    /// Steps of the recursion so far.
    tuned: f64,
    adapt: Adapt,
    candidate: Vec<f64>,
    noise: Vec<f64>,
}

impl<'p> WalkUpdate<'p> {
    pub(super) fn new(shared: Handle<'p>) -> Self {
        let size = shared.get().latents.len();
        WalkUpdate {
            shared,
            width: WIDTH,
            tuned: 0.0,
            adapt: Adapt::Nothing,
            candidate: vec![0.0; size],
            noise: vec![0.0; size],
        }
    }

    fn walk(
        &mut self,
        shared: &mut Shared<'_>,
        state: &mut [f64],
        stream: &mut Stream,
    ) -> Result<Step, Infeasible> {
        shared.prepare(state)?;
        let latents = &mut state[shared.latents.clone()];
        let mut value = shared.log_ratio(latents)?;
        let mut step = Step {
            accepted: false,
            acceptance: 0.0,
            evaluations: REPEATS as u32 + 1,
            ..Step::default()
        };
        for _ in 0..REPEATS {
            let Shared { here, sites, .. } = &mut *shared;
            here.draw_deviation(sites, &mut self.candidate, &mut self.noise, stream);
            let kept = (1.0 - self.width * self.width).max(0.0).sqrt();
            for (candidate, latent) in self.candidate.iter_mut().zip(&*latents) {
                *candidate = kept * latent + self.width * *candidate;
            }
            let acceptance = match shared.log_ratio(&self.candidate) {
                Ok(moved) => {
                    let acceptance = (moved - value).min(0.0).exp();
                    if stream.uniform() < acceptance {
                        latents.copy_from_slice(&self.candidate);
                        value = moved;
                        step.accepted = true;
                    }
                    acceptance
                }
                Err(infeasible) => {
                    step.infeasible = Some(infeasible);
                    0.0
                }
            };
            step.acceptance += acceptance / REPEATS as f64;
            if self.adapt != Adapt::Nothing {
                self.tuned += 1.0;
                let gain = self.tuned.powf(GAIN_POWER);
                let factor = (gain * (acceptance - TARGET_ACCEPTANCE)).exp();
                self.width = (self.width * factor).min(1.0);
            }
        }
        step.step_size = self.width;
        Ok(step)
    }
}

impl Update for WalkUpdate<'_> {
    fn name(&self) -> &str {
        "latents"
    }

    fn update(&mut self, state: &mut [f64], stream: &mut Stream) -> Step {
        let handle = self.shared.clone();
        self.walk(&mut handle.get(), state, stream).unwrap_or_else(Step::stayed)
    }

    fn enter(&mut self, stage: &Stage) {
        self.adapt = stage.adapt;
    }

    fn memory(&self) -> Vec<f64> {
        vec![self.width, self.tuned]
    }

    fn recall(&mut self, memory: &[f64]) -> Result<(), ForeignMemory> {
        let mut memory = MemoryReader::new("a walk of latents", memory);
        self.width = memory.number()?;
        self.tuned = memory.number()?;
        if !(self.width > 0.0 && self.width <= 1.0) {
            return Err(memory.foreign());
        }
        memory.finish()
    }
}
