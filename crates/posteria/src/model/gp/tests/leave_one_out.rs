//! Leave-one-out predictions at fixed hyperparameters, against predictions without the row.

use posteria_linalg::Matrix;

use super::super::observed::Observed;
use super::prediction::{Plain, assert_close, kriging, row, slope, some_draw, stream, wave};
use super::{data, posterior};
use crate::data::{Column, Dataset, Roles, Table};
use crate::model::Posterior;
use crate::model::gp::GpPosterior;
use crate::predict::Family;

/// One target; input `b` takes two values, in turn.
pub(super) fn grouped(rows: usize) -> Dataset {
    let a: Vec<f64> = (0..rows).map(|row| (0.7 * row as f64).sin() * 2.0 + 1.0).collect();
    let b: Vec<f64> = (0..rows).map(|row| (row % 2) as f64).collect();
    let y = a.iter().zip(&b).map(|(a, b)| wave(*a, 3.0 * b)).collect();
    let columns = vec![
        ("a".into(), Column::numbers(a)),
        ("b".into(), Column::numbers(b)),
        ("y".into(), Column::numbers(y)),
    ];
    let table = Table::new("memory", columns).unwrap();
    Dataset::new(&table, &Roles { targets: vec!["y".into()], ..Roles::default() }).unwrap().0
}

/// Mean and variance of the function of a row without that row, by the formulas for new rows.
fn without(
    posterior: &GpPosterior,
    state: &[f64],
    (function, left_out): (usize, usize),
    (values, noise): (&[f64], &[f64]),
) -> (f64, f64) {
    let kept: Vec<usize> = (0..values.len()).filter(|row| *row != left_out).collect();
    let rows: Vec<Vec<f64>> = kept.iter().map(|i| row(&posterior.inputs, *i)).collect();
    let [values, noise] =
        [values, noise].map(|all| kept.iter().map(|i| all[*i]).collect::<Vec<_>>());
    let plain = Plain::new(posterior, state, function);
    let at = row(&posterior.inputs, left_out);
    kriging(&plain, &rows, (&values, &noise), &at, posterior.jitter)
}

#[test]
fn normal_targets_are_predicted_as_if_their_row_had_not_been_there() {
    let several = data(10, &[&wave, &slope]);
    let one = grouped(10);
    let mut stream = stream(20);
    for (text, data) in [
        ("", &several),
        ("processes = 'shared'", &several),
        ("processes = 'shared'\n[residual]\nsharing = 'common'", &several),
        ("", &one),
        ("[residual]\nby = ['b']", &one),
        ("[residual]\nslopes = ['a', 'b']", &one),
    ] {
        let posterior = posterior(text, data);
        let (state, draw) = some_draw(&posterior, &mut stream);
        let Observed::Real(residual) = &posterior.observed else { unreachable!() };
        let mut predictor = posterior.predictor().unwrap();
        let family = predictor.family();
        let each = family.width() / family.outputs();
        let mut parameters = vec![f64::NAN; 10 * family.width()];
        // New targets of the same draw come first in a fit, and leave something behind.
        if family.outputs() == 1 {
            let mut replicates = vec![0.0; 10 * family.targets()];
            predictor.replicate(&draw, &mut stream, &mut replicates);
        }
        predictor.leave_one_out(&draw, &mut parameters);
        for target in 0..family.outputs() {
            let values = &posterior.targets[target * 10..(target + 1) * 10];
            let noise: Vec<f64> = (0..10)
                .map(|i| (2.0 * residual.log_scale(&state, target * 10 + i)).exp())
                .collect();
            let scaling = &posterior.target_scaling[target];
            for i in 0..10 {
                let (mean, variance) = without(&posterior, &state, (target, i), (values, &noise));
                let found = &parameters[i * family.width() + target * each..][..each];
                assert_close(found[0], scaling.invert(mean), text);
                if each == 2 {
                    assert_close(found[1], (variance + noise[i]).sqrt() * scaling.scale, text);
                } else {
                    assert_close(found[1], variance.sqrt() * scaling.scale, text);
                    assert_close(found[2], noise[i].sqrt() * scaling.scale, text);
                    assert!(found[3] == f64::INFINITY);
                }
            }
        }
    }
}

#[test]
fn given_latents_a_row_is_predicted_from_those_of_the_others() {
    let several = data(10, &[&wave, &slope]);
    let mut stream = stream(21);
    for text in ["[residual]\nfamily = 'student-t'\ndof = 4.0", "[residual]\nfamily = 'laplace'"] {
        let posterior = posterior(text, &several);
        let (state, draw) = some_draw(&posterior, &mut stream);
        let latents = &state[posterior.latents.clone()];
        let mut predictor = posterior.predictor().unwrap();
        let family = predictor.family();
        let each = family.width() / 2;
        let mut parameters = vec![f64::NAN; 10 * family.width()];
        predictor.leave_one_out(&draw, &mut parameters);
        for target in 0..2 {
            let values = &latents[target * 10..(target + 1) * 10];
            let scaling = &posterior.target_scaling[target];
            for i in 0..10 {
                let (mean, variance) =
                    without(&posterior, &state, (target, i), (values, &[0.0; 10]));
                let found = &parameters[i * family.width() + target * each..][..each];
                assert_close(found[0], scaling.invert(mean), text);
                assert_close(found[1], variance.sqrt() * scaling.scale, text);
            }
        }
    }
}

