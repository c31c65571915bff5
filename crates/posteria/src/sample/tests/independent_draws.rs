//! Compare independent draws with exact distribution functions.

use super::monte_carlo::assert_distribution;
use super::targets::Value;
use crate::density::special::{LOG_SQRT_2PI, logistic, normal_cdf};
use crate::random::{Purpose, Seed, Stream};
use crate::sample::{
    AdaptiveRejection, AdaptiveRejectionError, Envelope, Rejection, RejectionError,
};
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

type Hull = fn(f64) -> (f64, f64);

/// Support, density with slope, distribution function.
type Case = (&'static str, (f64, f64), Hull, fn(f64) -> f64);

const INFINITE: (f64, f64) = (f64::NEG_INFINITY, f64::INFINITY);

fn log_concave() -> Vec<Case> {
    vec![
        ("normal", INFINITE, |x| (-0.5 * x * x, -x), normal_cdf),
        (
            "gamma of shape 3",
            (0.0, f64::INFINITY),
            |x| (2.0 * x.ln() - x, 2.0 / x - 1.0),
            |x| 1.0 - (-x).exp() * (1.0 + x + 0.5 * x * x),
        ),
        (
            "logistic",
            INFINITE,
            |x| (-x - 2.0 * (-x).exp().ln_1p(), 2.0 * logistic(-x) - 1.0),
            logistic,
        ),
        (
            "Laplace",
            INFINITE,
            |x| (-x.abs(), -x.signum()),
            |x| {
                if x < 0.0 { 0.5 * x.exp() } else { 1.0 - 0.5 * (-x).exp() }
            },
        ),
        ("rising exponential", (f64::NEG_INFINITY, 5.0), |x| (x, 1.0), |x| (x - 5.0).exp()),
        ("uniform", (-2.0, 6.0), |_| (0.0, 0.0), |x| (x + 2.0) / 8.0),
        (
            "cut normal",
            (1.0, 2.5),
            |x| (-0.5 * x * x, -x),
            |x| {
                let (low, high) = (normal_cdf(1.0), normal_cdf(2.5));
                (normal_cdf(x) - low) / (high - low)
            },
        ),
    ]
}

#[test]
fn adaptive_rejection_draws_log_concave_densities_with_few_evaluations() {
    for (name, support, density, distribution) in log_concave() {
        let mut stream = stream(4);
        let mut hull = AdaptiveRejection::new(support, 1.5, 0.4, density).expect(name);
        let mut evaluations = 0;
        let draws = (0..DRAWS)
            .map(|_| {
                let draw = hull.draw(density, &mut stream).expect(name);
                evaluations += draw.evaluations;
                draw.value
            })
            .collect();
        assert_distribution(name, draws, distribution);
        assert!(evaluations < 300, "{name}: {evaluations} evaluations");
    }
}

#[test]
fn adaptive_rejection_is_exact_from_a_fresh_hull_far_from_the_mode() {
    for (name, support, density, distribution) in log_concave() {
        for start in [1.01, 2.4, 40.0] {
            if start >= support.1 {
                continue;
            }
            let mut stream = stream(5);
            let mut price = 0;
            let draws = (0..DRAWS / 4)
                .map(|_| {
                    let mut hull =
                        AdaptiveRejection::new(support, start, 0.1, density).expect(name);
                    let draw = hull.draw(density, &mut stream).expect(name);
                    price += draw.evaluations;
                    draw.value
                })
                .collect();
            assert_distribution(&format!("{name} from {start}"), draws, distribution);
            assert!(price < 8 * DRAWS as u32 / 4, "{name} from {start}: {price}");
        }
    }
}

#[test]
fn adaptive_rejection_refuses_what_is_not_log_concave() {
    let student: Hull = |x| (-2.0 * (x * x / 3.0).ln_1p(), -4.0 * x / (3.0 + x * x));
    let bimodal: Hull = |x| {
        let (a, b) = (-0.5 * (x - 3.0).powi(2), -0.5 * (x + 3.0).powi(2));
        let share = logistic(a - b);
        (a.max(b) + (-(a - b).abs()).exp().ln_1p(), share * (3.0 - x) - (1.0 - share) * (3.0 + x))
    };
    // Slopes in order but not those of the density: only the heights give it away.
    let wrong_slope: Hull = |x| (-0.5 * x * x, -1.5 * x);
    for (name, density, width) in [
        ("t", student, 0.5),
        ("t, far", student, 50.0),
        ("bimodal", bimodal, 0.5),
        ("slope", wrong_slope, 0.5),
    ] {
        let mut stream = stream(6);
        let error = AdaptiveRejection::new(INFINITE, 0.5, width, density)
            .and_then(|mut hull| {
                (0..1000).try_for_each(|_| hull.draw(density, &mut stream).map(drop))
            })
            .expect_err(name);
        assert!(matches!(error, AdaptiveRejectionError::NotLogConcave { .. }), "{name}: {error}");
    }
}

#[test]
fn adaptive_rejection_names_what_else_is_wrong() {
    let normal: Hull = |x| (-0.5 * x * x, -x);
    assert!(matches!(
        AdaptiveRejection::new((0.0, 1.0), 2.0, 1.0, normal),
        Err(AdaptiveRejectionError::Support { .. })
    ));
    assert!(matches!(
        AdaptiveRejection::new(INFINITE, 0.0, 1.0, |_| (0.0, 0.0)),
        Err(AdaptiveRejectionError::Improper { .. })
    ));
    assert!(matches!(
        AdaptiveRejection::new(INFINITE, 0.0, 1.0, |_| (f64::NAN, 0.0)),
        Err(AdaptiveRejectionError::NotFinite { .. })
    ));
}
