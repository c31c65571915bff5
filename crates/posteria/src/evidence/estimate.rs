//! Hold an estimate of a log evidence with its error.

use serde::{Deserialize, Serialize};

use crate::caution::Caution;
use crate::diagnose::mcse_mean;

/// How a log evidence was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Method {
    /// Path sampling: the mean log likelihood integrated over the inverse temperature.
    Path,
    /// The same from one sorted sweep of drawn temperatures.
    Sweep,
    /// Stepping stone: products of mean likelihood ratios.
    SteppingStone,
    /// Optimal bridges between neighbouring temperatures.
    Bridge,
    /// One optimal bridge from a normal distribution to the posterior, made symmetric.
    Warp,
    /// Annealed importance sampling.
    Annealed,
    /// Importance sampling.
    Importance,
    /// A normal approximation at a mode.
    Laplace,
    /// A closed form or quadrature.
    Exact,
    /// The harmonic mean of likelihoods.
    Harmonic,
    /// Reciprocal importance sampling.
    Reciprocal,
    /// A variational lower bound.
    Bound,
}

impl Method {
    /// All of them.
    pub const ALL: [Method; 12] = [
        Method::Path,
        Method::Sweep,
        Method::SteppingStone,
        Method::Bridge,
        Method::Warp,
        Method::Annealed,
        Method::Importance,
        Method::Laplace,
        Method::Exact,
        Method::Harmonic,
        Method::Reciprocal,
        Method::Bound,
    ];

    /// Its name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Method::Path => "path",
            Method::Sweep => "sweep",
            Method::SteppingStone => "stepping-stone",
            Method::Bridge => "bridge",
            Method::Warp => "warp",
            Method::Annealed => "annealed",
            Method::Importance => "importance",
            Method::Laplace => "laplace",
            Method::Exact => "exact",
            Method::Harmonic => "harmonic",
            Method::Reciprocal => "reciprocal",
            Method::Bound => "bound",
        }
    }
}

/// An estimate of log p(D | M), the targets being in the user's unit.
#[derive(Clone, Debug, PartialEq)]
pub struct LogEvidence {
    /// How it was found.
    pub method: Method,
    /// The value.
    pub value: f64,
    /// Its standard error: Monte Carlo and discretisation. Zero where it is exact, NaN where it is
    /// not known.
    pub standard_error: f64,
    /// The part of the error that is due to discretisation; zero where there is none.
    pub discretization: f64,
    /// Whether value and error can be relied on; the cautions say why not.
    pub usable: bool,
    /// What to be careful about.
    pub cautions: Vec<Caution>,
}

impl LogEvidence {
    /// A value with a Monte Carlo error, not yet judged.
    pub fn new(method: Method, value: f64, standard_error: f64) -> Self {
        LogEvidence {
            method,
            value,
            standard_error,
            discretization: 0.0,
            usable: value.is_finite(),
            cautions: Vec::new(),
        }
    }

    /// A value without error.
    pub fn exact(value: f64) -> Self {
        LogEvidence::new(Method::Exact, value, 0.0)
    }

    /// The estimate with a reason not to rely on it.
    #[must_use]
    pub fn doubted(mut self, caution: Caution) -> Self {
        self.usable = false;
        self.cautions.push(caution);
        self
    }
}

/// Standard error of an estimate from what every draw adds to it (its influence), ladder by
/// ladder: the larger of that within ladders by autocorrelation and that between the means of
/// independent ladders, which stays honest where chains are stuck.
///
/// All rungs of a ladder at one time are one draw, so that exchanges between them, which make
/// their log likelihoods depend on each other, are accounted for.
pub(super) fn error_of_influence(influence: &[Vec<f64>]) -> f64 {
    let within = mcse_mean(influence);
    let between = error_between(influence);
    match (within.is_nan(), between.is_nan()) {
        (true, _) => between,
        (_, true) => within,
        _ => within.max(between),
    }
}

/// Standard error of the mean of the ladders' means; NaN for one ladder.
fn error_between(influence: &[Vec<f64>]) -> f64 {
    let count = influence.len() as f64;
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
    let means: Vec<f64> = influence.iter().map(|ladder| mean(ladder)).collect();
    let centre = mean(&means);
    let square: f64 = means.iter().map(|m| (m - centre).powi(2)).sum();
    (square / (count - 1.0) / count).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_error_is_the_larger_of_within_and_between() {
        // Four ladders that move by ±1 about levels far from each other.
        let apart: Vec<Vec<f64>> = (0..4)
            .map(|l| (0..100).map(|t| 10.0 * l as f64 + f64::from(t * 37 % 11) / 5.0).collect())
            .collect();
        // Means 0, 10, 20, 30 (and a constant): sd 12.91, over two.
        assert!((error_of_influence(&apart) - 6.455).abs() < 2.5, "{}", error_of_influence(&apart));
        let one = vec![apart[0].clone()];
        assert!(error_of_influence(&one) < 0.2);
    }
}
