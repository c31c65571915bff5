//! Check what models without targets have, and what they have not.

use super::checks::conflict;
use super::{ModelKind, PriorSpec, Spec, SpecError};

impl Spec {
    /// Refuses the number of components of a model that has none.
    pub(super) fn refuse_components(&self) -> Result<(), SpecError> {
        match self.model.kind {
            ModelKind::Mixture | ModelKind::Pca => Ok(()),
            _ if self.model.components.is_none() => Ok(()),
            _ => conflict("model", "components", "a kind other than \"mixture\" and \"pca\""),
        }
    }

    /// Refuses what only models of targets have; `with` says what this one is.
    pub(in crate::model) fn refuse_supervised_keys(
        &self,
        with: &'static str,
    ) -> Result<(), SpecError> {
        self.refuse_process_keys()?;
        let (data, model, sampling) = (&self.data, &self.model, &self.sampling);
        let given = [
            ("data", "target", !data.target.is_empty()),
            ("data", "test", data.test.is_some()),
            ("model", "task", model.task.is_some()),
            ("model", "priors", model.priors.is_some()),
            ("model", "hidden", model.hidden.is_some()),
            ("model", "direct", model.direct.is_some()),
            ("model", "intercept", model.intercept.is_some()),
            ("model", "basis", model.basis.is_some()),
            ("residual", "any key", self.residual.is_some()),
            ("sampling", "warmup", sampling.warmup != 0),
            ("sampling", "settle", sampling.settle.is_some()),
            ("sampling", "ess", sampling.ess.is_some()),
            ("sampling", "time", sampling.time.is_some()),
            ("sampling", "thin", sampling.thin != 1),
            ("sampling", "kernel", sampling.kernel.is_some()),
            ("sampling", "leapfrog_steps", sampling.leapfrog_steps.is_some()),
            ("sampling", "window", sampling.window.is_some()),
            ("sampling", "persistence", sampling.persistence.is_some()),
            ("sampling", "temperatures", sampling.temperatures.is_some()),
            ("sampling", "start", sampling.start.is_some()),
            ("sampling", "staged", sampling.staged.is_some()),
        ];
        if let Some((section, key, _)) = given.into_iter().find(|(.., given)| *given) {
            return conflict(section, key, with);
        }
        self.check_inference()
    }

    /// Refuses priors of other groups than `known`, each with its keys.
    pub(in crate::model) fn refuse_other_priors(
        &self,
        names: &'static [&'static str],
        allowed: &[&[&str]],
        with: &'static str,
    ) -> Result<(), SpecError> {
        for (name, prior) in &self.prior {
            let Some(index) = names.iter().position(|known| known == name) else {
                let (section, name) = ("prior", name.clone());
                return Err(SpecError::UnknownSection { section, name, known: names });
            };
            let given = given_keys(prior).into_iter();
            let mut others = given.filter(|(key, given)| *given && !allowed[index].contains(key));
            if let Some((key, _)) = others.next() {
                return conflict(&format!("prior.{name}"), key, with);
            }
        }
        Ok(())
    }
}

fn given_keys(prior: &PriorSpec) -> [(&'static str, bool); 10] {
    [
        ("family", prior.family.is_some()),
        ("sharing", prior.sharing.is_some()),
        ("fixed", prior.fixed.is_some()),
        ("scale", prior.scale.is_some()),
        ("dof", prior.dof.is_some()),
        ("top_dof", prior.top_dof.is_some()),
        ("width_scaled", prior.width_scaled.is_some()),
        ("weight_dof", prior.weight_dof.is_some()),
        ("rho", prior.rho.is_some()),
        ("shape", prior.shape.is_some() || prior.rate_scale.is_some()),
    ]
}
