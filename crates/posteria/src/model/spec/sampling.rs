//! Describe how much to sample, how, and from which seed.

use serde::{Deserialize, Serialize};

use super::keys::given_keys;
use super::{
    DeviceChoice, InferenceChoice, KernelChoice, LatentsChoice, ModelKind, SpecError, StartChoice,
    TemperingChoice, TimeBudget,
};
use crate::random::Seed;
use crate::sample::{Adapt, Plan, Stage};

/// Updates of a network that a staged start holds still.
const STILL: [&str; 3] = ["scales", "scale moves", "residual"];

/// Keys that say how chains move and when they end.
const OF_CHAINS: [&str; 13] = [
    "settle",
    "ess",
    "time",
    "kernel",
    "leapfrog_steps",
    "window",
    "persistence",
    "temperatures",
    "start",
    "staged",
    "latents",
    "inverse_temperature",
    "tempering",
];

/// `[sampling]`: how much to sample, how, and the seed.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SamplingSpec {
    /// Number of chains.
    pub chains: usize,
    /// Sweeps of every chain that are discarded; the most with `settle`.
    pub warmup: usize,
    /// Whether the warm-up ends as soon as the chains have settled.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub settle: Option<bool>,
    /// Draws kept of every chain; the most with `ess`.
    pub draws: usize,
    /// Effective draws of the predictions that are enough.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ess: Option<f64>,
    /// Time that a fit may take; what was drawn by then is kept.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time: Option<TimeBudget>,
    /// Sweeps per kept draw.
    pub thin: usize,
    /// The seed.
    pub seed: u64,
    /// The only one of the chains that runs, from 1; all of them if absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub only_chain: Option<usize>,
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
    /// Linear model, network: the power β of the likelihood in prior × likelihood^β; 1, the
    /// posterior itself, if absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub inverse_temperature: Option<f64>,
    /// What β is a power of; of the likelihood alone if absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tempering: Option<TemperingChoice>,
    /// Not for Gaussian processes, whose log likelihoods are always kept: those of all rows under
    /// all draws are kept if they take at most so many megabytes (10⁶ bytes);
    /// [`SamplingSpec::LOG_LIK_LIMIT`] if absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub log_lik_limit: Option<f64>,
    /// Where the model is computed; by the processor if absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub device: Option<DeviceChoice>,
}

impl Default for SamplingSpec {
    fn default() -> Self {
        SamplingSpec {
            chains: 4,
            warmup: 1000,
            settle: None,
            draws: 1000,
            ess: None,
            time: None,
            thin: 1,
            seed: 1,
            only_chain: None,
            inference: None,
            kernel: None,
            leapfrog_steps: None,
            window: None,
            persistence: None,
            temperatures: None,
            start: None,
            staged: None,
            latents: None,
            inverse_temperature: None,
            tempering: None,
            log_lik_limit: None,
            device: None,
        }
    }
}

impl SamplingSpec {
    /// Largest inverse temperature: colder draws differ from the maximum by less than rounding.
    pub const COLDEST: f64 = 1e6;

    /// Megabytes of log likelihoods that are kept unless it is said otherwise: 8000 rows of 4000
    /// draws.
    pub const LOG_LIK_LIMIT: f64 = 256.0;

    /// Members of a committee, unless a number is given.
    pub const MEMBERS: usize = 10;

    /// Sweeps of warm-up, and draws kept, of a chain of a Gaussian process unless they are given:
    /// its draws are nearly independent, and each costs the cube of the number of rows.
    pub const PROCESS_SWEEPS: usize = 250;

    /// Bytes that the log likelihoods of so many rows take, under as many draws as are expected.
    pub fn log_lik_bytes(&self, kind: ModelKind, rows: usize) -> f64 {
        8.0 * self.chains as f64 * self.expected_draws(kind) as f64 * rows as f64
    }

    /// What chains that go on are asked for: as they were begun, unless it is said otherwise now. A
    /// budget of time is that of one go.
    #[must_use]
    pub fn resumed(
        self,
        draws: Option<usize>,
        ess: Option<f64>,
        time: Option<TimeBudget>,
        kind: ModelKind,
    ) -> Self {
        let own = SamplingSpec { time, ..self };
        match (ess, draws) {
            (Some(ess), draws) => {
                let goal = own.with_goal(ess, kind);
                SamplingSpec { draws: draws.unwrap_or(goal.draws), ..goal }
            }
            (None, Some(draws)) => SamplingSpec { ess: None, draws, ..own },
            (None, None) => own,
        }
    }

