//! What the updates of one chain share: sites, and the normal distribution about them.

use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard};

use super::super::hyperparameters::Hyperparameters;
use super::super::posterior::GpPosterior;
use super::gaussian::Gaussian;
use super::laplace::approximate;
use super::likelihood::Likelihood;
use super::sites::Sites;
use crate::sample::{Adapt, ForeignMemory, MemoryReader, Stage};
use crate::target::Infeasible;

/// Fewest visited latents whose moments are worth new sites.
const FEWEST: f64 = 10.0;

/// What sites were found at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Origin {
    /// There are none, or none yet.
    None,
    /// Laplace's method at the hyperparameters of the first sweep.
    First,
    /// The latents visited in a stage of the warm-up.
    Visited,
}

/// Sites and normal distributions, of one chain.
///
/// `here` belongs to the hyperparameters in the state, `there` to proposed ones: what is accepted
/// need not be factorised again.
pub(super) struct Shared<'p> {
    pub(super) hyperparameters: &'p Hyperparameters,
    pub(super) latents: Range<usize>,
    pub(super) likelihood: Likelihood<'p>,
    pub(super) inverse_temperature: f64,
    pub(super) sites: Sites,
    pub(super) here: Gaussian<'p>,
    pub(super) there: Gaussian<'p>,
    pub(super) log_parameters: Vec<f64>,
    uses_sites: bool,
    origin: Origin,
    adapt: Adapt,
    visited: Visited,
}

/// Sums over the latents that were visited since the stage began.
///
/// With the means of slopes and curvatures of log p in place of those at a mode the sites are, for a
/// normal posterior of f, its own: E ∇ log p = E K⁻¹f, and -E ∇² log p is what the likelihood adds
/// to the precision [Opper & Archambeau 2009]. Means over all hyperparameters that are
/// plausible serve all of them.
struct Visited {
    count: f64,
    latents: Vec<f64>,
    slopes: Vec<f64>,
    curvatures: Vec<f64>,
    /// Room for those of one visit.
    slope: Vec<f64>,
    curvature: Vec<f64>,
}

impl Visited {
    fn new(rows: usize, functions: usize) -> Self {
        let (vector, blocks) =
            (vec![0.0; rows * functions], vec![0.0; rows * functions * functions]);
        Visited {
            count: 0.0,
            latents: vector.clone(),
            slopes: vector.clone(),
            curvatures: blocks.clone(),
            slope: vector,
            curvature: blocks,
        }
    }

    fn sums(&mut self) -> [&mut Vec<f64>; 3] {
        [&mut self.latents, &mut self.slopes, &mut self.curvatures]
    }

    fn clear(&mut self) {
        self.count = 0.0;
        self.sums().into_iter().for_each(|sums| sums.fill(0.0));
    }

    fn add(&mut self, likelihood: &mut Likelihood<'_>, latents: &[f64]) {
        likelihood.curvature(latents, &mut self.slope, &mut self.curvature);
        self.count += 1.0;
        add_to(&mut self.latents, latents);
        add_to(&mut self.slopes, &self.slope);
        add_to(&mut self.curvatures, &self.curvature);
    }
}

fn add_to(sums: &mut [f64], values: &[f64]) {
    sums.iter_mut().zip(values).for_each(|(sum, value)| *sum += value);
}

/// The updates of a sweep are called one after the other, so that nobody ever waits.
#[derive(Clone)]
pub(super) struct Handle<'p>(Arc<Mutex<Shared<'p>>>);

impl<'p> Handle<'p> {
    pub(super) fn new(shared: Shared<'p>) -> Self {
        Handle(Arc::new(Mutex::new(shared)))
    }

    pub(super) fn get(&self) -> MutexGuard<'_, Shared<'p>> {
        self.0.lock().expect("an update that panicked ended its chain")
    }
}

impl<'p> Shared<'p> {
    /// Without `uses_sites`, everything is about the prior.
    pub(super) fn new(posterior: &'p GpPosterior, beta: f64, uses_sites: bool) -> Self {
        let (rows, functions) = (posterior.row_count(), posterior.observed.functions());
        let parameters = posterior.covariance.parameters().len();
        Shared {
            hyperparameters: &posterior.processes[0].hyperparameters,
            latents: posterior.latents.clone(),
            likelihood: Likelihood::new(&posterior.observed, rows),
            inverse_temperature: beta,
            sites: Sites::none(rows, functions),
            here: Gaussian::new(posterior),
            there: Gaussian::new(posterior),
            log_parameters: vec![0.0; parameters],
            uses_sites,
            origin: Origin::None,
            adapt: Adapt::Nothing,
            visited: Visited::new(rows, functions),
        }
    }

    /// Makes `here` that of `state`, and finds the first sites.
    ///
    /// # Errors
    /// [`Infeasible`] if the covariance is not usable.
    pub(super) fn prepare(&mut self, state: &[f64]) -> Result<(), Infeasible> {
        self.hyperparameters.write_parameters(state, &mut self.log_parameters);
        self.likelihood.condition(state);
        self.here.set(&self.log_parameters);
        self.here.factorize_prior()?;
        if self.uses_sites && self.origin == Origin::None {
            let Shared { likelihood, here, sites, .. } = self;
            approximate(likelihood, self.inverse_temperature, here, sites)?;
            self.origin = Origin::First;
        }
        self.here.factorize(&self.sites)
    }

