//! Compare moments and quantiles of chains with those of the target.

use posteria_linalg::{Cholesky, Matrix};

use super::chain::{Chain, sweep_of, warmup};
use super::monte_carlo::{assert_mean, assert_normal};
use super::targets::{
    BANANA_BEND, BANANA_SD, banana, banana_residual, half_plane, kernels, normal,
    normal_covariance, normal_mean,
};
use crate::random::{Purpose, Seed};
use crate::sample::{EllipticalSlice, NormalPrior, Sweep, slice_sample};
use crate::target::Infeasible;

const DRAWS: usize = 60_000;

fn assert_normal_target(name: &str, dim: usize, draws: &[Vec<f64>]) {
    for i in 0..dim {
        let sd = normal_covariance(i, i).sqrt();
        assert_normal(&format!("{name}, x{i}"), draws, (normal_mean(i), sd), |x| x[i]);
    }
    assert_mean(&format!("{name}: covariance"), draws, normal_covariance(0, 1), |x| {
        (x[0] - normal_mean(0)) * (x[1] - normal_mean(1))
    });
}

#[test]
fn kernels_recover_a_correlated_normal() {
    for dim in [2, 5] {
        for (name, kernel) in kernels(dim) {
            if name == "user's proposal" && dim == 5 {
                // Its fixed pull to the origin is hopeless against standard deviation 5.
                continue;
            }
            let sweep = sweep_of(normal(dim), kernel);
            let mut chain = Chain::new(sweep, &vec![0.0; dim], warmup(), 1);
            chain.warm_up();
            assert_normal_target(&format!("{name} in {dim}-d"), dim, &chain.draws(DRAWS));
        }
    }
}

#[test]
fn kernels_recover_a_banana() {
    let variance = 2.0 * BANANA_BEND.powi(2) * BANANA_SD.powi(4) + 1.0;
    for (name, kernel) in kernels(2) {
        let mut chain = Chain::new(sweep_of(banana(), kernel), &[1.0, 0.0], warmup(), 2);
        chain.warm_up();
        let draws = chain.draws(DRAWS);
        assert_normal(&format!("{name}, first"), &draws, (0.0, BANANA_SD), |x| x[0]);
        assert_normal(&format!("{name}, residual"), &draws, (0.0, 1.0), banana_residual);
        assert_mean(&format!("{name}, second: mean"), &draws, 0.0, |x| x[1]);
        assert_mean(&format!("{name}, second: variance"), &draws, variance, |x| x[1] * x[1]);
    }
}

#[test]
fn kernels_stay_inside_the_support_and_count_what_is_outside() {
    for (name, kernel) in kernels(2) {
        let mut chain = Chain::new(sweep_of(half_plane(), kernel), &[1.0, 1.0], warmup(), 3);
        chain.warm_up();
        let mut outside = 0;
        let draws: Vec<Vec<f64>> = (0..DRAWS)
            .map(|_| {
                let steps = chain.advance();
                outside += usize::from(steps[0].infeasible == Some(Infeasible::OutsideSupport));
                chain.state.clone()
            })
            .collect();
        assert!(outside > 100, "{name} never met the border");
        assert!(draws.iter().all(|x| x[0] + x[1] > 0.0), "{name} left the support");
        // Along the diagonal a half normal, across it a normal.
        let along = |x: &[f64]| (x[0] + x[1]) / 2f64.sqrt();
        assert_mean(&format!("{name}: mean"), &draws, 0.797_884_560_802_865_4, along);
        assert_mean(&format!("{name}: square"), &draws, 1.0, |x| along(x).powi(2));
        assert_normal(&format!("{name}: across"), &draws, (0.0, 1.0), |x| {
            (x[0] - x[1]) / 2f64.sqrt()
        });
    }
}

/// Prior N(mean, covariance of the normal target), likelihood of one observation of x_0 at 3
/// with variance 2: everything is known by conditioning.
fn elliptical(inverse_temperature: f64) -> Sweep<'static> {
    let factor = Cholesky::new(&Matrix::from_fn(3, 3, normal_covariance))
        .expect("the covariance is positive definite");
    let prior = NormalPrior::new((0..3).map(normal_mean).collect(), factor, |x: &[f64]| {
        Ok(-0.25 * (x[0] - 3.0).powi(2))
    });
    Sweep::new(vec![Box::new(EllipticalSlice::new("block", 0, prior, inverse_temperature))])
}

