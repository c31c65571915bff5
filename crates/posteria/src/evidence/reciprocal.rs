//! Weigh a known density by draws of the posterior, for comparison.

use super::estimate::{LogEvidence, Method, error_of_influence};
use super::ladder::{Ladder, LadderError};
use super::proposal::Moments;
use super::replica::Energy;
use crate::caution::{Caution, EvidenceDoubt};
use crate::density::special::{LOG_SQRT_2PI, regularized_gamma_lower};
use crate::fit::run_jobs;

/// 1 / E[q(ω)/p(D, ω)] over draws ω of the posterior [Gelfand & Dey 1994], q being the normal
/// distribution with the mean and covariance of the first half of the draws at β = 1, cut off
/// where half of them are farther from the mean: tails of q that are heavier than the posterior's
/// would make the variance infinite [Robert & Wraith 2009]. The mean is over the second half.
///
/// Never usable: where the posterior has several modes, it counts the one or two that q covers.
///
/// # Errors
/// [`LadderError::NoDensity`] where the posterior has discrete or bound parameters, or too few
/// draws were kept.
pub fn reciprocal_importance(ladder: &Ladder<'_>) -> Result<LogEvidence, LadderError> {
    let (moments, second) = Moments::of_first_half(ladder)?;
    let states = ladder.states();
    let square = |state: &Vec<f64>| moments.standardized(state).iter().map(|z| z * z).sum::<f64>();
    let first = states.iter().flat_map(|chain| &chain[..second.start]);
    let mut squares: Vec<f64> = first.map(square).collect();
    squares.sort_by(f64::total_cmp);
    let farthest = squares[squares.len() / 2];
    let dim = moments.slots.len() as f64;
    // The normal distribution has this mass within that distance.
    let log_mass = regularized_gamma_lower(0.5 * dim, 0.5 * farthest).ln();
    let log_constant = -dim * LOG_SQRT_2PI - 0.5 * moments.factor.log_determinant() - log_mass;
    let ratios: Vec<Vec<f64>> = run_jobs(states.len(), ladder.threads, |chain| {
        let mut energy = Energy::new(ladder.posterior);
        let of = |state: &Vec<f64>| match square(state) {
            square if square <= farthest => log_constant - 0.5 * square - energy.log_joint(state),
            _ => f64::NEG_INFINITY,
        };
        states[chain][second.clone()].iter().map(of).collect()
    });
    let largest = ratios.iter().flatten().copied().fold(f64::NEG_INFINITY, f64::max);
    let count = ratios.iter().map(Vec::len).sum::<usize>() as f64;
    let sum: f64 = ratios.iter().flatten().map(|ratio| (ratio - largest).exp()).sum();
    let relative = |ratio: &f64| -(ratio - largest).exp() * count / sum;
    let influence: Vec<Vec<f64>> =
        ratios.iter().map(|chain| chain.iter().map(relative).collect()).collect();
    let value = -largest - (sum / count).ln();
    Ok(LogEvidence::new(Method::Reciprocal, value, error_of_influence(&influence))
        .doubted(Caution::Evidence(EvidenceDoubt::ReciprocalImportance)))
}
