//! Run ladders one by one, wherever that is, and put together what they found.

use std::num::NonZero;

use serde::{Deserialize, Serialize};

use super::directions::both_ways;
use super::ladder::{Ladder, LadderError, LadderOptions, Observer, draw};
use super::memory::LadderMemory;
use super::placed::{PlacedLadders, place, warm_up};
use crate::model::Posterior;
use crate::random::Seed;

/// The ladders that an estimate needs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LaddersAsked {
    /// How they run.
    pub options: LadderOptions,
    /// Sweeps at every temperature of single chains that go up and down, one each way for every
    /// ladder; none where no method needs them.
    pub direction_sweeps: Option<usize>,
}

impl LaddersAsked {
    /// Whether temperatures are placed by what all ladders find together, before each goes by itself
    /// ([`PlacedLadders::run`]).
    pub fn are_placed_together(&self) -> bool {
        self.options.schedule.is_adaptive()
    }

    /// Runs the ladder of this number, from 0, and its single chains: on one thread, from where it was
    /// `placed`, if temperatures are placed together, or from the `memory` of an interrupted call.
    /// [`LadderMemory::join`] puts together what all of them have found.
    ///
    /// # Errors
    /// [`LadderError`].
    pub fn run_one(
        &self,
        (posterior, seed): (&dyn Posterior, Seed),
        ladder: usize,
        (placed, memory): (Option<&PlacedLadders>, Option<&LadderMemory>),
        observer: &dyn Observer,
    ) -> Result<LadderMemory, LadderError> {
        let one = NonZero::<usize>::MIN;
        let alone = LadderOptions { ladders: 1, ..self.options.clone() };
        let (replicas, done) = match (memory, placed) {
            (Some(memory), _) => (memory.replicas(posterior, &alone)?, memory.done),
            (None, placed) => {
                let replicas = match placed {
                    Some(placed) => vec![placed.replica(posterior, ladder)?],
                    None if self.are_placed_together() => return Err(LadderError::Memory),
                    None => {
                        let own = ladder..ladder + 1;
                        place(posterior, &self.options, own, (seed, one), observer)?
                    }
                };
                (warm_up(replicas, &alone, one, observer)?, 0)
            }
        };
        let replicas = draw(replicas, &alone, done, (one, observer))?;
        let mut memory = LadderMemory::new(&replicas, alone.draws);
        let found = Ladder::of((posterior, seed, one), &alone, (replicas, ladder));
        if let Some(sweeps) = self.direction_sweeps {
            memory.ways = Some(both_ways(&found, sweeps, observer)?);
        }
        Ok(memory)
    }
}

impl LadderMemory {
    /// What ladders that ran one by one have found together, in their order: an estimate that goes on
    /// from it has the numbers of one that ran them itself.
    ///
    /// # Errors
    /// [`LadderError::Memory`] if they are not of the same temperatures, draws and directions.
    pub fn join(parts: Vec<LadderMemory>) -> Result<LadderMemory, LadderError> {
        let mut parts = parts.into_iter();
        let mut all = parts.next().ok_or(LadderError::Memory)?;
        for part in parts {
            if part.betas != all.betas || part.done != all.done {
                return Err(LadderError::Memory);
            }
            match (&mut all.ways, part.ways) {
                (None, None) => {}
                (Some(ways), Some(more)) => ways.append(more),
                _ => return Err(LadderError::Memory),
            }
            all.replicas.extend(part.replicas);
        }
        Ok(all)
    }
}
