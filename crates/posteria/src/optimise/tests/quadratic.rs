//! Climb smooth densities: quadratics in as many steps as dimensions, valleys, saddles.

use super::{Density, largest_error, quadratic};
use crate::optimise::{Ascent, Climb, Optimum, ScaledConjugateGradient};
use crate::random::{Purpose, Seed};

fn truth(dim: usize) -> Vec<f64> {
    (0..dim).map(|i| 1.0 - 0.3 * i as f64).collect()
}

#[test]
fn a_quadratic_takes_as_many_iterations_as_it_has_dimensions() {
    for dim in [1, 2, 5, 12] {
        let precisions = (1..=dim).map(|i| i as f64).collect();
        let mut target = quadratic(precisions, truth(dim));
        let found =
            ScaledConjugateGradient::default().maximise(&mut target, vec![0.0; dim]).unwrap();
        assert!(found.converged);
        assert!(largest_error(&found.position, &truth(dim)) < 1e-6, "{found:?}");
        // One more to see that nothing is left.
        assert!((dim..=dim + 1).contains(&found.iterations), "dim {dim}: {found:?}");
        // One evaluation at the start, two per iteration: the probe and the step.
        assert!(found.evaluations <= 1 + 2 * found.iterations, "dim {dim}: {found:?}");
    }
}

#[test]
fn equal_precisions_fall_into_few_steps() {
    // Conjugate gradients need one step for every distinct eigenvalue.
    let precisions = (0..30).map(|i| if i % 3 == 0 { 50.0 } else { 1.0 }).collect();
    let mut target = quadratic(precisions, truth(30));
    let found = ScaledConjugateGradient::default().maximise(&mut target, vec![0.0; 30]).unwrap();
    assert!(found.converged && found.iterations <= 4, "{found:?}");
    assert!(largest_error(&found.position, &truth(30)) < 1e-6, "{found:?}");
}

/// The climb of a quadratic with scales from 0.01 to 0.01 √`condition`.
fn ill_scaled(condition: f64) -> Optimum {
    let precisions = (0..8).map(|i| 1e4 * condition.powf(-f64::from(i) / 7.0)).collect();
    let mut target = quadratic(precisions, truth(8));
    ScaledConjugateGradient::default().maximise(&mut target, vec![100.0; 8]).unwrap()
}

#[test]
fn scales_that_differ_by_a_thousand_are_all_found() {
    let found = ill_scaled(1e6);
    assert!(found.converged && found.iterations < 200, "{found:?}");
    assert!(found.log_density > -1e-5, "{found:?}");
    // Flat directions to a ten-thousandth of their scale of 10, and less where it is steep.
    assert!(largest_error(&found.position, &truth(8)) < 1e-2, "{found:?}");
}

#[test]
fn scales_that_differ_by_a_hundred_thousand_are_found_well_enough_to_start_a_chain() {
    // The gradient of the flat directions drowns in the rounding of the steep ones.
    let found = ill_scaled(1e10);
    assert!(found.converged && found.iterations < 500, "{found:?}");
    assert!(found.log_density > -0.01, "{found:?}");
}

#[test]
fn a_flat_quadratic_far_from_zero_is_climbed_to_the_end() {
    let mut target = quadratic(vec![1e-6, 3e-6], vec![1e4, -1e4]);
    let found = ScaledConjugateGradient::default().maximise(&mut target, vec![0.0; 2]).unwrap();
    assert!(found.converged);
    assert!(largest_error(&found.position, &[1e4, -1e4]) < 0.1, "{found:?}");
}

/// -Σ (1 - x_i)² + 100 (x_{i+1} - x_i²)²: a valley along a curve to its mode at (1, …, 1).
fn rosenbrock(x: &[f64], gradient: &mut [f64]) -> f64 {
    gradient.fill(0.0);
    let mut value = 0.0;
    for i in 0..x.len() - 1 {
        let (slack, bend) = (1.0 - x[i], x[i + 1] - x[i] * x[i]);
        gradient[i] += 2.0 * slack + 400.0 * x[i] * bend;
        gradient[i + 1] -= 200.0 * bend;
        value -= slack * slack + 100.0 * bend * bend;
    }
    value
}

