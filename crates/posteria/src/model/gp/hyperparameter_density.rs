//! Tell the density of all hyperparameters together, functions integrated out.

use super::observed::Observed;
use super::posterior::GpPosterior;
use super::regression::RegressionConditional;
use super::start;
use crate::model::residual::Residual;
use crate::model::spec::ResidualFamily;
use crate::model::{ModelError, Posterior};
use crate::random::{Purpose, Seed};
use crate::sample::Conditional;
use crate::target::{Infeasible, LogDensity};

/// log p(θ) + log p(y | θ) of the logarithms θ of everything in a state of a Gaussian process but
/// functions, which are integrated out; normalised, of the standardised targets.
///
/// Of normal residuals that integral is exact [Rasmussen & Williams 2006, eq. 2.30].
pub struct HyperparameterDensity<'p> {
    posterior: &'p GpPosterior,
    density: RegressionConditional<'p>,
}

impl GpPosterior {
    /// The density of the hyperparameters.
    ///
    /// # Errors
    /// [`ModelError::NotAvailable`] where some of them are discrete, or functions cannot be
    /// integrated out.
    pub fn hyperparameters(&self) -> Result<HyperparameterDensity<'_>, ModelError> {
        let residual = self.integrates_functions()?;
        let density = RegressionConditional::new(self, residual, &self.processes, 1.0);
        let mut density = HyperparameterDensity { posterior: self, density };
        let template = density.template();
        density.density.condition(&template);
        Ok(density)
    }

    /// The residual model that functions can be integrated out of.
    fn integrates_functions(&self) -> Result<&Residual, ModelError> {
        let refuse = |what: &str| {
            let what = format!("inference = \"laplace\" or \"map\" of a Gaussian process {what}");
            Err(ModelError::NotAvailable { what })
        };
        if self.selection.is_some() {
            return refuse("whose inputs may leave it");
        }
        let is_discrete =
            |process: &super::process::Process| process.hyperparameters.has_sampled_dof();
        if self.processes.iter().any(is_discrete) {
            return refuse("with degrees of freedom of a prior to be sampled");
        }
        match &self.observed {
            Observed::Real(residual) if residual.family != ResidualFamily::Normal => {
                refuse("with residuals that are not normal")
            }
            Observed::Real(residual) if residual.density_slots().is_none() => {
                refuse("with such a residual model")
            }
            Observed::Real(residual) => Ok(residual),
            Observed::Outcomes(_) => refuse("for counts or durations"),
            _ => refuse("for classes"),
        }
    }
}

impl HyperparameterDensity<'_> {
    /// Entries of a state of the posterior that a position stands for.
    pub fn slots(&self) -> &[usize] {
        self.density.slots()
    }

    /// A state with everything else than hyperparameters that are to be found.
    pub fn template(&self) -> Vec<f64> {
        self.posterior.start(&mut Seed(0).stream(Purpose::Start, [0, u64::MAX]))
    }

    /// Positions from which to climb to the modes: moderate hyperparameters, always the same.
    pub fn starts(&self) -> Vec<Vec<f64>> {
        start::hyperparameters(self.posterior, self.slots())
    }

    /// What turns a log density of the standardised targets into one in the user's unit.
    pub fn log_unit(&self) -> f64 {
        let scales = self.posterior.target_scaling.iter().map(|scaling| scaling.scale.ln());
        -(self.posterior.row_count() as f64) * scales.sum::<f64>()
    }
}

impl LogDensity for HyperparameterDensity<'_> {
    fn dim(&self) -> usize {
        self.slots().len()
    }

    fn log_density(&mut self, position: &[f64]) -> Result<f64, Infeasible> {
        let value = self.density.log_density(position)?;
        if value.is_finite() { Ok(value) } else { Err(Infeasible::NotFinite) }
    }

    fn log_density_gradient(
        &mut self,
        position: &[f64],
        gradient: &mut [f64],
    ) -> Result<f64, Infeasible> {
        self.density.log_density_gradient(position, gradient)
    }
}
