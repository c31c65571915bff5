//! Judge whether the probabilities of inputs to be in a model are known well enough.

use serde::Serialize;

use super::Goal;
use crate::diagnose::{DOUBTFUL_COUNTS, constant_chains, mcse_mean, r_hat_of_counts};
use crate::draws::{Draws, Role};

/// How well chains over input sets know the probability of every input to be in.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Inclusion {
    /// Largest split R-hat of inputs and of their number; infinite where chains that do not move
    /// disagree, NaN for one chain.
    pub r_hat: f64,
    /// Largest Monte Carlo standard error of a probability. An input that all chains always have, or
    /// never, has none that draws could tell.
    pub error: f64,
}

impl Inclusion {
    /// Of `draws`; `None` if they are not over input sets.
    pub fn of(draws: &Draws) -> Option<Self> {
        let inputs = draws.layout.of_role(Role::Inclusion)?.range();
        let chains: Vec<Vec<Vec<f64>>> = inputs.map(|input| draws.component(input)).collect();
        let size = |chain: usize| -> Vec<f64> {
            (0..draws.draws).map(|draw| chains.iter().map(|it| it[chain][draw]).sum()).collect()
        };
        let sizes: Vec<Vec<f64>> = (0..draws.chains).map(size).collect();
        let r_hat = chains.iter().chain([&sizes]).map(|it| r_hat_of_counts(it));
        let moving = chains.iter().filter(|it| constant_chains(it) != Some(true));
        let r_hat = r_hat.fold(f64::NAN, f64::max);
        Some(Inclusion { r_hat, error: moving.map(|it| mcse_mean(it)).fold(0.0, worse) })
    }

    /// The error of a probability of one half by as many independent draws as a goal asks for: those
    /// of all others are smaller. 0.025 by the usual 400.
    pub fn wanted(goal: &Goal) -> f64 {
        0.5 / goal.ess.sqrt()
    }

    /// Whether that is enough.
    pub fn meets(&self, goal: &Goal) -> bool {
        let agrees = self.r_hat.is_nan() || self.r_hat <= DOUBTFUL_COUNTS;
        agrees && self.error <= Inclusion::wanted(goal)
    }

    /// How many independent draws would know the probabilities as well.
    pub fn ess(&self) -> f64 {
        0.25 / self.error.powi(2)
    }

    /// How many times the draws there are would do, if errors fall as they do where chains mix.
    pub(super) fn more(&self, goal: &Goal) -> f64 {
        let excess = |r_hat: f64| r_hat * r_hat - 1.0;
        let by_error = (self.error / Inclusion::wanted(goal)).powi(2);
        by_error.max(excess(self.r_hat) / excess(DOUBTFUL_COUNTS))
    }
}

/// What is not known is worse than anything that is.
fn worse(one: f64, other: f64) -> f64 {
    if one.is_nan() || other.is_nan() { f64::NAN } else { one.max(other) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::draws::Layout;
    use crate::random::{Purpose, Seed};

    /// Chains that always have a, never have c, and have b with a probability in each.
    fn draws(count: usize, b: &[f64]) -> Draws {
        let mut layout = Layout::new();
        layout.push_scalar("residual_scale");
        layout.push_vector("inclusion", "input", ["a", "b", "c"].map(String::from).to_vec());
        let mut draws = Draws::empty(layout, b.len(), 0);
        draws.draws = count;
        for (chain, b) in b.iter().enumerate() {
            let mut stream = Seed(3).stream(Purpose::Chain, [chain as u64, 0]);
            let one = |_| [0.3, 1.0, f64::from(stream.uniform() < *b), 0.0];
            draws.values.extend((0..count).flat_map(one));
        }
        draws
    }

    #[test]
    fn an_error_is_that_of_so_many_independent_draws() {
        let goal = Goal::new(400.0, 4);
        let found = Inclusion::of(&draws(500, &[0.5; 4])).unwrap();
        // √(¼/2000) = 0.0112, within what 500 draws of a chain tell of its effective size.
        assert!((found.error - 0.0112).abs() < 0.002 && found.r_hat < 1.01, "{found:?}");
        assert!(found.meets(&goal) && !found.meets(&Goal::new(4000.0, 4)));
        assert!((found.ess() / 2000.0 - 1.0).abs() < 0.4 && found.more(&goal) < 0.4);
        // 0.0316 by 250 draws in all: (0.0316 / 0.025)² times as many would do.
        let few = Inclusion::of(&draws(62, &[0.5; 4])).unwrap();
        assert!(!few.meets(&goal) && (1.0..3.0).contains(&few.more(&goal)), "{few:?}");
        // Rare inputs are known sooner.
        let rare = Inclusion::of(&draws(62, &[0.03; 4])).unwrap();
        assert!(rare.error < 0.025 && rare.meets(&goal), "{rare:?}");
    }

    #[test]
    fn chains_that_disagree_have_not_enough() {
        let goal = Goal::new(400.0, 4);
        let apart = Inclusion::of(&draws(500, &[0.2, 0.2, 0.2, 0.8])).unwrap();
        assert!(apart.r_hat > 1.1 && !apart.meets(&goal) && apart.more(&goal) > 2.0, "{apart:?}");
        let stuck = Inclusion::of(&draws(500, &[0.0, 0.0, 0.0, 1.0])).unwrap();
        assert!(stuck.r_hat.is_infinite() && !stuck.meets(&goal));
        let still = Inclusion::of(&draws(500, &[1.0; 4])).unwrap();
        assert!(still.meets(&goal) && still.error == 0.0);
        let mut none = draws(5, &[0.5]);
        none.layout = Layout::new();
        assert_eq!(Inclusion::of(&none), None);
    }
}
