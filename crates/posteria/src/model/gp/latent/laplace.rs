//! Find sites by Laplace's method: those that touch the likelihood at the mode of the functions.

use super::gaussian::Gaussian;
use super::likelihood::Likelihood;
use super::sites::Sites;
use crate::target::Infeasible;

/// Newton steps at most; the log posterior is concave, so that a dozen is usual.
const STEPS: usize = 100;
/// Halvings of a step at most.
const HALVINGS: usize = 20;
/// The search ends where a step gains less than this.
const ENOUGH: f64 = 1e-6;

/// Writes the sites for the hyperparameters that `gaussian` was set to, and returns the mode of
/// β log p(y|f) - ½ fᵀK⁻¹f. Newton's method from f = 0, steps halved until they climb
/// [Rasmussen & Williams 2006, §3.4]: sites that touch the likelihood at f have the next f as the
/// mean of their normal distribution.
///
/// # Errors
/// [`Infeasible`] if the covariance is not usable.
pub(super) fn approximate(
    likelihood: &mut Likelihood<'_>,
    inverse_temperature: f64,
    gaussian: &mut Gaussian<'_>,
    sites: &mut Sites,
) -> Result<Vec<f64>, Infeasible> {
    let functions = likelihood.functions();
    let size = likelihood.rows() * functions;
    let (mut mode, mut solved) = (vec![0.0; size], vec![0.0; size]);
    let (mut next, mut next_solved) = (vec![0.0; size], vec![0.0; size]);
    let (mut gradient, mut curvature) = (vec![0.0; size], vec![0.0; size * functions]);
    let mut value = inverse_temperature * likelihood.value(&mode);
    let mut touch = |sites: &mut Sites, likelihood: &mut Likelihood<'_>, at: &[f64]| {
        likelihood.curvature(at, &mut gradient, &mut curvature);
        match sites.touch(inverse_temperature, at, &gradient, &curvature) {
            true => Ok(()),
            false => Err(Infeasible::NotFinite),
        }
    };
    for _ in 0..STEPS {
        touch(sites, likelihood, &mode)?;
        gaussian.forget_sites();
        gaussian.factorize(sites)?;
        gaussian.mean(sites, &mut next, Some(&mut next_solved));
        let mut gain = f64::NEG_INFINITY;
        for _ in 0..HALVINGS {
            let square: f64 = next.iter().zip(&next_solved).map(|(f, a)| f * a).sum();
            gain = inverse_temperature * likelihood.value(&next) - 0.5 * square - value;
            if gain >= 0.0 {
                break;
            }
            let halve = |next: &mut [f64], from: &[f64]| {
                next.iter_mut().zip(from).for_each(|(next, from)| *next = 0.5 * (*next + from));
            };
            halve(&mut next, &mode);
            halve(&mut next_solved, &solved);
        }
        if gain >= 0.0 {
            std::mem::swap(&mut mode, &mut next);
            std::mem::swap(&mut solved, &mut next_solved);
            value += gain;
        }
        if gain.is_nan() || gain < ENOUGH {
            break;
        }
    }
    touch(sites, likelihood, &mode)?;
    gaussian.forget_sites();
    Ok(mode)
}
