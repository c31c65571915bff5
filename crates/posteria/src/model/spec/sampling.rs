//! Describe how much to sample, how, and from which seed.

use serde::{Deserialize, Serialize};

use super::{LatentsChoice, ModelKind, SpecError};
use crate::random::Seed;
use crate::sample::{Adapt, Plan, Stage};

/// Updates of a network that a staged start holds still.
const STILL: [&str; 3] = ["scales", "scale moves", "residual"];

/// `[sampling]`: how much to sample, how, and the seed.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SamplingSpec {
    /// Number of chains.
    pub chains: usize,
    /// Sweeps of every chain that are discarded.
    pub warmup: usize,
    /// Draws kept of every chain.
    pub draws: usize,
    /// Sweeps per kept draw.
    pub thin: usize,
    /// The seed.
    pub seed: u64,
    /// How the posterior is found; by Markov chains if absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub inference: Option<InferenceChoice>,
    /// Network: what moves the weights.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kernel: Option<KernelChoice>,
    /// Network: number of leapfrog steps of a trajectory; found in warm-up if absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub leapfrog_steps: Option<usize>,
    /// Network, `kernel = "hmc"`: size of the acceptance window.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub window: Option<usize>,
    /// Network, `kernel = "hmc"`: fraction of the momentum kept between trajectories.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub persistence: Option<f64>,
    /// Network: number of temperatures of replica exchange; 1 is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub temperatures: Option<usize>,
    /// Network: where chains start.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub start: Option<StartChoice>,
    /// Network, `kernel = "hmc"` or `"nuts"`: whether the first tenth of the warm-up moves the
    /// weights alone, given the scales that the chain starts with [MCMCstuff manual §3.2.4].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub staged: Option<bool>,
    /// Gaussian process of classes: what moves the latent values.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub latents: Option<LatentsChoice>,
}

/// How the posterior is found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum InferenceChoice {
    /// By Markov chains.
    #[default]
    Mcmc,
    /// Mixture and principal components: by the best of a family of simple distributions.
    Variational,
    /// Network: not at all; `draws` networks trained with early stopping take its place.
    Committee,
}

impl InferenceChoice {
    /// The choice as specification files spell it.
    pub fn name(self) -> &'static str {
        match self {
            InferenceChoice::Mcmc => "mcmc",
            InferenceChoice::Variational => "variational",
            InferenceChoice::Committee => "committee",
        }
    }
}

/// What moves the weights of a network.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum KernelChoice {
    /// What was found best for the residual model: trajectories with the output weights
    /// integrated out for real targets, mixed trajectories for classes.
    Auto,
    /// Hybrid Monte Carlo on the weights given the scales, with heuristic step sizes.
    Hmc,
    /// No-U-Turn trajectories on the weights given the scales.
    Nuts,
}

/// Where chains start.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum StartChoice {
    /// Small random weights and moderate scales, different for every chain.
    Dispersed,
    /// Weights trained with early stopping on a random half, scales from their size.
    EarlyStopping,
    /// A draw from the prior.
    Prior,
}

impl Default for SamplingSpec {
    fn default() -> Self {
        SamplingSpec {
            chains: 4,
            warmup: 1000,
            draws: 1000,
            thin: 1,
            seed: 1,
            inference: None,
            kernel: None,
            leapfrog_steps: None,
            window: None,
            persistence: None,
            temperatures: None,
            start: None,
            staged: None,
            latents: None,
        }
    }
}

impl SamplingSpec {
    /// Members of a committee, unless a number is given.
    pub const MEMBERS: usize = 10;

    /// Sweeps of warm-up, and draws kept, of a chain of a Gaussian process unless they are given:
    /// its draws are nearly independent, and each costs the cube of the number of rows.
    pub const PROCESS_SWEEPS: usize = 500;

    /// The numbers of chains, sweeps and draws for a kind of model, unless they are given.
    pub fn usual(kind: ModelKind) -> Self {
        let usual = SamplingSpec::default();
        match kind {
            ModelKind::Gp => {
                SamplingSpec { warmup: Self::PROCESS_SWEEPS, draws: Self::PROCESS_SWEEPS, ..usual }
            }
            // Independent draws have nothing to warm up.
            ModelKind::Mixture | ModelKind::Pca => SamplingSpec { warmup: 0, ..usual },
            _ => usual,
        }
    }

    /// A committee of the usual number of members: one chain without warm-up, with one draw per
    /// member.
    pub fn committee(seed: u64) -> Self {
        SamplingSpec {
            chains: 1,
            warmup: 0,
            draws: Self::MEMBERS,
            seed,
            inference: Some(InferenceChoice::Committee),
            ..SamplingSpec::default()
        }
    }

