//! Elliptical slice sampling where the posterior of a normal prior is normal.

use posteria::sample::{EllipticalSlice, NormalPrior, Plan, Sweep};
use posteria_linalg::{Cholesky, Matrix};

use super::{Chains, SweepWalker, check_normal, run};
use crate::targets::Gaussian;

const DIM: usize = 10;

/// Prior N(0, s²) in every coordinate, s over two orders of magnitude; one observation at s with
/// standard deviation 2s.
fn chains(inverse_temperature: f64, plan: &Plan) -> Chains {
    run(DIM, plan, |state| {
        let scales = Gaussian::ill_conditioned(DIM).scales;
        let factor = Matrix::from_fn(DIM, DIM, |i, j| if i == j { scales[i] } else { 0.0 });
        let log_likelihood = move |x: &[f64]| {
            let z = |(x, s): (&f64, &f64)| (x - s) / (2.0 * s);
            Ok(x.iter().zip(&scales).map(|pair| -0.5 * z(pair).powi(2)).sum())
        };
        let prior = NormalPrior::new(vec![0.0; DIM], Cholesky::from_factor(factor), log_likelihood);
        let update = EllipticalSlice::new("block", 0, prior, inverse_temperature);
        SweepWalker { sweep: Sweep::new(vec![Box::new(update)]), state }
    })
}

#[test]
fn elliptical_slice_sampling_of_a_normal_posterior() {
    for inverse_temperature in [0.3, 1.0] {
        let chains = chains(inverse_temperature, &Plan { thin: 5, ..Plan::new(4, 200, 4000) });
        // Precision 1 + β/4 in units of 1/s², mean β/4 over that in units of s.
        let precision = 1.0 + 0.25 * inverse_temperature;
        let mean = 0.25 * inverse_temperature / precision;
        for (coordinate, s) in chains.iter().zip(Gaussian::ill_conditioned(DIM).scales) {
            let name = format!("elliptical slice at {inverse_temperature}, scale {s}");
            check_normal(&name, coordinate, s * mean, s / precision.sqrt());
        }
    }
}

#[test]
fn with_the_likelihood_off_elliptical_slice_sampling_returns_the_prior() {
    let chains = chains(0.0, &Plan::new(4, 0, 2000));
    for (coordinate, scale) in chains.iter().zip(Gaussian::ill_conditioned(DIM).scales) {
        check_normal("elliptical slice: prior", coordinate, 0.0, scale);
    }
}
