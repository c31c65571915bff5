//! Estimate normalising constants and log evidences as they were first published, and better.

pub mod constant;
pub mod hysteresis;
pub mod inputs;
pub mod robot_arm;
mod test_errors;

use posteria::evidence::{
    Directions, Energies, Ladder, LadderOptions, LogEvidence, Silent, both_directions, judge,
    path_sampling,
};
use posteria::model::Posterior;

use super::{Demonstration, Quantity, Settings};
use crate::Result;

/// What a ladder and single chains in both directions say about one model.
struct Found {
    /// The estimate from the ladder, judged by nothing but it.
    path: LogEvidence,
    energies: Energies,
    directions: Directions,
}

impl Found {
    /// The estimate from the ladder, judged by the single chains too.
    fn judged(&self) -> LogEvidence {
        judge(path_sampling(&self.energies), &self.energies, Some(&self.directions))
    }
}

/// Runs `ladders` ladders of `draws` sweeps at every temperature, and as many single chains in
/// each direction with `sweeps` at every temperature.
fn estimate(
    posterior: &dyn Posterior,
    (ladders, draws, sweeps): (usize, usize, usize),
    settings: &Settings,
) -> Result<Found> {
    let (ladders, draws, sweeps) =
        if settings.quick { (2, 20, 6) } else { (ladders, draws, sweeps) };
    let warmup = if settings.quick { 20 } else { (draws / 2).max(50) };
    let options = LadderOptions { ladders, warmup, draws, ..LadderOptions::default() };
    let (seed, threads) = (settings.seed, settings.threads);
    let ladder = Ladder::run(posterior, &options, seed, threads, &Silent)?;
    let directions = both_directions(&ladder, sweeps, &Silent)?;
    let path = judge(path_sampling(ladder.energies()), ladder.energies(), None);
    Ok(Found { path, energies: ladder.energies().clone(), directions })
}

/// A figure with its standard error.
fn quantity(quantity: String, found: &LogEvidence) -> Quantity {
    Quantity { quantity, published: None, here: found.value, sd: Some(found.standard_error) }
}

/// Why an estimate is not usable, if so; `of` says what it is of.
fn doubt(of: &str, found: &LogEvidence) -> Option<String> {
    let reasons: Vec<String> = found.cautions.iter().map(ToString::to_string).collect();
    (!found.usable).then(|| format!("the evidence of {of} is not usable: {}", reasons.join("; ")))
}

/// A demonstration with reasons to doubt it.
fn conclude(
    name: &'static str,
    results: Vec<Quantity>,
    words: &str,
    doubts: Vec<String>,
) -> Demonstration {
    let words = words.into();
    Demonstration { name, results, words, doubts, ..Demonstration::default() }
}
