//! Softmax regression: density, joint distribution, prior, exact answers and hostile data.

use super::super::classified::ClassConditional;
use super::super::posterior::Likelihood;
use super::super::softmax::Softmax;
use super::*;
use crate::density::InverseGamma;
use crate::density::special::{log_sum_exp, normal_cdf};
use crate::model::Posterior;
use crate::predict::Family;
use crate::sample::Conditional;
use crate::target::{LogDensity, check_gradient};

const CLASSES: usize = 3;
const TEXT: &str = "[prior.weights]\nscale = 0.8\ndof = 6.0\n[prior.intercept]\nfixed = 1.0\n";

fn classes(x: Matrix, codes: Vec<usize>) -> Dataset {
    let labels = (0..CLASSES).map(|class| format!("c{class}")).collect();
    Dataset::unscaled(x, Targets::Classes { name: "y".into(), labels, codes })
}

fn random(rows: usize, inputs: usize, noise: &mut Stream) -> Dataset {
    let x = random_matrix(rows, inputs, noise);
    let codes = (0..rows).map(|_| noise.index(CLASSES)).collect();
    classes(x, codes)
}

/// f of every class at a row, from coefficients k·K + c.
fn outputs(x: &Matrix, row: usize, state: &[f64]) -> Vec<f64> {
    let of_class = |class: usize| {
        let weights = (0..x.columns()).map(|k| state[(k + 1) * CLASSES + class] * x[(row, k)]);
        state[class] + weights.sum::<f64>()
    };
    (0..CLASSES).map(of_class).collect()
}

#[test]
fn the_gradient_agrees_with_differences_and_the_value_with_its_terms() {
    let mut noise = stream(80);
    let data = random(30, 2, &mut noise);
    let posterior = conditioned("[prior.weights]\nsharing = 'per-input'", &data);
    let names = posterior.layout().component_names().join(" ");
    assert!(
        names.starts_with("intercept[c0] intercept[c1] intercept[c2] weights[x0, c0]")
            && names.ends_with("weights[x1, c2] relevance[x0] relevance[x1]"),
        "{names}"
    );
    let Likelihood::Softmax { codes, classes } = &posterior.likelihood else {
        panic!("a softmax regression")
    };
    for index in 0..60 {
        let likelihood = Softmax::new(&posterior.x, codes, *classes);
        let beta = [1.0, 0.3, 0.0][index % 3];
        let mut conditional = ClassConditional::new(likelihood, &posterior.coefficients, beta);
        let mut state: Vec<f64> = (0..11).map(|_| noise.normal()).collect();
        state[..9].iter_mut().for_each(|w| *w *= 0.2 * index as f64);
        assert!(conditional.condition(&state), "new scales change the density");
        let check = check_gradient(&mut conditional, &state[..9]).unwrap();
        assert!(check.error < 1e-6, "{check:?}");
        if index % 3 == 0 {
            let (mut draw, mut rows) = (vec![0.0; posterior.layout().len()], vec![0.0; 30]);
            let terms = posterior.evaluator().evaluate(&state, &mut draw, &mut rows).unwrap();
            let mut sum = 0.0;
            for (row, code) in codes.iter().enumerate() {
                let f = outputs(&data.inputs, row, &state);
                assert!((rows[row] - f[*code as usize] + log_sum_exp(&f)).abs() < 1e-10);
                sum += rows[row];
            }
            let zero = conditional.log_density(&[0.0; 9]).unwrap();
            let found = conditional.log_density(&state[..9]).unwrap();
            let squares: f64 = (0..9)
                .map(|at| {
                    let scale = if at < 3 { 3.0 } else { state[9 + (at / 3 - 1)].exp() };
                    (state[at] / scale).powi(2)
                })
                .sum();
            let expected = sum - 0.5 * squares + 30.0 * 3_f64.ln();
            assert!((found - zero - expected).abs() < 1e-8 * found.abs().max(1.0));
            assert!((terms.log_likelihood - sum).abs() < 1e-9);
        }
    }
}

