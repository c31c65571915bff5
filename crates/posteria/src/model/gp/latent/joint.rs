//! Move hyperparameters and latents together, along trajectories.

use super::gaussian::Adjoint;
use super::shared::{Handle, Shared, same};
use crate::random::Stream;
use crate::sample::{ForeignMemory, Kernel, Stage, Step, Update};
use crate::target::{Infeasible, LogDensity, Point};

/// Hyperparameters θ and the noise (z, ε) that N(m, Σ) turns into latents f(θ, z, ε): their density
/// is p(θ) Z(θ) N(z; 0, I) N(ε; 0, I) Π p(y_i|f_i)^β / site_i(f_i). Where sites are good the last
/// product is nearly constant, and hyperparameters know little of noise. The noise is drawn anew
/// from its distribution given latents in every update.
pub(super) struct JointUpdate<'p> {
    shared: Handle<'p>,
    kernel: Box<dyn Kernel>,
    point: Point,
    room: Room,
}

struct Room {
    /// The state before the latents.
    head: Vec<f64>,
    latents: Vec<f64>,
    /// Derivatives of the ratio of likelihood and sites.
    slopes: Vec<f64>,
    adjoint: Adjoint,
    /// Where the density was last found.
    evaluated: Vec<f64>,
    of_parameters: Vec<f64>,
}

impl<'p> JointUpdate<'p> {
    /// Moves by a kernel of hyperparameters and noise that follows gradients.
    pub(super) fn new(shared: Handle<'p>, kernel: impl FnOnce(usize) -> Box<dyn Kernel>) -> Self {
        let guard = shared.get();
        let size = guard.latents.len();
        let dim = guard.hyperparameters.slots.len() + 2 * size;
        let (rows, functions) = (guard.likelihood.rows(), guard.likelihood.functions());
        let room = Room {
            head: vec![0.0; guard.latents.start],
            latents: vec![0.0; size],
            slopes: vec![0.0; size],
            adjoint: Adjoint::new(rows, functions),
            evaluated: vec![f64::NAN; dim],
            of_parameters: vec![0.0; guard.log_parameters.len()],
        };
        drop(guard);
        let unknown = || vec![f64::NAN; dim];
        let point = Point { position: unknown(), gradient: unknown(), log_density: f64::NAN };
        JointUpdate { shared, kernel: kernel(dim), point, room }
    }

    fn go(
        &mut self,
        shared: &mut Shared<'_>,
        state: &mut [f64],
        stream: &mut Stream,
    ) -> Result<Step, Infeasible> {
        shared.prepare(state)?;
        let (slots, latents) = (shared.hyperparameters.slots.clone(), shared.latents.clone());
        self.room.head.copy_from_slice(&state[..latents.start]);
        let Point { position, gradient, log_density } = &mut self.point;
        let (hyperparameters, noise) = position.split_at_mut(slots.len());
        hyperparameters.copy_from_slice(&state[slots.clone()]);
        let (z, noise) = noise.split_at_mut(latents.len());
        shared.here.draw_noise(&shared.sites, &state[latents.clone()], z, noise, stream);
        let mut target = WithNoise { shared, room: &mut self.room };
        *log_density = target.log_density_gradient(position, gradient)?;
        let step = self.kernel.step(&mut target, &mut self.point, stream);
        if !step.accepted {
            return Ok(step);
        }
        if !same(&self.point.position, &target.room.evaluated) {
            // A kernel that went on to look elsewhere.
            target.log_density(&self.point.position)?;
        }
        std::mem::swap(&mut shared.here, &mut shared.there);
        state[slots.clone()].copy_from_slice(&self.point.position[..slots.len()]);
        state[latents].copy_from_slice(&self.room.latents);
        Ok(step)
    }
}

impl Update for JointUpdate<'_> {
    fn name(&self) -> &str {
        "latents and hyperparameters"
    }

    fn update(&mut self, state: &mut [f64], stream: &mut Stream) -> Step {
        let handle = self.shared.clone();
        self.go(&mut handle.get(), state, stream).unwrap_or_else(Step::stayed)
    }

    fn enter(&mut self, stage: &Stage) {
        self.kernel.enter(stage);
    }

    fn memory(&self) -> Vec<f64> {
        self.kernel.memory()
    }

    fn recall(&mut self, memory: &[f64]) -> Result<(), ForeignMemory> {
        self.kernel.recall(memory)
    }
}

/// The density of hyperparameters and noise.
struct WithNoise<'a, 'p> {
    shared: &'a mut Shared<'p>,
    room: &'a mut Room,
}

impl WithNoise<'_, '_> {
    /// Goes to a position: its log prior density with derivatives, and the latents there.
    fn enter(&mut self, position: &[f64], add: impl FnMut(usize, f64)) -> Result<f64, Infeasible> {
        self.room.evaluated.fill(f64::NAN);
        let first = self.shared.hyperparameters.slots.len();
        let (hyperparameters, noise) = position.split_at(first);
        let prior = self.shared.look_at(&mut self.room.head, hyperparameters, add)?;
        let Shared { there, sites, latents, .. } = &mut *self.shared;
        there.factorize(sites)?;
        there.factorize_prior()?;
        let (z, noise) = noise.split_at(latents.len());
        self.room.latents.copy_from_slice(z);
        there.transform_noise(sites, &mut self.room.latents, noise, true);
        Ok(prior)
    }

    /// The log density, given the parts that depend on hyperparameters and on latents.
    fn total(&mut self, position: &[f64], prior: f64, ratio: f64) -> f64 {
        let first = self.shared.hyperparameters.slots.len();
        let square: f64 = position[first..].iter().map(|noise| noise * noise).sum();
        self.room.evaluated.copy_from_slice(position);
        prior + self.shared.there.log_evidence(&self.shared.sites) + ratio - 0.5 * square
    }
}

impl LogDensity for WithNoise<'_, '_> {
    fn dim(&self) -> usize {
        self.room.evaluated.len()
    }

    fn log_density(&mut self, position: &[f64]) -> Result<f64, Infeasible> {
        let prior = self.enter(position, |_, _| {})?;
        let ratio = self.shared.log_ratio(&self.room.latents)?;
        Ok(self.total(position, prior, ratio))
    }

    fn log_density_gradient(
        &mut self,
        position: &[f64],
        gradient: &mut [f64],
    ) -> Result<f64, Infeasible> {
        let slots = self.shared.hyperparameters.slots.clone();
        let size = self.room.latents.len();
        let (of_hyperparameters, of_noise) = gradient.split_at_mut(slots.len());
        of_hyperparameters.fill(0.0);
        let mut add = |slot: usize, slope: f64| of_hyperparameters[slot - slots.start] += slope;
        let prior = self.enter(position, &mut add)?;
        let Room { latents, slopes, adjoint, of_parameters, .. } = &mut *self.room;
        let ratio = self.shared.log_ratio_gradient(latents, slopes)?;
        let Shared { there, sites, hyperparameters, .. } = &mut *self.shared;
        let noise = &position[slots.len()..];
        let parts = of_noise.split_at_mut(size);
        there.differentiate(sites, slopes, &noise[..size], parts, adjoint);
        there.gradient(sites, Some(adjoint), of_parameters);
        hyperparameters.add_gradient(of_parameters, &mut add);
        of_noise.iter_mut().zip(noise).for_each(|(slope, noise)| *slope -= noise);
        Ok(self.total(position, prior, ratio))
    }
}
