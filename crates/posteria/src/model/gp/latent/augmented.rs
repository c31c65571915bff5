//! Move hyperparameters with the functions integrated out, where a random normal site per row
//! makes that exact.

use super::shared::{Handle, Shared};
use super::sites::Sites;
use crate::density::draw_polya_gamma;
use crate::random::Stream;
use crate::sample::{ForeignMemory, Kernel, Stage, Step, Update};
use crate::target::{Infeasible, LogDensity, Point};

/// Hyperparameters and functions of two classes with the logistic link. Given ω_i ~ PG(1, f_i) the
/// likelihood of a row is the normal site exp(κ_i f_i - ½ ω_i f_i²), κ = ±½ [Polson, Scott & Windle
/// 2013]. Then hyperparameters have the density p(θ) Z(θ), a regression with known precisions, and
/// the functions given them are N(m, Σ).
///
/// No function holds hyperparameters where they are, and trajectories are as long as those of a
/// regression.
pub(super) struct AugmentedUpdate<'p> {
    shared: Handle<'p>,
    /// +1 and -1 by the class of the row.
    signs: &'p [f64],
    kernel: Box<dyn Kernel>,
    point: Point,
    sites: Sites,
    room: Room,
}

struct Room {
    /// The state before the latents.
    head: Vec<f64>,
    precisions: Vec<f64>,
    shifts: Vec<f64>,
    noise: Vec<f64>,
    of_parameters: Vec<f64>,
}

impl<'p> AugmentedUpdate<'p> {
    /// Moves by a kernel that follows gradients.
    pub(super) fn new(shared: Handle<'p>, signs: &'p [f64], kernel: Box<dyn Kernel>) -> Self {
        let guard = shared.get();
        let (dim, rows) = (guard.hyperparameters.slots.len(), guard.latents.len());
        let room = Room {
            head: vec![0.0; guard.latents.start],
            precisions: vec![0.0; rows],
            shifts: vec![0.0; rows],
            noise: vec![0.0; rows],
            of_parameters: vec![0.0; guard.log_parameters.len()],
        };
        drop(guard);
        let unknown = || vec![f64::NAN; dim];
        let point = Point { position: unknown(), gradient: unknown(), log_density: f64::NAN };
        AugmentedUpdate { shared, signs, kernel, point, sites: Sites::none(rows, 1), room }
    }

    /// ω given the latents, and the sites that they make.
    fn draw_sites(&mut self, latents: &[f64], stream: &mut Stream) -> Result<(), Infeasible> {
        let Room { precisions, shifts, .. } = &mut self.room;
        for (index, (latent, sign)) in latents.iter().zip(self.signs).enumerate() {
            precisions[index] = draw_polya_gamma(*latent, stream).ok_or(Infeasible::NotFinite)?;
            shifts[index] = 0.5 * sign;
        }
        match self.sites.set(precisions, shifts) {
            true => Ok(()),
            false => Err(Infeasible::NotFinite),
        }
    }

    fn go(
        &mut self,
        shared: &mut Shared<'_>,
        state: &mut [f64],
        stream: &mut Stream,
    ) -> Result<Step, Infeasible> {
        let (slots, latents) = (shared.hyperparameters.slots.clone(), shared.latents.clone());
        self.draw_sites(&state[latents.clone()], stream)?;
        self.room.head.copy_from_slice(&state[..latents.start]);
        shared.there.forget_sites();
        let mut target = Marginal { shared, sites: &self.sites, room: &mut self.room };
        let Point { position, gradient, log_density } = &mut self.point;
        position.copy_from_slice(&state[slots.clone()]);
        *log_density = target.log_density_gradient(position, gradient)?;
        let step = self.kernel.step(&mut target, &mut self.point, stream);
        target.enter(&self.point.position, |_, _| {})?;
        shared.there.factorize_prior()?;
        let (functions, noise) = (&mut state[latents], &mut self.room.noise);
        stream.fill_normal(functions);
        stream.fill_normal(noise);
        shared.there.transform_noise(&self.sites, functions, noise, true);
        state[slots].copy_from_slice(&self.point.position);
        Ok(step)
    }
}

impl Update for AugmentedUpdate<'_> {
    fn name(&self) -> &str {
        "hyperparameters"
    }

    fn update(&mut self, state: &mut [f64], stream: &mut Stream) -> Step {
        let handle = self.shared.clone();
        let shared = &mut *handle.get();
        let step = self.go(shared, state, stream);
        shared.there.forget_sites();
        step.unwrap_or_else(Step::stayed)
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

/// p(θ) Z(θ), given the sites.
struct Marginal<'a, 'p> {
    shared: &'a mut Shared<'p>,
    sites: &'a Sites,
    room: &'a mut Room,
}

impl Marginal<'_, '_> {
    /// Goes to a position; returns its log density, and adds the derivatives of the prior.
    fn enter(&mut self, position: &[f64], add: impl FnMut(usize, f64)) -> Result<f64, Infeasible> {
        let prior = self.shared.look_at(&mut self.room.head, position, add)?;
        let there = &mut self.shared.there;
        there.factorize(self.sites)?;
        Ok(prior + there.log_evidence(self.sites))
    }
}

impl LogDensity for Marginal<'_, '_> {
    fn dim(&self) -> usize {
        self.shared.hyperparameters.slots.len()
    }

    fn log_density(&mut self, position: &[f64]) -> Result<f64, Infeasible> {
        self.enter(position, |_, _| {})
    }

    fn log_density_gradient(
        &mut self,
        position: &[f64],
        gradient: &mut [f64],
    ) -> Result<f64, Infeasible> {
        let slots = self.shared.hyperparameters.slots.clone();
        gradient.fill(0.0);
        let mut add = |slot: usize, slope: f64| gradient[slot - slots.start] += slope;
        let value = self.enter(position, &mut add)?;
        let Shared { there, hyperparameters, .. } = &mut *self.shared;
        there.gradient(self.sites, None, &mut self.room.of_parameters);
        hyperparameters.add_gradient(&self.room.of_parameters, &mut add);
        Ok(value)
    }
}
