//! Utilities of predicted classes.

use super::{Better, Summary, Utility};
use crate::predict::Predictive;

/// 1 if the most probable class (the first of equals) is that of the row, else 0.
#[derive(Clone, Copy, Debug, Default)]
pub struct Accuracy;

impl Utility for Accuracy {
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
}

/// 1 if the most probable class is not that of the row, else 0.
#[derive(Clone, Copy, Debug, Default)]
pub struct ErrorRate;

impl Utility for ErrorRate {
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
}

fn is_right(predictive: &Predictive<'_>, observed: &[f64]) -> bool {
    predictive.most_probable() == observed[0] as usize
}

/// Brier's score: Σ_k (p_k - 1[y = k])² over more than two classes, between 0 and 2; of two
/// classes half of that, (1 - p_y)², between 0 and 1, as it is usually given. [Brier 1950]
#[derive(Clone, Copy, Debug, Default)]
pub struct Brier;

impl Utility for Brier {
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
        let mut probabilities = vec![0.0; predictive.family().classes()];
        predictive.probabilities(&mut probabilities);
        let class = observed[0] as usize;
        // 1 - p_k is the sum of the others, which loses nothing where p_k is nearly 1.
        let others = probabilities.iter().enumerate().filter(|(k, _)| *k != class);
        let (sum, squares) =
            others.fold((0.0, 0.0), |(sum, squares), (_, p)| (sum + p, squares + p * p));
        if probabilities.len() == 2 { sum * sum } else { sum * sum + squares }
    }
}
