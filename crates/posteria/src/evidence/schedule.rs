//! Place inverse temperatures between the prior and the posterior.

use serde::{Deserialize, Serialize};

use crate::random::Stream;

/// Rejection rate of exchanges between neighbours that placement aims at: swaps still carry
/// states along the ladder, and the energies of neighbours overlap well.
const REJECTION: f64 = 0.35;
/// Rungs of a pilot run, unless it is said otherwise.
const PILOT_RUNGS: usize = 20;
/// Fewest and most rungs of a ladder that chooses their number itself.
const RUNGS: (usize, usize) = (8, 120);
/// Power of the coordinate in which placement interpolates: temperatures of the density
/// (1-k)θ^-k with k = 0.9, the best of those that [Fabricius 1999, §6.2.4] tried.
const POWER: f64 = 10.0;

/// Why a schedule cannot be used.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ScheduleError {
    /// The exponent k of the density (1-k)θ^-k.
    #[error("the exponent k of the density of temperatures must be below 1, got {k}")]
    Exponent {
        /// The value.
        k: f64,
    },
    /// Too few rungs.
    #[error("a ladder needs at least 3 rungs, got {rungs}")]
    Rungs {
        /// How many.
        rungs: usize,
    },
}

/// Where the inverse temperatures are put.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Schedule {
    /// At equal thermodynamic length, found in a pilot run by equal rejection of exchanges
    /// [Fabricius 1999, eq. 5.30; Syed et al. 2022]; how many, unless it is given, by the total
    /// length.
    Adaptive {
        /// Number of rungs, prior and posterior included.
        rungs: Option<usize>,
    },
    /// At the quantiles of the density (1-k)θ^-k on [0, 1] [Fabricius 1999, eq. 5.31 put right].
    Power {
        /// k, below 1; 0 is uniform, towards 1 most are near the prior.
        k: f64,
        /// Number of rungs, prior and posterior included.
        rungs: usize,
    },
}

impl Default for Schedule {
    fn default() -> Self {
        Schedule::Adaptive { rungs: None }
    }
}

impl Schedule {
    /// Checks the numbers.
    ///
    /// # Errors
    /// [`ScheduleError`].
    pub fn check(&self) -> Result<(), ScheduleError> {
        let rungs = match self {
            Schedule::Adaptive { rungs } => rungs.unwrap_or(PILOT_RUNGS),
            Schedule::Power { k, rungs } => {
                check_exponent(*k)?;
                *rungs
            }
        };
        if rungs < 3 { Err(ScheduleError::Rungs { rungs }) } else { Ok(()) }
    }

    /// The inverse temperatures to begin with, from 0 to 1.
    pub(super) fn first(&self) -> Vec<f64> {
        match self {
            Schedule::Adaptive { rungs } => {
                quantiles(1.0 - POWER.recip(), rungs.unwrap_or(PILOT_RUNGS))
            }
            Schedule::Power { k, rungs } => quantiles(*k, *rungs),
        }
    }

    /// Whether a pilot run improves them.
    pub(super) fn is_adaptive(&self) -> bool {
        matches!(self, Schedule::Adaptive { .. })
    }

    /// The inverse temperatures after those of `betas` had these rejection rates between
    /// neighbours.
    ///
    /// The sum of the rejection rates up to β is proportional to the thermodynamic length
    /// ∫ √Var(U) dβ where rungs are close [Syed et al. 2022]; unlike the variance it is bounded, and
    /// exists for heavy-tailed priors too. It is taken as linear in β^(1/10) between rungs.
    pub(super) fn improved(&self, betas: &[f64], rejections: &[f64]) -> Vec<f64> {
        let Schedule::Adaptive { rungs } = self else { return betas.to_vec() };
        // A little of everything, so that no interval without rejections collapses.
        let lengths: Vec<f64> = rejections.iter().map(|r| r.clamp(0.0, 1.0) + 0.01).collect();
        let total: f64 = lengths.iter().sum();
        let count = rungs
            .unwrap_or_else(|| ((total / REJECTION).ceil() as usize + 1).clamp(RUNGS.0, RUNGS.1));
        let coordinates: Vec<f64> = betas.iter().map(|beta| beta.powf(POWER.recip())).collect();
        let mut placed = vec![0.0];
        let (mut interval, mut before) = (0, 0.0);
        for rung in 1..count - 1 {
            let wanted = total * rung as f64 / (count - 1) as f64;
            while interval + 1 < lengths.len() && before + lengths[interval] < wanted {
                before += lengths[interval];
                interval += 1;
            }
            let share = ((wanted - before) / lengths[interval]).clamp(0.0, 1.0);
            let (low, high) = (coordinates[interval], coordinates[interval + 1]);
            let beta = (low + share * (high - low)).powf(POWER);
            // Rounding must not make neighbours equal.
            if beta > placed[placed.len() - 1] && beta < 1.0 {
                placed.push(beta);
            }
        }
        placed.push(1.0);
        placed
    }
}