#[test]
fn elliptical_slice_recovers_a_conjugate_posterior_at_every_temperature() {
    for inverse_temperature in [0.0, 0.3, 1.0] {
        let sweep = elliptical(inverse_temperature);
        let mut chain = Chain::new(sweep, &[0.0; 3], Vec::new(), 4);
        let draws = chain.draws(2 * DRAWS);
        for i in 0..3 {
            // Gain of the observation, whose variance is 2/β.
            let gain = inverse_temperature * normal_covariance(i, 0)
                / (inverse_temperature * normal_covariance(0, 0) + 2.0);
            let mean = normal_mean(i) + gain * (3.0 - normal_mean(0));
            let sd = (normal_covariance(i, i) - gain * normal_covariance(0, i)).sqrt();
            assert_normal(&format!("β {inverse_temperature}, x{i}"), &draws, (mean, sd), |x| x[i]);
        }
    }
}

#[test]
fn elliptical_slice_stays_inside_the_support() {
    let factor = Cholesky::identity(2);
    let prior = NormalPrior::new(vec![0.0; 2], factor, |x: &[f64]| {
        if x[0] + x[1] > 0.0 { Ok(0.0) } else { Err(Infeasible::OutsideSupport) }
    });
    let sweep = Sweep::new(vec![Box::new(EllipticalSlice::new("block", 0, prior, 1.0))]);
    let mut chain = Chain::new(sweep, &[1.0, 1.0], Vec::new(), 5);
    let mut outside = 0;
    let draws: Vec<Vec<f64>> = (0..DRAWS)
        .map(|_| {
            outside += usize::from(chain.advance()[0].infeasible.is_some());
            chain.state.clone()
        })
        .collect();
    assert!(outside > 100);
    let along = |x: &[f64]| (x[0] + x[1]) / 2f64.sqrt();
    assert!(draws.iter().all(|x| along(x) > 0.0));
    assert_mean("mean", &draws, 0.797_884_560_802_865_4, along);
    assert_mean("square", &draws, 1.0, |x| along(x).powi(2));
}

#[test]
fn slice_sample_draws_an_exponential_whatever_its_width() {
    for (width, max_steps_out) in [(0.2, 100), (0.2, 0), (1.5, 4), (60.0, 2)] {
        let mut stream = Seed(6).stream(Purpose::Data, [0, 0]);
        let mut value = 1.0;
        let draws: Vec<Vec<f64>> = (0..2 * DRAWS)
            .map(|_| {
                let mut calls = 0;
                let density = |x: f64| {
                    calls += 1;
                    if x < 0.0 { f64::NEG_INFINITY } else { -x }
                };
                let step = slice_sample(value, density, width, max_steps_out, &mut stream);
                assert_eq!(step.evaluations, calls);
                value = step.value;
                vec![value]
            })
            .collect();
        let what = format!("width {width}, {max_steps_out} steps out");
        assert_mean(&what, &draws, 1.0, |x| x[0]);
        assert_mean(&what, &draws, 2.0, |x| x[0] * x[0]);
        for share in [0.1f64, 0.9] {
            let bound = -(1.0 - share).ln();
            assert_mean(&what, &draws, share, |x| f64::from(u8::from(x[0] < bound)));
        }
    }
}

#[test]
fn slice_sample_does_not_move_where_there_is_no_density() {
    let mut stream = Seed(7).stream(Purpose::Data, [0, 0]);
    for start in [f64::NAN, f64::NEG_INFINITY, f64::INFINITY] {
        let step = slice_sample(2.0, |_| start, 1.0, 10, &mut stream);
        assert_eq!(step.value.to_bits(), 2f64.to_bits());
        assert_eq!(step.evaluations, 1);
    }
    // Only the present point is above the level: the interval shrinks down to it and ends.
    let spike = |x: f64| if x.to_bits() == 2f64.to_bits() { 0.0 } else { f64::NAN };
    assert_eq!(slice_sample(2.0, spike, 1.0, 10, &mut stream).value.to_bits(), 2f64.to_bits());
}
