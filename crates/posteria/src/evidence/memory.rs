//! Keep ladders between two programs, so that an interrupted estimate goes on bit for bit.

use serde::{Deserialize, Serialize};

use super::directions::Ways;
use super::ladder::{LadderError, LadderOptions};
use super::replica::{Origin, Replica};
use crate::model::Posterior;
use crate::random::{Stream, StreamPosition};
use crate::sample::Stage;

/// Everything that ladders need to go on: in words of 64 bits, since log likelihoods may be
/// infinite, which few formats of numbers can say.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LadderMemory {
    /// Inverse temperatures, as bits.
    pub(super) betas: Vec<u64>,
    /// Draws that are done.
    pub(super) done: usize,
    pub(super) replicas: Vec<ReplicaMemory>,
    /// What single chains have found after all draws, if they have run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) ways: Option<Ways>,
}

/// One ladder.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct ReplicaMemory {
    stream: StreamPosition,
    words: Vec<u64>,
}

impl LadderMemory {
    /// The ladders after `done` draws.
    pub(super) fn new(replicas: &[Replica<'_>], done: usize) -> Self {
        let betas = replicas[0].rungs.iter().map(|rung| rung.beta.to_bits()).collect();
        let replicas = replicas.iter().map(ReplicaMemory::new).collect();
        LadderMemory { betas, done, replicas, ways: None }
    }

    /// Draws of every ladder that are done.
    pub fn done(&self) -> usize {
        self.done
    }

    /// The ladders as they were.
    ///
    /// # Errors
    /// [`LadderError::Memory`] if they are of another model or other options, or damaged.
    pub(super) fn replicas<'p>(
        &self,
        posterior: &'p dyn Posterior,
        options: &LadderOptions,
    ) -> Result<Vec<Replica<'p>>, LadderError> {
        let betas = numbers(&self.betas);
        let increasing = betas.windows(2).all(|pair| pair[0] < pair[1]);
        let ends = [betas.first(), betas.last()] == [Some(&0.0), Some(&1.0)];
        if self.replicas.len() != options.ladders || !increasing || !ends {
            return Err(LadderError::Memory);
        }
        let restore =
            |memory: &ReplicaMemory| memory.restore(posterior, &betas).ok_or(LadderError::Memory);
        let replicas = self.replicas.iter().map(restore).collect::<Result<Vec<_>, _>>()?;
        let draws = |replica: &Replica<'_>| replica.energies.iter().all(|e| e.len() == self.done);
        match self.done <= options.draws && replicas.iter().all(draws) {
            true => Ok(replicas),
            false => Err(LadderError::Memory),
        }
    }
}

/// Numbers as their bits: few formats can say that one is infinite.
pub(super) fn bits(values: &[f64]) -> Vec<u64> {
    values.iter().map(|value| value.to_bits()).collect()
}

/// Numbers of their bits.
pub(super) fn numbers(bits: &[u64]) -> Vec<f64> {
    bits.iter().map(|bits| f64::from_bits(*bits)).collect()
}

impl ReplicaMemory {
    fn new(replica: &Replica<'_>) -> Self {
        let mut words = vec![u64::from(replica.odd), replica.round_trips];
        words.extend(replica.origins.iter().map(|origin| *origin as u64));
        let mut list = |values: &[f64]| {
            words.push(values.len() as u64);
            words.extend(values.iter().map(|value| value.to_bits()));
        };
        for (sum, count) in &replica.exchanges {
            list(&[*sum, *count]);
        }
        for (rung, energies) in replica.rungs.iter().zip(&replica.energies) {
            list(&rung.state);
            list(&[rung.energy]);
            list(energies);
            let memory = rung.memory().unwrap_or_default();
            list(&[memory.len() as f64]);
            memory.iter().for_each(|update| list(update));
        }
        let states = replica.states.as_deref().unwrap_or_default();
        list(&[states.len() as f64, f64::from(u8::from(replica.states.is_some()))]);
        states.iter().for_each(|state| list(state));
        ReplicaMemory { stream: replica.stream.position(), words }
    }

    fn restore<'p>(&self, posterior: &'p dyn Posterior, betas: &[f64]) -> Option<Replica<'p>> {
        let mut words = Words(&self.words);
        let (odd, round_trips) = (words.next()? == 1, words.next()?);
        let mut origins = Vec::with_capacity(betas.len());
        for _ in betas {
            let kinds = [Origin::Unknown, Origin::Cold, Origin::Hot];
            origins.push(*kinds.get(words.next()? as usize)?);
        }
        let mut exchanges = Vec::with_capacity(betas.len());
        for _ in 1..betas.len() {
            let [sum, count] = words.list()?[..] else { return None };
            exchanges.push((sum, count));
        }
        let (mut states, mut energies, mut memories) = (Vec::new(), Vec::new(), Vec::new());
        let mut present = Vec::new();
        for _ in betas {
            let state = words.list()?;
            if state.len() != posterior.state_len() {
                return None;
            }
            states.push(state);
            present.push(*words.list()?.first()?);
            energies.push(words.list()?);
            let count = *words.list()?.first()? as usize;
            memories.push((0..count).map(|_| words.list()).collect::<Option<Vec<_>>>()?);
        }
        let [count, kept] = words.list()?[..] else { return None };
        let cold: Vec<Vec<f64>> =
            (0..count as usize).map(|_| words.list()).collect::<Option<_>>()?;
        let mut replica = Replica::new(posterior, betas, states, Stream::at(self.stream));
        for ((rung, memory), energy) in replica.rungs.iter_mut().zip(&memories).zip(present) {
            rung.energy = energy;
            rung.enter(&Stage::default());
            if rung.memory().is_some() && !rung.recall(memory) {
                return None;
            }
        }
        (replica.odd, replica.round_trips) = (odd, round_trips);
        (replica.origins, replica.exchanges, replica.energies) = (origins, exchanges, energies);
        replica.states = (kept > 0.5).then_some(cold);
        words.0.is_empty().then_some(replica)
    }
}

/// Reads words one after the other; `None` where there are no more.
struct Words<'w>(&'w [u64]);

impl Words<'_> {
    fn next(&mut self) -> Option<u64> {
        let (first, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(*first)
    }

    fn list(&mut self) -> Option<Vec<f64>> {
        let length = usize::try_from(self.next()?).ok()?;
        if length > self.0.len() {
            return None;
        }
        let (list, rest) = self.0.split_at(length);
        self.0 = rest;
        Some(numbers(list))
    }
}
