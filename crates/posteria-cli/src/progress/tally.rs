//! Count what the chains have done.

use std::sync::Mutex;
use std::time::Duration;

use posteria::fit::Report;
use posteria::sample::{Plan, Step};

/// What all chains have done.
pub struct Tally {
    chains: Vec<Mutex<ChainTally>>,
    warmup: usize,
    thin: usize,
    iterations: usize,
    begun: usize,
    /// Where the test error is in a draw.
    test_error: Option<usize>,
}

/// What one chain has done.
#[derive(Clone, Copy, Debug, Default)]
pub struct ChainTally {
    /// Sweeps, warm-up included.
    pub iteration: usize,
    /// Divergences after warm-up.
    pub divergences: usize,
    /// Mean acceptance of trajectories, or of proposals where there are none, after warm-up
    /// (before, of the warm-up so far); NaN without any.
    pub acceptance: f64,
    warming: bool,
    /// Whether members of a committee are trained instead of draws made.
    members: bool,
    proposals: f64,
    accepted: f64,
    /// Draws kept in this process, and the sum of their test errors.
    tested: f64,
    test_error: f64,
}

impl Tally {
    /// Nothing counted yet; the chains of `plan` have done `begun` sweeps before. Draws may hold
    /// a test error.
    pub fn new(plan: &Plan, begun: &[usize], test_error: Option<usize>) -> Self {
        let chain = |&iteration: &usize| {
            let warming = iteration < plan.warmup_iterations();
            let acceptance = f64::NAN;
            Mutex::new(ChainTally { iteration, warming, acceptance, ..ChainTally::default() })
        };
        Tally {
            chains: begun.iter().map(chain).collect(),
            warmup: plan.warmup_iterations(),
            thin: plan.thin.max(1),
            iterations: plan.iterations(),
            begun: begun.iter().sum(),
            test_error,
        }
    }

    /// Goes on with a count that began when all chains together had done so many sweeps.
    pub fn since(self, begun: usize) -> Self {
        Tally { begun, ..self }
    }

    /// Draws that every chain has.
    pub fn draws(&self) -> usize {
        let done = (0..self.chains.len()).map(|index| self.chain(index).iteration);
        done.min().unwrap_or(0).saturating_sub(self.warmup) / self.thin
    }

    /// Counts members of a committee, which are trained and not proposed.
    pub fn of_members(self) -> Self {
        let member = |chain: Mutex<ChainTally>| {
            let chain = chain.into_inner().expect("no chain panicked");
            Mutex::new(ChainTally { members: true, ..chain })
        };
        Tally { chains: self.chains.into_iter().map(member).collect(), ..self }
    }

    /// Counts a sweep.
    pub fn add(&self, report: &Report<'_>) {
        let mut chain = self.chains[report.chain].lock().expect("no chain panicked");
        chain.iteration = report.iteration;
        if chain.warming && report.iteration > self.warmup {
            chain.warming = false;
            (chain.proposals, chain.accepted, chain.divergences) = (0.0, 0.0, 0);
        }
        let proposing = !chain.members;
        for step in Step::informative(report.steps).filter(|_| proposing) {
            chain.proposals += 1.0;
            chain.accepted += step.acceptance;
        }
        if let (Some(at), Some(kept)) = (self.test_error, report.kept) {
            chain.tested += 1.0;
            chain.test_error += kept.draw[at];
        }
        chain.divergences += usize::from(report.steps.iter().any(|step| step.diverging));
        chain.acceptance = chain.accepted / chain.proposals;
    }

    /// What one chain has done.
    pub fn chain(&self, index: usize) -> ChainTally {
        *self.chains[index].lock().expect("no chain panicked")
    }

    /// All chains together.
    pub fn total(&self) -> ChainTally {
        let mut total = ChainTally::default();
        for index in 0..self.chains.len() {
            let chain = self.chain(index);
            total.iteration += chain.iteration;
            total.divergences += chain.divergences;
            total.proposals += chain.proposals;
            total.accepted += chain.accepted;
            total.tested += chain.tested;
            total.test_error += chain.test_error;
        }
        total.acceptance = total.accepted / total.proposals;
        total
    }

    /// How much of the plan is done, from 0 to 1.
    pub fn fraction(&self) -> f64 {
        self.total().iteration as f64 / (self.iterations * self.chains.len()).max(1) as f64
    }

    /// Seconds until the plan is done at the speed so far; NaN at the beginning.
    pub fn seconds_left(&self, elapsed: Duration) -> f64 {
        let done = self.total().iteration;
        self.seconds_of((self.iterations * self.chains.len()).saturating_sub(done), elapsed)
    }

