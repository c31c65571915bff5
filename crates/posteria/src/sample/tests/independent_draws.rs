//! Compare independent draws with exact distribution functions.

use super::monte_carlo::assert_distribution;
use super::targets::Value;
use crate::density::special::{LOG_SQRT_2PI, normal_cdf};
use crate::random::{Purpose, Seed, Stream};
use crate::sample::{Envelope, Rejection, RejectionError};
use crate::target::Infeasible;

const DRAWS: usize = 20_000;

fn stream(index: u64) -> Stream {
    Seed(61).stream(Purpose::Data, [index, 0])
}

/// The Laplace distribution as an envelope of the normal: f/g is largest at ±1, √(2e/π).
struct Laplace;

impl Envelope for Laplace {
    fn draw(&mut self, position: &mut [f64], stream: &mut Stream) {
        position[0] = stream.exponential() * if stream.uniform() < 0.5 { 1.0 } else { -1.0 };
    }

    fn log_density(&mut self, position: &[f64]) -> f64 {
        0.5f64.ln() - position[0].abs()
    }
}

fn log_bound() -> f64 {
    0.5 * (2.0 * std::f64::consts::E / std::f64::consts::PI).ln()
}

#[test]
fn rejection_draws_a_normal_and_reports_its_acceptance() {
    let mut target = Value(1, |x: &[f64]| Ok(-0.5 * x[0] * x[0] - LOG_SQRT_2PI));
    let mut rejection = Rejection::new(Laplace, log_bound());
    assert!(rejection.acceptance().is_nan());
    let mut stream = stream(0);
    let mut x = [0.0];
    let draws: Vec<f64> = (0..DRAWS)
        .map(|_| {
            rejection.draw(&mut target, &mut x, &mut stream).expect("the bound holds");
            x[0]
        })
        .collect();
    assert_distribution("normal", draws, normal_cdf);
    // 1/M = 0.7602; the standard error is 0.0026, so 4.5 of them are exceeded once in 150 000.
    assert!((rejection.acceptance() - (-log_bound()).exp()).abs() < 0.012);
    assert_eq!(rejection.infeasible(), 0);
}

#[test]
fn rejection_respects_the_support_and_counts_what_is_outside() {
    let mut target = Value(1, |x: &[f64]| {
        if x[0] > 0.5 {
            Ok(-0.5 * x[0] * x[0] - LOG_SQRT_2PI)
        } else {
            Err(Infeasible::OutsideSupport)
        }
    });
    let mut rejection = Rejection::new(Laplace, log_bound());
    let mut stream = stream(1);
    let mut x = [0.0];
    let draws: Vec<f64> = (0..DRAWS)
        .map(|_| {
            rejection.draw(&mut target, &mut x, &mut stream).expect("the bound holds");
            x[0]
        })
        .collect();
    let below = normal_cdf(0.5);
    assert_distribution("tail", draws, |x| (normal_cdf(x) - below) / (1.0 - below));
    assert!(rejection.infeasible() > rejection.proposals() / 2);
}

#[test]
fn a_bound_that_does_not_hold_is_an_error() {
    let mut target = Value(1, |x: &[f64]| Ok(-0.5 * x[0] * x[0] - LOG_SQRT_2PI));
    let mut rejection = Rejection::new(Laplace, log_bound() - 0.05);
    let mut stream = stream(2);
    let error = (0..DRAWS)
        .find_map(|_| rejection.draw(&mut target, &mut [0.0], &mut stream).err())
        .expect("the violation is found");
    let RejectionError::BoundViolated { position, excess, .. } = error else {
        panic!("another error: {error}")
    };
    assert!(excess > 0.0 && excess <= 0.05 + 1e-12);
    assert!((position[0].abs() - 1.0).abs() < 0.4, "violated only near ±1");
    let mut infinite = Value(1, |_: &[f64]| Ok(f64::INFINITY));
    let error = rejection.draw(&mut infinite, &mut [0.0], &mut stream);
    assert!(matches!(error, Err(RejectionError::BoundViolated { .. })));
}

#[test]
fn rejection_gives_up_in_the_end() {
    let mut target = Value(1, |_: &[f64]| Err(Infeasible::OutsideSupport));
    let mut rejection = Rejection::new(Laplace, 0.0).max_attempts(100);
    let error = rejection.draw(&mut target, &mut [0.0], &mut stream(3));
    assert_eq!(error, Err(RejectionError::Exhausted { attempts: 100, log_bound: 0.0 }));
}
