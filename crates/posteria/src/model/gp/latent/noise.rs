//! Move hyperparameters, and latents along with them, at fixed noise.

use super::shared::{Handle, Shared, same};
use crate::random::Stream;
use crate::sample::{ForeignMemory, Kernel, Stage, Step, Update};
use crate::target::{Infeasible, LogDensity, Point};

/// Hyperparameters θ given the noise (z, ε) that N(m, Σ) turns into latents: the latents are a
/// function f(θ), and θ has the density p(θ) Z(θ) Π p(y_i|f_i)^β / site_i(f_i)
/// [Murray & Adams 2010, with sites in place of surrogate data]. Without sites that is
/// p(θ) p(y|L z)^β. The noise is drawn anew from its distribution given latents in every update.
pub(super) struct HyperparameterUpdate<'p> {
    name: &'static str,
    shared: Handle<'p>,
    kernel: Box<dyn Kernel>,
    point: Point,
    room: Room,
}

struct Room {
    /// The state before the latents.
    head: Vec<f64>,
    z: Vec<f64>,
    noise: Vec<f64>,
    /// Latents of `evaluated`.
    latents: Vec<f64>,
    /// Where the density was last found.
    evaluated: Vec<f64>,
}

impl<'p> HyperparameterUpdate<'p> {
    /// Moves by `kernel`, which must not need the gradient.
    pub(super) fn new(name: &'static str, shared: Handle<'p>, kernel: Box<dyn Kernel>) -> Self {
        assert!(!kernel.needs_gradient(), "the density at fixed noise has no gradient");
        let (dim, size, head) = {
            let shared = shared.get();
            (shared.hyperparameters.slots.len(), shared.latents.len(), shared.latents.start)
        };
        let unknown = || vec![f64::NAN; dim];
        let point = Point { position: unknown(), gradient: unknown(), log_density: f64::NAN };
        let room = Room {
            head: vec![0.0; head],
            z: vec![0.0; size],
            noise: vec![0.0; size],
            latents: vec![0.0; size],
            evaluated: unknown(),
        };
        HyperparameterUpdate { name, shared, kernel, point, room }
    }

    fn go(
        &mut self,
        shared: &mut Shared<'_>,
        state: &mut [f64],
        stream: &mut Stream,
    ) -> Result<Step, Infeasible> {
        shared.prepare(state)?;
        let Room { head, z, noise, evaluated, .. } = &mut self.room;
        let (slots, latents) = (shared.hyperparameters.slots.clone(), shared.latents.clone());
        head.copy_from_slice(&state[..latents.start]);
        evaluated.fill(f64::NAN);
        let outside = Infeasible::OutsideSupport;
        let prior = shared.hyperparameters.log_prior(head, |_, _| {}).ok_or(outside)?;
        let ratio = shared.log_ratio(&state[latents.clone()])?;
        self.point.position.copy_from_slice(&state[slots.clone()]);
        self.point.gradient.fill(f64::NAN);
        self.point.log_density = prior + shared.here.log_evidence(&shared.sites) + ratio;
        shared.here.draw_noise(&shared.sites, &state[latents.clone()], z, noise, stream);
        let mut target = AtNoise { shared, room: &mut self.room };
        let step = self.kernel.step(&mut target, &mut self.point, stream);
        if same(&self.point.position, &state[slots.clone()]) {
            return Ok(step);
        }
        if !target.is_at(&self.point.position) {
            // A kernel that went on to look elsewhere.
            target.log_density(&self.point.position)?;
        }
        std::mem::swap(&mut shared.here, &mut shared.there);
        state[slots].copy_from_slice(&self.point.position);
        state[latents].copy_from_slice(&self.room.latents);
        Ok(step)
    }
}

impl Update for HyperparameterUpdate<'_> {
    fn name(&self) -> &str {
        self.name
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

/// The density of hyperparameters at fixed noise.
struct AtNoise<'a, 'p> {
    shared: &'a mut Shared<'p>,
    room: &'a mut Room,
}

impl AtNoise<'_, '_> {
    /// Whether the latents at hand, and the factors in `there`, are those of this position.
    fn is_at(&mut self, position: &[f64]) -> bool {
        let Shared { hyperparameters, log_parameters, there, .. } = &mut *self.shared;
        self.room.head[hyperparameters.slots.clone()].copy_from_slice(position);
        hyperparameters.write_parameters(&self.room.head, log_parameters);
        same(position, &self.room.evaluated) && there.is_at(log_parameters)
    }
}

impl LogDensity for AtNoise<'_, '_> {
    fn dim(&self) -> usize {
        self.room.evaluated.len()
    }

    fn log_density(&mut self, position: &[f64]) -> Result<f64, Infeasible> {
        self.room.evaluated.fill(f64::NAN);
        let prior = self.shared.look_at(&mut self.room.head, position, |_, _| {})?;
        let Shared { there, sites, .. } = &mut *self.shared;
        there.factorize(sites)?;
        there.factorize_prior()?;
        let Room { z, noise, latents, .. } = &mut *self.room;
        latents.copy_from_slice(z);
        there.transform_noise(sites, latents, noise, true);
        let evidence = there.log_evidence(sites);
        let ratio = self.shared.log_ratio(&self.room.latents)?;
        self.room.evaluated.copy_from_slice(position);
        Ok(prior + evidence + ratio)
    }

    fn log_density_gradient(&mut self, _: &[f64], _: &mut [f64]) -> Result<f64, Infeasible> {
        unreachable!("kernels at fixed noise need no gradient")
    }
}