/// By all rows as neighbours: the scale of every residual goes through the draw.
#[test]
fn given_scales_of_residuals_a_row_is_predicted_from_the_targets_of_the_others() {
    let several = data(10, &[&wave, &slope]);
    let mut stream = stream(23);
    for family in ["student-t'\ndof = 4.0", "laplace'"] {
        let text = format!("neighbours = 9\n[residual]\nfamily = '{family}");
        let posterior = posterior(&text, &several);
        let (mut state, mut draw) = some_draw(&posterior, &mut stream);
        let Observed::Real(residual) = &posterior.observed else { unreachable!() };
        residual.draw_case_variances(&mut state, &mut stream);
        let mut kept = [0.0; 10];
        posterior.evaluator().evaluate(&state, &mut draw, &mut kept).unwrap();
        let mut predictor = posterior.predictor().unwrap();
        let family = predictor.family();
        let each = family.width() / 2;
        let mut parameters = vec![f64::NAN; 10 * family.width()];
        predictor.leave_one_out(&draw, &mut parameters);
        let cases = &state[residual.cases.clone().unwrap()];
        for target in 0..2 {
            let of = target * 10..(target + 1) * 10;
            let scale = |index: usize| residual.log_scale(&state, index).exp();
            let noise: Vec<f64> =
                of.clone().map(|index| scale(index).powi(2) / cases[index]).collect();
            let scaling = &posterior.target_scaling[target];
            for i in 0..10 {
                let values = (&posterior.targets[of.clone()], &noise[..]);
                let (mean, variance) = without(&posterior, &state, (target, i), values);
                let found = &parameters[i * family.width() + target * each..][..each];
                assert_close(found[0], scaling.invert(mean), &text);
                assert_close(found[1], variance.sqrt() * scaling.scale, &text);
                assert_close(found[2], scale(target * 10 + i) * scaling.scale, &text);
            }
        }
        // What is kept of a row is its density without it.
        for (i, kept) in kept.into_iter().enumerate() {
            let these = &parameters[i * family.width()..][..family.width()];
            let targets: Vec<f64> = (0..2)
                .map(|o| posterior.target_scaling[o].invert(posterior.targets[o * 10 + i]))
                .collect();
            let expected = crate::predict::Predictive::new(family, these).log_density(&targets);
            assert_close(kept, expected, &text);
        }
    }
}

/// The formulas of the thesis, with the signs that make them right: the density of a row left out
/// is log p = -½ log 2π + ½ log c̄_ii - ½ q_i²/c̄_ii, and by the chain rule it is what the row adds
/// to the density of all.
#[test]
fn densities_of_rows_left_out_are_ratios_of_joint_densities() {
    let data = data(9, &[&wave]);
    let posterior = posterior("", &data);
    let (state, draw) = some_draw(&posterior, &mut stream(22));
    let Observed::Real(residual) = &posterior.observed else { unreachable!() };
    let sigma = residual.log_scale(&state, 0).exp();
    let plain = Plain::new(&posterior, &state, 0);
    let joint = |rows: &[usize]| {
        let c = Matrix::from_fn(rows.len(), rows.len(), |i, j| {
            let [a, b] = [i, j].map(|k| row(&posterior.inputs, rows[k]));
            plain.at(&a, &b) + if i == j { 1e-4 + sigma * sigma } else { 0.0 }
        });
        let factor = posteria_linalg::Cholesky::new(&c).unwrap();
        let mut z: Vec<f64> = rows.iter().map(|row| posterior.targets[*row]).collect();
        factor.solve_lower(&mut z);
        let squares: f64 = z.iter().map(|z| z * z).sum();
        let constant = rows.len() as f64 * (std::f64::consts::TAU).ln();
        -0.5 * (squares + factor.log_determinant() + constant)
    };
    let mut predictor = posterior.predictor().unwrap();
    let mut parameters = [f64::NAN; 18];
    predictor.leave_one_out(&draw, &mut parameters);
    let all: Vec<usize> = (0..9).collect();
    let scaling = &posterior.target_scaling[0];
    for left_out in 0..9 {
        let rest: Vec<usize> = all.iter().copied().filter(|row| *row != left_out).collect();
        let expected = joint(&all) - joint(&rest) - scaling.scale.ln();
        let these = &parameters[2 * left_out..][..2];
        let predictive = crate::predict::Predictive::new(Family::Normal { outputs: 1 }, these);
        let y = scaling.invert(posterior.targets[left_out]);
        assert_close(predictive.log_density(&[y]), expected, "log density");
    }
}
