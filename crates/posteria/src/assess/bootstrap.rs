//! Weigh rows at random: the Bayesian bootstrap.

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use super::pointwise::PreparedTerms;
use super::sampled::sampled_distribution;
use super::{PointwiseUtilities, RowSample};
use crate::random::{Purpose, Seed, Stream};

/// Second index of the streams of a bootstrap.
pub(super) const ROWS: u64 = 0;
const REPETITIONS: u64 = 1;
pub(super) const FIRST_MODEL: u64 = 2;
pub(super) const SAMPLE: u64 = u64::MAX;

/// How the distribution of future rows is drawn: weights of the observed rows from
/// Dirichlet(1, …, 1) [Rubin 1981; Vehtari 2001, §3.2.4].
///
/// Rows of one group (measurements of one person, pixels of one image) share their weight, as they
/// would come or not come together. `row_weights` stand for a future distribution of the inputs
/// other than that of the data; the random weights are multiplied by them.
///
/// The weights depend on the seed and the number of the replicate alone: models that
/// are compared with the same seed meet the same future rows.
#[derive(Clone, Debug)]
pub struct Bootstrap {
    /// How many times the weights are drawn.
    pub replicates: usize,
    /// Names the streams.
    pub seed: Seed,
    /// The group of every row.
    pub groups: Option<Vec<usize>>,
    /// How much every row counts, in any unit.
    pub row_weights: Option<Vec<f64>>,
}

/// Why rows cannot be weighted.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum BootstrapError {
    /// Nothing was asked for.
    #[error("a distribution needs at least 2 replicates, not {replicates}")]
    TooFewReplicates {
        /// How many were asked for.
        replicates: usize,
    },
    /// Not one value per row.
    #[error("there are {given} {what} for {rows} rows; give one per row")]
    Length {
        /// Groups or weights.
        what: &'static str,
        /// How many there are.
        given: usize,
        /// Number of rows.
        rows: usize,
    },
    /// A weight is negative or not a number.
    #[error("the weight of row {} is {value}; weights are numbers of at least 0", .row + 1)]
    Weight {
        /// The row, from 0.
        row: usize,
        /// The weight.
        value: f64,
    },
    /// Nothing counts.
    #[error("the weights of all rows are 0; give at least one row a positive weight")]
    NoWeight,
}

impl Bootstrap {
    /// 4000 replicates, every row by itself.
    pub fn new(seed: Seed) -> Self {
        Bootstrap { replicates: 4000, seed, groups: None, row_weights: None }
    }

    /// The same for some of the rows alone.
    ///
    /// # Panics
    /// If there is no such row.
    #[must_use]
    pub fn select(&self, rows: &[usize]) -> Self {
        let groups = self.groups.as_ref().map(|it| rows.iter().map(|row| it[*row]).collect());
        let weights = self.row_weights.as_ref();
        let row_weights = weights.map(|it| rows.iter().map(|row| it[*row]).collect());
        Bootstrap { groups, row_weights, ..self.clone() }
    }

    /// The same for the rows of a sample; for all of them if there is none.
    ///
    /// # Panics
    /// If there is no such row.
    #[must_use]
    pub fn of_sample(&self, sample: Option<&RowSample>) -> Self {
        sample.map_or_else(|| self.clone(), |sample| self.select(sample.rows()))
    }

    /// Checks that it is for so many rows.
    pub(super) fn units(&self, rows: usize) -> Result<Units, BootstrapError> {
        let length = |what, given| match given == rows {
            true => Ok(()),
            false => Err(BootstrapError::Length { what, given, rows }),
        };
        if self.replicates < 2 {
            return Err(BootstrapError::TooFewReplicates { replicates: self.replicates });
        }
        let mut base = vec![1.0; rows];
        if let Some(weights) = &self.row_weights {
            length("weights", weights.len())?;
            let odd = weights.iter().position(|weight| !(*weight >= 0.0 && weight.is_finite()));
            if let Some(row) = odd {
                return Err(BootstrapError::Weight { row, value: weights[row] });
            }
            base.clone_from(weights);
        }
        let largest = base.iter().copied().fold(0.0, f64::max);
        if largest <= 0.0 {
            return Err(BootstrapError::NoWeight);
        }
        let total: f64 = base.iter().map(|weight| weight / largest).sum();
        base.iter_mut().for_each(|weight| *weight = *weight / largest / total);
        let mut of_row: Vec<usize> = (0..rows).collect();
        let mut count = rows;
        if let Some(groups) = &self.groups {
            length("groups", groups.len())?;
            let mut numbers = BTreeMap::new();
            for (unit, group) in of_row.iter_mut().zip(groups) {
                let next = numbers.len();
                *unit = *numbers.entry(*group).or_insert(next);
            }
            count = numbers.len();
        }
        Ok(Units { base, of_row, count })
    }
}

