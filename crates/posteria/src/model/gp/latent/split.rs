//! Move latents along trajectories that are exact for the sites.

use std::f64::consts::FRAC_PI_2;

use posteria_linalg::dot;

use super::shared::{Handle, Shared};
use crate::random::Stream;
use crate::sample::{ForeignMemory, Stage, Step, Update};
use crate::target::Infeasible;

/// Every trajectory's angle is jittered by this much.
const JITTER: f64 = 0.2;
/// Share of trajectories with small steps, for latents from where the usual ones always fail.
const CAREFUL_SHARE: f64 = 0.1;
/// How many times smaller they are.
const CAREFUL_FACTOR: f64 = 4.0;
/// Energy errors beyond this are divergences, of small steps: the usual ones may fail now and then.
const DIVERGENCE: f64 = 1000.0;

/// Hybrid Monte Carlo of the latents, split [Shahbaba et al. 2014] into the normal distribution
/// N(m, Σ) of the sites, along which (f - m, v) turns by an exact rotation, and kicks
/// v ← v + ε Σ∇ log(p^β / sites). The velocity is drawn from N(0, Σ).
///
/// Rotations keep the energy of the normal part; a kick by c changes the kinetic energy
/// ½ vᵀΣ⁻¹v by c gᵀv + ½ c² gᵀΣg, so that no inverse is ever needed.
pub(super) struct SplitUpdate<'p> {
    shared: Handle<'p>,
    steps: usize,
    mean: Vec<f64>,
    latents: Vec<f64>,
    velocity: Vec<f64>,
    gradient: Vec<f64>,
    kick: Vec<f64>,
}

impl<'p> SplitUpdate<'p> {
    /// With so many steps to a quarter turn, after which nothing is left of the beginning.
    pub(super) fn new(shared: Handle<'p>, steps: usize) -> Self {
        let size = shared.get().latents.len();
        let room = || vec![0.0; size];
        SplitUpdate {
            shared,
            steps,
            mean: room(),
            latents: room(),
            velocity: room(),
            gradient: room(),
            kick: room(),
        }
    }

    fn trajectory(
        &mut self,
        shared: &mut Shared<'_>,
        state: &mut [f64],
        stream: &mut Stream,
    ) -> Result<Step, Infeasible> {
        shared.prepare(state)?;
        let latents = shared.latents.clone();
        self.latents.copy_from_slice(&state[latents.clone()]);
        shared.here.mean(&shared.sites, &mut self.mean, None);
        shared.here.draw_deviation(&shared.sites, &mut self.velocity, &mut self.kick, stream);
        let careful = stream.uniform() < CAREFUL_SHARE;
        let steps = self.steps;
        let usual = FRAC_PI_2 / steps as f64;
        let usual = if careful { usual / CAREFUL_FACTOR } else { usual };
        let angle = usual * (1.0 + JITTER * (2.0 * stream.uniform() - 1.0));
        let start = shared.log_ratio_gradient(&self.latents, &mut self.gradient)?;
        let mut step = Step {
            accepted: false,
            acceptance: 0.0,
            step_size: angle,
            evaluations: steps as u32 + 1,
            leapfrog_steps: steps as u32,
            ..Step::default()
        };
        let mut kinetic = self.kicked(shared, 0.5 * angle);
        let mut end = start;
        for turn in 1..=steps {
            self.rotate(angle);
            end = match shared.log_ratio_gradient(&self.latents, &mut self.gradient) {
                Ok(value) => value,
                Err(infeasible) => {
                    step.infeasible = Some(infeasible);
                    return Ok(step);
                }
            };
            kinetic += self.kicked(shared, if turn < steps { angle } else { 0.5 * angle });
        }
        let error = kinetic - (end - start);
        if error.is_nan() {
            step.infeasible = Some(Infeasible::NotFinite);
            return Ok(step);
        }
        step.diverging = careful && error > DIVERGENCE;
        step.acceptance = (-error).min(0.0).exp();
        step.accepted = stream.uniform() < step.acceptance;
        if step.accepted {
            state[latents].copy_from_slice(&self.latents);
        }
        Ok(step)
    }

    /// Kicks the velocity; returns how much kinetic energy it gained.
    fn kicked(&mut self, shared: &mut Shared<'_>, duration: f64) -> f64 {
        shared.here.covariance_times(&shared.sites, &self.gradient, &mut self.kick);
        let gain = duration * dot(&self.gradient, &self.velocity)
            + 0.5 * duration * duration * dot(&self.gradient, &self.kick);
        for (velocity, kick) in self.velocity.iter_mut().zip(&self.kick) {
            *velocity += duration * kick;
        }
        gain
    }

    fn rotate(&mut self, angle: f64) {
        let (sine, cosine) = angle.sin_cos();
        let both = self.latents.iter_mut().zip(&mut self.velocity).zip(&self.mean);
        for ((latent, velocity), mean) in both {
            let deviation = *latent - mean;
            *latent = mean + deviation * cosine + *velocity * sine;
            *velocity = *velocity * cosine - deviation * sine;
        }
    }
}

impl Update for SplitUpdate<'_> {
    fn name(&self) -> &str {
        "latents"
    }

    fn update(&mut self, state: &mut [f64], stream: &mut Stream) -> Step {
        let handle = self.shared.clone();
        let mut shared = handle.get();
        shared.learn(state);
        self.trajectory(&mut shared, state, stream).unwrap_or_else(Step::stayed)
    }

    fn enter(&mut self, stage: &Stage) {
        self.shared.get().enter(stage);
    }

    fn memory(&self) -> Vec<f64> {
        self.shared.get().memory()
    }

    fn recall(&mut self, memory: &[f64]) -> Result<(), ForeignMemory> {
        self.shared.get().recall(memory)
    }
}
