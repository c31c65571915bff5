//! Put a normal distribution at the mode of everything that is uncertain.

use posteria_linalg::{Cholesky, Matrix};

use super::estimate::{LogEvidence, Method};
use super::joint::Joint;
use super::ladder::{LadderError, start};
use super::proposal::MultivariateT;
use crate::approximate::Laplace;
use crate::caution::{Caution, EvidenceDoubt};
use crate::model::Posterior;
use crate::random::{Purpose, Seed};
use crate::target::LogDensity;

/// Most parameters whose second derivatives are made of differences of differences.
const MOST_PARAMETERS: usize = 60;
/// What streams of starts are for.
const PHASE: u64 = 14;

/// Laplace's approximation of the evidence at the highest mode of prior × likelihood from several
/// starts, scales being integrated over on their logarithms; and Student's t distribution with its
/// mode and curvature, to draw proposals from.
///
/// Derivatives are made of differences: for few parameters, as those of a Gaussian process whose
/// functions are integrated out. Of other models' weights and scales together there need not be a
/// mode worth the name; the evidence framework is for these.
///
/// # Errors
/// [`LadderError`].
pub fn laplace(
    posterior: &dyn Posterior,
    starts: usize,
    seed: Seed,
) -> Result<(LogEvidence, MultivariateT), LadderError> {
    let mut stream = seed.stream(Purpose::Evidence, [0, PHASE]);
    let states =
        (0..starts.max(1)).map(|_| start(posterior, &mut stream)).collect::<Result<Vec<_>, _>>()?;
    let template = states[0].clone();
    let mut joint = Joint::new(posterior, template.clone()).ok_or(LadderError::NoDensity)?;
    let found = joint.dim();
    if found > MOST_PARAMETERS {
        return Err(LadderError::TooMany { most: MOST_PARAMETERS, found });
    }
    let positions: Vec<Vec<f64>> = states.iter().map(|state| joint.position(state)).collect();
    let mode = Laplace::at_highest_mode(&mut joint, positions)?;
    let mut covariance = Matrix::zeros(found, found);
    mode.precision().inverse(&mut covariance);
    let factor = Cholesky::new(&covariance).map_err(|_| LadderError::NoDensity)?;
    let slots = joint.slots().to_vec();
    let t = MultivariateT::new(slots, template, mode.mode().to_vec(), factor);
    let value = LogEvidence::new(Method::Laplace, mode.log_evidence(), f64::NAN)
        .doubted(Caution::Evidence(EvidenceDoubt::NormalAtMode));
    Ok((value, t))
}