/// Rows that are weighted together.
#[derive(Debug)]
pub(super) struct Units {
    /// The weight of every row before any is drawn; they sum to 1.
    pub(super) base: Vec<f64>,
    /// The unit of every row.
    pub(super) of_row: Vec<usize>,
    pub(super) count: usize,
}

impl Units {
    /// The weighted sum of every unit.
    pub(super) fn sums(&self, values: impl IntoIterator<Item = f64>) -> Vec<f64> {
        let mut sums = vec![0.0; self.count];
        for ((value, base), unit) in values.into_iter().zip(&self.base).zip(&self.of_row) {
            sums[*unit] += base * value;
        }
        sums
    }

    fn draw(&self, stream: &mut Stream, of_units: &mut [f64], weights: &mut [f64]) {
        dirichlet(stream, of_units);
        let mut total = 0.0;
        for ((weight, base), unit) in weights.iter_mut().zip(&self.base).zip(&self.of_row) {
            *weight = base * of_units[*unit];
            total += *weight;
        }
        weights.iter_mut().for_each(|weight| *weight /= total);
    }
}

/// Weights from Dirichlet(1, …, 1): exponential variables over their sum.
pub(super) fn dirichlet(stream: &mut Stream, weights: &mut [f64]) {
    weights.iter_mut().for_each(|weight| *weight = stream.exponential());
    let total: f64 = weights.iter().sum();
    weights.iter_mut().for_each(|weight| *weight /= total);
}

/// What the bootstrap tells of one model.
#[derive(Clone, Debug)]
pub(super) struct Distribution {
    /// The expected utility given everything, and its correction.
    pub(super) estimate: f64,
    pub(super) bias: Option<f64>,
    /// Its distribution, with everything uncertain.
    pub(super) replicates: Vec<f64>,
    /// With the rows alone uncertain.
    pub(super) rows_only: Vec<f64>,
    /// With the sample of rows alone uncertain; empty where all rows are known.
    pub(super) samples_only: Vec<f64>,
    /// Of the correction, with everything uncertain.
    pub(super) biases: Option<Vec<f64>>,
    /// By each division into folds.
    pub(super) by_repetition: Vec<f64>,
    /// Variance by the draws, for each division.
    pub(super) monte_carlo: Vec<Option<f64>>,
    /// The weighted sum of the utilities of each unit.
    pub(super) by_unit: Vec<f64>,
}

/// Draws the distributions of the expected utilities of models at the same rows, with common
/// weights of the rows and independent Monte Carlo errors. Takes replicates × rows × models
/// (× divisions into folds) steps.
pub(super) fn distributions(
    models: &[&PointwiseUtilities],
    bootstrap: &Bootstrap,
) -> Result<(Vec<Distribution>, Units), BootstrapError> {
    let rows = models.first().map_or(0, |model| model.rows());
    let units = bootstrap.units(rows)?;
    // Rows that count differently or come together are weighed as they are: their summary over the
    // sample, without approximations, and what it leaves open of all rows besides.
    if bootstrap.groups.is_none()
        && bootstrap.row_weights.is_none()
        && models.iter().all(|model| model.sampled().is_some())
    {
        let each = models.iter().enumerate().filter_map(|(number, model)| {
            Some(sampled_distribution((model, model.sampled()?), bootstrap, number))
        });
        return Ok((each.collect(), units));
    }
    let mut samplers: Vec<Sampler<'_>> =
        models.iter().map(|model| Sampler::new(model, &units, bootstrap.replicates)).collect();
    let (mut of_units, mut weights) = (vec![0.0; units.count], vec![0.0; rows]);
    for replicate in 0..bootstrap.replicates {
        let stream =
            |index: u64| bootstrap.seed.stream(Purpose::Bootstrap, [replicate as u64, index]);
        units.draw(&mut stream(ROWS), &mut of_units, &mut weights);
        for (number, sampler) in samplers.iter_mut().enumerate() {
            let own = stream(FIRST_MODEL + number as u64);
            sampler.replicate(&weights, stream(REPETITIONS), own);
        }
    }
    Ok((samplers.into_iter().map(|sampler| sampler.distribution).collect(), units))
}

