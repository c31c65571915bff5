//! Stop at the best position for held-out rows, not at the mode of the training rows.

use super::{Density, largest_error, quadratic};
use crate::optimise::{EarlyStopping, ScaledConjugateGradient, early_stopped};
use crate::random::{Purpose, Seed};
use crate::target::{Infeasible, LogDensity};

const DEGREE: usize = 13;

/// Values of y = sin 3x with noise of sd 0.3, at 14 random x: a polynomial of degree 13 can go
/// through all of them.
fn rows(index: u64) -> Vec<([f64; DEGREE + 1], f64)> {
    let mut stream = Seed(5).stream(Purpose::Data, [index, 0]);
    let mut row = || {
        let x = 2.0 * stream.uniform() - 1.0;
        let mut powers = [1.0; DEGREE + 1];
        for i in 1..=DEGREE {
            powers[i] = powers[i - 1] * x;
        }
        (powers, (3.0 * x).sin() + 0.3 * stream.normal())
    };
    (0..DEGREE + 1).map(|_| row()).collect()
}

fn log_likelihood(rows: &[([f64; DEGREE + 1], f64)], w: &[f64], gradient: &mut [f64]) -> f64 {
    gradient.fill(0.0);
    let mut value = 0.0;
    for (powers, y) in rows {
        let error = y - powers.iter().zip(w).map(|(p, w)| p * w).sum::<f64>();
        value -= error * error / (2.0 * 0.09);
        for (g, p) in gradient.iter_mut().zip(powers) {
            *g += error * p / 0.09;
        }
    }
    value
}

#[test]
fn over_fitting_is_stopped_before_it_begins() {
    let (training, held_out) = (rows(0), rows(1));
    let mut target = Density {
        dim: DEGREE + 1,
        value: |w: &[f64], g: &mut [f64]| Ok(log_likelihood(&training, w, g)),
    };
    let mut scratch = vec![0.0; DEGREE + 1];
    let mut seen = Vec::new();
    let mut validation = |w: &[f64]| {
        seen.push(log_likelihood(&held_out, w, &mut scratch));
        Ok(seen[seen.len() - 1])
    };
    let start = vec![0.0; DEGREE + 1];
    let stopped =
        early_stopped(&mut target, &mut validation, start.clone(), &EarlyStopping::default())
            .unwrap();

    // The best of what was seen, in the interior: neither the start nor the last.
    let best = seen.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    assert_eq!(stopped.validation.to_bits(), best.to_bits());
    let at = seen.iter().position(|v| v.to_bits() == best.to_bits()).expect("it was seen");
    assert!(at > 0 && at + 1 < seen.len(), "best at {at} of {}", seen.len());
    // Twenty moves in a row failed, and not one more was made.
    assert_eq!(seen.len() - 1 - at, 20);
    assert!(stopped.iterations >= seen.len() - 1, "{stopped:?}");
    let mut gradient = vec![0.0; DEGREE + 1];
    let again = log_likelihood(&held_out, &stopped.position, &mut gradient);
    assert_eq!(again.to_bits(), best.to_bits(), "the position goes with the value");

    // The mode fits the training rows better and the held-out rows worse.
    let mode = ScaledConjugateGradient { max_iterations: 5000, ..Default::default() }
        .maximise(&mut target, start)
        .unwrap();
    assert!(mode.log_density > target.log_density(&stopped.position).unwrap() + 1.0);
    assert!(log_likelihood(&held_out, &mode.position, &mut gradient) < best - 1.0);
}

#[test]
fn without_over_fitting_the_mode_is_reached() {
    let mode = vec![0.4, -2.0, 1.5];
    let mut target = quadratic(vec![1.0, 4.0, 9.0], mode.clone());
    let mut same = quadratic(vec![1.0, 4.0, 9.0], mode.clone());
    let stopped = early_stopped(
        &mut target,
        &mut |w| same.log_density(w),
        vec![0.0; 3],
        &EarlyStopping::default(),
    )
    .unwrap();
    assert!(largest_error(&stopped.position, &mode) < 1e-5, "{stopped:?}");
    assert!(stopped.iterations <= 5, "{stopped:?}");
}

#[test]
fn the_start_may_be_best() {
    let mut target = quadratic((1..=30).map(f64::from).collect(), vec![1.0; 30]);
    let mut validations = 0;
    let options = EarlyStopping { max_fail: 3, ..EarlyStopping::default() };
    let stopped = early_stopped(
        &mut target,
        &mut |w| {
            validations += 1;
            Ok(-w.iter().map(|w| w * w).sum::<f64>())
        },
        vec![0.0; 30],
        &options,
    )
    .unwrap();
    assert_eq!(stopped.position, vec![0.0; 30]);
    assert_eq!(validations, 4, "the start and three failures");
}

#[test]
fn infeasible_validation_is_never_best() {
    let mut target = quadratic(vec![1.0, 3.0, 9.0], vec![2.0, -1.0, 0.0]);
    let mut calls = 0;
    // Usable at the first position after the start only.
    let stopped = early_stopped(
        &mut target,
        &mut |_| {
            calls += 1;
            match calls {
                1 => Ok(f64::INFINITY),
                2 => Ok(-5.0),
                3 => Ok(f64::NAN),
                _ => Err(Infeasible::OutsideSupport),
            }
        },
        vec![0.0; 3],
        &EarlyStopping::default(),
    )
    .unwrap();
    assert_eq!(stopped.validation.to_bits(), (-5.0_f64).to_bits());
    assert!(largest_error(&stopped.position, &[0.0; 3]) > 0.1, "{stopped:?}");

    let nowhere = early_stopped(
        &mut target,
        &mut |_| Err(Infeasible::OutsideSupport),
        vec![0.0; 3],
        &EarlyStopping::default(),
    );
    assert_eq!(nowhere, Err(Infeasible::OutsideSupport));
    let nan =
        early_stopped(&mut target, &mut |_| Ok(f64::NAN), vec![0.0; 3], &EarlyStopping::default());
    assert_eq!(nan, Err(Infeasible::NotFinite));
}
