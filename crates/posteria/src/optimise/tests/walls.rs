//! Climb near regions without a density, and where it is not a number.

use super::Density;
use crate::optimise::ScaledConjugateGradient;
use crate::target::Infeasible;

/// A gamma(5) density of x > 0: the mode is at 4, and beyond 0 there is nothing.
fn gamma(x: &[f64], gradient: &mut [f64]) -> Result<f64, Infeasible> {
    if x[0] <= 0.0 {
        return Err(Infeasible::OutsideSupport);
    }
    gradient[0] = 4.0 / x[0] - 1.0;
    Ok(4.0 * x[0].ln() - x[0])
}

#[test]
fn a_mode_beside_a_wall_is_found_from_both_sides() {
    let mut target = Density { dim: 1, value: gamma };
    for start in [1e-5, 0.1, 4.1, 30.0, 1e4] {
        let found = ScaledConjugateGradient::default().maximise(&mut target, vec![start]).unwrap();
        assert!(found.converged, "{start}: {found:?}");
        assert!((found.position[0] - 4.0).abs() < 1e-4, "{start}: {found:?}");
    }
}

#[test]
fn a_step_into_a_hole_is_shortened() {
    // A normal with mode 0; from 10 the first step goes to 0 straight, but (-1, 1) is a hole.
    let mut seen = 0;
    let mut target = Density {
        dim: 1,
        value: |x: &[f64], gradient: &mut [f64]| {
            if x[0].abs() < 1.0 {
                seen += 1;
                return Ok(f64::NAN);
            }
            gradient[0] = -x[0];
            Ok(-0.5 * x[0] * x[0])
        },
    };
    // Short steps beside the hole must not count as convergence, however lax the tolerance.
    for tolerance in [1e-6, 0.1] {
        let climb = ScaledConjugateGradient {
            value_tolerance: tolerance,
            position_tolerance: tolerance,
            ..ScaledConjugateGradient::default()
        };
        let found = climb.maximise(&mut target, vec![10.0]).unwrap();
        // The best position is at the edge of the hole, and the end is told as what it is.
        assert!(!found.converged, "{found:?}");
        assert!((1.0..1.01).contains(&found.position[0].abs()), "{found:?}");
        assert!(found.log_density.is_finite() && found.iterations < 200, "{found:?}");
    }
    assert!(seen > 0);
}

#[test]
fn a_gradient_that_is_not_a_number_is_infeasible_too() {
    let mut target = Density {
        dim: 2,
        value: |x: &[f64], gradient: &mut [f64]| {
            gradient[0] = if x[0] > 2.5 { f64::NAN } else { 3.0 - x[0] };
            gradient[1] = -x[1];
            Ok(3.0 * x[0] - 0.5 * x[0] * x[0] - 0.5 * x[1] * x[1])
        },
    };
    let found = ScaledConjugateGradient::default().maximise(&mut target, vec![0.0, 1.0]).unwrap();
    assert!(!found.converged && found.position[0] <= 2.5, "{found:?}");
    assert!(found.position[0] > 2.0, "{found:?}");
}

#[test]
fn a_start_without_a_density_is_refused_with_its_reason() {
    let climb = ScaledConjugateGradient::default();
    let mut target = Density { dim: 1, value: gamma };
    assert_eq!(climb.maximise(&mut target, vec![-1.0]), Err(Infeasible::OutsideSupport));
    let mut nan = Density { dim: 1, value: |_: &[f64], _: &mut [f64]| Ok(f64::NAN) };
    assert_eq!(climb.maximise(&mut nan, vec![0.0]), Err(Infeasible::NotFinite));
}

#[test]
fn a_lone_feasible_point_is_returned() {
    let mut calls = 0;
    let mut target = Density {
        dim: 1,
        value: |x: &[f64], gradient: &mut [f64]| {
            calls += 1;
            gradient[0] = 1.0;
            if x[0].abs() > 0.0 { Err(Infeasible::OutsideSupport) } else { Ok(7.0) }
        },
    };
    let found = ScaledConjugateGradient::default().maximise(&mut target, vec![0.0]).unwrap();
    assert!(!found.converged && found.position == [0.0], "{found:?}");
    assert_eq!(found.evaluations, calls);
    assert!(calls < 100, "the climb must give up, not shrink for ever: {calls}");
}

#[test]
fn a_gradient_of_the_wrong_sign_ends_the_climb() {
    let mut target = Density {
        dim: 1,
        value: |x: &[f64], gradient: &mut [f64]| {
            gradient[0] = x[0];
            Ok(-0.5 * x[0] * x[0])
        },
    };
    let found = ScaledConjugateGradient::default().maximise(&mut target, vec![2.0]).unwrap();
    assert!(!found.converged && found.iterations < 200, "{found:?}");
}

#[test]
fn a_density_without_a_mode_runs_until_stopped() {
    let mut target = Density {
        dim: 1,
        value: |x: &[f64], gradient: &mut [f64]| {
            gradient[0] = 1.0;
            Ok(x[0])
        },
    };
    let found = ScaledConjugateGradient::default().maximise(&mut target, vec![0.0]).unwrap();
    assert!(!found.converged && found.position[0] > 1e3, "{found:?}");
    assert!(found.position[0].is_finite() && found.log_density.is_finite());
}

#[test]
fn a_gradient_too_long_to_square_does_not_count_as_a_mode() {
    let mut target = Density {
        dim: 1,
        value: |x: &[f64], gradient: &mut [f64]| {
            gradient[0] = -1e200 * x[0];
            Ok(-0.5e200 * x[0] * x[0])
        },
    };
    let found = ScaledConjugateGradient::default().maximise(&mut target, vec![1.0]).unwrap();
    assert!(!found.converged, "{found:?}");
}
