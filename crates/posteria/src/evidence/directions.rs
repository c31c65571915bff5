//! Go from the prior to the posterior and back by single chains, to see hysteresis.

use serde::{Deserialize, Serialize};

use super::energies::Energies;
use super::estimate::LogEvidence;
use super::ladder::{Ladder, LadderError, Observer, Phase, start};
use super::memory::{bits, numbers};
use super::path::path_sampling;
use super::replica::Energy;
use crate::fit::run_jobs;
use crate::random::{Purpose, Stream};

/// What streams of single chains are for.
const PHASE_FORWARD: u64 = 3;
const PHASE_BACKWARD: u64 = 4;

/// Path sampling by single chains in both directions [Fabricius 1999, §6.3.6]. Where the two
/// differ by more than their errors, chains lag behind the temperature.
#[derive(Clone, Debug)]
pub struct Directions {
    /// From the prior to the posterior.
    pub forward: LogEvidence,
    /// From the posterior to the prior.
    pub backward: LogEvidence,
    /// Log likelihoods on the way up.
    pub forward_energies: Energies,
    /// Log likelihoods on the way down.
    pub backward_energies: Energies,
}

impl Directions {
    /// Standard error of the difference.
    pub fn error(&self) -> f64 {
        self.forward.standard_error.hypot(self.backward.standard_error)
    }

    /// Whether the difference is more than three of its errors.
    pub fn is_hysteresis(&self) -> bool {
        (self.forward.value - self.backward.value).abs() > 3.0 * self.error()
    }
}

/// What single chains have found, by chain and rung, as bits.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Ways {
    up: Vec<Vec<Vec<u64>>>,
    down: Vec<Vec<Vec<u64>>>,
}

impl Ways {
    /// Takes over those of other chains.
    pub(super) fn append(&mut self, more: Ways) {
        self.up.extend(more.up);
        self.down.extend(more.down);
    }

    /// What they say about hysteresis.
    ///
    /// # Errors
    /// [`LadderError::Memory`] if they are not of this ladder.
    pub(super) fn directions(&self, ladder: &Ladder<'_>) -> Result<Directions, LadderError> {
        let (rungs, count) = (ladder.energies().rungs(), ladder.options.ladders);
        let gather = |ways: &[Vec<Vec<u64>>]| {
            if ways.len() != count || ways.iter().any(|way| way.len() != rungs) {
                return Err(LadderError::Memory);
            }
            let rung = |k: usize| ways.iter().map(|way| numbers(&way[k])).collect();
            Ok(Energies {
                inverse_temperatures: ladder.energies().inverse_temperatures.clone(),
                values: (0..rungs).map(rung).collect(),
                acceptance: vec![f64::NAN; rungs - 1],
                round_trips: vec![0; count],
            })
        };
        let (forward_energies, backward_energies) = (gather(&self.up)?, gather(&self.down)?);
        Ok(Directions {
            forward: path_sampling(&forward_energies),
            backward: path_sampling(&backward_energies),
            forward_energies,
            backward_energies,
        })
    }
}

/// Runs as many single chains as there are ladders in each direction over the rungs of `ladder`,
/// with its kernels: `sweeps` at every rung, the first third of which is left out. Chains up
/// begin with a draw of the prior, chains down with a warmed-up one of the posterior.
///
/// # Errors
/// [`LadderError`].
pub fn both_directions(
    ladder: &Ladder<'_>,
    sweeps: usize,
    observer: &dyn Observer,
) -> Result<Directions, LadderError> {
    both_ways(ladder, sweeps, observer)?.directions(ladder)
}

/// What these chains find.
///
/// # Errors
/// [`LadderError`].
pub(super) fn both_ways(
    ladder: &Ladder<'_>,
    sweeps: usize,
    observer: &dyn Observer,
) -> Result<Ways, LadderError> {
    let sweeps = sweeps.max(6);
    let rungs = ladder.energies().rungs();
    let count = ladder.options.ladders;
    let cost = count * (2 * rungs * sweeps + ladder.options.warmup);
    observer.begin(Phase::Directions, cost as u64);
    let ways = run_jobs(2 * count, ladder.threads, |job| {
        let (chain, down) = (ladder.first + job / 2, job % 2 == 1);
        one_way(ladder, chain, down, sweeps, observer)
    });
    let mut all = Ways { up: Vec::with_capacity(count), down: Vec::with_capacity(count) };
    for (job, way) in ways.into_iter().enumerate() {
        let way = way?.iter().map(|rung| bits(rung)).collect();
        if job % 2 == 0 { all.up.push(way) } else { all.down.push(way) }
    }
    Ok(all)
}

/// A chain at the posterior that has warmed up.
pub(super) fn warmed(
    ladder: &Ladder<'_>,
    chain: usize,
    stream: &mut Stream,
    observer: &dyn Observer,
) -> Result<Vec<f64>, LadderError> {
    let mut energy = Energy::new(ladder.posterior);
    let state = start(ladder.posterior, stream)?;
    let mut rung = ladder.tuned(chain, 1.0, state);
    for _ in 0..ladder.options.warmup {
        rung.pass(ladder.posterior, &mut energy, stream);
        if observer.advanced(1).is_break() {
            return Err(LadderError::Interrupted);
        }
    }
    Ok(rung.state)
}

/// A state of the prior, or a start where the model has no draws of it.
pub(super) fn hot(ladder: &Ladder<'_>, stream: &mut Stream) -> Result<Vec<f64>, LadderError> {
    match ladder.posterior.prior_state(stream) {
        Some(state) => Ok(state),
        None => start(ladder.posterior, stream),
    }
}

/// Log likelihoods by rung of one chain that goes one way.
fn one_way(
    ladder: &Ladder<'_>,
    chain: usize,
    down: bool,
    sweeps: usize,
    observer: &dyn Observer,
) -> Result<Vec<Vec<f64>>, LadderError> {
    let phase = if down { PHASE_BACKWARD } else { PHASE_FORWARD };
    let mut stream = ladder.seed.stream(Purpose::Evidence, [chain as u64, phase]);
    let mut energy = Energy::new(ladder.posterior);
    let betas = &ladder.energies().inverse_temperatures;
    let mut state = if down {
        warmed(ladder, chain, &mut stream, observer)?
    } else {
        hot(ladder, &mut stream)?
    };
    let mut found = vec![Vec::new(); betas.len()];
    let order: Vec<usize> =
        if down { (0..betas.len()).rev().collect() } else { (0..betas.len()).collect() };
    for rung in order {
        let mut moved = ladder.tuned(chain, betas[rung], state);
        for sweep in 0..sweeps {
            moved.pass(ladder.posterior, &mut energy, &mut stream);
            if sweep >= sweeps / 3 {
                found[rung].push(moved.energy);
            }
        }
        // A draw of the prior without a usable likelihood has no density at the next rung.
        for _ in 0..100 {
            if moved.energy.is_finite() {
                break;
            }
            moved.pass(ladder.posterior, &mut energy, &mut stream);
        }
        state = moved.state;
        if observer.advanced(sweeps as u64).is_break() {
            return Err(LadderError::Interrupted);
        }
    }
    Ok(found)
}
