//! Exchange states between replicas of a chain at different inverse temperatures.

use super::memory::{ForeignMemory, MemoryReader};
use super::{Ladder, Marginalized, Stage, Step, Sweep, Update};
use crate::random::Stream;
use crate::target::Infeasible;

/// How often one pair of neighbouring temperatures exchanged states.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct PairCounts {
    /// Exchanges proposed.
    pub proposed: u64,
    /// Exchanges made.
    pub accepted: u64,
}

impl PairCounts {
    /// Share of the proposed exchanges that were made; NaN before the first.
    pub fn rate(&self) -> f64 {
        self.accepted as f64 / self.proposed as f64
    }
}

/// What a [`ReplicaExchange`] did since the present stage began.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ExchangeCounts {
    /// Pair k is that of inverse temperatures k and k + 1.
    pub pairs: Vec<PairCounts>,
    /// Journeys of a state from the coldest to the hottest temperature and back, over all
    /// replicas. Without any, the hot end does not help the cold one.
    pub round_trips: u64,
}

impl ExchangeCounts {
    /// The counts inside the memory of a [`ReplicaExchange`], as a checkpoint keeps it.
    ///
    /// # Errors
    /// [`ForeignMemory`] if `memory` was not written by a [`ReplicaExchange`].
    pub fn from_memory(memory: &[f64]) -> Result<Self, ForeignMemory> {
        ExchangeCounts::read(&mut MemoryReader::new("replica exchange", memory))
    }

    fn new(replicas: usize) -> Self {
        ExchangeCounts { pairs: vec![PairCounts::default(); replicas - 1], round_trips: 0 }
    }

    fn clear(&mut self) {
        self.pairs.fill(PairCounts::default());
        self.round_trips = 0;
    }

    fn write(&self, memory: &mut Vec<f64>) {
        memory.extend([self.pairs.len() as f64, self.round_trips as f64]);
        for pair in &self.pairs {
            memory.extend([pair.proposed as f64, pair.accepted as f64]);
        }
    }

    fn read(memory: &mut MemoryReader<'_>) -> Result<Self, ForeignMemory> {
        let count = memory.count()?;
        let round_trips = memory.count()? as u64;
        let mut pairs = Vec::new();
        for _ in 0..count {
            let (proposed, accepted) = (memory.count()? as u64, memory.count()? as u64);
            pairs.push(PairCounts { proposed, accepted });
        }
        Ok(ExchangeCounts { pairs, round_trips })
    }
}

/// Which way a state last came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Origin {
    Unknown,
    Cold,
    Hot,
}

/// Replica exchange (parallel tempering) as an update of the cold state [Geyer 1991;
/// Hukushima & Nemoto 1996].
///
/// Besides the cold state, which the other updates of its sweep move at β_0 = 1, it owns one
/// state per hotter rung k of the ladder, with a sweep that leaves prior × likelihood^β_k
/// invariant. An update sweeps every hotter state, then proposes to exchange the states of
/// neighbouring rungs, pairs (0,1), (2,3), … and pairs (1,2), (3,4), … in alternation
/// [Okabe et al. 2001; Syed et al. 2022], with acceptance
/// min(1, exp((β_i - β_j)(ℓ_j - ℓ_i))), ℓ the log likelihood. The joint density of all
/// replicas stays invariant, so the cold state follows the posterior.
///
/// A state whose likelihood is not usable, as at β = 0 it may be, is never passed on to a
/// colder rung.
///
/// Where part of the state can be integrated out, exchanges may be decided without it:
/// [`ReplicaExchange::integrating`].
pub struct ReplicaExchange<'p, F> {
    name: String,
    ladder: Ladder,
    sweeps: Vec<Sweep<'p>>,
    states: Vec<Vec<f64>>,
    log_likelihood: F,
    marginal: Option<Box<dyn Marginalized + 'p>>,
    /// ℓ of every rung, after the latest update; -∞ where not usable.
    log_likelihoods: Vec<f64>,
    /// Whether the pairs (1,2), (3,4), … are next.
    odd: bool,
    /// Origin of the state now at each rung.
    origins: Vec<Origin>,
    counts: ExchangeCounts,
}