#[test]
fn the_curved_valley_is_followed_to_its_end() {
    let mut target = Density { dim: 2, value: |x: &[f64], g: &mut [f64]| Ok(rosenbrock(x, g)) };
    let climb = ScaledConjugateGradient {
        value_tolerance: 1e-10,
        position_tolerance: 1e-8,
        ..ScaledConjugateGradient::default()
    };
    for start in [[-1.2, 1.0], [3.0, -4.0], [0.0, 0.0]] {
        let found = climb.maximise(&mut target, start.to_vec()).unwrap();
        assert!(found.converged, "{found:?}");
        assert!(largest_error(&found.position, &[1.0, 1.0]) < 1e-4, "{found:?}");
        assert!(found.iterations < 200, "{found:?}");
    }
}

#[test]
fn long_valleys_are_climbed_from_anywhere_at_a_fair_price() {
    let dim = 12;
    let mut target = Density { dim, value: |x: &[f64], g: &mut [f64]| Ok(rosenbrock(x, g)) };
    let mut stream = Seed(1).stream(Purpose::Data, [0, 0]);
    let mut iterations = 0;
    for _ in 0..100 {
        let start = (0..dim).map(|_| 3.0 * stream.normal()).collect();
        let found = ScaledConjugateGradient::default().maximise(&mut target, start).unwrap();
        assert!(found.converged, "{found:?}");
        // Some starts lead to the other mode, beside (-1, 1, …, 1); at both it is flat.
        let mut gradient = vec![0.0; dim];
        rosenbrock(&found.position, &mut gradient);
        assert!(largest_error(&gradient, &vec![0.0; dim]) < 1e-2, "{found:?}");
        iterations += found.iterations;
    }
    // About 155 each; with the damping mishandled two to twenty times as many.
    assert!(iterations < 22_000, "{iterations}");
}

#[test]
fn every_iteration_gains_or_stays() {
    let mut target = Density { dim: 2, value: |x: &[f64], g: &mut [f64]| Ok(rosenbrock(x, g)) };
    let options = ScaledConjugateGradient::default();
    let mut ascent = Ascent::new(&mut target, vec![-1.2, 1.0], &options).unwrap();
    let mut refused = 0;
    loop {
        let (before, position) = (ascent.log_density(), ascent.position().to_vec());
        match ascent.advance(&mut target) {
            Climb::Moved => assert!(ascent.log_density() > before),
            Climb::Refused => {
                refused += 1;
                assert_eq!(ascent.position(), position);
            }
            end => {
                assert_eq!(end, Climb::Converged);
                assert_eq!(ascent.advance(&mut target), end, "the end is the end");
                break;
            }
        }
    }
    assert!(refused > 0, "this valley forces the damping up");
}

#[test]
fn negative_curvature_is_left_behind() {
    // Two bumps at ±3; between them, about 0, the density is convex.
    let mut target = Density {
        dim: 1,
        value: |x: &[f64], gradient: &mut [f64]| {
            gradient[0] = x[0] * (9.0 - x[0] * x[0]) / 3.0;
            Ok(x[0] * x[0] * (18.0 - x[0] * x[0]) / 12.0)
        },
    };
    for start in [0.1, 1e-9] {
        let found = ScaledConjugateGradient::default().maximise(&mut target, vec![start]).unwrap();
        assert!(found.converged);
        assert!((found.position[0] - 3.0).abs() < 1e-5, "{start}: {found:?}");
    }
}

#[test]
fn a_stationary_start_and_no_dimensions_at_all_converge_at_once() {
    let mut target = quadratic(vec![1.0, 2.0], vec![0.5, 0.5]);
    let found = ScaledConjugateGradient::default().maximise(&mut target, vec![0.5, 0.5]).unwrap();
    assert!(found.converged && found.iterations == 1 && found.evaluations == 1, "{found:?}");
    let mut nothing = Density { dim: 0, value: |_: &[f64], _: &mut [f64]| Ok(3.5) };
    let found = ScaledConjugateGradient::default().maximise(&mut nothing, vec![]).unwrap();
    assert!(found.converged && found.position.is_empty(), "{found:?}");
}

#[test]
fn iterations_are_limited() {
    let mut target = quadratic((1..=20).map(f64::from).collect(), truth(20));
    let climb = ScaledConjugateGradient { max_iterations: 5, ..ScaledConjugateGradient::default() };
    let found = climb.maximise(&mut target, vec![0.0; 20]).unwrap();
    assert!(!found.converged && found.iterations == 5, "{found:?}");
    let none = ScaledConjugateGradient { max_iterations: 0, ..ScaledConjugateGradient::default() };
    let found = none.maximise(&mut target, vec![0.0; 20]).unwrap();
    assert!(!found.converged && found.position == vec![0.0; 20], "{found:?}");
}
