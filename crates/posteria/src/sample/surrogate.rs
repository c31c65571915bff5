//! Propose where a chain on an emulated density ends.

use std::sync::Arc;

use super::emulator::{Emulated, Emulator, Room};
use super::memory::{ForeignMemory, MemoryReader};
use super::{MetropolisHastings, Proposal};
use crate::random::Stream;

/// [`MetropolisHastings`] with [`SurrogateTransition`].
pub type Surrogate = MetropolisHastings<SurrogateTransition>;

/// Share of guesses among the steps of a long transition; the others are steps of a random walk, …
const GUESSED: f64 = 0.3;
/// … so many standard deviations wide, in units of √dim.
const WIDTH: f64 = 2.0;
/// Steps of a short transition, all of them of a walk, …
const SHORT: usize = 4;
/// … of this width: where the emulator is wrong by much it is as wrong nearby, so that short ways
/// are accepted.
const SHORT_WIDTH: f64 = 0.5;

/// Moves many times on a density s that an [`Emulator`] knows, and proposes where that ends: the
/// surrogate transition method [Liu 2001, §9.4.3]. Each of the moves is reversible with respect to
/// s and chosen without regard to the place, hence so is their sequence, and the ratio of the
/// proposal densities is s(from)/s(to): what is accepted leaves the target invariant exactly.
///
/// Every second transition is short. Without an emulator nothing is proposed.
#[derive(Clone, Debug)]
pub struct SurrogateTransition {
    steps: usize,
    emulator: Option<Arc<Emulator>>,
    is_short: bool,
    trial: Vec<f64>,
    room: Room,
}

impl SurrogateTransition {
    /// Long transitions take so many steps per coordinate: a dozen forgets much of where it began,
    /// three dozen nearly all.
    pub fn new(steps: usize) -> Self {
        let (trial, room) = (Vec::new(), Room::default());
        SurrogateTransition { steps, emulator: None, is_short: false, trial, room }
    }

    /// Takes an emulator of the target into use.
    pub fn emulate(&mut self, emulator: Arc<Emulator>) {
        self.emulator = Some(emulator);
    }

    /// The emulator in use.
    pub fn emulator(&self) -> Option<&Emulator> {
        self.emulator.as_deref()
    }
}

/// How far a transition goes.
#[derive(Clone, Copy, Debug)]
pub(super) enum Reach {
    Short,
    /// So many steps per coordinate.
    Long(usize),
}

/// Moves `to` on the emulated density.
pub(super) fn transit(
    emulator: &Emulator,
    reach: Reach,
    (to, trial): (&mut [f64], &mut Vec<f64>),
    room: &mut Room,
    stream: &mut Stream,
) {
    let dim = to.len();
    let unit = (dim as f64).sqrt().recip();
    let (steps, guessed, width) = match reach {
        Reach::Short => (SHORT, 0.0, SHORT_WIDTH * unit),
        Reach::Long(per_coordinate) => (per_coordinate * dim, GUESSED, WIDTH * unit),
    };
    trial.resize(dim, 0.0);
    let mut here = emulator.at(to, room);
    for _ in 0..steps {
        let guesses = stream.uniform() < guessed;
        if guesses {
            emulator.guess(trial, stream);
        } else {
            emulator.walk(width, to, trial, stream);
        }
        let there = emulator.at(trial, room);
        let of = |it: Emulated| if guesses { it.value - it.guess } else { it.value };
        if of(there) - of(here) > -stream.exponential() {
            to.copy_from_slice(trial);
            here = there;
        }
    }
}

impl Proposal for SurrogateTransition {
    fn name(&self) -> &'static str {
        "surrogate transition"
    }

    fn propose(&mut self, from: &[f64], to: &mut [f64], stream: &mut Stream) {
        to.copy_from_slice(from);
        let Some(emulator) = &self.emulator else { return };
        let reach = if self.is_short { Reach::Short } else { Reach::Long(self.steps) };
        transit(emulator, reach, (to, &mut self.trial), &mut self.room, stream);
        self.is_short = !self.is_short;
    }

    fn log_ratio(&mut self, from: &[f64], to: &[f64]) -> f64 {
        let Some(emulator) = &self.emulator else { return 0.0 };
        let [from, to] = [from, to].map(|place| emulator.at(place, &mut self.room).value);
        from - to
    }

    fn rests(&self) -> bool {
        self.emulator.is_none()
    }

    fn memory(&self) -> Vec<f64> {
        let mut memory = vec![f64::from(u8::from(self.is_short))];
        memory.extend(self.emulator.iter().flat_map(|emulator| emulator.memory()));
        memory
    }

    fn recall(&mut self, memory: &[f64]) -> Result<(), ForeignMemory> {
        let is_alone = memory.len() == 1;
        let mut memory = MemoryReader::new(self.name(), memory);
        self.is_short = memory.flag()?;
        self.emulator = match is_alone {
            true => None,
            false => Some(Arc::new(Emulator::recall(&mut memory)?)),
        };
        memory.finish()
    }
}