fn check_exponent(k: f64) -> Result<(), ScheduleError> {
    if k < 1.0 && k.is_finite() { Ok(()) } else { Err(ScheduleError::Exponent { k }) }
}

/// Quantiles u^(1/(1-k)) of the density (1-k)θ^-k at equal steps of u from 0 to 1.
fn quantiles(k: f64, count: usize) -> Vec<f64> {
    let last = (count - 1) as f64;
    (0..count).map(|i| (i as f64 / last).powf((1.0 - k).recip())).collect()
}

/// `count` sorted draws from the density (1-k)θ^-k on (0, 1), with that density at each.
pub(super) fn drawn(
    k: f64,
    count: usize,
    stream: &mut Stream,
) -> Result<Vec<(f64, f64)>, ScheduleError> {
    check_exponent(k)?;
    let mut thetas: Vec<f64> =
        (0..count).map(|_| stream.uniform().powf((1.0 - k).recip())).collect();
    thetas.sort_by(f64::total_cmp);
    Ok(thetas.into_iter().map(|theta| (theta, (1.0 - k) * theta.powf(-k))).collect())
}

/// `betas` with `parts` equal steps of β^(1/10) in place of every interval.
pub(super) fn refined(betas: &[f64], parts: usize) -> Vec<f64> {
    let mut fine = vec![betas[0]];
    for pair in betas.windows(2) {
        let [low, high] = [pair[0], pair[1]].map(|beta| beta.powf(POWER.recip()));
        for part in 1..parts {
            let share = part as f64 / parts as f64;
            fine.push((low + share * (high - low)).powf(POWER));
        }
        fine.push(pair[1]);
    }
    fine
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::{Purpose, Seed};

    #[test]
    fn drawn_temperatures_follow_their_density() {
        let mut stream = Seed(3).stream(Purpose::Data, [0, 0]);
        let k = 0.75;
        let drawn = drawn(k, 20_000, &mut stream).unwrap();
        // P(θ < t) = t^(1-k) = 0.5 at t = 0.5^4; binomial error 0.0035, five of them.
        let below = drawn.iter().filter(|(theta, _)| *theta < 0.0625).count() as f64 / 20_000.0;
        assert!((below - 0.5).abs() < 0.018, "{below}");
        // The density integrates to one: E[1/p] over the draws with U = p gives 1 by definition,
        // and E[1/p(θ)] = ∫ dθ = 1, with standard deviation sqrt(∫ 1/p - 1) = 1.13.
        let mean = drawn.iter().map(|(_, p)| p.recip()).sum::<f64>() / 20_000.0;
        assert!((mean - 1.0).abs() < 5.0 * 1.2 / 20_000f64.sqrt(), "{mean}");
    }

    #[test]
    fn placement_spreads_rejections_evenly() {
        // A length that grows as log β beyond 1e-3: rejection of an interval is its share of it.
        let length = |beta: f64| if beta <= 1e-3 { beta * 1e3 } else { 1.0 + (beta / 1e-3).ln() };
        let schedule = Schedule::Adaptive { rungs: Some(15) };
        let mut betas = schedule.first();
        for _ in 0..6 {
            let r: Vec<f64> = betas
                .windows(2)
                .map(|pair| 1.0 - (-(length(pair[1]) - length(pair[0]))).exp())
                .collect();
            betas = schedule.improved(&betas, &r);
        }
        assert_eq!(betas.len(), 15);
        let steps: Vec<f64> =
            betas.windows(2).map(|pair| length(pair[1]) - length(pair[0])).collect();
        let even = length(1.0) / 14.0;
        assert!(steps.iter().all(|step| (step / even - 1.0).abs() < 0.35), "{steps:?}");
    }

    #[test]
    fn refinement_keeps_every_rung() {
        let fine = refined(&[0.0, 0.1, 1.0], 4);
        assert_eq!(fine.len(), 9);
        assert!((fine[4] - 0.1).abs() < 1e-15 && fine.windows(2).all(|p| p[0] < p[1]));
    }
}
