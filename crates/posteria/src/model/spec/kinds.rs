//! Say which keys a kind of model has, and refuse the others.

use serde::{Deserialize, Serialize};

use super::ModelKind::{self, Gp, Linear, Mixture, Mlp, Pca};
use super::keys::given_keys;
use super::{PriorSpec, Spec, SpecError};

/// Models of targets.
const OF_TARGETS: &[ModelKind] = &[Linear, Mlp, Gp];
/// Models whose state is moved by trajectories.
const OF_TRAJECTORIES: &[ModelKind] = &[Mlp, Gp];
/// Models that find their number of components.
const OF_COMPONENTS: &[ModelKind] = &[Mixture, Pca];
const ALL: &[ModelKind] = &[Linear, Mlp, Gp, Mixture, Pca];

/// The keys of a section, each with the kinds of model that have it.
type Keys = &'static [(&'static str, &'static [ModelKind])];

/// `[model]`.
const MODEL: Keys = &[
    ("kind", ALL),
    ("task", OF_TARGETS),
    ("priors", OF_TARGETS),
    ("hidden", &[Mlp]),
    ("direct", &[Mlp]),
    ("intercept", &[Linear]),
    ("basis", &[Linear]),
    ("covariance", &[Gp]),
    ("mean", &[Gp]),
    ("jitter", &[Gp]),
    ("link", OF_TARGETS),
    ("processes", &[Gp]),
    ("neighbours", &[Gp]),
    ("components", OF_COMPONENTS),
];

/// `[prior.GROUP]`; of mixtures and principal components every group has keys of its own.
const PRIOR: Keys = &[
    ("family", OF_TARGETS),
    ("sharing", OF_TARGETS),
    ("fixed", &[Linear, Mlp, Gp, Pca]),
    ("scale", ALL),
    ("dof", ALL),
    ("top_dof", OF_TARGETS),
    ("log_sd", OF_TARGETS),
    ("top_log_sd", OF_TARGETS),
    ("width_scaled", OF_TRAJECTORIES),
    ("weight_dof", &[Mlp]),
    ("rho", &[Linear, Mixture]),
    ("shape", &[Linear, Gp, Mixture]),
    ("rate_scale", &[Linear]),
    ("lower", &[Gp]),
    ("upper", &[Gp]),
];

/// `[sampling]`.
const SAMPLING: Keys = &[
    ("chains", ALL),
    ("warmup", ALL),
    ("settle", OF_TARGETS),
    ("draws", ALL),
    ("ess", OF_TARGETS),
    ("time", OF_TARGETS),
    ("thin", ALL),
    ("seed", ALL),
    ("only_chain", ALL),
    ("inference", ALL),
    ("kernel", OF_TRAJECTORIES),
    ("leapfrog_steps", OF_TRAJECTORIES),
    ("window", &[Mlp]),
    ("persistence", &[Mlp]),
    ("temperatures", OF_TRAJECTORIES),
    ("start", OF_TRAJECTORIES),
    ("staged", &[Mlp]),
    ("latents", &[Gp]),
    ("inverse_temperature", &[Linear, Mlp, Gp]),
    ("tempering", &[Linear, Mlp]),
    ("log_lik_limit", ALL),
    ("device", ALL),
];

impl Spec {
    /// Refuses what only other kinds of model have.
    pub(in crate::model) fn refuse_other_kinds(&self) -> Result<(), SpecError> {
        let kind = self.model.kind;
        let sections = [
            ("data", "target", !self.data.target.is_empty(), OF_TARGETS),
            ("data", "test", self.data.test.is_some(), OF_TARGETS),
            ("residual", "any key", self.residual.is_some(), OF_TARGETS),
            ("hyperparameters", "any key", self.hyperparameters.is_some(), &[Gp]),
            ("selection", "any key", self.selection.is_some(), OF_TARGETS),
        ];
        for (section, key, given, kinds) in sections {
            if given && !kinds.contains(&kind) {
                return Err(SpecError::OtherKind { section: section.into(), key, kind, kinds });
            }
        }
        refuse("model", &self.model, (MODEL, kind))?;
        for (group, prior) in &self.prior {
            refuse(&format!("prior.{group}"), prior, (PRIOR, kind))?;
        }
        refuse("sampling", &self.sampling, (SAMPLING, kind))
    }

