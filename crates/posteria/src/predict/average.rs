//! An average over models: the predictive distribution of a row where no model is chosen.

use super::mixture::LogSum;
use super::quantile::solve;
use super::{Family, Predictive};
use crate::random::Stream;

/// The predictive distribution of a model, and how much of an average it is.
#[derive(Clone, Copy, Debug)]
pub struct ModelShare<'a> {
    /// The share, from 0 to 1.
    pub share: f64,
    /// What the model says about the row.
    pub predictive: Predictive<'a>,
}

/// p(y) = Σ_k w_k p(y given model k).
#[derive(Clone, Copy, Debug)]
pub(super) struct Average<'a>(&'a [ModelShare<'a>]);

impl<'a> Average<'a> {
    #[track_caller]
    pub(super) fn new(models: &'a [ModelShare<'a>]) -> Self {
        let kind = |family: Family| {
            let is_duration = family.duration().is_some();
            (family.outputs(), family.classes(), family.is_count(), is_duration)
        };
        let first = models.first().map(|model| kind(model.predictive.family()));
        // Components of mixtures are not the same from one model to the next.
        let same = |model: &ModelShare<'_>| {
            let family = model.predictive.family();
            Some(kind(family)) == first && !family.is_density()
        };
        assert!(models.iter().all(same), "models of the same target");
        let is_counted = |model: &ModelShare<'_>| model.share.is_nan() || model.share > 0.0;
        assert!(models.iter().any(is_counted), "some model has a share");
        Average(models)
    }

    /// Share and distribution of every model that counts.
    fn counted(&self) -> impl Iterator<Item = (f64, &'a Predictive<'a>)> + use<'a> {
        // NaN passes, and shows in the result.
        let each = self.0.iter().filter(|model| model.share.is_nan() || model.share > 0.0);
        each.map(|model| (model.share, &model.predictive))
    }

    pub(super) fn family(&self) -> Family {
        self.0[0].predictive.family()
    }

    #[track_caller]
    pub(super) fn log_density(&self, observed: &[f64]) -> f64 {
        self.log_average(|it| it.log_density(observed))
    }

    pub(super) fn log_density_of(&self, output: usize, y: f64) -> f64 {
        self.log_average(|it| it.log_density_of(output, y))
    }

    #[track_caller]
    pub(super) fn log_probability(&self, class: usize) -> f64 {
        self.log_average(|it| it.log_probability(class))
    }

    #[track_caller]
    pub(super) fn probabilities(&self, probabilities: &mut [f64]) {
        let mut own = vec![0.0; probabilities.len()];
        probabilities.fill(0.0);
        for (share, predictive) in self.counted() {
            predictive.probabilities(&mut own);
            probabilities.iter_mut().zip(&own).for_each(|(sum, own)| *sum += share * own);
        }
    }

    #[track_caller]
    pub(super) fn draw(&self, stream: &mut Stream, target: &mut [f64]) {
        let mut remaining = stream.uniform();
        let mut last = None;
        for (share, predictive) in self.counted() {
            last = Some(predictive);
            remaining -= share;
            if remaining < 0.0 {
                break;
            }
        }
        last.expect("some model has a share").draw(stream, target);
    }

    pub(super) fn mean(&self, output: usize) -> Option<f64> {
        self.counted().map(|(share, it)| Some(share * it.mean(output)?)).sum()
    }

    /// Var y = Σ_k w_k (Var(y given k) + (E(y given k) - E y)²).
    pub(super) fn sd(&self, output: usize) -> Option<f64> {
        let mean = self.mean(output)?;
        let deviations = |(share, it): (f64, &Predictive<'_>)| {
            Some((share, it.sd(output)?, it.mean(output)? - mean))
        };
        let each = self.counted().map(deviations).collect::<Option<Vec<_>>>()?;
        // Relative to the largest, so that no square over- or underflows.
        let largest = each.iter().fold(0.0_f64, |most, it| most.max(it.1).max(it.2.abs()));
        let squares = |&(share, within, between): &(f64, f64, f64)| {
            share * ((within / largest).powi(2) + (between / largest).powi(2))
        };
        Some(largest * each.iter().map(squares).sum::<f64>().sqrt())
    }

    /// The quantile for a probability of at most ½ of `sign` times the output.
    pub(super) fn lower_quantile(&self, output: usize, sign: f64, probability: f64) -> f64 {
        // It lies between the least and the greatest of the models'.
        let mut bracket = (f64::INFINITY, f64::NEG_INFINITY);
        let mut start = 0.0;
        for (share, predictive) in self.counted() {
            let own = predictive.lower_quantile(output, sign, probability);
            if own.is_nan() || share.is_nan() {
                return f64::NAN;
            }
            bracket = (bracket.0.min(own), bracket.1.max(own));
            start += share * own;
        }
        solve(probability, bracket, start, |x| self.tail(output, sign, x))
    }

    /// P(`sign` × output ≤ x) and its density.
    pub(super) fn tail(&self, output: usize, sign: f64, x: f64) -> (f64, f64) {
        self.counted().fold((0.0, 0.0), |(below, density), (share, predictive)| {
            let (own, slope) = predictive.tail(output, sign, x);
            (below + share * own, density + share * slope)
        })
    }

    /// Adds `part` times the probabilities of the counts `first`, `first` + 1, … to `sums`.
    pub(super) fn add_probabilities(&self, part: f64, first: f64, sums: &mut [f64]) {
        self.counted().for_each(|(share, it)| it.add_probabilities(part * share, first, sums));
    }

    /// log Σ_k w_k exp(term of model k).
    fn log_average(&self, mut term: impl FnMut(&Predictive<'_>) -> f64) -> f64 {
        let mut sum = LogSum::EMPTY;
        self.counted().for_each(|(share, predictive)| sum.add(share.ln() + term(predictive)));
        sum.value()
    }
}
