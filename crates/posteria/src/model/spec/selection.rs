//! Describe which inputs may leave a model, and how they are proposed to.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::checks::conflict;
use super::{InferenceChoice, ModelKind, Spec, SpecError};

const SECTION: &str = "selection";

/// `[selection]`: input sets are sampled with everything else.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SelectionSpec {
    /// Prior of input sets; `"uniform-models"` if absent, `{ binomial = 0.5 }` with `requires`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prior: Option<InclusionPriorSpec>,
    /// How sets are proposed; `"flip"` if absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scheme: Option<SchemeChoice>,
    /// Probability of a switch: one input enters as another leaves. 0.33 if absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub switch: Option<f64>,
    /// `"birth-death"`: probability of a death where both are possible. 0.5 if absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub death: Option<f64>,
    /// Proposals per sweep; one per candidate, at most 20, if absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub jumps: Option<usize>,
    /// Candidate values of what an input brings along, drawn for every proposal; 4 if absent, 2 of
    /// a Gaussian process.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tries: Option<usize>,
    /// Inputs that are in every set.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub always: Option<Vec<String>>,
    /// Inputs that enter and leave together.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub groups: Option<Vec<Vec<String>>>,
    /// Inputs, and those that must be in for them to be in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub requires: Option<BTreeMap<String, Vec<String>>>,
}

/// The prior of input sets. A *candidate* is an input, or a group of inputs, that may leave; K is
/// the number of candidates and k how many of them are in.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum InclusionPriorSpec {
    /// All sets are equally probable.
    #[default]
    UniformModels,
    /// All numbers of inputs are equally probable, and all sets of one size.
    UniformSizes,
    /// Every candidate is in with probability π, and π ~ Beta(a, b).
    #[serde(rename = "beta_binomial")]
    BetaBinomial([f64; 2]),
    /// The beta-binomial prior whose number of inputs has this mean and standard deviation.
    Expected([f64; 2]),
    /// Every candidate is in with this probability.
    Binomial(f64),
    /// Weights of the numbers 0, …, K of inputs, or of 1, …, K; all sets of one size are equally
    /// probable.
    Sizes(Vec<f64>),
    /// The probability of every candidate, in the order of the columns.
    Probabilities(Vec<f64>),
}

/// How sets are proposed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SchemeChoice {
    /// A candidate is picked and changes its place.
    #[default]
    Flip,
    /// Whether one enters or leaves is decided first.
    BirthDeath,
}

/// Usual probability of a switch.
pub(in crate::model) const SWITCH: f64 = 0.33;
/// Usual probability of a death.
pub(in crate::model) const DEATH: f64 = 0.5;
/// Usual number of candidate values: those of a network are cheap beside a trajectory.
pub(in crate::model) const TRIES: usize = 4;
/// The same of a Gaussian process, where each costs a factorisation.
pub(in crate::model) const PROCESS_TRIES: usize = 2;
/// Most proposals per sweep, if not asked for.
pub(in crate::model) const MOST_JUMPS: usize = 20;

