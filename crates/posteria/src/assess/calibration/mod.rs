//! Do predicted probabilities hold? Numbers to plot and to judge.

mod pit;
mod proportion;
mod reliability;
#[cfg(test)]
mod tests;

pub use pit::{Coverage, EcdfPoint, ProbabilityIntegralTransform};
pub use proportion::Proportion;
pub use reliability::{Reliability, ReliabilityBin};

use serde::{Deserialize, Serialize};

use super::TargetFacts;
use crate::predict::Predictive;

/// How much of the jump of a distribution function is counted in row number `row`
/// ([`Predictive::transform`]): multiples of the golden ratio, which fill the interval evenly, in place
/// of random numbers.
pub fn share_of_jump(row: usize) -> f64 {
    const GOLDEN: f64 = 0.618_033_988_749_894_9;
    ((row + 1) as f64 * GOLDEN).fract()
}

/// Whether the predictive distributions of rows are calibrated. Of real targets one entry of
/// `targets` each, of classes one of `classes` each.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Calibration {
    /// Of every real target.
    pub targets: Vec<ProbabilityIntegralTransform>,
    /// Of every class against all others; of two classes, of the second alone.
    pub classes: Vec<Reliability>,
    /// Of the most probable class of every row, whichever it is; `None` for real targets.
    pub most_probable: Option<Reliability>,
}

/// Gathers what calibration needs, row by row: predictions must be of held-out rows
/// (leave-one-out, k-fold), since those of training rows look too good.
#[derive(Clone, Debug)]
pub struct CalibrationRecord {
    facts: TargetFacts,
    /// For every target, the transform of every row.
    transforms: Vec<Vec<f64>>,
    /// For every class, its probability in every row.
    probabilities: Vec<Vec<f64>>,
    classes: Vec<usize>,
}

impl CalibrationRecord {
    /// Nothing yet.
    pub fn new(facts: &TargetFacts) -> Self {
        let targets = match facts {
            TargetFacts::Real { names, .. } => names.len(),
            TargetFacts::Censored { .. } => 1,
            _ => 0,
        };
        CalibrationRecord {
            facts: facts.clone(),
            transforms: vec![Vec::new(); targets],
            probabilities: vec![Vec::new(); facts.labels().len()],
            classes: Vec::new(),
        }
    }

    /// Adds a row; `observed` as [`Predictive::log_density`] takes it.
    ///
    /// # Panics
    /// If the prediction is of another kind than the targets.
    pub fn add(&mut self, predictive: &Predictive<'_>, observed: &[f64]) {
        let transforms = 0..self.transforms.len();
        let row = self.transforms.first().map_or(0, Vec::len);
        let share = share_of_jump(row);
        let transforms: Vec<f64> =
            transforms.map(|it| predictive.transform(it, observed[it], share)).collect();
        let mut probabilities = vec![0.0; self.probabilities.len()];
        if !probabilities.is_empty() {
            predictive.probabilities(&mut probabilities);
        }
        self.add_numbers(&transforms, &probabilities, observed);
    }

    /// Adds a row by what its predictive distribution says about it: the probability of a smaller
    /// value of every real target, or the probability of every class.
    ///
    /// # Panics
    /// If these are of other targets.
    pub fn add_numbers(&mut self, transforms: &[f64], probabilities: &[f64], observed: &[f64]) {
        assert_eq!(transforms.len(), self.transforms.len(), "one number per real target");
        assert_eq!(probabilities.len(), self.probabilities.len(), "one number per class");
        for (values, transform) in self.transforms.iter_mut().zip(transforms) {
            values.push(*transform);
        }
        for (values, probability) in self.probabilities.iter_mut().zip(probabilities) {
            values.push(*probability);
        }
        if !probabilities.is_empty() {
            self.classes.push(observed[0] as usize);
        }
    }

    /// All rows together; `None` if there is no row, or no target.
    pub fn finish(self) -> Option<Calibration> {
        let names = match &self.facts {
            TargetFacts::Real { names, .. } => names.clone(),
            TargetFacts::Censored { name } => vec![name.clone()],
            _ => Vec::new(),
        };
        let rows = self.transforms.first().map_or(self.classes.len(), Vec::len);
        if rows == 0 {
            return None;
        }
        let targets = names.into_iter().zip(self.transforms);
        let labels = self.facts.labels();
        let one = |class: usize| {
            let is = self.classes.iter().map(|own| *own == class).collect::<Vec<_>>();
            Reliability::new(Some(labels[class].clone()), &self.probabilities[class], &is)
        };
        let first = usize::from(labels.len() == 2);
        let most_probable = (!labels.is_empty()).then(|| {
            let best = |row: usize| {
                (0..labels.len()).fold(0, |best, class| {
                    let more = self.probabilities[class][row] > self.probabilities[best][row];
                    if more { class } else { best }
                })
            };
            let best: Vec<usize> = (0..rows).map(best).collect();
            let own = best.iter().enumerate();
            let highest: Vec<f64> =
                own.map(|(row, class)| self.probabilities[*class][row]).collect();
            let right: Vec<bool> = best.iter().zip(&self.classes).map(|(a, b)| a == b).collect();
            Reliability::new(None, &highest, &right)
        });
        Some(Calibration {
            targets: targets
                .map(|(name, values)| ProbabilityIntegralTransform::new(name, values))
                .collect(),
            classes: (first..labels.len()).map(one).collect(),
            most_probable,
        })
    }
}
