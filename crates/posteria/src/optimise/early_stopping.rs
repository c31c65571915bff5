//! Climb only as long as rows that were held back profit.

use super::{Ascent, ScaledConjugateGradient};
use crate::target::{Infeasible, LogDensity};

/// How to train with early stopping.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EarlyStopping {
    /// The climb on the training rows.
    pub ascent: ScaledConjugateGradient,
    /// Moves without an improvement on the held-out rows after which to stop; `usize::MAX` only
    /// picks the best position on the way to the mode.
    pub max_fail: usize,
}

impl Default for EarlyStopping {
    /// 20 moves without improvement, as in [MCMCstuff §3.2.4].
    fn default() -> Self {
        EarlyStopping { ascent: ScaledConjugateGradient::default(), max_fail: 20 }
    }
}

/// Where early stopping ended.
#[derive(Clone, Debug, PartialEq)]
pub struct EarlyStopped {
    /// The position on the way, the start included, that was best on the held-out rows.
    pub position: Vec<f64>,
    /// The value of the validation function there.
    pub validation: f64,
    /// Iterations made in all, rejected steps included.
    pub iterations: usize,
    /// Evaluations of the target's log density with its gradient.
    pub evaluations: usize,
}

/// Climbs `target` from `start` by scaled conjugate gradients while watching `validation`, and
/// returns the position where `validation` was greatest. Stops after `max_fail` moves in a row
/// without a new best, when the climb converges or when its iterations are used up.
///
/// With the log density of training rows as `target`, the log likelihood of held-out rows as
/// `validation` and tiny weights as `start`, this is the early stopping that gives networks
/// their starting values [MCMCstuff §3.2.4] and committees their members [Vehtari 2001,
/// §2.2.5]. Rejected steps move nothing, so they are neither validated nor counted as failures.
/// A position where `validation` is infeasible or not finite is never the best.
///
/// # Errors
/// [`Infeasible`] if the density is not usable at `start`, or if `validation` was usable
/// nowhere on the way.
///
/// # Panics
/// If `start` has another length than positions of `target`.
#[track_caller]
pub fn early_stopped(
    target: &mut dyn LogDensity,
    validation: &mut dyn FnMut(&[f64]) -> Result<f64, Infeasible>,
    start: Vec<f64>,
    options: &EarlyStopping,
) -> Result<EarlyStopped, Infeasible> {
    let mut ascent = Ascent::new(target, start, &options.ascent)?;
    let mut best = EarlyStopped {
        position: ascent.position().to_vec(),
        validation: f64::NEG_INFINITY,
        iterations: 0,
        evaluations: 0,
    };
    let mut trouble = None;
    let mut consider = |position: &[f64], best: &mut EarlyStopped| match validation(position) {
        Ok(value) if value.is_finite() => {
            let better = value > best.validation;
            if better {
                best.validation = value;
                best.position.copy_from_slice(position);
            }
            better
        }
        Ok(_) => {
            trouble = Some(Infeasible::NotFinite);
            false
        }
        Err(reason) => {
            trouble = Some(reason);
            false
        }
    };
    consider(ascent.position(), &mut best);
    let mut fails = 0;
    while best.iterations < options.ascent.max_iterations && fails < options.max_fail {
        let before = ascent.log_density();
        let climb = ascent.advance(target);
        best.iterations += 1;
        // A step that is taken always gains.
        if ascent.log_density() > before {
            fails = if consider(ascent.position(), &mut best) { 0 } else { fails + 1 };
        }
        if climb.is_over() {
            break;
        }
    }
    best.evaluations = ascent.evaluations();
    match trouble {
        Some(reason) if best.validation == f64::NEG_INFINITY => Err(reason),
        _ => Ok(best),
    }
}