    /// Whether the log likelihoods of so many rows are kept with the draws of a kind of model.
    pub fn keeps_log_lik(&self, kind: ModelKind, rows: usize) -> bool {
        let limit = self.log_lik_limit.unwrap_or(Self::LOG_LIK_LIMIT);
        // Those of a process are not to be had for less than the draws were; members of a
        // committee are few.
        let always = kind == ModelKind::Gp || self.is_committee();
        always || self.log_lik_bytes(kind, rows) <= 1e6 * limit
    }

    /// The inverse temperature, unless it is that of the posterior.
    pub fn tempered(&self) -> Option<f64> {
        self.inverse_temperature.filter(|beta| (beta - 1.0).abs() > 0.0)
    }

    /// Independent draws of an approximation in all chains, unless a number is given.
    pub const INDEPENDENT: usize = 1000;
    /// Of a process, each of whose draws takes the cube of the rows to predict.
    const OF_PROCESS: usize = 400;

    /// The usual numbers of a way without Markov chains: no warm-up, and as many draws as are usual
    /// of an approximation, as a committee has members, or the one mode.
    /// For [`InferenceChoice::Mcmc`] those of [`SamplingSpec::usual`].
    pub fn of_inference(inference: InferenceChoice, kind: ModelKind, seed: u64) -> Self {
        let usual = SamplingSpec { seed, ..SamplingSpec::usual(kind) };
        let (chains, draws) = match inference {
            InferenceChoice::Mcmc => return usual,
            InferenceChoice::Laplace | InferenceChoice::Variational => {
                let chains = SamplingSpec::default().chains;
                let few = kind == ModelKind::Gp;
                (chains, if few { Self::OF_PROCESS } else { Self::INDEPENDENT } / chains)
            }
            InferenceChoice::Map | InferenceChoice::Ml => (1, 1),
            InferenceChoice::Committee => (1, Self::MEMBERS),
        };
        SamplingSpec {
            chains,
            warmup: 0,
            draws,
            inference: Some(inference),
            ..SamplingSpec { seed, ..SamplingSpec::default() }
        }
    }

    /// A committee of the usual number of members: one chain without warm-up, with one draw per
    /// member.
    pub fn committee(seed: u64) -> Self {
        Self::of_inference(InferenceChoice::Committee, ModelKind::Mlp, seed)
    }

    /// How the posterior is found.
    pub fn inference(&self) -> InferenceChoice {
        self.inference.unwrap_or_default()
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
        if let Some(chain) = self.only_chain.filter(|chain| !(1..=self.chains).contains(chain)) {
            let wanted = "from 1 to the number of chains";
            return Err(SpecError::out_of_range("sampling", "only_chain", chain as f64, wanted));
        }
        if self.inference() != InferenceChoice::Mcmc {
            self.refuse_chains()?;
        }
        self.check_goal()?;
        self.check_temperature()?;
        if let Some(limit) = self.log_lik_limit.filter(|limit| limit.is_nan() || *limit < 0.0) {
            let wanted = "a number of megabytes, 0 for none";
            return Err(SpecError::out_of_range("sampling", "log_lik_limit", limit, wanted));
        }
        // At most all of the warm-up, so that nothing is taken from the windows that tune.
        let alone = if self.staged == Some(true) { self.warmup / 10 } else { 0 };
        let windows = if self.settle == Some(true) { Plan::settling } else { Plan::new };
        let mut plan = windows(self.chains, self.warmup - alone, self.draws);
        if alone > 0 {
            let still = STILL.map(String::from).to_vec();
            let first =
                Stage { iterations: alone, still, adapt: Adapt::StepSize, ..Stage::default() };
            plan.warmup.insert(0, first);
        }
        let plan = Plan { thin: self.thin, ..plan };
        Ok(match self.only_chain {
            None => plan,
            Some(chain) => Plan { chains: 1, first_chain: chain - 1, ..plan },
        })
    }

