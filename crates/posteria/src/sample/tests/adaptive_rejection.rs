//! Compare adaptive rejection with exact distribution functions, where it is easy and where hard.

use super::monte_carlo::assert_distribution;
use crate::density::checks::NumericCdf;
use crate::density::special::{logistic, normal_cdf};
use crate::density::{Gamma, Normal};
use crate::random::{Purpose, Seed, Stream};
use crate::sample::{AdaptiveRejection, AdaptiveRejectionError, draw_log_concave};

const DRAWS: usize = 20_000;

fn stream(index: u64) -> Stream {
    Seed(61).stream(Purpose::Data, [index, 0])
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
    assert!(matches!(
        AdaptiveRejection::new(INFINITE, 0.0, 1.0, |x| (x, 1.0)),
        Err(AdaptiveRejectionError::Improper { .. })
    ));
    assert!(matches!(
        AdaptiveRejection::new(INFINITE, 0.0, f64::NAN, normal),
        Err(AdaptiveRejectionError::Width { .. })
    ));
    assert!(matches!(
        AdaptiveRejection::new(INFINITE, f64::NAN, 1.0, normal),
        Err(AdaptiveRejectionError::Support { .. })
    ));
}

/// Draws, each from a hull of its own, and the mean price of one.
fn draws_of_fresh_hulls(
    support: (f64, f64),
    (start, width): (f64, f64),
    density: impl Fn(f64) -> (f64, f64),
) -> (Vec<f64>, f64) {
    let mut stream = Seed(1).stream(Purpose::Data, [15, start.to_bits() ^ width.to_bits()]);
    let mut evaluations = 0;
    let draws: Vec<f64> = (0..10_000)
        .map(|_| {
            let draw = draw_log_concave(support, start, width, &density, &mut stream)
                .expect("a log-concave density");
            evaluations += draw.evaluations;
            draw.value
        })
        .collect();
    let price = f64::from(evaluations) / draws.len() as f64;
    (draws, price)
}

#[test]
fn single_draws_are_exact_from_any_start() {
    let normal = Normal::new(3.0, 0.5).expect("positive");
    for (start, width, most) in [(3.0, 0.5, 5.0), (-1e6, 1e-3, 100.0), (2.9, 1e9, 65.0)] {
        let density = |x| (normal.log_density(x), normal.derivative(x));
        let (draws, price) = draws_of_fresh_hulls(INFINITE, (start, width), density);
        assert_distribution("normal", draws, |x| normal.cdf(x));
        assert!(price < most, "{price} from {start}");
    }
}

#[test]
fn asymmetric_densities_on_the_log_scale_are_exact() {
    for shape in [0.01, 1.0, 2000.0] {
        let gamma = Gamma::new(shape, 1.0).expect("positive");
        let density = |y: f64| (shape * y - y.exp(), shape - y.exp());
        let (draws, _) = draws_of_fresh_hulls(INFINITE, (0.0, 1.0), density);
        assert_distribution("log gamma", draws, |y| gamma.cdf(y.exp()));
    }
}

#[test]
fn a_plateau_between_walls_is_exact_and_cheap() {
    // Curvature at the mode says nothing about the width: 1e15 against ±18.
    let falls = 1e-30_f64;
    let density = |t: f64| (-falls * (2.0 * t).cosh(), -2.0 * falls * (2.0 * t).sinh());
    let exact = NumericCdf::new(-40.0, 40.0, |t| density(t).0);
    for support in [INFINITE, (-1e15, 1e15), (-1e300, f64::INFINITY), (-40.0, 40.0)] {
        for width in [1e15, 1.0, 1e-9] {
            let (draws, price) = draws_of_fresh_hulls(support, (0.0, width), density);
            assert_distribution("plateau", draws, |t| exact.at(t));
            assert!(price < 110.0, "{price} in {support:?} with {width}");
        }
    }
}

#[test]
fn a_density_with_edges_is_exact_whether_or_not_the_support_names_them() {
    // Falls from 0, none below; and level in (0, 1).
    let exponential = |x: f64| if x < 0.0 { (f64::NEG_INFINITY, 0.0) } else { (-x, -1.0) };
    let inside = |x: f64| x > 0.0 && x < 1.0;
    let uniform = |x: f64| (if inside(x) { 0.0 } else { f64::NEG_INFINITY }, 0.0);
    for lower in [f64::NEG_INFINITY, -1e9, -1.0, 0.0] {
        let support = (lower, f64::INFINITY);
        for (start, width) in [(0.3, 1.0), (0.7, 1e6), (0.5, 1e-6)] {
            let (draws, price) = draws_of_fresh_hulls(support, (start, width), exponential);
            assert_distribution("exponential", draws, |x| 1.0 - (-x).exp());
            assert!(price < 100.0, "{price} from {start} in {support:?}");
            let (draws, price) = draws_of_fresh_hulls(support, (start, width), uniform);
            assert_distribution("uniform", draws, |x| x);
            assert!(price < 100.0, "{price} from {start} in {support:?}");
        }
    }
}

#[test]
fn walls_narrower_than_the_spacing_of_doubles_end_the_draws() {
    // Mass within 1e-12 of 1e6, where doubles are 1e-10 apart.
    let mut stream = stream(7);
    let density = |x: f64| (-1e12 * (x - 1e6), -1e12);
    let wall = (1e6, f64::INFINITY);
    let draw = draw_log_concave(wall, 1e6 + 5.0, 1.0, density, &mut stream).expect("a wall");
    assert!(draw.value > 1e6 && draw.value - 1e6 < 1e-9, "{draw:?}");
    let both = |x: f64| (-1e12 * (x - 1e6).abs(), -1e12 * (x - 1e6).signum());
    let draw = draw_log_concave(INFINITE, 1e6 + 5.0, 1.0, both, &mut stream).expect("a ridge");
    assert!((draw.value - 1e6).abs() < 1e-9, "{draw:?}");
}

#[test]
fn log_concavity_is_judged_in_any_unit() {
    for unit in [1e-100, 1e100] {
        let normal = |x: f64| (-0.5 * (x / unit).powi(2), -x / unit / unit);
        let (draws, _) = draws_of_fresh_hulls(INFINITE, (0.2 * unit, unit), normal);
        assert_distribution("normal", draws, |x| normal_cdf(x / unit));
        let student = |x: f64| {
            let z = x / unit;
            (-2.0 * (z * z / 3.0).ln_1p(), -4.0 * z / (3.0 + z * z) / unit)
        };
        let mut stream = stream(8);
        let error = (0..1000)
            .find_map(|_| draw_log_concave(INFINITE, 0.0, unit, student, &mut stream).err())
            .expect("t is not log-concave");
        assert!(matches!(error, AdaptiveRejectionError::NotLogConcave { .. }), "{error}");
    }
}
