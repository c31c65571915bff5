//! Check a specification of a mixture, and fill in its defaults.

use crate::model::spec::checks::positive;
use crate::model::spec::{Dof, InferenceChoice, ModelKind, PriorSpec, Spec, SpecError};

/// Components, unless a number is given.
const COMPONENTS: usize = 6;
/// Most components: beyond, a row tells them apart no better.
const MOST_COMPONENTS: usize = 1000;
/// Concentration of the mixing weights: a component without rows is worth no more than a
/// thousandth of a row, and is left empty [Bishop 2006, §10.2.1].
const CONCENTRATION: f64 = 1e-3;
/// Rows that the prior knowledge of a mean is worth: its deviation is 10 of the component's.
const MEAN_ROWS: f64 = 0.01;
/// Standard deviation of a column within a component, in deviations of all rows.
const SCALE: f64 = 0.3;
/// Degrees of freedom of its variance.
const DOF: f64 = 3.0;

const GROUPS: [&str; 3] = ["mixing", "means", "covariance"];
const WITH: &str = "kind = \"mixture\"";

/// A mixture of normal distributions whose specification has passed its checks.
///
/// Rows are x ~ Σ_k π_k N(μ_k, Λ_k⁻¹) with π ~ Dirichlet(α₀, …, α₀), Λ_k ~ Wishart and
/// μ_k given Λ_k ~ N(0, (ρ Λ_k)⁻¹), all on the standardised scale.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Mixture {
    pub(super) components: usize,
    pub(super) concentration: f64,
    pub(super) mean_rows: f64,
    pub(super) scale: f64,
    pub(super) dof: f64,
}

impl Mixture {
    /// Checks the sections `[model]`, `[prior.*]` and `[sampling]` of a specification.
    ///
    /// | key | default | meaning |
    /// |---|---|---|
    /// | `model.components` | 6 | number of components; superfluous ones stay empty |
    /// | `prior.mixing.shape` | 0.001 | concentration α₀ of the Dirichlet prior |
    /// | `prior.means.rho` | 0.01 | precision of a mean in units of its component's |
    /// | `prior.covariance.scale`, `.dof` | 0.3, 3 | the variance of every column within a component is inverse gamma with these |
    ///
    /// The Wishart prior of Λ_k has ν₀ = d - 1 + dof and W₀⁻¹ = dof · scale² I, so that each
    /// variance Σ_jj has the inverse gamma prior that the keys say, whatever the number of
    /// columns.
    ///
    /// # Errors
    /// [`SpecError`].
    pub fn new(spec: &Spec) -> Result<Self, SpecError> {
        if spec.model.kind != ModelKind::Mixture {
            let what = format!("kind = \"{}\" as a mixture", spec.model.kind.name());
            return Err(SpecError::NotAvailable { what });
        }
        spec.refuse_other_kinds()?;
        spec.refuse_other_keys(&GROUPS, &[&["shape"], &["rho"], &["scale", "dof"]], WITH)?;
        let components = spec.model.components.unwrap_or(COMPONENTS);
        if components == 0 || components > MOST_COMPONENTS {
            let must_be = "at least 1 and at most 1000";
            return Err(SpecError::out_of_range("model", "components", components as f64, must_be));
        }
        let absent = PriorSpec::default();
        let of = |name: &str| spec.prior.get(name).unwrap_or(&absent);
        let covariance = of("covariance");
        let dof = match &covariance.dof {
            None => DOF,
            Some(Dof::Known(dof)) => *dof,
            Some(_) => {
                let what = "sampled dof in [prior.covariance]".into();
                return Err(SpecError::NotAvailable { what });
            }
        };
        let number = |section, key, given: Option<f64>, default| {
            positive(section, key, given.unwrap_or(default))
        };
        Ok(Mixture {
            components,
            concentration: number("prior.mixing", "shape", of("mixing").shape, CONCENTRATION)?,
            mean_rows: number("prior.means", "rho", of("means").rho, MEAN_ROWS)?,
            scale: number("prior.covariance", "scale", covariance.scale, SCALE)?,
            dof: positive("prior.covariance", "dof", dof)?,
        })
    }

    /// Writes every default into `spec`.
    pub(crate) fn complete(&self, spec: &mut Spec) -> Result<(), SpecError> {
        spec.model.components = Some(self.components);
        spec.sampling.inference = Some(InferenceChoice::Variational);
        spec.prior.entry("mixing".into()).or_default().shape = Some(self.concentration);
        spec.prior.entry("means".into()).or_default().rho = Some(self.mean_rows);
        let covariance = spec.prior.entry("covariance".into()).or_default();
        covariance.scale = Some(self.scale);
        covariance.dof = Some(Dof::Known(self.dof));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Task;

    #[test]
    fn a_completed_specification_survives_writing_and_reading() {
        for rest in ["", "components = 3\n[prior.mixing]\nshape = 1.0\n[sampling]\ndraws = 7"] {
            let text = format!("[model]\nkind = 'mixture'\n{rest}");
            let mut spec = Spec::from_toml(&text).unwrap();
            assert_eq!(spec.sampling.warmup, 0);
            spec.complete(Task::Regression).unwrap();
            let written = spec.to_toml().unwrap();
            assert_eq!(Spec::from_toml(&written).unwrap(), spec, "{written}");
            assert!(written.contains("inference = \"variational\""), "{written}");
            assert!(written.contains("shape = ") && written.contains("rho = 0.01"));
        }
    }

    #[test]
    fn what_a_mixture_does_not_have_is_refused() {
        for (rest, says) in [
            ("components = 0", "at least 1"),
            ("hidden = 3", "hidden in [model]"),
            ("task = 'binary'", "task in [model]"),
            ("[data]\ntarget = 'y'", "target in [data] does not go together with kind"),
            ("[residual]\nscale = 1.0", "residual"),
            ("[sampling]\nwarmup = 10", "warmup in [sampling]"),
            ("[sampling]\ninference = 'mcmc'", "known: variational"),
            ("[prior.weights]\nscale = 1.0", "known: mixing, means, covariance"),
            ("[prior.mixing]\nscale = 1.0", "scale in [prior.mixing]"),
            ("[prior.covariance]\ndof = 0.0", "positive"),
            ("[prior.covariance]\ndof = 'unknown'", "sampled dof"),
        ] {
            let spec = Spec::from_toml(&format!("[model]\nkind = 'mixture'\n{rest}")).unwrap();
            let error = spec.check().unwrap_err().to_string();
            assert!(error.contains(says), "{rest}: {error}");
        }
        let linear = Spec::from_toml("[model]\ncomponents = 3").unwrap();
        assert!(linear.check().unwrap_err().to_string().contains("components in [model]"));
    }
}