impl<'p, F: FnMut(&[f64]) -> Result<f64, Infeasible> + Send> ReplicaExchange<'p, F> {
    /// Exchanges with hotter replicas that start at `states`, moved by `sweeps`: one of each
    /// for every rung of `ladder` but the first. `log_likelihood` is that of a whole state, at
    /// β = 1.
    ///
    /// # Panics
    /// If the numbers of rungs, states and sweeps do not fit, or states differ in length.
    pub fn new(
        name: impl Into<String>,
        ladder: Ladder,
        sweeps: Vec<Sweep<'p>>,
        states: Vec<Vec<f64>>,
        log_likelihood: F,
    ) -> Self {
        let rungs = ladder.len();
        assert_eq!(sweeps.len() + 1, rungs, "one sweep for every rung but the first");
        assert_eq!(states.len() + 1, rungs, "one state for every rung but the first");
        assert!(
            states.windows(2).all(|pair| pair[0].len() == pair[1].len()),
            "all states have one length"
        );
        ReplicaExchange {
            name: name.into(),
            sweeps,
            states,
            log_likelihood,
            marginal: None,
            log_likelihoods: vec![f64::NEG_INFINITY; rungs],
            odd: false,
            origins: initial_origins(rungs),
            counts: ExchangeCounts::new(rungs),
            ladder,
        }
    }

    /// Decides exchanges with part of the state integrated out, and draws that part anew for
    /// both rungs when the exchange is made.
    ///
    /// With A what remains of a state and π̄_k its density at rung k, the acceptance is
    /// min(1, π̄_i(A_j) π̄_j(A_i) / (π̄_i(A_i) π̄_j(A_j))): it does not look at the part B that is
    /// integrated out, so that B still follows its conditional where no exchange is made.
    #[must_use]
    pub fn integrating(mut self, marginal: impl Marginalized + 'p) -> Self {
        self.marginal = Some(Box::new(marginal));
        self
    }

    /// The inverse temperatures.
    pub fn ladder(&self) -> &Ladder {
        &self.ladder
    }

    /// States of the hotter rungs, β_1 first.
    pub fn states(&self) -> &[Vec<f64>] {
        &self.states
    }

    /// Log likelihood of the state at every rung after the latest update, -∞ where it is not
    /// usable: what path sampling averages.
    pub fn log_likelihoods(&self) -> &[f64] {
        &self.log_likelihoods
    }

    /// Exchanges since the present stage began.
    pub fn counts(&self) -> &ExchangeCounts {
        &self.counts
    }

    /// Sweeps the hotter replicas and evaluates all likelihoods.
    fn sweep(&mut self, state: &[f64], stream: &mut Stream) -> Step {
        let mut step = Step { accepted: false, ..Step::default() };
        for (sweep, state) in self.sweeps.iter_mut().zip(&mut self.states) {
            for part in sweep.pass(state, stream) {
                step.evaluations += part.evaluations;
                step.infeasible = step.infeasible.or(part.infeasible);
            }
        }
        let states = std::iter::once(state).chain(self.states.iter().map(Vec::as_slice));
        for (value, state) in self.log_likelihoods.iter_mut().zip(states) {
            step.evaluations += 1;
            *value = (self.log_likelihood)(state).unwrap_or_else(|reason| {
                step.infeasible = Some(reason);
                f64::NEG_INFINITY
            });
        }
        step
    }

    /// Probability of exchanging rungs `pair` and `pair` + 1.
    fn acceptance(&mut self, pair: usize, state: &[f64], step: &mut Step) -> f64 {
        if let Some(marginal) = &mut self.marginal {
            let cold = if pair == 0 { state } else { &self.states[pair - 1] };
            let hot = &self.states[pair];
            step.evaluations += 4;
            // Any state without a density at either rung: no exchange, there or back.
            let log_ratio = marginal.log_density(pair, hot).and_then(|exchanged| {
                let exchanged = exchanged + marginal.log_density(pair + 1, cold)?;
                let kept =
                    marginal.log_density(pair, cold)? + marginal.log_density(pair + 1, hot)?;
                Ok(exchanged - kept)
            });
            return match log_ratio {
                Ok(log_ratio) if !log_ratio.is_nan() => log_ratio.min(0.0).exp(),
                _ => 0.0,
            };
        }
        let (cold, hot) = (self.log_likelihoods[pair], self.log_likelihoods[pair + 1]);
        // A hot state without a likelihood has no density at the colder rung (and two such
        // states would make the difference NaN).
        if !hot.is_finite() {
            return 0.0;
        }
        ((self.ladder[pair] - self.ladder[pair + 1]) * (hot - cold)).min(0.0).exp()
    }

