//! Evaluate utilities, and how they would have come out from other draws, row by row.

use super::DrawBlocks;
use super::calibration::share_of_jump;
use super::utility::{Averages, UtilityFunction};
use crate::draws::Draws;
use crate::predict::{Predictive, PredictiveTable};
use crate::random::Seed;

/// Bootstrap replicates of the draws: the variance of the replicates is then known to a sixth.
const REPLICATES: usize = 20;

/// The same for utilities that look at the whole distribution each time, which takes long: the
/// variance, mostly a small part of all, is then known to a third.
const SLOW_REPLICATES: usize = 5;

/// What is to be known about every row that one fit predicts.
pub struct UtilityEvaluator<'a> {
    utilities: &'a [Box<dyn UtilityFunction>],
    /// The targets of every row.
    observed: &'a [Vec<f64>],
    /// Bootstrap weights of the draws of the fit.
    weightings: Vec<Vec<f64>>,
}

/// What is known about a row.
#[derive(Clone, Debug)]
pub struct RowUtilities {
    /// The value of every utility.
    pub values: Vec<f64>,
    /// For every utility, its bootstrap replicates over the draws; none where the predictive
    /// distribution is known without draws.
    pub replicates: Vec<Vec<f64>>,
    /// The probability integral transform of every target that is a number; none for classes.
    pub pit: Vec<f64>,
    /// The probability of every class; none for real targets.
    pub probabilities: Vec<f64>,
}

impl RowUtilities {
    /// Whether as many numbers are known as about another row.
    pub(super) fn is_like(&self, other: &RowUtilities) -> bool {
        let lengths =
            |row: &RowUtilities| [row.values.len(), row.pit.len(), row.probabilities.len()];
        let replicates = other.replicates.iter().map(Vec::len);
        lengths(self) == lengths(other) && self.replicates.iter().map(Vec::len).eq(replicates)
    }
}

impl<'a> UtilityEvaluator<'a> {
    /// Values `utilities` of rows whose targets are `observed`, by `draws` of the fit with this
    /// number.
    pub fn new(
        utilities: &'a [Box<dyn UtilityFunction>],
        observed: &'a [Vec<f64>],
        draws: &Draws,
        (seed, fit): (Seed, u64),
    ) -> Self {
        let weightings = blocks(draws).weightings((seed, fit), REPLICATES);
        UtilityEvaluator { utilities, observed, weightings }
    }

    /// The same by predictive distributions that are known without draws
    /// ([`PredictiveTable::known`]): there is no Monte Carlo error.
    pub fn without_draws(
        utilities: &'a [Box<dyn UtilityFunction>],
        observed: &'a [Vec<f64>],
    ) -> Self {
        UtilityEvaluator { utilities, observed, weightings: Vec::new() }
    }

    /// Looks at the row with this number, whose predictive distribution is in `table` at `index`,
    /// its draws weighted by `log_weights`.
    pub fn evaluate(
        &self,
        row: usize,
        (table, index): (&PredictiveTable, usize),
        log_weights: Option<&[f64]>,
    ) -> RowUtilities {
        let observed = &self.observed[row][..];
        let predictive = match log_weights {
            Some(logs) => table.weighted(index, logs),
            None => table.predictive(index),
        };
        let of_draws = OfDraws::new((table, index), observed, log_weights);
        let mut replicates = vec![Vec::with_capacity(REPLICATES); self.utilities.len()];
        for (number, weights) in self.weightings.iter().enumerate() {
            of_draws.average(weights, |averages| {
                let mut weighted: Option<Vec<f64>> = None;
                for (utility, values) in self.utilities.iter().zip(&mut replicates) {
                    if let Some(value) = utility.of_averages(averages, observed) {
                        values.push(value);
                    } else if number < SLOW_REPLICATES {
                        let logs = weighted.get_or_insert_with(|| logs(weights, log_weights));
                        values.push(utility.evaluate(&table.weighted(index, logs), observed));
                    }
                }
            });
        }
        let classes = predictive.family().classes();
        let mut probabilities = vec![0.0; classes];
        let mut pit = Vec::new();
        if classes > 0 {
            predictive.probabilities(&mut probabilities);
        } else {
            let each = observed.iter().enumerate();
            pit.extend(
                each.map(|(output, y)| predictive.transform(output, *y, share_of_jump(row))),
            );
        }
        let values = self.utilities.iter().map(|it| it.evaluate(&predictive, observed)).collect();
        RowUtilities { values, replicates, pit, probabilities }
    }
}

