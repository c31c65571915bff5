//! Bridge from a normal distribution to the posterior, made symmetric about its mean.

use super::estimate::{LogEvidence, Method, error_of_influence};
use super::importance::summarize_weights;
use super::ladder::{Ladder, LadderError};
use super::proposal::Moments;
use super::replica::Energy;
use crate::caution::{Caution, EvidenceDoubt};
use crate::density::special::LOG_SQRT_2PI;
use crate::diagnose::mean_effective_size;
use crate::fit::run_jobs;
use crate::random::Purpose;

/// Iterations of the optimal bridge; it settles in ten or so.
const ITERATIONS: usize = 1000;
/// Proposals of one job.
const BATCH: usize = 500;
/// What streams of proposals are for.
const PHASE: u64 = 10;

/// Optimal bridge sampling [Meng & Wong 1996] between a normal distribution with the mean and
/// covariance of the first half of the draws at β = 1, and the posterior of the second half.
///
/// In the coordinates z of that normal distribution the posterior is replaced by its mean over z
/// and -z, which has the same constant and the proposal's mean, covariance and symmetry: Warp-III
/// [Meng & Schilling 2002; Gronau et al. 2020]. Draws count by their effective number.
///
/// # Errors
/// [`LadderError::NoDensity`] where the posterior has discrete or bound parameters, or too few
/// draws were kept.
pub fn warp_bridge(ladder: &Ladder<'_>) -> Result<LogEvidence, LadderError> {
    let posterior = ladder.posterior;
    let (moments, second) = Moments::of_first_half(ladder)?;
    let Moments { slots, mean, factor } = &moments;
    let states = ladder.states();
    let template = states[0][0].clone();
    let log_volume = 0.5 * factor.log_determinant();
    // log of the symmetric posterior over the normal, in coordinates z.
    let log_ratio = |z: &[f64], energy: &mut Energy<'_>, state: &mut Vec<f64>| {
        let mut off = z.to_vec();
        factor.multiply_lower(&mut off);
        let mut at = |sign: f64| {
            for ((slot, mean), off) in slots.iter().zip(mean).zip(&off) {
                state[*slot] = mean + sign * off;
            }
            energy.log_joint(state)
        };
        let (here, there) = (at(1.0), at(-1.0));
        let top = here.max(there);
        let joint = top + (0.5 * ((here - top).exp() + (there - top).exp())).ln();
        let square: f64 = z.iter().map(|z| z * z).sum();
        let ratio = joint + log_volume + 0.5 * square + z.len() as f64 * LOG_SQRT_2PI;
        if ratio.is_nan() { f64::NEG_INFINITY } else { ratio }
    };
    // Of the second half of the draws, chain by chain.
    let own: Vec<Vec<f64>> = run_jobs(states.len(), ladder.threads, |chain| {
        let (mut energy, mut state) = (Energy::new(posterior), template.clone());
        let of =
            |drawn: &Vec<f64>| log_ratio(&moments.standardized(drawn), &mut energy, &mut state);
        states[chain][second.clone()].iter().map(of).collect()
    });
    let count = own.len() * own[0].len();
    let proposed: Vec<f64> = run_jobs(count.div_ceil(BATCH), ladder.threads, |batch| {
        let mut stream = ladder.seed.stream(Purpose::Evidence, [batch as u64, PHASE]);
        let (mut energy, mut state) = (Energy::new(posterior), template.clone());
        let mut z = vec![0.0; slots.len()];
        let mut one = |_| {
            stream.fill_normal(&mut z);
            log_ratio(&z, &mut energy, &mut state)
        };
        (0..BATCH.min(count - batch * BATCH)).map(&mut one).collect::<Vec<f64>>()
    })
    .concat();
    Ok(iterate(&own, &proposed))
}

/// The optimal bridge from log ratios of (unnormalised) target to proposal, at draws of the
/// target by chain, and at draws of the proposal.
fn iterate(own: &[Vec<f64>], proposed: &[f64]) -> LogEvidence {
    let effective = match mean_effective_size(own) {
        size if size.is_finite() => size,
        _ => (own.len() * own[0].len()) as f64,
    };
    let others = proposed.len() as f64;
    let (share, other) = (effective / (effective + others), others / (effective + others));
    // Importance sampling is a start, the middle of the draws' own ratios the shift of exponents.
    let mut middle: Vec<f64> = own.iter().flatten().copied().collect();
    middle.sort_by(f64::total_cmp);
    let shift = middle[middle.len() / 2];
    let mut log_constant = summarize_weights(Method::Warp, proposed).value - shift;
    if !log_constant.is_finite() {
        log_constant = 0.0;
    }
    let of_proposed = |log_constant: f64, l: f64| {
        // g / (s1 g + s2 r), bounded by 1/s1.
        (share + other * (log_constant - (l - shift)).exp()).recip()
    };
    let of_own = |log_constant: f64, l: f64| {
        (share * (l - shift).exp() + other * log_constant.exp()).recip()
    };
    let mean_own =
        |c: f64| own.iter().flatten().map(|l| of_own(c, *l)).sum::<f64>() / middle.len() as f64;
    let mean_proposed = |c: f64| proposed.iter().map(|l| of_proposed(c, *l)).sum::<f64>() / others;
    for _ in 0..ITERATIONS {
        let next = mean_proposed(log_constant).ln() - mean_own(log_constant).ln();
        let moved = (next - log_constant).abs();
        log_constant = next;
        if moved < 1e-11 || !next.is_finite() {
            break;
        }
    }
    let (up, down) = (mean_proposed(log_constant), mean_own(log_constant));
    let square: f64 =
        proposed.iter().map(|l| (of_proposed(log_constant, *l) / up - 1.0).powi(2)).sum();
    let influence: Vec<Vec<f64>> = own
        .iter()
        .map(|chain| chain.iter().map(|l| of_own(log_constant, *l) / down).collect())
        .collect();
    let error = (square.sqrt() / others).hypot(error_of_influence(&influence));
    let found = LogEvidence::new(Method::Warp, log_constant + shift, error);
    if error < 0.5 {
        return found;
    }
    let effective_size = error.powi(-2);
    let doubt = EvidenceDoubt::FewWeights { effective_size, draws: proposed.len() };
    found.doubted(Caution::Evidence(doubt))
}
