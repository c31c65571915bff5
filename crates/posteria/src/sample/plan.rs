//! Describe how to sample, as data: chains, stages of warm-up, draws.

use serde::{Deserialize, Serialize};

/// What a kernel may learn during a stage.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Adapt {
    /// Nothing: the transition is fixed.
    #[default]
    Nothing,
    /// The step size or proposal width.
    StepSize,
    /// The step size now, and at the end of the stage the metric (or the fitted proposal)
    /// from the positions visited in the stage.
    Metric,
}

/// A number of sweeps with one set of options. Options left `None` keep what the kernel was
/// built with.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Stage {
    /// Number of sweeps.
    pub iterations: usize,
    /// Names of updates that are skipped: their part of the state is held still.
    pub still: Vec<String>,
    /// What kernels learn meanwhile.
    pub adapt: Adapt,
    /// Number of leapfrog steps of a trajectory.
    pub leapfrog_steps: Option<usize>,
    /// Step size at the start of the stage.
    pub step_size: Option<f64>,
    /// Size of the acceptance window.
    pub window: Option<usize>,
    /// Fraction of the momentum kept between trajectories, in [0, 1).
    pub persistence: Option<f64>,
}

/// Fewest sweeps of a warm-up that ends because chains have settled, the last stage not counted:
/// three windows have taught a metric by then. One of few sweeps is of kernels that begin with a
/// metric, and may end after a fifth of them.
const FEWEST: usize = 150;
/// Most sweeps of such a warm-up.
const SHORT: usize = 250;
/// Sweeps of the first window that teaches a metric.
const WINDOW: usize = 20;
/// Most sweeps that then settle the step size for the final metric, a third of those before.
const LAST: usize = 50;

/// How to sample: the stages of warm-up, then the draws.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    /// Number of chains.
    pub chains: usize,
    /// Number of the first of them, from 0: they have the streams of these chains of a larger
    /// job, hence their draws.
    #[serde(default)]
    pub first_chain: usize,
    /// Number of the fold that is held out, from 1; 0 for a fit to all rows. Every fold has
    /// streams of its own.
    #[serde(default)]
    pub fold: u64,
    /// Stages whose states are discarded.
    pub warmup: Vec<Stage>,
    /// Whether chains follow their log densities in warm-up, so that it can end once they have
    /// settled: at one of [`Plan::barriers`].
    #[serde(default)]
    pub settle: bool,
    /// Options of the sampling stage; its `iterations` are `draws * thin` whatever it says.
    pub sampling: Stage,
    /// Draws kept per chain.
    pub draws: usize,
    /// Sweeps per kept draw.
    pub thin: usize,
    /// Whether the log likelihood of every row is kept with every draw. What is not kept can be
    /// computed again from draws and data.
    #[serde(default = "always")]
    pub pointwise: bool,
}

fn always() -> bool {
    true
}

impl Plan {
    /// The usual plan: `warmup` sweeps divided into windows of doubling length, then `draws`.
    ///
    /// A first stage only finds the step size (20 sweeps), then the metric is learned over
    /// windows of 20, 40, 80, … sweeps: the first ones are short because a rough metric early
    /// saves long trajectories, the last one is more than half of the warm-up. A final stage
    /// (10 %, at most 100) settles the step size for the final metric.
    pub fn new(chains: usize, warmup: usize, draws: usize) -> Self {
        Plan::with_windows(chains, warmup, draws, (WINDOW, |window| 2 * window))
    }

    /// The plan of chains that need not warm up for all of `warmup` sweeps, but only until they
    /// have settled: as [`Plan::new`], with windows of which the later ones are half as long again
    /// as those before, so that there are more places to end.
    pub fn settling(chains: usize, warmup: usize, draws: usize) -> Self {
        let grown = |window| if window < 80 { 2 * window } else { window + window / 2 };
        let first = if warmup <= SHORT { 2 * WINDOW } else { WINDOW };
        Plan { settle: true, ..Plan::with_windows(chains, warmup, draws, (first, grown)) }
    }

    fn with_windows(
        chains: usize,
        warmup: usize,
        draws: usize,
        (mut window, grown): (usize, impl Fn(usize) -> usize),
    ) -> Self {
        let first = warmup.min(20);
        let last = (warmup / 10).min(100).min(warmup - first);
        let mut stages = Vec::new();
        let mut push = |iterations, adapt| {
            if iterations > 0 {
                stages.push(Stage { iterations, adapt, ..Stage::default() });
            }
        };
        push(first, Adapt::StepSize);
        let mut left = warmup - first - last;
        while left > 0 {
            // The last window takes what would be too short for the next one.
            let next = grown(window);
            let iterations = if left < window + next { left } else { window };
            push(iterations, Adapt::Metric);
            left -= iterations;
            window = next;
        }
        push(last, Adapt::StepSize);
        Plan {
            chains,
            first_chain: 0,
            fold: 0,
            warmup: stages,
            settle: false,
            sampling: Stage::default(),
            draws,
            thin: 1,
            pointwise: true,
        }
    }

