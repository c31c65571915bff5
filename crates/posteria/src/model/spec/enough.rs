//! Describe when a fit has enough: a goal, the most that it may draw, a budget of time.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::{ModelKind, SamplingSpec, SpecError};

/// Effective draws of the predictions that are enough, unless a number is given: the Monte Carlo
/// error of a mean is then a twentieth of the deviation, and R-hat itself can be relied on
/// [Vehtari et al. 2021, §4].
const ESS: f64 = 400.0;
/// Most draws per chain on the way to that goal: chains that need more do not mix.
const MOST_DRAWS: usize = 4000;
/// Chains of a network, whose modes are many: the error of a prediction falls with their number
/// even where none of them leaves its mode, and the warm-up of each may be short.
const NETWORK_CHAINS: usize = 16;
/// Longest warm-up of each, and the most draws.
const NETWORK_WARMUP: usize = 400;
const MOST_NETWORK_DRAWS: usize = 1000;
/// Draws of each where their number is fixed.
const NETWORK_DRAWS: usize = 250;

impl SamplingSpec {
    /// The numbers of chains, sweeps and draws for a kind of model, unless they are given: chains
    /// of models with targets warm up until they have settled and draw until that is enough.
    pub fn usual(kind: ModelKind) -> Self {
        let usual = SamplingSpec::default();
        if kind.is_unsupervised() {
            // Independent draws have nothing to warm up.
            return SamplingSpec { warmup: 0, draws: Self::INDEPENDENT / usual.chains, ..usual };
        }
        let (chains, warmup) = match kind {
            ModelKind::Mlp => (NETWORK_CHAINS, NETWORK_WARMUP),
            _ => (usual.chains, Self::usual_draws(kind)),
        };
        SamplingSpec { chains, warmup, settle: Some(true), ..usual }.with_goal(ESS, kind)
    }

    /// The same, until there are so many effective draws of the predictions.
    #[must_use]
    pub fn with_goal(self, ess: f64, kind: ModelKind) -> Self {
        let most = match kind {
            ModelKind::Mlp => MOST_NETWORK_DRAWS,
            _ => MOST_DRAWS,
        };
        // As many for each effective draw where more of them are wanted than usual.
        let draws = (most as f64 * (ess / ESS).max(1.0)).ceil() as usize;
        SamplingSpec { ess: Some(ess), draws, ..self }
    }

    /// The same with at most four times as many draws as are usual, if there is a goal: which inputs
    /// are in is known to a few hundredths long before, or chains do not find from set to set.
    #[must_use]
    pub fn over_input_sets(self, kind: ModelKind) -> Self {
        match self.ess {
            Some(ess) => {
                let most = (4.0 * Self::usual_draws(kind) as f64 * (ess / ESS).max(1.0)).ceil();
                SamplingSpec { draws: self.draws.min(most as usize), ..self }
            }
            None => self,
        }
    }

    /// The same with a fixed number of sweeps and draws in place of a goal: for work that is
    /// divided before it begins.
    #[must_use]
    pub fn without_goal(self, kind: ModelKind) -> Self {
        let draws = match self.ess {
            Some(_) => self.draws.min(Self::usual_draws(kind)),
            None => self.draws,
        };
        SamplingSpec { draws, ess: None, settle: None, time: None, ..self }
    }

    /// How many draws per chain are usual where their number is fixed, and about as many as are
    /// enough where it is not.
    fn usual_draws(kind: ModelKind) -> usize {
        match kind {
            ModelKind::Gp => Self::PROCESS_SWEEPS,
            ModelKind::Mlp => NETWORK_DRAWS,
            _ => SamplingSpec::default().draws,
        }
    }

    /// How many draws per chain are expected: all of them, or about as many as are enough.
    pub fn expected_draws(&self, kind: ModelKind) -> usize {
        self.without_goal(kind).draws
    }

    pub(super) fn check_goal(&self) -> Result<(), SpecError> {
        if let Some(ess) = self.ess.filter(|ess| !(*ess >= 1.0 && *ess <= 1e9)) {
            return Err(SpecError::out_of_range("sampling", "ess", ess, "from 1 to 1e9"));
        }
        let alone = self.only_chain.is_some();
        let with = "only_chain: whether that is enough is judged of all chains together";
        for (key, given) in [("ess", self.ess.is_some()), ("settle", self.settle == Some(true))] {
            if given && alone {
                return Err(SpecError::Conflict { section: "sampling".into(), key, with });
            }
        }
        Ok(())
    }
}

/// A time that is not to be exceeded, such as `10m`, `90s` or `1h30m`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct TimeBudget {
    seconds: u64,
}

