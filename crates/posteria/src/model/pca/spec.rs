//! Check a specification of principal components, and fill in its defaults.

use crate::density::{Gamma, InverseGamma};
use crate::model::spec::checks::positive;
use crate::model::spec::{Dof, InferenceChoice, ModelKind, PriorSpec, Spec, SpecError};

/// Standard deviation of the mean: vague on the standardised scale.
const MEAN_SD: f64 = 10.0;
/// Standard deviation scale of loadings and noise, with next to no weight: their precisions are
/// gamma with shape and rate 0.001 [Bishop 1999b].
const SCALE: f64 = 1.0;
const DOF: f64 = 0.002;
/// Most components that may be asked for.
const MOST_COMPONENTS: usize = 10_000;

const GROUPS: [&str; 3] = ["loadings", "mean", "noise"];
const WITH: &str = "kind = \"pca\"";

/// Principal components whose specification has passed its checks.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pca {
    /// Greatest number of components; one less than there are columns if absent.
    pub(super) components: Option<usize>,
    pub(super) mean_sd: f64,
    /// Of the variance of the loadings of a component.
    pub(super) loadings: InverseGamma,
    /// Of the variance of the noise.
    pub(super) noise: InverseGamma,
}

impl Pca {
    /// Checks the sections `[model]`, `[prior.*]` and `[sampling]` of a specification.
    ///
    /// | key | default | meaning |
    /// |---|---|---|
    /// | `model.components` | columns - 1 | greatest number of components; superfluous ones are switched off |
    /// | `prior.loadings.scale`, `.dof` | 1, 0.002 | inverse gamma prior of the variance of a component's loadings |
    /// | `prior.noise.scale`, `.dof` | 1, 0.002 | inverse gamma prior of the variance of the noise |
    /// | `prior.mean.fixed` | 10 | standard deviation of the mean of a column |
    ///
    /// # Errors
    /// [`SpecError`].
    pub fn new(spec: &Spec) -> Result<Self, SpecError> {
        if spec.model.kind != ModelKind::Pca {
            let what = format!("kind = \"{}\" as principal components", spec.model.kind.name());
            return Err(SpecError::NotAvailable { what });
        }
        spec.refuse_other_kinds()?;
        spec.refuse_other_keys(&GROUPS, &[&["scale", "dof"], &["fixed"], &["scale", "dof"]], WITH)?;
        if let Some(components) = spec.model.components
            && (components == 0 || components > MOST_COMPONENTS)
        {
            let (value, must_be) = (components as f64, "at least 1 and at most 10000");
            return Err(SpecError::out_of_range("model", "components", value, must_be));
        }
        let absent = PriorSpec::default();
        let of = |name: &str| spec.prior.get(name).unwrap_or(&absent);
        Ok(Pca {
            components: spec.model.components,
            mean_sd: positive("prior.mean", "fixed", of("mean").fixed.unwrap_or(MEAN_SD))?,
            loadings: variance("prior.loadings", of("loadings"))?,
            noise: variance("prior.noise", of("noise"))?,
        })
    }

    /// Writes every default into `spec`.
    pub(crate) fn complete(&self, spec: &mut Spec) -> Result<(), SpecError> {
        spec.sampling.inference = Some(InferenceChoice::Variational);
        for (name, prior) in [("loadings", self.loadings), ("noise", self.noise)] {
            let own = spec.prior.entry(name.into()).or_default();
            own.scale.get_or_insert(prior.scale());
            own.dof.get_or_insert(Dof::Known(prior.dof()));
        }
        spec.prior.entry("mean".into()).or_default().fixed = Some(self.mean_sd);
        Ok(())
    }
}

fn variance(section: &str, prior: &PriorSpec) -> Result<InverseGamma, SpecError> {
    let scale = positive(section, "scale", prior.scale.unwrap_or(SCALE))?;
    let dof = match &prior.dof {
        None => DOF,
        Some(Dof::Known(dof)) => positive(section, "dof", *dof)?,
        Some(_) => {
            return Err(SpecError::NotAvailable { what: format!("sampled dof in [{section}]") });
        }
    };
    let out_of_range =
        |_| SpecError::out_of_range(section, "scale", scale, "positive and of ordinary size");
    let prior = InverseGamma::new(scale, dof).map_err(out_of_range)?;
    precision(&prior).map(|_| prior).map_err(out_of_range)
}

/// The gamma distribution of the precision that belongs to an inverse gamma variance.
pub(super) fn precision(variance: &InverseGamma) -> Result<Gamma, crate::density::ParameterError> {
    let (scale, dof) = (variance.scale(), variance.dof());
    Gamma::from_shape_rate(0.5 * dof, 0.5 * dof * scale * scale)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Task;

    #[test]
    fn a_completed_specification_survives_writing_and_reading() {
        for rest in ["", "components = 3\n[prior.noise]\nscale = 0.1\ndof = 2.0"] {
            let mut spec = Spec::from_toml(&format!("[model]\nkind = 'pca'\n{rest}")).unwrap();
            assert_eq!((spec.sampling.warmup, spec.sampling.chains), (0, 4));
            spec.complete(Task::Regression).unwrap();
            let written = spec.to_toml().unwrap();
            assert_eq!(Spec::from_toml(&written).unwrap(), spec, "{written}");
            assert!(written.contains("inference = \"variational\""), "{written}");
            assert!(written.contains("fixed = 10.0") && written.contains("dof = 0.002"));
        }
    }

    #[test]
    fn what_principal_components_do_not_have_is_refused() {
        for (rest, says) in [
            ("components = 0", "at least 1"),
            ("[data]\ntarget = 'y'", "target in [data]"),
            ("[prior.mean]\nscale = 1.0", "scale in [prior.mean]"),
            ("[prior.weights]\nscale = 1.0", "known: loadings, mean, noise"),
            ("[prior.noise]\nscale = -1.0", "positive"),
            ("[prior.noise]\ndof = 'unknown'", "sampled dof"),
            (
                "[sampling]\ninference = 'committee'\nchains = 1\nwarmup = 0",
                "not known to kind = \"pca\"; known: variational",
            ),
        ] {
            let spec = Spec::from_toml(&format!("[model]\nkind = 'pca'\n{rest}")).unwrap();
            let error = spec.check().unwrap_err().to_string();
            assert!(error.contains(says), "{rest}: {error}");
        }
    }
}
