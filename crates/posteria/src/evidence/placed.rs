//! Place the temperatures of ladders, and warm these up.

use std::num::NonZero;
use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::ladder::{LadderError, LadderOptions, Observer, Phase, start};
use super::memory::{LadderMemory, bits, numbers};
use super::replica::{Keep, Replica, acceptance, advance};
use crate::model::Posterior;
use crate::random::{Purpose, Seed, Stream, StreamPosition};
use crate::sample::{Plan, Stage};

/// Rounds of the pilot run that places the temperatures.
const PILOT_ROUNDS: usize = 4;
/// Fewest draws of a ladder that estimates can be made of.
const FEWEST_DRAWS: usize = 20;
/// What streams of one ladder are for.
const PHASE_START: u64 = 1;
const PHASE_CHAIN: u64 = 2;

/// Ladders at their temperatures, before they warm up: what they found together. From here on each
/// goes by itself.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PlacedLadders {
    /// Inverse temperatures, as bits.
    betas: Vec<u64>,
    ladders: Vec<PlacedLadder>,
}

/// One of them: where its stream stands, and the state at every temperature, as bits.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct PlacedLadder {
    stream: StreamPosition,
    states: Vec<Vec<u64>>,
}

impl PlacedLadders {
    /// Places the temperatures of all ladders.
    ///
    /// # Errors
    /// [`LadderError`].
    pub fn run(
        posterior: &dyn Posterior,
        options: &LadderOptions,
        with: (Seed, NonZero<usize>),
        observer: &dyn Observer,
    ) -> Result<Self, LadderError> {
        let replicas = place(posterior, options, 0..options.ladders, with, observer)?;
        let betas = replicas[0].rungs.iter().map(|rung| rung.beta.to_bits()).collect();
        let ladders = replicas.iter().map(|replica| PlacedLadder {
            stream: replica.stream.position(),
            states: replica.rungs.iter().map(|rung| bits(&rung.state)).collect(),
        });
        Ok(PlacedLadders { betas, ladders: ladders.collect() })
    }

    /// The ladder of this number, from 0, as it was.
    ///
    /// # Errors
    /// [`LadderError::Memory`] if they are of another model or damaged.
    pub(super) fn replica<'p>(
        &self,
        posterior: &'p dyn Posterior,
        ladder: usize,
    ) -> Result<Replica<'p>, LadderError> {
        let placed = self.ladders.get(ladder).ok_or(LadderError::Memory)?;
        let betas = numbers(&self.betas);
        let fits = |state: &Vec<u64>| state.len() == posterior.state_len();
        let is_ladder = betas.len() > 1 && betas.windows(2).all(|pair| pair[0] < pair[1]);
        if placed.states.len() != betas.len() || !is_ladder || !placed.states.iter().all(fits) {
            return Err(LadderError::Memory);
        }
        let states = placed.states.iter().map(|state| numbers(state)).collect();
        Ok(Replica::new(posterior, &betas, states, Stream::at(placed.stream)))
    }
}

/// The ladders of these numbers at their final temperatures. Those that are placed by what is found
/// on the way are placed by all of them together.
pub(super) fn place<'p>(
    posterior: &'p dyn Posterior,
    options: &LadderOptions,
    ladders: Range<usize>,
    (seed, threads): (Seed, NonZero<usize>),
    observer: &dyn Observer,
) -> Result<Vec<Replica<'p>>, LadderError> {
    options.check()?;
    let mut betas = options.schedule.first();
    let count = ladders.len();
    let mut replicas = Vec::with_capacity(count);
    for ladder in ladders {
        let ladder = ladder as u64;
        let mut starts = seed.stream(Purpose::Evidence, [ladder, PHASE_START]);
        let states =
            betas.iter().map(|_| start(posterior, &mut starts)).collect::<Result<_, _>>()?;
        let stream = seed.stream(Purpose::Evidence, [ladder, PHASE_CHAIN]);
        replicas.push(Replica::new(posterior, &betas, states, stream));
    }
    if options.schedule.is_adaptive() {
        let round = (options.warmup / PILOT_ROUNDS).max(10);
        let cost = betas.len() * count * round * PILOT_ROUNDS;
        observer.begin(Phase::Pilot, cost as u64);
        for _ in 0..PILOT_ROUNDS {
            let stages = Plan::new(1, round / 2, 0).warmup;
            replicas = advance(replicas, &stages, Keep::Nothing, threads, observer)?;
            replicas.iter_mut().for_each(Replica::forget_exchanges);
            let counted = [Stage { iterations: round - round / 2, ..Stage::default() }];
            replicas = advance(replicas, &counted, Keep::Nothing, threads, observer)?;
            let rejections: Vec<f64> =
                acceptance(&replicas).iter().map(|accepted| 1.0 - accepted).collect();
            betas = options.schedule.improved(&betas, &rejections);
            replicas = replicas.into_iter().map(|replica| replica.at(&betas)).collect();
        }
    }
    Ok(replicas)
}

/// Ladders that have been placed, warmed up.
pub(super) fn warm_up<'p>(
    replicas: Vec<Replica<'p>>,
    options: &LadderOptions,
    threads: NonZero<usize>,
    observer: &dyn Observer,
) -> Result<Vec<Replica<'p>>, LadderError> {
    let cost = replicas[0].rungs.len() * replicas.len() * options.warmup;
    observer.begin(Phase::WarmUp, cost as u64);
    let warmup = Plan::new(1, options.warmup, 0).warmup;
    let mut replicas = advance(replicas, &warmup, Keep::Nothing, threads, observer)?;
    for replica in &mut replicas {
        replica.forget_exchanges();
        replica.states = options.keep_states.then(Vec::new);
    }
    observer.checkpoint(&LadderMemory::new(&replicas, 0));
    Ok(replicas)
}

impl LadderOptions {
    /// Checks that ladders can run like this.
    ///
    /// # Errors
    /// [`LadderError::Schedule`] or [`LadderError::TooFew`].
    pub fn check(&self) -> Result<(), LadderError> {
        self.schedule.check()?;
        at_least("ladders", 2, self.ladders)?;
        at_least("draws", FEWEST_DRAWS, self.draws)
    }
}

fn at_least(what: &'static str, least: usize, found: usize) -> Result<(), LadderError> {
    if found < least { Err(LadderError::TooFew { what, least, found }) } else { Ok(()) }
}
