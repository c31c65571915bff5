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

/// Fewest visited hyperparameters whose mean is worth new sites.
const FEWEST: f64 = 10.0;

/// What sites were found at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Origin {
    /// There are none, or none yet.
    None,
    /// The hyperparameters of the first sweep.
    First,
    /// The mean of those visited in a stage of the warm-up.
    Mean,
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
    /// Visited log parameters since the stage began: their number and sum.
    count: f64,
    sums: Vec<f64>,
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
            count: 0.0,
            sums: vec![0.0; parameters],
        }
    }

    /// Makes `here` that of `state`, and finds the first sites.
    ///
    /// # Errors
    /// [`Infeasible`] if the covariance is not usable.
    pub(super) fn prepare(&mut self, state: &[f64]) -> Result<(), Infeasible> {
        self.hyperparameters.write_parameters(state, &mut self.log_parameters);
        self.here.set(&self.log_parameters);
        self.here.factorize_prior()?;
        if self.uses_sites && self.origin == Origin::None {
            let Shared { likelihood, here, sites, .. } = self;
            approximate(likelihood, self.inverse_temperature, here, sites)?;
            self.origin = Origin::First;
        }
        self.here.factorize(&self.sites)
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

    /// Hears of the hyperparameters of every sweep.
    pub(super) fn learn(&mut self, state: &[f64]) {
        if self.uses_sites && self.adapt != Adapt::Nothing {
            self.hyperparameters.write_parameters(state, &mut self.log_parameters);
            self.count += 1.0;
            for (sum, value) in self.sums.iter_mut().zip(&self.log_parameters) {
                *sum += value;
            }
        }
    }

    /// Begins a stage, with new sites at the mean of the hyperparameters visited in the last one
    /// if it was learning. A stage that only settles step sizes moves none but the first sites.
    pub(super) fn enter(&mut self, stage: &Stage) {
        let wanted = match self.adapt {
            Adapt::Metric => true,
            Adapt::StepSize => self.origin == Origin::First,
            Adapt::Nothing => false,
        };
        if wanted && self.count >= FEWEST {
            for (mean, sum) in self.log_parameters.iter_mut().zip(&self.sums) {
                *mean = sum / self.count;
            }
            self.place_sites();
        }
        self.count = 0.0;
        self.sums.fill(0.0);
        self.adapt = stage.adapt;
    }

    /// Finds sites at `log_parameters`; where there are none the old ones stay.
    fn place_sites(&mut self) {
        let old = self.sites.clone();
        self.there.set(&self.log_parameters);
        let Shared { likelihood, there, sites, .. } = self;
        match approximate(likelihood, self.inverse_temperature, there, sites) {
            Ok(_) => self.origin = Origin::Mean,
            Err(_) => self.sites = old,
        }
        self.here.forget_sites();
        self.there.forget_sites();
    }

    pub(super) fn memory(&self) -> Vec<f64> {
        if !self.uses_sites {
            return Vec::new();
        }
        let mut memory = vec![f64::from(self.origin as u8), self.count];
        memory.extend(&self.sums);
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
                2 => Origin::Mean,
                _ => return Err(memory.foreign()),
            };
            self.count = memory.number()?;
            memory.fill(&mut self.sums)?;
            if self.origin != Origin::None {
                self.sites.read(&mut memory)?;
            }
        }
        self.here.forget_sites();
        self.there.forget_sites();
        memory.finish()
    }
}

fn finite(value: f64) -> Result<f64, Infeasible> {
    if value.is_finite() { Ok(value) } else { Err(Infeasible::NotFinite) }
}