/// Logarithms of weights, plus those of importance weights if there are any.
fn logs(weights: &[f64], own: Option<&[f64]>) -> Vec<f64> {
    let each = weights.iter().enumerate();
    each.map(|(draw, weight)| weight.ln() + own.map_or(0.0, |own| own[draw])).collect()
}

/// What every draw says about a row, and how much it counts.
struct OfDraws {
    /// Importance weight of every draw, the largest 1.
    weights: Vec<f64>,
    /// Density of the target divided by exp(`shift`).
    densities: Vec<f64>,
    shift: f64,
    /// Means of real targets, or probabilities of classes, draw by draw.
    means: Vec<f64>,
    width: usize,
    is_classes: bool,
}

impl OfDraws {
    fn new(
        (table, index): (&PredictiveTable, usize),
        observed: &[f64],
        log_weights: Option<&[f64]>,
    ) -> Self {
        let family = table.family();
        let classes = family.classes();
        let width = if classes > 0 { classes } else { observed.len() };
        let draws = table.draws();
        let (mut densities, mut means) = (Vec::with_capacity(draws), vec![0.0; draws * width]);
        let each = table.parameters(index).chunks_exact(family.width());
        for (parameters, means) in each.zip(means.chunks_exact_mut(width)) {
            let one = Predictive::new(family, parameters);
            densities.push(one.log_density(observed));
            if classes > 0 {
                one.probabilities(means);
            } else {
                let outputs = means.iter_mut().enumerate();
                outputs.for_each(|(output, mean)| *mean = one.mean(output).unwrap_or(f64::NAN));
            }
        }
        let largest = |logs: &[f64]| logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let shift = largest(&densities);
        // So that no density overflows; where all are zero, nothing is to be divided by.
        let shift = if shift.is_finite() { shift } else { 0.0 };
        densities.iter_mut().for_each(|density| *density = (*density - shift).exp());
        let weights = match log_weights {
            None => vec![1.0; draws],
            Some(logs) => {
                let shift = largest(logs);
                logs.iter().map(|log| (log - shift).exp()).collect()
            }
        };
        OfDraws { weights, densities, shift, means, width, is_classes: classes > 0 }
    }

    /// What `then` makes of the averages under `weights` times the importance weights.
    fn average<T>(&self, weights: &[f64], then: impl FnOnce(&Averages<'_>) -> T) -> T {
        let (mut total, mut density) = (0.0, 0.0);
        let mut means = vec![0.0; self.width];
        let draws = self.weights.iter().zip(weights).zip(&self.densities);
        for (((own, weight), value), each) in draws.zip(self.means.chunks_exact(self.width)) {
            let weight = own * weight;
            total += weight;
            density += weight * value;
            means.iter_mut().zip(each).for_each(|(mean, one)| *mean += weight * one);
        }
        means.iter_mut().for_each(|mean| *mean /= total);
        let log_density = (density / total).ln() + self.shift;
        let none: &[f64] = &[];
        then(&match self.is_classes {
            true => Averages { log_density, means: none, probabilities: &means },
            false => Averages { log_density, means: &means, probabilities: none },
        })
    }
}

/// Blocks of draws that can be taken for independent, by the log likelihood of all rows.
fn blocks(draws: &Draws) -> DrawBlocks {
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
