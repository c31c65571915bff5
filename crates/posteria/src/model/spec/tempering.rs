//! Say what of prior and likelihood is raised to a power, and find priors whose density is that power.

use serde::{Deserialize, Serialize};

use super::checks::conflict;
use super::{
    Dof, GammaSpec, PriorFamily, PriorSpec, ResidualFamily, ResidualSharing, ResidualSpec,
    SamplingSpec, Spec, SpecError,
};
use crate::data::Task;

const WITH: &str =
    "tempering in [sampling], for which the prior to a power must be known (fixed = a number)";

/// `tempering`: the density that chains sample at the inverse temperature β, which is the posterior where
/// β = 1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TemperingChoice {
    /// prior × likelihood^β: the prior at 0, the maximum of the likelihood at large β.
    #[default]
    Likelihood,
    /// (prior × likelihood)^β: the mode of the posterior at large β [Fabricius 1999, eq. 2.19].
    Posterior,
    /// prior^(1/β) × likelihood^β: the maximum of the likelihood at large β, and without the prior between
    /// equals [Fabricius 1999, eq. 2.18].
    Opposed,
}

impl SamplingSpec {
    /// The power of the prior; that of the likelihood is β.
    pub fn prior_power(&self) -> f64 {
        let beta = self.inverse_temperature.unwrap_or(1.0);
        match self.tempering.unwrap_or_default() {
            TemperingChoice::Likelihood => 1.0,
            TemperingChoice::Posterior => beta,
            TemperingChoice::Opposed => beta.recip(),
        }
    }
}

impl Spec {
    /// The specification, completed, with priors whose densities, of weights and of the logarithms of scales,
    /// are those here to this power γ, normalised. A normal or Laplace weight of a known scale s has s/√γ or
    /// s/γ; log σ of residuals, normal with deviation d or log inverse gamma with ν degrees of freedom, has
    /// d/√γ or γν. A weight whose scale is sampled has no such prior in general: what its scale is raised to
    /// depends on how many weights there are.
    ///
    /// # Errors
    /// [`SpecError::Conflict`] names what has none.
    pub(crate) fn with_prior_power(&self, power: f64, task: Task) -> Result<Spec, SpecError> {
        if task == Task::Ordinal {
            return conflict("model", "task = \"ordinal\"", WITH);
        }
        if self.selection.is_some() {
            return conflict("selection", "any key", WITH);
        }
        let mut spec = self.clone();
        spec.complete(task)?;
        for (group, prior) in &mut spec.prior {
            raise(group, prior, power)?;
        }
        if let Some(residual) = &mut spec.residual {
            raise_residual(residual, power)?;
        }
        Ok(spec)
    }
}

fn raise(group: &str, prior: &mut PriorSpec, power: f64) -> Result<(), SpecError> {
    let section = format!("prior.{group}");
    let Some(fixed) = &mut prior.fixed else {
        return conflict(&section, "a scale that is sampled", WITH);
    };
    match prior.family.unwrap_or(PriorFamily::Normal) {
        PriorFamily::Normal => *fixed /= power.sqrt(),
        PriorFamily::Laplace => *fixed /= power,
        _ => return conflict(&section, "a family other than normal and laplace", WITH),
    }
    Ok(())
}

fn raise_residual(residual: &mut ResidualSpec, power: f64) -> Result<(), SpecError> {
    let refused = [
        ("by", residual.by.is_some()),
        ("dof_by", residual.dof_by.is_some()),
        ("slopes", residual.slopes.is_some()),
        ("sharing = \"covariance\"", residual.sharing == Some(ResidualSharing::Covariance)),
        ("family = \"per-case\"", residual.family == Some(ResidualFamily::PerCase)),
        ("dof", residual.dof.as_ref().is_some_and(|dof| !matches!(dof, Dof::Known(_)))),
    ];
    if let Some((key, _)) = refused.into_iter().find(|(_, given)| *given) {
        return conflict("residual", key, WITH);
    }
    if let Some(dof) = &mut residual.scale_dof {
        *dof *= power;
    }
    if let Some(log_sd) = &mut residual.log_sd {
        *log_sd /= power.sqrt();
    }
    if let Some(GammaSpec { shape, scale }) = &mut residual.precision {
        (*shape, *scale) = (*shape * power, *scale / power);
    }
    Ok(())
}