    /// Seconds that so many sweeps take at the speed so far; NaN at the beginning.
    pub fn seconds_of(&self, sweeps: usize, elapsed: Duration) -> f64 {
        let progress = self.total().iteration.saturating_sub(self.begun) as f64;
        if progress > 0.0 { elapsed.as_secs_f64() * sweeps as f64 / progress } else { f64::NAN }
    }
}

impl ChainTally {
    /// Mean test error of the draws kept in this process; NaN without any.
    pub fn mean_test_error(&self) -> f64 {
        self.test_error / self.tested
    }

    /// What a bar says beside its numbers.
    pub fn words(&self) -> String {
        let phase = match (self.members, self.warming) {
            (true, _) => "training",
            (false, true) => "warm-up",
            (false, false) => "drawing",
        };
        let mut words = phase.to_string();
        if self.acceptance.is_finite() {
            words.push_str(&format!(" · accept {:.2}", self.acceptance));
        }
        if self.divergences > 0 {
            words.push_str(&format!(" · {} diverged", self.divergences));
        }
        words
    }
}

#[cfg(test)]
mod tests {
    use posteria::draws::Statistics;
    use posteria::fit::KeptDraw;

    use super::*;

    fn sweep(tally: &Tally, chain: usize, iteration: usize, acceptance: f64, diverging: bool) {
        let proposal = Step { acceptance, diverging, evaluations: 3, ..Step::default() };
        // An exact draw proposes nothing and must not count.
        let steps = [proposal, Step::default()];
        tally.add(&Report { chain, iteration, steps: &steps, kept: None });
    }

    #[test]
    fn warmup_does_not_count_towards_the_draws() {
        let tally = Tally::new(&Plan::new(2, 2, 8), &[0, 0], None);
        sweep(&tally, 0, 1, 0.25, true);
        sweep(&tally, 0, 2, 0.75, true);
        let warming = tally.chain(0);
        assert_eq!(
            (warming.divergences, warming.words().as_str()),
            (2, "warm-up · accept 0.50 · 2 diverged")
        );
        sweep(&tally, 0, 3, 0.875, false);
        sweep(&tally, 0, 4, 0.625, true);
        assert_eq!(tally.chain(0).words(), "drawing · accept 0.75 · 1 diverged");
        assert_eq!(tally.total().iteration, 4);
        assert!((tally.fraction() - 0.2).abs() < 1e-12);
    }

    #[test]
    fn members_of_a_committee_have_no_acceptance() {
        let tally = Tally::new(&Plan::new(1, 0, 8), &[0], None).of_members();
        sweep(&tally, 0, 1, 1.0, false);
        assert!(tally.total().acceptance.is_nan());
        assert_eq!((tally.chain(0).words().as_str(), tally.chain(0).iteration), ("training", 1));
    }

    #[test]
    fn metropolis_steps_beside_trajectories_and_draws_without_test_rows_do_not_count() {
        let tally = Tally::new(&Plan::new(1, 0, 8), &[0], Some(1));
        assert!(tally.total().mean_test_error().is_nan());
        let trajectory =
            Step { acceptance: 0.5, evaluations: 9, leapfrog_steps: 8, ..Step::default() };
        let walk = Step { acceptance: 0.1, evaluations: 3, ..Step::default() };
        let statistics = Statistics::from_array([0.0; Statistics::LEN]);
        for (index, error) in [2.0, 4.0].into_iter().enumerate() {
            let draw = [7.0, error];
            let kept = KeptDraw { index, draw: &draw, statistics, log_likelihood: &[] };
            let (steps, iteration) = ([trajectory, walk], index + 1);
            tally.add(&Report { chain: 0, iteration, steps: &steps, kept: Some(kept) });
        }
        assert!((tally.total().mean_test_error() - 3.0).abs() < 1e-12);
        assert!((tally.chain(0).acceptance - 0.5).abs() < 1e-12);
    }

    #[test]
    fn the_time_left_counts_only_what_was_done_since_the_start() {
        // Twenty sweeps in all, eight done before: four in two seconds leave eight in four.
        let tally = Tally::new(&Plan::new(2, 2, 8), &[8, 0], None);
        assert!(tally.seconds_left(Duration::from_secs(1)).is_nan());
        sweep(&tally, 1, 4, 1.0, false);
        assert!((tally.seconds_left(Duration::from_secs(2)) - 4.0).abs() < 1e-12);
        assert!((tally.seconds_of(100, Duration::from_secs(2)) - 50.0).abs() < 1e-12);
    }
}