    /// Whether networks trained with early stopping take the place of the posterior.
    pub fn is_committee(&self) -> bool {
        self.inference == Some(InferenceChoice::Committee)
    }

    /// The plan that this section asks for.
    ///
    /// # Errors
    /// [`SpecError::OutOfRange`] if there is nothing to sample, [`SpecError::Conflict`] for a
    /// committee with chains.
    pub fn plan(&self) -> Result<Plan, SpecError> {
        for (key, value) in [("chains", self.chains), ("draws", self.draws), ("thin", self.thin)] {
            if value == 0 {
                return Err(SpecError::out_of_range("sampling", key, 0.0, "at least 1"));
            }
        }
        if self.is_committee() {
            self.refuse_chains()?;
        }
        // At most all of the warm-up, so that nothing is taken from the windows that tune.
        let alone = if self.staged == Some(true) { self.warmup / 10 } else { 0 };
        let mut plan = Plan::new(self.chains, self.warmup - alone, self.draws);
        if alone > 0 {
            let still = STILL.map(String::from).to_vec();
            let first =
                Stage { iterations: alone, still, adapt: Adapt::StepSize, ..Stage::default() };
            plan.warmup.insert(0, first);
        }
        Ok(Plan { thin: self.thin, ..plan })
    }

    /// Members are trained one by one: there are no chains to warm up, thin or move.
    fn refuse_chains(&self) -> Result<(), SpecError> {
        let asked = [
            ("chains", self.chains != 1),
            ("warmup", self.warmup != 0),
            ("thin", self.thin != 1),
            ("kernel", self.kernel.is_some()),
            ("leapfrog_steps", self.leapfrog_steps.is_some()),
            ("window", self.window.is_some()),
            ("persistence", self.persistence.is_some()),
            ("temperatures", self.temperatures.is_some()),
            ("start", self.start.is_some()),
            ("staged", self.staged.is_some()),
            ("latents", self.latents.is_some()),
        ];
        let with = "inference = \"committee\", which has members in place of chains";
        match asked.into_iter().find(|(_, asked)| *asked) {
            None => Ok(()),
            Some((key, _)) => Err(SpecError::Conflict { section: "sampling".into(), key, with }),
        }
    }

    /// Refuses what only networks have.
    pub(super) fn refuse_network_keys(&self) -> Result<(), SpecError> {
        let asked = [("inference", self.is_committee()), ("staged", self.staged.is_some())];
        let with = "a model other than kind = \"mlp\"";
        match asked.into_iter().find(|(_, asked)| *asked) {
            None => Ok(()),
            Some((key, _)) => Err(SpecError::Conflict { section: "sampling".into(), key, with }),
        }
    }

    /// The seed.
    pub fn seed(&self) -> Seed {
        Seed(self.seed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_staged_warmup_moves_the_weights_alone_first() {
        let staged = Some(true);
        let spec = SamplingSpec { warmup: 205, draws: 7, thin: 2, staged, ..Default::default() };
        let plan = spec.plan().unwrap();
        assert_eq!((plan.warmup_iterations(), plan.iterations()), (205, 219));
        assert_eq!(plan.warmup[0].iterations, 20);
        assert_eq!(plan.warmup[0].still, ["scales", "scale moves", "residual"]);
        assert_eq!(plan.warmup[0].adapt, Adapt::StepSize);
        assert_eq!(plan.warmup[1..], Plan::new(4, 185, 7).warmup);
        assert!(plan.warmup[1..].iter().all(|stage| stage.still.is_empty()));
        let none = SamplingSpec { warmup: 9, staged, ..Default::default() };
        assert_eq!(none.plan().unwrap(), Plan::new(4, 9, 1000));
    }

    #[test]
    fn a_committee_is_one_chain_of_members_and_nothing_else() {
        assert_eq!(SamplingSpec::committee(3).plan().unwrap(), Plan::new(1, 0, 10));
        let refused = |change: fn(&mut SamplingSpec)| {
            let mut spec = SamplingSpec::committee(3);
            change(&mut spec);
            spec.plan().unwrap_err().to_string()
        };
        assert!(refused(|s| s.chains = 4).starts_with("chains in [sampling] does not go"));
        assert!(refused(|s| s.warmup = 10).starts_with("warmup"));
        assert!(refused(|s| s.thin = 2).starts_with("thin"));
        assert!(refused(|s| s.start = Some(StartChoice::Prior)).starts_with("start"));
        assert!(refused(|s| s.draws = 0).starts_with("draws"));
    }
}