/// A text that is not a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a time is written as 10m, 90s or 1h30m, and is longer than nothing")]
pub struct TimeError;

impl TimeBudget {
    /// The time.
    pub fn duration(self) -> Duration {
        Duration::from_secs(self.seconds)
    }
}

impl FromStr for TimeBudget {
    type Err = TimeError;

    fn from_str(text: &str) -> Result<Self, TimeError> {
        let (mut seconds, mut rest) = (0u64, text.trim());
        // Every unit at most once, the larger first.
        for (unit, length) in [('h', 3600), ('m', 60), ('s', 1)] {
            if let Some((number, after)) = rest.split_once(unit) {
                let number: u64 = number.parse().map_err(|_| TimeError)?;
                let part = number.checked_mul(length).ok_or(TimeError)?;
                seconds = seconds.checked_add(part).ok_or(TimeError)?;
                rest = after;
            }
        }
        let is_time = rest.is_empty() && seconds > 0 && seconds <= u64::from(u32::MAX);
        if is_time { Ok(TimeBudget { seconds }) } else { Err(TimeError) }
    }
}

impl fmt::Display for TimeBudget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parts = [(self.seconds / 3600, 'h'), (self.seconds / 60 % 60, 'm')];
        for (number, unit) in parts.into_iter().chain([(self.seconds % 60, 's')]) {
            if number > 0 {
                write!(f, "{number}{unit}")?;
            }
        }
        Ok(())
    }
}

impl TryFrom<String> for TimeBudget {
    type Error = TimeError;

    fn try_from(text: String) -> Result<Self, TimeError> {
        text.parse()
    }
}

impl From<TimeBudget> for String {
    fn from(time: TimeBudget) -> Self {
        time.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_as_they_are_written() {
        for (text, seconds, shown) in [
            ("10m", 600, "10m"),
            ("90s", 90, "1m30s"),
            ("1h30m", 5400, "1h30m"),
            (" 2h1s ", 7201, "2h1s"),
        ] {
            let time: TimeBudget = text.parse().unwrap();
            assert_eq!(time.duration(), Duration::from_secs(seconds));
            assert_eq!(time.to_string(), shown);
            assert_eq!(shown.parse(), Ok(time));
        }
        for wrong in ["", "10", "0s", "m", "30m1h", "1.5h", "-3m", "10m10m", "9999999999h"] {
            assert_eq!(wrong.parse::<TimeBudget>(), Err(TimeError), "{wrong}");
        }
    }

    #[test]
    fn a_goal_is_met_by_at_most_so_many_draws() {
        let of = |kind, ess| SamplingSpec::default().with_goal(ess, kind).draws;
        assert_eq!((of(ModelKind::Mlp, 400.0), of(ModelKind::Gp, 400.0)), (1000, 4000));
        assert_eq!((of(ModelKind::Linear, 50.0), of(ModelKind::Gp, 1000.0)), (4000, 10_000));
        let usual = SamplingSpec::usual(ModelKind::Gp);
        assert_eq!((usual.warmup, usual.settle, usual.ess), (250, Some(true), Some(400.0)));
        assert_eq!(usual.expected_draws(ModelKind::Gp), 250);
        let fixed = SamplingSpec::usual(ModelKind::Linear).without_goal(ModelKind::Linear);
        assert_eq!(fixed, SamplingSpec::default());
        let few = SamplingSpec { draws: 70, ..Default::default() };
        assert_eq!(few.without_goal(ModelKind::Gp), few);
        assert_eq!(SamplingSpec::usual(ModelKind::Pca).ess, None);
        let most = |kind| SamplingSpec::usual(kind).over_input_sets(kind).draws;
        assert_eq!(
            [ModelKind::Mlp, ModelKind::Gp, ModelKind::Linear].map(most),
            [1000, 1000, 4000]
        );
        assert_eq!(few.over_input_sets(ModelKind::Gp), few);
    }

    #[test]
    fn goals_have_a_range_and_need_all_chains() {
        let plan = |ess, only_chain| SamplingSpec { ess, only_chain, ..Default::default() }.plan();
        assert!(plan(Some(1.0), None).is_ok() && plan(None, Some(2)).is_ok());
        for ess in [0.0, -4.0, f64::NAN, f64::INFINITY] {
            assert!(matches!(plan(Some(ess), None), Err(SpecError::OutOfRange { .. })), "{ess}");
        }
        assert!(matches!(plan(Some(400.0), Some(2)), Err(SpecError::Conflict { .. })));
    }
}
