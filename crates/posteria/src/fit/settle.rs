//! See when chains have settled, so that the warm-up can end.

use super::ChainMemory;
use crate::sample::Plan;

/// Chains have settled once the split R-hat of the log densities of a window of warm-up is at most
/// so large: about what chains in the right place have whose log densities are worth ten
/// independent draws in each half of the window, so that slow chains have longer windows.
const SETTLED: f64 = 1.1;

/// Numbers that the moments of both halves of a window take.
const LEN: usize = 6;

/// The log densities of the window of warm-up that a chain is in or has just left: number, mean
/// and sum of squared deviations [Welford 1962] of each half.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Window {
    /// Empty before the first sweep.
    moments: Vec<f64>,
}

impl Window {
    /// Goes on where `memory` ends; `None` if no window wrote it.
    pub(super) fn recall(memory: &[f64]) -> Option<Self> {
        matches!(memory.len(), 0 | LEN).then(|| Window { moments: memory.to_vec() })
    }

    pub(super) fn memory(&self) -> Vec<f64> {
        self.moments.clone()
    }

    /// Takes note of the log density after sweep number `sweep`, from 1, of a `plan`.
    pub(super) fn add(&mut self, plan: &Plan, sweep: usize, log_density: f64) {
        let mut begin = 0;
        for stage in &plan.warmup {
            if sweep <= begin + stage.iterations {
                let index = sweep - begin;
                if index == 1 || self.moments.is_empty() {
                    self.moments = vec![0.0; LEN];
                }
                let half = if 2 * index <= stage.iterations { 0 } else { 3 };
                let [count, mean, squares] = &mut self.moments[half..half + 3] else { return };
                let deviation = log_density - *mean;
                *count += 1.0;
                *mean += deviation / *count;
                *squares += deviation * (log_density - *mean);
                return;
            }
            begin += stage.iterations;
        }
    }
}

/// Whether chains that stand at the end of a window of warm-up have settled: their log densities
/// agree, between chains and between the halves of the window. The metric was learned in the same
/// window, so it is of the right place then.
pub fn have_settled(memories: &[Option<ChainMemory>]) -> bool {
    let halves: Vec<&[f64]> =
        memories.iter().flatten().flat_map(|memory| memory.window.chunks_exact(LEN / 2)).collect();
    if memories.is_empty() || halves.len() < 2 * memories.len() {
        return false;
    }
    let count = halves.len() as f64;
    let draws = halves.iter().map(|half| half[0]).fold(f64::INFINITY, f64::min);
    let centre = halves.iter().map(|half| half[1]).sum::<f64>() / count;
    // R-hat² = ((n - 1) W / n + B / n) / W [Gelman et al. 2013, eq. 11.3-11.4].
    let between = halves.iter().map(|half| (half[1] - centre).powi(2)).sum::<f64>() / (count - 1.0);
    let within = halves.iter().map(|half| half[2] / (half[0] - 1.0)).sum::<f64>() / count;
    let r_hat = ((draws - 1.0) / draws + between / within).sqrt();
    draws > 1.0 && (r_hat <= SETTLED || (between == 0.0 && within == 0.0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::{Purpose, Seed, Stream};

    fn memory(window: Window, seed: u64) -> Option<ChainMemory> {
        let stream = Seed(seed).stream(Purpose::Chain, [0, 0]).position();
        let (state, updates) = (Vec::new(), Vec::new());
        Some(ChainMemory { iteration: 160, state, stream, updates, window: window.memory() })
    }

    fn window(stream: &mut Stream, shift: f64, trend: f64) -> Window {
        let plan = Plan { settle: true, ..Plan::settling(4, 1000, 10) };
        let mut window = Window::default();
        // What came in earlier windows does not count.
        (1..=80).for_each(|sweep| window.add(&plan, sweep, 1e6));
        for sweep in 81..=160 {
            window.add(&plan, sweep, stream.normal() + shift + trend * sweep as f64);
        }
        window
    }

    #[test]
    fn chains_settle_where_they_agree_and_stand_still() {
        let mut stream = Seed(9).stream(Purpose::Chain, [0, 0]);
        let mut judged = |shift: [f64; 4], trend: f64| {
            let chains = shift.map(|shift| memory(window(&mut stream, shift, trend), 1));
            have_settled(&chains)
        };
        assert!(judged([0.0; 4], 0.0));
        assert!(judged([1e9; 4], 0.0), "wherever they are");
        assert!(!judged([0.0, 0.0, 0.0, 5.0], 0.0), "one is elsewhere");
        assert!(!judged([0.0; 4], 0.05), "all are on their way");
    }

    #[test]
    fn nothing_known_is_not_settled() {
        assert!(!have_settled(&[]) && !have_settled(&[None, None]));
        let mut stream = Seed(9).stream(Purpose::Chain, [0, 0]);
        let one = memory(window(&mut stream, 0.0, 0.0), 1);
        assert!(have_settled(std::slice::from_ref(&one)) && !have_settled(&[one, None]));
        assert!(!have_settled(&[memory(Window::default(), 1)]));
    }

    #[test]
    fn a_window_goes_on_where_it_was_interrupted() {
        let plan = Plan { settle: true, ..Plan::settling(4, 1000, 10) };
        let mut whole = Window::default();
        (1..=100).for_each(|sweep| whole.add(&plan, sweep, (sweep as f64).sin()));
        let mut part = Window::default();
        (1..=90).for_each(|sweep| part.add(&plan, sweep, (sweep as f64).sin()));
        let mut part = Window::recall(&part.memory()).unwrap();
        (91..=100).for_each(|sweep| part.add(&plan, sweep, (sweep as f64).sin()));
        assert_eq!(whole, part);
        assert!(Window::recall(&[1.0]).is_none());
    }
}
