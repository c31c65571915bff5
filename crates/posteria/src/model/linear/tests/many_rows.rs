//! Many rows, whose residuals are summed by their moments: the same draws as row by row.

use super::super::posterior::Likelihood;
use super::super::squares::MANY_ROWS;
use super::*;
use crate::model::Posterior;

const PRIORS: &str = "[prior.weights]\nscale = 0.8\ndof = 6.0\n[residual]\nscale = 0.6\n";

fn many() -> Dataset {
    let mut noise = stream(90);
    let rows = MANY_ROWS + 500;
    let x = random_matrix(rows, 3, &mut noise);
    let y = (0..rows).map(|row| 2.0 * x[(row, 0)] - x[(row, 2)] + 0.3 * noise.normal() + 1.0);
    let y = y.collect();
    real(x, y)
}

#[test]
fn sweeps_by_moments_are_those_by_rows() {
    let data = many();
    let by_moments = conditioned(PRIORS, &data);
    let mut by_rows = conditioned(PRIORS, &data);
    match &mut by_rows.likelihood {
        Likelihood::Real(regression) => assert!(regression.squares.take().is_some()),
        _ => panic!("a regression"),
    }
    for beta in [1.0, 0.3, 0.0] {
        let passed = |posterior: &LinearPosterior| {
            let (mut noise, mut sweep) = (stream(91), posterior.sweep(beta));
            let mut state = posterior.start(&mut noise);
            for _ in 0..20 {
                sweep.pass(&mut state, &mut noise);
            }
            state
        };
        let (one, other) = (passed(&by_moments), passed(&by_rows));
        for (a, b) in one.iter().zip(&other) {
            assert!((a - b).abs() < 1e-9 * b.abs().max(1.0), "β {beta}: {one:?} {other:?}");
        }
    }
}

#[test]
fn the_sum_of_log_likelihoods_is_known_without_them() {
    let posterior = conditioned(PRIORS, &many());
    let (mut noise, mut sweep) = (stream(92), posterior.sweep(1.0));
    let mut state = posterior.start(&mut noise);
    let mut evaluator = posterior.evaluator();
    let mut rows = vec![0.0; posterior.rows()];
    let [mut one, mut other] = [(); 2].map(|()| vec![0.0; posterior.layout().len()]);
    for _ in 0..10 {
        let by_rows = evaluator.evaluate(&state, &mut one, &mut rows).unwrap();
        let alone = evaluator.evaluate_sum(&state, &mut other, &mut rows).unwrap();
        assert_eq!(one, other);
        assert_eq!(by_rows.log_prior.to_bits(), alone.log_prior.to_bits());
        let (expected, found) = (by_rows.log_likelihood, alone.log_likelihood);
        assert!((found - expected).abs() < 1e-10 * expected.abs(), "{found} for {expected}");
        sweep.pass(&mut state, &mut noise);
    }
}