struct Sampler<'a> {
    /// For each division into folds, the terms and their alternatives.
    repetitions: Vec<(PreparedTerms<'a>, Vec<PreparedTerms<'a>>)>,
    /// How much each division counts, in the present replicate.
    shares: Vec<f64>,
    distribution: Distribution,
}

impl<'a> Sampler<'a> {
    fn new(model: &'a PointwiseUtilities, units: &Units, replicates: usize) -> Self {
        let base = &units.base[..];
        let repetitions: Vec<_> = model
            .repetitions()
            .iter()
            .map(|one| {
                let prepare = |terms| PreparedTerms::new(model, (terms, &one.folds));
                (prepare(&one.terms), one.draw_replicates.iter().map(prepare).collect())
            })
            .collect();
        let of_one = |(_, others): &(_, Vec<PreparedTerms<'_>>)| {
            let values: Vec<f64> = others.iter().map(|terms| terms.at(base)).collect();
            (values.len() > 1).then(|| variance(&values))
        };
        let count = repetitions.len() as f64;
        let by_repetition: Vec<f64> = repetitions.iter().map(|(terms, _)| terms.at(base)).collect();
        let corrected = repetitions.iter().any(|(terms, _)| terms.is_corrected());
        let bias = || repetitions.iter().map(|(terms, _)| terms.bias(base) / count).sum();
        let empty = || Vec::with_capacity(replicates);
        let distribution = Distribution {
            estimate: by_repetition.iter().map(|value| value / count).sum(),
            bias: corrected.then(bias),
            replicates: empty(),
            rows_only: empty(),
            samples_only: Vec::new(),
            biases: corrected.then(empty),
            monte_carlo: repetitions.iter().map(of_one).collect(),
            by_repetition,
            by_unit: units.sums(model.values()),
        };
        let shares = vec![0.0; repetitions.len()];
        Sampler { repetitions, shares, distribution }
    }

    fn replicate(&mut self, weights: &[f64], mut of_repetitions: Stream, mut own: Stream) {
        // The divisions are a sample of all divisions: one more thing to weigh at random.
        dirichlet(&mut of_repetitions, &mut self.shares);
        let count = self.repetitions.len() as f64;
        let (mut all, mut rows_only, mut bias) = (0.0, 0.0, 0.0);
        for ((terms, others), share) in self.repetitions.iter().zip(&self.shares) {
            let alone = terms.at(weights);
            rows_only += alone / count;
            let version = match others.len() {
                0 => terms,
                count => &others[own.index(count)],
            };
            all += share * if others.is_empty() { alone } else { version.at(weights) };
            bias += share * version.bias(weights);
        }
        self.distribution.replicates.push(all);
        self.distribution.rows_only.push(rows_only);
        if let Some(biases) = &mut self.distribution.biases {
            biases.push(bias);
        }
    }
}

/// Mean; NaN or infinite if any value is.
pub(super) fn mean(values: &[f64]) -> f64 {
    let count = values.len() as f64;
    values.iter().map(|value| value / count).sum()
}

/// Variance with divisor n - 1.
pub(super) fn variance(values: &[f64]) -> f64 {
    let centre = mean(values);
    let squares: f64 = values.iter().map(|value| (value - centre).powi(2)).sum();
    squares / (values.len() as f64 - 1.0)
}