    fn exchange(&mut self, pair: usize, state: &mut [f64], stream: &mut Stream) {
        if pair == 0 {
            state.swap_with_slice(&mut self.states[0]);
        } else {
            self.states.swap(pair - 1, pair);
        }
        self.log_likelihoods.swap(pair, pair + 1);
        if let Some(marginal) = &mut self.marginal {
            for rung in [pair, pair + 1] {
                let state = if rung == 0 { &mut *state } else { &mut self.states[rung - 1] };
                marginal.draw(rung, state, stream);
                self.log_likelihoods[rung] =
                    (self.log_likelihood)(state).unwrap_or(f64::NEG_INFINITY);
            }
        }
        self.origins.swap(pair, pair + 1);
        let last = self.origins.len() - 1;
        if pair == 0 {
            self.counts.round_trips += u64::from(self.origins[0] == Origin::Hot);
            self.origins[0] = Origin::Cold;
        }
        // Only what has been at the cold end and reaches the hot one is half a round trip.
        if pair + 1 == last && self.origins[last] == Origin::Cold {
            self.origins[last] = Origin::Hot;
        }
    }
}

fn initial_origins(rungs: usize) -> Vec<Origin> {
    let mut origins = vec![Origin::Unknown; rungs];
    origins[0] = Origin::Cold;
    origins
}

impl<F: FnMut(&[f64]) -> Result<f64, Infeasible> + Send> Update for ReplicaExchange<'_, F> {
    fn name(&self) -> &str {
        &self.name
    }

    /// `accepted` says whether the cold state was exchanged, `acceptance` is the mean over the
    /// proposed exchanges; the evaluations include those of the hotter sweeps.
    fn update(&mut self, state: &mut [f64], stream: &mut Stream) -> Step {
        let mut step = self.sweep(state, stream);
        let pairs = self.ladder.len() - 1;
        // A single pair is proposed every time.
        let first = usize::from(self.odd && pairs > 1);
        self.odd = !self.odd;
        let (mut proposed, mut sum) = (0.0, 0.0);
        for pair in (first..pairs).step_by(2) {
            let acceptance = self.acceptance(pair, state, &mut step);
            proposed += 1.0;
            sum += acceptance;
            self.counts.pairs[pair].proposed += 1;
            if stream.uniform() < acceptance {
                self.counts.pairs[pair].accepted += 1;
                self.exchange(pair, state, stream);
                step.accepted |= pair == 0;
            }
        }
        step.acceptance = if proposed > 0.0 { sum / proposed } else { 1.0 };
        step
    }

    fn enter(&mut self, stage: &Stage) {
        for sweep in &mut self.sweeps {
            sweep.enter(stage);
        }
        self.counts.clear();
        self.origins = initial_origins(self.ladder.len());
    }

    fn memory(&self) -> Vec<f64> {
        let mut memory = Vec::new();
        self.counts.write(&mut memory);
        memory.push(f64::from(u8::from(self.odd)));
        memory.extend(self.origins.iter().map(|origin| f64::from(*origin as u8)));
        memory.extend(self.states.iter().flatten());
        for update in self.sweeps.iter().flat_map(Sweep::memory) {
            memory.push(update.len() as f64);
            memory.extend(update);
        }
        memory
    }

    fn recall(&mut self, memory: &[f64]) -> Result<(), ForeignMemory> {
        let mut memory = MemoryReader::new("replica exchange", memory);
        self.counts = ExchangeCounts::read(&mut memory)?;
        if self.counts.pairs.len() + 1 != self.ladder.len() {
            return Err(memory.foreign());
        }
        self.odd = memory.flag()?;
        for origin in &mut self.origins {
            let kinds = [Origin::Unknown, Origin::Cold, Origin::Hot];
            *origin = *kinds.get(memory.count()?).ok_or(memory.foreign())?;
        }
        for state in &mut self.states {
            memory.fill(state)?;
        }
        for sweep in &mut self.sweeps {
            let mut updates = Vec::new();
            for _ in 0..sweep.names().count() {
                let length = memory.count()?;
                updates.push(memory.take(length)?.to_vec());
            }
            sweep.recall(&updates)?;
        }
        memory.finish()
    }
}
