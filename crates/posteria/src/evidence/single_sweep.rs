//! Estimate as the first users of path sampling did: sorted sweeps over drawn temperatures.

use super::directions::{hot, warmed};
use super::estimate::{LogEvidence, Method};
use super::ladder::{Ladder, LadderError, Observer, Phase};
use super::replica::Energy;
use super::schedule::drawn;
use crate::fit::run_jobs;
use crate::random::Purpose;

/// What streams of drawn temperatures are for; one more for each direction.
const PHASE: u64 = 5;

/// How to sweep over drawn temperatures.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SingleSweep {
    /// Exponent k of the density (1-k)θ^-k of the temperatures.
    pub k: f64,
    /// Temperatures per chain.
    pub temperatures: usize,
    /// Sweeps at every temperature, of which the last is kept.
    pub sweeps: usize,
    /// From the posterior to the prior instead of the other way.
    pub down: bool,
}

/// (1/N) Σ U(ω_i)/p(θ_i) over sorted θ_i ~ p(θ) = (1-k)θ^-k, one chain of states following them
/// [Fabricius 1999, eq. 5.23 and §6.2.4]: the mean of as many chains as there are ladders, its
/// error being told from their spread. Kept as a reference: it lags behind phase transitions, and
/// has no finite variance for heavy-tailed priors.
///
/// # Errors
/// [`LadderError`].
pub fn single_sweep(
    ladder: &Ladder<'_>,
    options: &SingleSweep,
    observer: &dyn Observer,
) -> Result<LogEvidence, LadderError> {
    let count = ladder.options.ladders;
    let cost = count * options.temperatures * options.sweeps;
    observer.begin(Phase::Directions, cost as u64);
    let chains = run_jobs(count, ladder.threads, |chain| one(ladder, options, chain, observer));
    let values: Vec<f64> = chains.into_iter().collect::<Result<_, _>>()?;
    let mean = values.iter().sum::<f64>() / count as f64;
    let square: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    let error = (square / (count - 1) as f64 / count as f64).sqrt();
    Ok(LogEvidence::new(Method::Sweep, mean, error))
}

fn one(
    ladder: &Ladder<'_>,
    options: &SingleSweep,
    chain: usize,
    observer: &dyn Observer,
) -> Result<f64, LadderError> {
    let phase = PHASE + u64::from(options.down);
    let mut stream = ladder.seed.stream(Purpose::Evidence, [chain as u64, phase]);
    let mut thetas = drawn(options.k, options.temperatures, &mut stream)?;
    let mut state = if options.down {
        thetas.reverse();
        warmed(ladder, chain, &mut stream, observer)?
    } else {
        hot(ladder, &mut stream)?
    };
    let mut energy = Energy::new(ladder.posterior);
    let mut sum = 0.0;
    for (theta, density) in thetas {
        let mut moved = ladder.tuned(chain, theta, state);
        for _ in 0..options.sweeps {
            moved.pass(ladder.posterior, &mut energy, &mut stream);
        }
        sum += moved.energy / density;
        state = moved.state;
        if observer.advanced(options.sweeps as u64).is_break() {
            return Err(LadderError::Interrupted);
        }
    }
    Ok(sum / options.temperatures as f64)
}