impl SelectionSpec {
    /// Checks what does not depend on the data.
    pub(super) fn check(&self) -> Result<(), SpecError> {
        let refuse = |key, value, must_be| {
            Err::<(), _>(SpecError::out_of_range(SECTION, key, value, must_be))
        };
        let usual = |value: f64| value > 0.0 && value < 1e100;
        use InclusionPriorSpec::{Binomial, Probabilities};
        if self.requires() && !matches!(self.prior(), Binomial(_) | Probabilities(_)) {
            let with = "a prior of the number of inputs, but prior = { binomial = 0.5 } or \
                        probabilities";
            return conflict(SECTION, "requires", with);
        }
        match &self.prior() {
            InclusionPriorSpec::UniformModels | InclusionPriorSpec::UniformSizes => {}
            InclusionPriorSpec::BetaBinomial(shapes) => {
                if let Some(shape) = shapes.iter().find(|shape| !(**shape > 1e-6 && **shape < 1e6))
                {
                    let must_be = "two shapes between 0.000001 and 1000000";
                    return refuse("beta_binomial", *shape, must_be);
                }
            }
            InclusionPriorSpec::Expected(moments) => {
                if let Some(value) = moments.iter().find(|value| !usual(**value)) {
                    let must_be = "a positive mean and standard deviation";
                    return refuse("expected", *value, must_be);
                }
            }
            InclusionPriorSpec::Binomial(p) => {
                if !(*p > 0.0 && *p < 1.0) {
                    return refuse("binomial", *p, "a probability between 0 and 1, both excluded");
                }
            }
            InclusionPriorSpec::Sizes(weights) => {
                let fine = |weight: &f64| *weight == 0.0 || usual(*weight);
                if let Some(weight) = weights.iter().find(|weight| !fine(weight)) {
                    return refuse("sizes", *weight, "weights that are not negative");
                }
                let first = weights.iter().position(|weight| *weight > 0.0);
                let last = weights.iter().rposition(|weight| *weight > 0.0);
                let (Some(first), Some(last)) = (first, last) else {
                    return refuse("sizes", 0.0, "weights of which one is positive");
                };
                if weights[first..=last].contains(&0.0) {
                    let must_be = "weights without a gap: proposals change the number by one";
                    return refuse("sizes", 0.0, must_be);
                }
                if first == last && self.switch() == 0.0 {
                    return refuse("switch", 0.0, "positive where only one number of inputs is");
                }
            }
            InclusionPriorSpec::Probabilities(each) => {
                if let Some(p) = each.iter().find(|p| !(**p > 0.0 && **p < 1.0)) {
                    let must_be = "between 0 and 1, both excluded (always = [..] keeps an input)";
                    return refuse("probabilities", *p, must_be);
                }
            }
        }
        if !(0.0..=0.95).contains(&self.switch()) {
            return refuse("switch", self.switch(), "a probability from 0 to 0.95");
        }
        if self.scheme() == SchemeChoice::Flip && self.death.is_some() {
            return conflict(SECTION, "death", "scheme = \"flip\"");
        }
        if !(0.05..=0.95).contains(&self.death()) {
            return refuse("death", self.death(), "a probability from 0.05 to 0.95");
        }
        for (key, count) in [("jumps", self.jumps), ("tries", self.tries)] {
            if let Some(count) = count.filter(|count| !(1..=10_000).contains(count)) {
                return refuse(key, count as f64, "a number from 1 to 10000");
            }
        }
        Ok(())
    }

    /// Whether anything requires something else.
    fn requires(&self) -> bool {
        self.requires.as_ref().is_some_and(|requires| !requires.is_empty())
    }

    /// Prior of input sets: where some require others, each is in with probability ½ given that
    /// those are.
    pub fn prior(&self) -> InclusionPriorSpec {
        match &self.prior {
            Some(prior) => prior.clone(),
            None if self.requires() => InclusionPriorSpec::Binomial(0.5),
            None => InclusionPriorSpec::default(),
        }
    }

    /// How sets are proposed.
    pub fn scheme(&self) -> SchemeChoice {
        self.scheme.unwrap_or_default()
    }

    /// Probability of a switch.
    pub fn switch(&self) -> f64 {
        self.switch.unwrap_or(SWITCH)
    }

    /// Probability of a death where both are possible.
    pub fn death(&self) -> f64 {
        self.death.unwrap_or(DEATH)
    }

    /// Writes the defaults that do not depend on the data.
    fn complete(&mut self, kind: ModelKind) {
        self.prior = Some(self.prior());
        self.switch.get_or_insert(SWITCH);
        self.tries.get_or_insert(if kind == ModelKind::Gp { PROCESS_TRIES } else { TRIES });
        if *self.scheme.get_or_insert_default() == SchemeChoice::BirthDeath {
            self.death.get_or_insert(DEATH);
        }
    }
}