    /// Members are trained one by one and approximations drawn from at once: there is nothing to
    /// warm up, thin or move.
    pub(super) fn refuse_chains(&self) -> Result<(), SpecError> {
        let committee = self.inference() == InferenceChoice::Committee;
        let with = if committee {
            "inference = \"committee\", which has members in place of chains"
        } else {
            "an inference whose draws are independent, in place of chains"
        };
        let numbers = [
            ("chains", committee && self.chains != 1),
            ("only_chain", committee && self.only_chain.is_some()),
            ("warmup", self.warmup != 0),
            ("thin", self.thin != 1),
        ];
        let asked = numbers.into_iter().find(|(_, asked)| *asked).map(|(key, _)| key);
        let moves = || given_keys(self).into_iter().find(|key| OF_CHAINS.contains(key));
        match asked.or_else(moves) {
            None => Ok(()),
            Some(key) => Err(SpecError::Conflict { section: "sampling".into(), key, with }),
        }
    }

    fn check_temperature(&self) -> Result<(), SpecError> {
        let Some(value) = self.inverse_temperature else {
            let what = "tempering in [sampling] without inverse_temperature".into();
            return match self.tempering {
                None => Ok(()),
                Some(_) => Err(SpecError::NotAvailable { what }),
            };
        };
        let (section, key) = ("sampling", "inverse_temperature");
        if !(value > 0.0 && value <= Self::COLDEST) {
            return Err(SpecError::out_of_range(section, key, value, "above 0 and at most 1e6"));
        }
        if self.temperatures.is_some_and(|count| count > 1) {
            let with = "temperatures of replica exchange";
            return Err(SpecError::Conflict { section: section.into(), key, with });
        }
        Ok(())
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

    #[test]
    fn approximations_have_draws_and_no_moves() {
        use InferenceChoice::{Laplace, Map, Mcmc};
        let of = |choice| SamplingSpec::of_inference(choice, ModelKind::Mlp, 5);
        assert_eq!(of(Mcmc), SamplingSpec { seed: 5, ..SamplingSpec::usual(ModelKind::Mlp) });
        assert_eq!(of(Laplace).plan().unwrap(), Plan::new(4, 0, 250));
        assert!(SamplingSpec { chains: 3, ..of(Laplace) }.plan().is_ok());
        assert_eq!(of(Map).plan().unwrap(), Plan::new(1, 0, 1));
        for wrong in [
            SamplingSpec { warmup: 1, ..of(Laplace) },
            SamplingSpec { kernel: Some(KernelChoice::Hmc), ..of(Laplace) },
            SamplingSpec { inverse_temperature: Some(2.0), ..of(Laplace) },
        ] {
            assert!(matches!(wrong.plan(), Err(SpecError::Conflict { .. })), "{wrong:?}");
        }
    }

    #[test]
    fn log_likelihoods_are_kept_up_to_a_limit() {
        let usual = SamplingSpec::default();
        let kept = |spec: &SamplingSpec, rows| spec.keeps_log_lik(ModelKind::Linear, rows);
        assert!(kept(&usual, 8000) && !kept(&usual, 8001));
        assert!(usual.keeps_log_lik(ModelKind::Gp, 20_000));
        let limited = |limit| SamplingSpec { log_lik_limit: Some(limit), ..usual };
        assert!(kept(&limited(1e6), 1_000_000) && !kept(&limited(0.0), 1));
        assert!(SamplingSpec { draws: 100, ..usual }.keeps_log_lik(ModelKind::Mlp, 80_000));
        assert!(limited(-1.0).plan().is_err() && limited(f64::NAN).plan().is_err());
        assert!(limited(0.0).plan().is_ok());
    }

    #[test]
    fn inverse_temperatures_have_a_range() {
        let at = |beta, temperatures| {
            let inverse_temperature = Some(beta);
            SamplingSpec { inverse_temperature, temperatures, ..Default::default() }.plan()
        };
        assert!(at(0.5, Some(1)).is_ok() && at(1e6, None).is_ok());
        for beta in [0.0, -1.0, f64::NAN, 1e7] {
            assert!(matches!(at(beta, None), Err(SpecError::OutOfRange { .. })), "{beta}");
        }
        assert!(matches!(at(2.0, Some(4)), Err(SpecError::Conflict { .. })));
    }
}