    /// Numbers of sweeps after which the warm-up may end because the chains have settled: the ends
    /// of windows that were long enough to learn a metric, all but the last. None unless it may.
    pub fn barriers(&self) -> Vec<usize> {
        let mut end = 0;
        let windows = self.warmup.iter().filter_map(|stage| {
            end += stage.iterations;
            (self.settle && stage.adapt == Adapt::Metric).then_some(end)
        });
        let mut ends: Vec<usize> = windows.collect();
        ends.pop();
        let fewest = FEWEST.min(self.warmup_iterations() / 5);
        ends.retain(|end| *end >= fewest);
        ends
    }

    /// The same with a warm-up that ends after `iteration` sweeps (one of [`Plan::barriers`], or
    /// wherever chains stand) and at most 50 more for the step size.
    #[must_use]
    pub fn settled_at(&self, iteration: usize) -> Self {
        self.with_warmup(iteration + LAST.min(iteration / 3))
    }

    /// The same with `warmup` sweeps of warm-up in place of more: what [`Plan::settled_at`] gave.
    #[must_use]
    pub fn with_warmup(&self, warmup: usize) -> Self {
        if warmup >= self.warmup_iterations() {
            return self.clone();
        }
        // A quarter of all is a third of the rest.
        let last = LAST.min(warmup / 4);
        let mut left = warmup - last;
        let mut stages = Vec::new();
        for stage in &self.warmup {
            let iterations = stage.iterations.min(left);
            left -= iterations;
            if iterations > 0 {
                stages.push(Stage { iterations, ..stage.clone() });
            }
        }
        if last > 0 {
            stages.push(Stage { iterations: last, adapt: Adapt::StepSize, ..Stage::default() });
        }
        Plan { warmup: stages, ..self.clone() }
    }

    /// Number of warm-up sweeps per chain.
    pub fn warmup_iterations(&self) -> usize {
        self.warmup.iter().map(|stage| stage.iterations).sum()
    }

    /// Number of sweeps per chain, warm-up included.
    pub fn iterations(&self) -> usize {
        self.warmup_iterations() + self.draws * self.thin
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_add_up_to_the_warmup_whatever_its_length() {
        for warmup in 0..3000 {
            assert_eq!(Plan::new(4, warmup, 10).warmup_iterations(), warmup);
            assert_eq!(Plan::settling(4, warmup, 10).warmup_iterations(), warmup);
        }
    }

    #[test]
    fn the_usual_warmup_has_doubling_windows() {
        let lengths: Vec<usize> =
            Plan::new(4, 1000, 1000).warmup.iter().map(|stage| stage.iterations).collect();
        assert_eq!(lengths, [20, 20, 40, 80, 160, 580, 100]);
    }

    #[test]
    fn a_warmup_may_end_after_windows_that_grow() {
        let lengths = |plan: &Plan| -> Vec<usize> {
            plan.warmup.iter().map(|stage| stage.iterations).collect()
        };
        let plan = Plan::settling(4, 1000, 10);
        assert_eq!(lengths(&plan), [20, 20, 40, 80, 120, 180, 440, 100]);
        assert_eq!(plan.barriers(), [160, 280, 460]);
        assert_eq!(Plan::settling(4, 500, 10).barriers(), [160]);
        let short = Plan::settling(4, 250, 10);
        assert_eq!((lengths(&short), short.barriers()), (vec![20, 40, 165, 25], vec![60]));
        assert!(Plan::new(4, 1000, 10).barriers().is_empty());
        let settled = plan.settled_at(280);
        assert_eq!(lengths(&settled), [20, 20, 40, 80, 120, 50]);
        assert_eq!(settled.warmup.last().map(|stage| stage.adapt), Some(Adapt::StepSize));
        assert_eq!(settled, plan.with_warmup(330), "what it is read back from");
        assert_eq!(lengths(&plan.settled_at(100)), [20, 20, 40, 20, 33], "in a window");
        for iteration in 0..900 {
            let settled = plan.settled_at(iteration);
            let stages = &settled.warmup[..settled.warmup.len() - usize::from(iteration > 2)];
            let before: usize = stages.iter().map(|stage| stage.iterations).sum();
            assert_eq!(before, iteration, "where the chains stand a stage ends");
        }
        assert_eq!((plan.with_warmup(1000), plan.with_warmup(30).warmup_iterations()), (plan, 30));
    }
}
