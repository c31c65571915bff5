//! Tell the density of all hyperparameters together, functions integrated out.

use super::latent::LatentMarginal;
use super::observed::Observed;
use super::posterior::GpPosterior;
use super::process::Process;
use super::regression::RegressionConditional;
use super::start;
use crate::model::spec::ResidualFamily;
use crate::model::{ModelError, Posterior};
use crate::random::{Purpose, Seed, Stream};
use crate::sample::Conditional;
use crate::target::{Infeasible, LogDensity};

/// Climbs to modes where each density takes a search of its own: as many as all of them together have so
/// many functions at rows, …
const CLIMBED_FUNCTIONS: usize = 2000;
/// … and not fewer than this.
const FEWEST_CLIMBS: usize = 2;

/// log p(θ) + log p(y | θ) of the logarithms θ of everything in a state of a Gaussian process but
/// functions, which are integrated out; normalised, of the standardised targets.
///
/// Of normal residuals that integral is exact [Rasmussen & Williams 2006, eq. 2.30]; of classes and
/// counts it is that of Laplace's method at the mode of the functions given θ [Williams & Barber 1998].
pub struct HyperparameterDensity<'p> {
    posterior: &'p GpPosterior,
    density: Density<'p>,
}

enum Density<'p> {
    Exact(Box<RegressionConditional<'p>>),
    Laplace(Box<LatentMarginal<'p>>),
}

impl GpPosterior {
    /// The density of the hyperparameters.
    ///
    /// # Errors
    /// [`ModelError::NotAvailable`] where some of them are discrete, or functions cannot be
    /// integrated out.
    pub fn hyperparameters(&self) -> Result<HyperparameterDensity<'_>, ModelError> {
        self.integrates_functions()?;
        let density = match &self.observed {
            Observed::Real(residual) => {
                let mut density = RegressionConditional::new(self, residual, &self.processes, 1.0);
                density.condition(&self.template());
                Density::Exact(Box::new(density))
            }
            _ => Density::Laplace(Box::new(LatentMarginal::new(self, &self.template()))),
        };
        Ok(HyperparameterDensity { posterior: self, density })
    }

    /// A state with everything else than hyperparameters that are to be found: known scales.
    fn template(&self) -> Vec<f64> {
        match self.keeps_latents() {
            true => vec![0.0; self.state_len()],
            false => self.start(&mut Seed(0).stream(Purpose::Start, [0, u64::MAX])),
        }
    }

    /// Whether there is a density of the hyperparameters, functions integrated out.
    ///
    /// # Errors
    /// [`ModelError::NotAvailable`] for discrete hyperparameters, and likelihoods without Laplace's method.
    pub fn integrates_functions(&self) -> Result<(), ModelError> {
        let refuse = |what: &str| {
            let what = format!("inference = \"laplace\" or \"map\" of a Gaussian process {what}");
            Err(ModelError::NotAvailable { what })
        };
        if self.selection.is_some() {
            return refuse("whose inputs may leave it");
        }
        if self.processes.iter().any(|process: &Process| process.hyperparameters.has_sampled_dof())
        {
            return refuse("with degrees of freedom of a prior to be sampled");
        }
        match &self.observed {
            Observed::Real(residual) if residual.family != ResidualFamily::Normal => {
                refuse("with residuals that are not normal")
            }
            Observed::Real(residual) if residual.density_slots().is_none() => {
                refuse("with such a residual model")
            }
            Observed::Outcomes(outcomes) if outcomes.are_ordered() => refuse("of ordered classes"),
            _ => Ok(()),
        }
    }
}

impl HyperparameterDensity<'_> {
    /// Entries of a state of the posterior that a position stands for.
    pub fn slots(&self) -> &[usize] {
        match &self.density {
            Density::Exact(density) => density.slots(),
            Density::Laplace(density) => density.slots(),
        }
    }

    /// A state with everything else than hyperparameters and functions that are to be found.
    pub fn template(&self) -> Vec<f64> {
        self.posterior.template()
    }

    /// Positions from which to climb to the modes: moderate hyperparameters, always the same.
    pub fn starts(&self) -> Vec<Vec<f64>> {
        let mut starts = start::hyperparameters(self.posterior, self.slots());
        if self.draws_functions() {
            let functions = self.posterior.latents.len().max(1);
            starts.truncate((CLIMBED_FUNCTIONS / functions).max(FEWEST_CLIMBS));
        }
        starts
    }

    /// What turns a log density of the standardised targets into one in the user's unit.
    pub fn log_unit(&self) -> f64 {
        match &self.posterior.observed {
            Observed::Real(_) => {
                let scales = self.posterior.target_scaling.iter().map(|it| it.scale.ln());
                -(self.posterior.row_count() as f64) * scales.sum::<f64>()
            }
            _ => 0.0,
        }
    }

    /// Whether states hold functions, which are drawn given the hyperparameters.
    pub fn draws_functions(&self) -> bool {
        matches!(self.density, Density::Laplace(_))
    }

    /// Draws the functions of a state given its hyperparameters, from the normal distribution at their
    /// mode; nothing where states hold none.
    ///
    /// # Errors
    /// [`Infeasible`] where the hyperparameters have no usable density.
    pub fn draw_functions(
        &mut self,
        state: &mut [f64],
        stream: &mut Stream,
    ) -> Result<(), Infeasible> {
        match &mut self.density {
            Density::Exact(_) => Ok(()),
            Density::Laplace(density) => density.draw(state, stream),
        }
    }

    /// Log ratios of the density of functions to that of the normal distribution at their mode, of draws
    /// of the latter at the hyperparameters of a position: the mean of their exponentials is what
    /// the density of the targets there has to be multiplied by. None where functions are
    /// integrated out exactly.
    ///
    /// # Errors
    /// [`Infeasible`] where the hyperparameters have no usable density.
    pub fn weigh_functions(
        &mut self,
        position: &[f64],
        draws: usize,
        stream: &mut Stream,
    ) -> Result<Vec<f64>, Infeasible> {
        match &mut self.density {
            Density::Exact(_) => Ok(Vec::new()),
            Density::Laplace(density) => density.weigh(position, draws, stream),
        }
    }
}

impl LogDensity for HyperparameterDensity<'_> {
    fn dim(&self) -> usize {
        self.slots().len()
    }

    fn log_density(&mut self, position: &[f64]) -> Result<f64, Infeasible> {
        let value = match &mut self.density {
            Density::Exact(density) => density.log_density(position)?,
            Density::Laplace(density) => density.log_density(position)?,
        };
        if value.is_finite() { Ok(value) } else { Err(Infeasible::NotFinite) }
    }

    fn log_density_gradient(
        &mut self,
        position: &[f64],
        gradient: &mut [f64],
    ) -> Result<f64, Infeasible> {
        match &mut self.density {
            Density::Exact(density) => density.log_density_gradient(position, gradient),
            Density::Laplace(density) => density.log_density_gradient(position, gradient),
        }
    }
}
