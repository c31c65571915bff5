//! Estimate the constant of a normal distribution by importance sampling [Fabricius 1999, §5.1.1].

use posteria::random::Purpose;

use super::{Demonstration, Quantity, Settings, conclude};
use crate::Result;

/// Variances of the distributions that are drawn from.
const VARIANCES: [f64; 2] = [2.0, 10_000.0];
/// Numbers of draws.
const DRAWS: [usize; 3] = [100, 1_000, 10_000];
/// Repetitions that the spread is told by.
const RUNS: u64 = 200;

const WORDS: &str = "\
The mean of exp(-x²/2)/q(x) over draws of q, normal with variance 2 and 10 000: an estimate of √2π, the
published truth. sd is the standard deviation of one estimate, over 200 of them: a distribution that is
hundred times too wide costs forty times the draws, and in d dimensions that to the power d.
";

/// Runs the demonstration.
pub fn run(settings: &Settings) -> Result<Demonstration> {
    let runs = if settings.quick { 10 } else { RUNS };
    let root = std::f64::consts::TAU.sqrt();
    let mut results = Vec::new();
    for (index, variance) in VARIANCES.into_iter().enumerate() {
        for draws in DRAWS {
            let one = |run: u64| {
                let purpose = [100 * index as u64 + draws as u64, run];
                let mut stream = settings.seed.stream(Purpose::Data, purpose);
                let weight = |x: f64| (-0.5 * x * x * (1.0 - variance.recip())).exp();
                let sum: f64 = (0..draws).map(|_| weight(variance.sqrt() * stream.normal())).sum();
                (root * variance.sqrt()) * sum / draws as f64
            };
            let found: Vec<f64> = (0..runs).map(one).collect();
            let name = format!("variance {variance}, {draws} draws: constant");
            results.push(Quantity::over_runs(name, Some(root), &found));
        }
    }
    Ok(conclude("normalizing-constant", results, WORDS, Vec::new()))
}