    /// Refuses priors of other groups than `known`.
    pub(in crate::model) fn refuse_other_groups(
        &self,
        known: &'static [&'static str],
    ) -> Result<(), SpecError> {
        match self.prior.keys().find(|name| !known.contains(&name.as_str())) {
            None => Ok(()),
            Some(name) => {
                Err(SpecError::UnknownSection { section: "prior", name: name.clone(), known })
            }
        }
    }

    /// Refuses priors of other groups than `known`, and in each group keys other than it has.
    pub(in crate::model) fn refuse_other_keys(
        &self,
        known: &'static [&'static str],
        keys: &[&[&str]],
        with: &'static str,
    ) -> Result<(), SpecError> {
        self.refuse_other_groups(known)?;
        for (name, keys) in known.iter().zip(keys) {
            if let Some(prior) = self.prior.get(*name) {
                prior.only(&format!("prior.{name}"), keys, with)?;
            }
        }
        Ok(())
    }
}

impl PriorSpec {
    /// Refuses keys other than `allowed`; `with` says what has only those.
    pub(in crate::model) fn only(
        &self,
        section: &str,
        allowed: &[&str],
        with: &'static str,
    ) -> Result<(), SpecError> {
        match given_keys(self).into_iter().find(|key| !allowed.contains(key)) {
            None => Ok(()),
            Some(key) => Err(SpecError::Conflict { section: section.into(), key, with }),
        }
    }
}

fn refuse<'de, T: Serialize + Deserialize<'de>>(
    section: &str,
    given: &T,
    (keys, kind): (Keys, ModelKind),
) -> Result<(), SpecError> {
    for key in given_keys(given) {
        let kinds = keys.iter().find(|(known, _)| *known == key).map_or(ALL, |(_, kinds)| *kinds);
        if !kinds.contains(&kind) {
            return Err(SpecError::OtherKind { section: section.into(), key, kind, kinds });
        }
    }
    Ok(())
}

/// What a key does not go together with, and where it belongs.
pub(super) fn other_kind(kind: ModelKind, kinds: &[ModelKind]) -> String {
    let name = kind.name();
    if kind.is_unsupervised() && kinds == OF_TARGETS {
        return format!("kind = \"{name}\", which has no targets");
    }
    let names: Vec<String> = kinds.iter().map(|kind| format!("\"{}\"", kind.name())).collect();
    format!("kind = \"{name}\" (it belongs to {})", names.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_key_says_which_kinds_have_it() {
        for (section, table) in [("model", MODEL), ("prior", PRIOR), ("sampling", SAMPLING)] {
            let keys = Spec::keys().into_iter().find(|(name, _)| *name == section).unwrap().1;
            let told: Vec<&str> = table.iter().map(|(key, _)| *key).collect();
            assert_eq!(told, keys, "[{section}]");
        }
    }

    #[test]
    fn keys_of_other_kinds_are_refused_with_the_kinds_that_have_them() {
        for (text, says) in [
            (
                "[model]\nhidden = 3",
                "hidden in [model] does not go together with kind = \"linear\" (it belongs to \
                 \"mlp\"); leave one of them out",
            ),
            ("[model]\nkind = 'gp'\nbasis = 'polynomial:2'", "basis in [model]"),
            ("[model]\nkind = 'gp'\n[sampling]\nstaged = true", "staged in [sampling]"),
            ("[model]\nkind = 'mlp'\n[hyperparameters]\nmagnitude = 1.0", "any key in [hyperp"),
            ("[model]\nkind = 'mlp'\n[prior.input_weights]\nlower = 1.0", "(it belongs to \"gp\")"),
            ("[model]\nkind = 'pca'\n[selection]", "kind = \"pca\", which has no targets"),
            ("[model]\nkind = 'pca'\njitter = 0.1", "(it belongs to \"gp\")"),
        ] {
            let error = Spec::from_toml(text).unwrap().check().unwrap_err().to_string();
            assert!(error.contains(says), "{text}: {error}");
        }
    }
}
