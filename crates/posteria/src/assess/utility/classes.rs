//! Utilities of predicted classes.

use super::{Averages, Better, Summary, UtilityFunction};
use crate::predict::Predictive;

/// 1 if the most probable class (the first of equals) is that of the row, else 0.
#[derive(Clone, Copy, Debug, Default)]
pub struct Accuracy;

impl UtilityFunction for Accuracy {
    fn name(&self) -> &str {
        "accuracy"
    }
    fn better(&self) -> Better {
        Better::Higher
    }
    fn summary(&self) -> Summary {
        Summary::Mean
    }
    fn evaluate(&self, predictive: &Predictive<'_>, observed: &[f64]) -> f64 {
        f64::from(u8::from(is_right(predictive, observed)))
    }
    fn of_averages(&self, averages: &Averages<'_>, observed: &[f64]) -> Option<f64> {
        let right = first_largest(averages.probabilities) == observed[0] as usize;
        Some(f64::from(u8::from(right)))
    }
}

/// 1 if the most probable class is not that of the row, else 0.
#[derive(Clone, Copy, Debug, Default)]
pub struct ErrorRate;

impl UtilityFunction for ErrorRate {
    fn name(&self) -> &str {
        "error-rate"
    }
    fn better(&self) -> Better {
        Better::Lower
    }
    fn summary(&self) -> Summary {
        Summary::Mean
    }
    fn evaluate(&self, predictive: &Predictive<'_>, observed: &[f64]) -> f64 {
        f64::from(u8::from(!is_right(predictive, observed)))
    }
    fn of_averages(&self, averages: &Averages<'_>, observed: &[f64]) -> Option<f64> {
        let right = first_largest(averages.probabilities) == observed[0] as usize;
        Some(f64::from(u8::from(!right)))
    }
}

fn is_right(predictive: &Predictive<'_>, observed: &[f64]) -> bool {
    predictive.most_probable() == observed[0] as usize
}

fn first_largest(probabilities: &[f64]) -> usize {
    let better = |best: usize, class: usize| {
        if probabilities[class] > probabilities[best] { class } else { best }
    };
    (0..probabilities.len()).fold(0, better)
}

/// Brier's score: Σ_k (p_k - 1[y = k])² over more than two classes, between 0 and 2; of two
/// classes half of that, (1 - p_y)², between 0 and 1, as it is usually given. [Brier 1950]
#[derive(Clone, Copy, Debug, Default)]
pub struct Brier;

impl UtilityFunction for Brier {
    fn name(&self) -> &str {
        "brier"
    }
    fn better(&self) -> Better {
        Better::Lower
    }
    fn summary(&self) -> Summary {
        Summary::Mean
    }
    fn evaluate(&self, predictive: &Predictive<'_>, observed: &[f64]) -> f64 {
        brier(&probabilities(predictive), observed[0] as usize)
    }
    fn of_averages(&self, averages: &Averages<'_>, observed: &[f64]) -> Option<f64> {
        Some(brier(averages.probabilities, observed[0] as usize))
    }
}

/// The ranked probability score of ordered classes, Σ_k (P(class ≤ k) - 1[y ≤ k])² / (K - 1), between 0 and
/// 1: a prediction of a neighbouring class is not as wrong as one far off [Epstein 1969]. Of two classes
/// it is Brier's.
#[derive(Clone, Debug)]
pub struct RankedProbability {
    /// The place of every class among all, from the lowest on.
    places: Vec<usize>,
}

impl RankedProbability {
    /// Of classes with these indices, from the lowest on.
    pub fn new(order: &[usize]) -> Self {
        let mut places = vec![0; order.len()];
        order.iter().enumerate().for_each(|(place, class)| places[*class] = place);
        RankedProbability { places }
    }

    fn of(&self, probabilities: &[f64], class: usize) -> f64 {
        let mut ordered = vec![0.0; probabilities.len()];
        self.places.iter().zip(probabilities).for_each(|(place, p)| ordered[*place] = *p);
        ranked(&ordered, self.places[class])
    }
}

impl UtilityFunction for RankedProbability {
    fn name(&self) -> &str {
        "rps"
    }
    fn better(&self) -> Better {
        Better::Lower
    }
    fn summary(&self) -> Summary {
        Summary::Mean
    }
    fn evaluate(&self, predictive: &Predictive<'_>, observed: &[f64]) -> f64 {
        self.of(&probabilities(predictive), observed[0] as usize)
    }
    fn of_averages(&self, averages: &Averages<'_>, observed: &[f64]) -> Option<f64> {
        Some(self.of(averages.probabilities, observed[0] as usize))
    }
}

fn probabilities(predictive: &Predictive<'_>) -> Vec<f64> {
    let mut probabilities = vec![0.0; predictive.family().classes()];
    predictive.probabilities(&mut probabilities);
    probabilities
}

fn ranked(probabilities: &[f64], class: usize) -> f64 {
    let cuts = probabilities.len() - 1;
    // What lies on the wrong side of every cut, from that side.
    let wrong = |cut: usize| -> f64 {
        match class <= cut {
            true => probabilities[cut + 1..].iter().sum(),
            false => probabilities[..=cut].iter().sum(),
        }
    };
    (0..cuts).map(|cut| wrong(cut).powi(2)).sum::<f64>() / cuts as f64
}

fn brier(probabilities: &[f64], class: usize) -> f64 {
    // 1 - p_k is the sum of the others, which loses nothing where p_k is nearly 1.
    let others = probabilities.iter().enumerate().filter(|(k, _)| *k != class);
    let (sum, squares) =
        others.fold((0.0, 0.0), |(sum, squares), (_, p)| (sum + p, squares + p * p));
    if probabilities.len() == 2 { sum * sum } else { sum * sum + squares }
}
