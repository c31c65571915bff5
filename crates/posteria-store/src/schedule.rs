//! Decide when the chains hand over their memories and who writes the checkpoint.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// How often a run writes a checkpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cadence {
    /// A checkpoint is due after this time …
    pub interval: Duration,
    /// … or after this many draws of one chain, …
    pub draws: usize,
    /// … but not sooner than this after the last one, nor before ten times what it took to
    /// write: fast chains would otherwise spend their time waiting for the disk. Zero means
    /// no rest at all.
    pub rest: Duration,
}

impl Default for Cadence {
    /// Every 5 seconds or 500 draws, at rest for a quarter of a second.
    fn default() -> Self {
        Cadence { interval: Duration::from_secs(5), draws: 500, rest: Duration::from_millis(250) }
    }
}

impl Cadence {
    /// Every 5 seconds, however many draws there are: of short work that is done again at no great cost,
    /// whose chunks of draws would be written several times.
    pub fn by_time() -> Self {
        Cadence { draws: usize::MAX, ..Cadence::default() }
    }
}

/// A rest of ten times the writing keeps the cost of checkpoints below a tenth.
const REST_FACTOR: u32 = 10;

/// The rounds of checkpoints. In a round every running chain hands over its memory after its
/// next sweep; the one that comes last writes the checkpoint while the others go on.
#[derive(Debug)]
pub(crate) struct Schedule {
    cadence: Cadence,
    began: Instant,
    /// Number of the last round that was opened.
    number: AtomicU64,
    /// Nanoseconds since `began`: a checkpoint is due by time, or draws begin to count.
    due: AtomicU64,
    rested: AtomicU64,
    round: Mutex<Round>,
}

#[derive(Debug, Default)]
struct Round {
    open: bool,
    writing: bool,
    /// Chains that take part in rounds.
    running: usize,
    /// Chains that have not yet handed over in the open round.
    waiting: usize,
}

impl Schedule {
    pub(crate) fn new(cadence: Cadence) -> Self {
        let schedule = Schedule {
            cadence,
            began: Instant::now(),
            number: AtomicU64::new(0),
            due: AtomicU64::new(0),
            rested: AtomicU64::new(0),
            round: Mutex::default(),
        };
        schedule.set(Duration::ZERO, cadence.interval, cadence.rest);
        schedule
    }

    /// A chain begins; returns the last round that does not concern it.
    pub(crate) fn join(&self) -> u64 {
        let mut round = self.lock();
        round.running += 1;
        self.number.load(Ordering::Relaxed)
    }

    /// Whether a chain that last took part in round `last` should hand over now, having kept
    /// `draws` since.
    pub(crate) fn calls(&self, last: u64, draws: usize) -> bool {
        if self.number.load(Ordering::Relaxed) > last {
            return true;
        }
        let now = nanoseconds(self.began.elapsed());
        now >= self.due.load(Ordering::Relaxed)
            || (draws >= self.cadence.draws && now >= self.rested.load(Ordering::Relaxed))
    }

    /// A chain has handed over, and takes no further part if `leaving`. Returns its last round
    /// and whether it must write the checkpoint now (and then call [`Schedule::written`]).
    pub(crate) fn handed_over(&self, last: u64, leaving: bool) -> (u64, bool) {
        let mut round = self.lock();
        let now = self.began.elapsed();
        if !round.open && !round.writing && !leaving {
            round.open = true;
            round.waiting = round.running;
            self.number.fetch_add(1, Ordering::Relaxed);
            // Should a chain stay away (one sweep may take long), the round ends without it.
            self.set(now, 2 * self.cadence.interval, Duration::MAX);
        }
        let number = self.number.load(Ordering::Relaxed);
        if round.open && last < number {
            round.waiting -= 1;
        }
        if leaving {
            round.running -= 1;
        }
        let overdue = nanoseconds(now) >= self.due.load(Ordering::Relaxed);
        let write = round.open && (round.waiting == 0 || overdue);
        if write {
            round.open = false;
            round.writing = true;
            self.set(now, Duration::MAX, Duration::MAX);
        }
        (number, write)
    }

    /// The checkpoint is written; it took `cost`.
    pub(crate) fn written(&self, cost: Duration) {
        let mut round = self.lock();
        round.writing = false;
        let rest = match self.cadence.rest {
            Duration::ZERO => Duration::ZERO,
            rest => rest.max(cost.saturating_mul(REST_FACTOR)),
        };
        self.set(self.began.elapsed(), self.cadence.interval.max(rest), rest);
    }

    fn set(&self, now: Duration, due: Duration, rested: Duration) {
        self.due.store(nanoseconds(now.saturating_add(due)), Ordering::Relaxed);
        self.rested.store(nanoseconds(now.saturating_add(rested)), Ordering::Relaxed);
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Round> {
        self.round.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn nanoseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn eager() -> Schedule {
        let (interval, rest) = (Duration::from_secs(3600), Duration::ZERO);
        Schedule::new(Cadence { interval, draws: 10, rest })
    }

    #[test]
    fn the_last_chain_of_a_round_writes() {
        let schedule = eager();
        let [first, second] = [schedule.join(), schedule.join()];
        assert!(!schedule.calls(first, 9));
        assert!(schedule.calls(first, 10));
        let (first, write) = schedule.handed_over(first, false);
        assert!(!write);
        assert!(!schedule.calls(first, 10), "one checkpoint at a time");
        assert!(schedule.calls(second, 0));
        let (second, write) = schedule.handed_over(second, false);
        assert!(write);
        assert!(!schedule.calls(first, 10) && !schedule.calls(second, 10));
        schedule.written(Duration::ZERO);
        assert!(schedule.calls(first, 10));
    }

    #[test]
    fn a_chain_that_leaves_is_not_waited_for() {
        let schedule = eager();
        let [first, second] = [schedule.join(), schedule.join()];
        let (_, write) = schedule.handed_over(first, false);
        assert!(!write);
        let (_, write) = schedule.handed_over(second, true);
        assert!(write, "the leaving chain was the last one");
        schedule.written(Duration::ZERO);
        let (_, write) = schedule.handed_over(first, false);
        assert!(write, "only one chain is left");
    }

    #[test]
    fn a_chain_that_stays_away_does_not_hold_up_the_checkpoint() {
        let interval = Duration::from_millis(20);
        let schedule = Schedule::new(Cadence { interval, draws: 1, rest: Duration::ZERO });
        let first = schedule.join();
        schedule.join();
        let (first, write) = schedule.handed_over(first, false);
        assert!(!write);
        std::thread::sleep(3 * interval);
        assert!(schedule.calls(first, 0));
        assert!(schedule.handed_over(first, false).1);
    }
}