#[test]
fn the_joint_distribution_is_kept_and_the_prior_returned() {
    let mut noise = stream(81);
    let x = random_matrix(5, 1, &mut noise);
    let model = model(TEXT);
    let prior = InverseGamma::new(0.8, 6.0).unwrap();
    let prior_state = |noise: &mut Stream| -> Vec<f64> {
        let log_scale = prior.draw_log_scale(noise);
        let mut state: Vec<f64> = (0..6).map(|_| noise.normal()).collect();
        state[3..].iter_mut().for_each(|w| *w *= log_scale.exp());
        state.push(log_scale);
        state
    };
    let functions = |state: &[f64]| -> Vec<f64> {
        let mut values: Vec<f64> = state[..6].iter().map(|w| w.tanh()).collect();
        values.extend([state[6], state[6] * state[6], (state[0] * state[3]).tanh()]);
        values.push((state[4] * state[4] + 0.01).ln());
        values
    };
    let draw_codes = |state: &[f64], noise: &mut Stream| -> Vec<usize> {
        (0..5)
            .map(|row| {
                let f = outputs(&x, row, state);
                let level = noise.uniform();
                let mut sum = 0.0;
                let total = log_sum_exp(&f);
                (0..CLASSES)
                    .find(|class| {
                        sum += (f[*class] - total).exp();
                        level < sum
                    })
                    .unwrap_or(CLASSES - 1)
            })
            .collect()
    };
    let marginal = Table::collect(10_000, || functions(&prior_state(&mut noise)));
    let mut state = prior_state(&mut noise);
    let successive = Table::collect(10_000, || {
        let data = classes(x.clone(), draw_codes(&state, &mut noise));
        let posterior = model.condition(&data, nuts()).unwrap();
        posterior.sweep(1.0).pass(&mut state, &mut noise);
        functions(&state)
    });
    successive.assert_means_of(&marginal, "softmax");
    let posterior = model.condition(&classes(x.clone(), vec![0, 1, 2, 0, 0]), nuts()).unwrap();
    let mut sweep = posterior.sweep(0.0);
    let table = Table::collect(5000, || {
        sweep.pass(&mut state, &mut noise);
        vec![normal_cdf(state[1]), normal_cdf(state[2]), prior.cdf((2.0 * state[6]).exp())]
    });
    table.assert_means(&[0.5; 3], "prior");
}

#[test]
fn posterior_moments_are_those_of_quadrature() {
    // Three classes, no inputs: two differences of intercepts matter, by a grid of all three.
    let codes = vec![0, 0, 0, 1, 0, 2, 0];
    let data = classes(Matrix::zeros(7, 0), codes.clone());
    let posterior = conditioned("[prior.intercept]\nfixed = 1.5", &data);
    let (mut total, mut sums) = (0.0, [0.0; 4]);
    let point = |i: i32| 0.3 * f64::from(i);
    for (i, j, k) in
        (-25..=25).flat_map(|i| (-25..=25).flat_map(move |j| (-25..=25).map(move |k| (i, j, k))))
    {
        let b = [point(i), point(j), point(k)];
        let shared = log_sum_exp(&b);
        let log: f64 = codes.iter().map(|code| b[*code] - shared).sum::<f64>()
            - b.iter().map(|b| b * b).sum::<f64>() / 4.5;
        total += log.exp();
        for (sum, value) in sums.iter_mut().zip([b[0], b[1], b[2] * b[2], b[0] * b[1]]) {
            *sum += log.exp() * value;
        }
    }
    let mut noise = stream(82);
    let mut state = posterior.start(&mut noise);
    let mut sweep = posterior.sweep(1.0);
    let table = Table::collect(10_000, || {
        sweep.pass(&mut state, &mut noise);
        vec![state[0], state[1], state[2] * state[2], state[0] * state[1]]
    });
    table.assert_means(&sums.map(|sum| sum / total), "intercepts");
}

#[test]
fn predictions_are_on_the_users_scale_and_separable_classes_stay_finite() {
    let mut noise = stream(83);
    // Classes that a line tells apart without error, twin inputs and a constant one.
    let x = Matrix::from_fn(18, 3, |row, k| if k == 2 { 0.0 } else { row as f64 / 6.0 - 1.5 });
    let mut data = classes(x, (0..18).map(|row| row / 6).collect());
    data.input_scaling[0] = Standardization { centre: 40.0, scale: 2.0 };
    let posterior = conditioned("", &data);
    let mut state = posterior.start(&mut noise);
    let mut sweep = posterior.sweep(1.0);
    let mut predictor = posterior.predictor().unwrap();
    assert_eq!(predictor.family(), Family::Categorical { classes: 3 });
    let (mut draw, mut rows) = (vec![0.0; posterior.layout().len()], vec![0.0; 18]);
    let mut parameters = vec![0.0; 18 * 3];
    for _ in 0..200 {
        sweep.pass(&mut state, &mut noise);
        posterior.evaluator().evaluate(&state, &mut draw, &mut rows).unwrap();
        predictor.at_training_rows(&draw, &mut parameters);
        for row in 0..18 {
            let f = outputs(&data.inputs, row, &state);
            let user = 40.0 + 2.0 * data.inputs[(row, 0)];
            for class in 0..3 {
                let of_draw =
                    draw[class] + draw[3 + class] * user + draw[6 + class] * data.inputs[(row, 1)];
                let tolerance = 1e-8 * f[class].abs().max(1.0);
                assert!((of_draw - f[class]).abs() < tolerance);
                assert!((parameters[3 * row + class] - f[class]).abs() < tolerance);
            }
        }
    }
}
