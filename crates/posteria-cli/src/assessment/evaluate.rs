//! Evaluate utilities, and how they would have come out from other draws, row by row.

use posteria::assess::utility::Utility;
use posteria::assess::{DrawBlocks, draw_replicates};
use posteria::draws::Draws;
use posteria::predict::{Predictive, PredictiveTable};
use posteria::random::Seed;

/// Times that the draws are weighted anew: their variance is then known to a sixth.
const REPLICATES: usize = 20;

/// What is to be known about every row.
pub struct Questions<'a> {
    /// What predictions are worth.
    pub utilities: &'a [Box<dyn Utility>],
    /// The targets of every row.
    pub observed: &'a [Vec<f64>],
    /// Names the weights of draws.
    pub seed: Seed,
}

/// What is known about a row.
#[derive(Clone, Debug)]
pub struct Answers {
    /// The value of every utility.
    pub values: Vec<f64>,
    /// The same for every weighting of the draws.
    pub replicates: Vec<Vec<f64>>,
    /// The probability of a smaller target, of every real target; none for classes.
    pub transforms: Vec<f64>,
    /// The probability of every class; none for real targets.
    pub probabilities: Vec<f64>,
}

impl Questions<'_> {
    /// Looks at the row with this number, whose predictive distribution is in `table` at `index`,
    /// its draws weighted by `log_weights`. `fit` numbers the fit that the draws are of.
    pub fn ask(
        &self,
        row: usize,
        (table, index): (&PredictiveTable, usize),
        log_weights: Option<&[f64]>,
        (blocks, fit): (&DrawBlocks, u64),
    ) -> Answers {
        let observed = &self.observed[row];
        let values_of = |predictive: &Predictive<'_>| -> Vec<f64> {
            self.utilities.iter().map(|utility| utility.evaluate(predictive, observed)).collect()
        };
        let predictive = match log_weights {
            Some(logs) => table.weighted(index, logs),
            None => table.predictive(index),
        };
        let mut replicates = Vec::with_capacity(REPLICATES);
        let mut sum = vec![0.0; table.draws()];
        draw_replicates(blocks, (self.seed, fit), (REPLICATES, 1), |_, logs| {
            sum.copy_from_slice(logs);
            if let Some(own) = log_weights {
                sum.iter_mut().zip(own).for_each(|(sum, own)| *sum += own);
            }
            replicates.push(values_of(&table.weighted(index, &sum)));
            0.0
        });
        let classes = predictive.family().classes();
        let mut probabilities = vec![0.0; classes];
        let mut transforms = Vec::new();
        if classes > 0 {
            predictive.probabilities(&mut probabilities);
        } else {
            let each = observed.iter().enumerate();
            transforms.extend(each.map(|(output, y)| predictive.cdf(output, *y)));
        }
        Answers { values: values_of(&predictive), replicates, transforms, probabilities }
    }
}

/// Blocks of draws that can be taken for independent, by the log likelihood of all rows.
pub fn blocks(draws: &Draws) -> DrawBlocks {
    let chains: Vec<Vec<f64>> = draws
        .statistics
        .chunks(draws.draws.max(1))
        .map(|chain| chain.iter().map(|statistic| statistic.log_likelihood).collect())
        .collect();
    match chains.is_empty() {
        true => DrawBlocks::new(draws.chains, draws.draws, 1.0),
        false => DrawBlocks::of_chains(&chains),
    }
}