impl Spec {
    /// Checks `[selection]` beside the other sections.
    pub(super) fn check_selection(&self) -> Result<(), SpecError> {
        let Some(selection) = &self.selection else { return Ok(()) };
        if self.sampling.inference() != InferenceChoice::Mcmc {
            return conflict(SECTION, "the section", "inference other than \"mcmc\"");
        }
        selection.check()
    }

    /// Writes the defaults of `[selection]`, if it is there.
    pub(in crate::model) fn complete_selection(&mut self) {
        if let Some(selection) = &mut self.selection {
            selection.complete(self.model.kind);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn checked(text: &str) -> Result<(), String> {
        let text = format!("[model]\nkind = 'mlp'\n[selection]\n{text}");
        let spec = Spec::from_toml(&text).map_err(|error| error.to_string())?;
        spec.check().map_err(|error| error.to_string())
    }

    #[test]
    fn every_prior_can_be_written() {
        for text in [
            "",
            "prior = 'uniform-models'",
            "prior = 'uniform-sizes'\nscheme = 'birth-death'\ndeath = 0.6\nswitch = 0.0",
            "prior = { beta_binomial = [5, 10] }",
            "prior = { binomial = 0.2 }",
            "prior = { sizes = [0.0, 2, 1] }\njumps = 5\ntries = 2",
            "prior = { probabilities = [0.2, 0.9] }\nalways = ['a']\ngroups = [['b', 'c']]",
            "requires = { ab = ['a', 'b'] }",
            "requires = { ab = ['a', 'b'] }\nprior = { binomial = 0.2 }",
        ] {
            assert_eq!(checked(text), Ok(()), "{text}");
        }
    }

    #[test]
    fn what_makes_no_sense_is_refused() {
        for (text, part) in [
            ("prior = 'flat'", "flat"),
            ("prior = { beta_binomial = [0, 1] }", "shapes"),
            ("prior = { binomial = 1.0 }", "excluded"),
            ("prior = { sizes = [1, 0, 1] }", "gap"),
            ("prior = { sizes = [0, 0] }", "one is positive"),
            ("prior = { sizes = [0, 1, 0] }\nswitch = 0.0", "switch"),
            ("prior = { sizes = [-1, 1] }", "negative"),
            ("prior = { probabilities = [0.5, 0.0] }", "always"),
            ("requires = { ab = ['a'] }\nprior = 'uniform-sizes'", "binomial = 0.5"),
            ("switch = 1.0", "0.95"),
            ("death = 0.5", "flip"),
            ("scheme = 'birth-death'\ndeath = 1.0", "0.95"),
            ("jumps = 0", "10000"),
            ("jump = 1", "unknown"),
        ] {
            let message = checked(text).unwrap_err();
            assert!(message.contains(part), "{text}: {message}");
        }
        let text = "[model]\nkind = 'pca'\n[sampling]\ninference = 'variational'\n[selection]\n";
        assert!(Spec::from_toml(text).unwrap().check().is_err());
        let text = "[model]\nkind = 'mlp'\n[sampling]\ninference = 'laplace'\n[selection]\n";
        assert!(Spec::from_toml(text).unwrap().check().is_err());
    }

    #[test]
    fn a_completed_section_says_everything_and_stays() {
        let mut spec = Spec::from_toml("[selection]\nscheme = 'birth-death'\n").unwrap();
        spec.complete(crate::data::Task::Regression).unwrap();
        let selection = spec.selection.clone().unwrap();
        assert_eq!(selection.prior, Some(InclusionPriorSpec::UniformModels));
        assert_eq!(selection.death, Some(DEATH));
        let again = Spec::from_toml(&spec.to_toml().unwrap()).unwrap();
        assert_eq!(again.selection, Some(selection));
    }
}
