//! Anneal particles from the prior to the posterior, weighing them on the way.

use super::estimate::{LogEvidence, Method};
use super::importance::summarize_weights;
use super::ladder::{Ladder, LadderError, Observer, Phase};
use super::replica::Energy;
use super::schedule::refined;
use crate::fit::run_jobs;
use crate::random::Purpose;

/// Particles that move together: fixed, so that no number depends on the threads.
const BATCH: usize = 16;
/// What streams of particles are for.
const PHASE: u64 = 7;

/// Annealed importance sampling [Neal 2001]: `particles` draws of the prior, each swept once at
/// every β of the rungs of `ladder` with `parts` steps in place of every interval; the weight of
/// a particle is Π exp((β_{j+1} - β_j) U_j), whose mean is the evidence.
///
/// Kernels are those that the ladder tuned, and learn nothing here.
///
/// # Errors
/// [`LadderError`].
pub fn annealed_importance(
    ladder: &Ladder<'_>,
    particles: usize,
    parts: usize,
    observer: &dyn Observer,
) -> Result<LogEvidence, LadderError> {
    let betas = refined(&ladder.energies().inverse_temperatures, parts.max(1));
    observer.begin(Phase::Annealing, (particles * (betas.len() - 1)) as u64);
    let batches = particles.div_ceil(BATCH);
    let weights = run_jobs(batches, ladder.threads, |batch| {
        let count = BATCH.min(particles - batch * BATCH);
        anneal(ladder, &betas, batch, count, observer)
    });
    let mut log_weights = Vec::with_capacity(particles);
    for batch in weights {
        log_weights.extend(batch?);
    }
    Ok(summarize_weights(Method::Annealed, &log_weights))
}

fn anneal(
    ladder: &Ladder<'_>,
    betas: &[f64],
    batch: usize,
    count: usize,
    observer: &dyn Observer,
) -> Result<Vec<f64>, LadderError> {
    let posterior = ladder.posterior;
    let mut stream = ladder.seed.stream(Purpose::Evidence, [batch as u64, PHASE]);
    let mut energy = Energy::new(posterior);
    let mut states = Vec::with_capacity(count);
    let mut energies = Vec::with_capacity(count);
    for _ in 0..count {
        let state = posterior.prior_state(&mut stream).ok_or(LadderError::NoPriorDraws)?;
        energies.push(energy.of(&state));
        states.push(state);
    }
    let mut log_weights = vec![0.0; count];
    for pair in betas.windows(2) {
        for (weight, u) in log_weights.iter_mut().zip(&energies) {
            *weight += (pair[1] - pair[0]) * u;
        }
        if pair[1] >= 1.0 {
            // Moving on at the posterior changes no weight.
            break;
        }
        // One set of kernels moves all particles of the batch, one after the other.
        let mut rung = ladder.tuned(batch % ladder.options.ladders, pair[1], Vec::new());
        for (state, u) in states.iter_mut().zip(&mut energies) {
            if *u > f64::NEG_INFINITY {
                std::mem::swap(&mut rung.state, state);
                rung.pass(posterior, &mut energy, &mut stream);
                *u = rung.energy;
                std::mem::swap(&mut rung.state, state);
            }
        }
        if observer.advanced(count as u64).is_break() {
            return Err(LadderError::Interrupted);
        }
    }
    Ok(log_weights)
}