    /// Makes `there` that of a position of the hyperparameters, which goes into `head`, the state
    /// before the latents. Returns the log prior density; its derivatives go to `add`.
    ///
    /// # Errors
    /// [`Infeasible`] if the position is outside the support of the prior.
    pub(super) fn look_at(
        &mut self,
        head: &mut [f64],
        position: &[f64],
        add: impl FnMut(usize, f64),
    ) -> Result<f64, Infeasible> {
        let Shared { hyperparameters, log_parameters, there, .. } = self;
        head[hyperparameters.slots.clone()].copy_from_slice(position);
        let prior = hyperparameters.log_prior(head, add).ok_or(Infeasible::OutsideSupport)?;
        hyperparameters.write_parameters(head, log_parameters);
        there.set(log_parameters);
        Ok(prior)
    }

    /// β log p(y|f) less the log of the sites.
    ///
    /// # Errors
    /// [`Infeasible`] if it is not a number.
    pub(super) fn log_ratio(&mut self, latents: &[f64]) -> Result<f64, Infeasible> {
        let likelihood = self.inverse_temperature * self.likelihood.value(latents);
        finite(match self.sites.present() {
            true => likelihood - self.sites.log_density(latents),
            false => likelihood,
        })
    }

    /// As [`Shared::log_ratio`], with derivatives.
    pub(super) fn log_ratio_gradient(
        &mut self,
        latents: &[f64],
        gradient: &mut [f64],
    ) -> Result<f64, Infeasible> {
        let beta = self.inverse_temperature;
        let likelihood = beta * self.likelihood.gradient(latents, gradient);
        gradient.iter_mut().for_each(|slope| *slope *= beta);
        finite(match self.sites.present() {
            true => likelihood - self.sites.subtract_gradient(latents, gradient),
            false => likelihood,
        })
    }

    /// Hears of the latents of every sweep.
    pub(super) fn learn(&mut self, state: &[f64]) {
        if self.uses_sites && self.adapt != Adapt::Nothing {
            self.likelihood.condition(state);
            self.visited.add(&mut self.likelihood, &state[self.latents.clone()]);
        }
    }

    /// Begins a stage, with new sites by the latents visited in the last one if it was learning. A
    /// stage that only settles step sizes moves none but the first sites.
    pub(super) fn enter(&mut self, stage: &Stage) {
        let wanted = match self.adapt {
            Adapt::Metric => true,
            Adapt::StepSize => self.origin == Origin::First,
            Adapt::Nothing => false,
        };
        if wanted && self.visited.count >= FEWEST {
            self.place_sites();
        }
        self.visited.clear();
        self.adapt = stage.adapt;
    }

    /// Places sites by what was visited; where they are not usable the old ones stay.
    fn place_sites(&mut self) {
        let old = self.sites.clone();
        let count = self.visited.count;
        for sums in self.visited.sums() {
            sums.iter_mut().for_each(|sum| *sum /= count);
        }
        let Visited { latents, slopes, curvatures, .. } = &self.visited;
        match self.sites.touch(self.inverse_temperature, latents, slopes, curvatures) {
            true => self.origin = Origin::Visited,
            false => self.sites = old,
        }
        self.here.forget_sites();
        self.there.forget_sites();
    }

    pub(super) fn memory(&self) -> Vec<f64> {
        if !self.uses_sites {
            return Vec::new();
        }
        let Visited { count, latents, slopes, curvatures, .. } = &self.visited;
        let mut memory = vec![f64::from(self.origin as u8), *count];
        memory.extend(latents.iter().chain(slopes).chain(curvatures));
        if self.origin != Origin::None {
            self.sites.write(&mut memory);
        }
        memory
    }

    pub(super) fn recall(&mut self, memory: &[f64]) -> Result<(), ForeignMemory> {
        let mut memory = MemoryReader::new("latents", memory);
        if self.uses_sites {
            self.origin = match memory.count()? {
                0 => Origin::None,
                1 => Origin::First,
                2 => Origin::Visited,
                _ => return Err(memory.foreign()),
            };
            self.visited.count = memory.number()?;
            for sums in self.visited.sums() {
                memory.fill(sums)?;
            }
            if self.origin != Origin::None {
                self.sites.read(&mut memory)?;
            }
        }
        self.here.forget_sites();
        self.there.forget_sites();
        memory.finish()
    }
}

/// Whether two positions are the same, bit for bit.
pub(super) fn same(a: &[f64], b: &[f64]) -> bool {
    a.iter().zip(b).all(|(a, b)| a.to_bits() == b.to_bits())
}

fn finite(value: f64) -> Result<f64, Infeasible> {
    if value.is_finite() { Ok(value) } else { Err(Infeasible::NotFinite) }
}
