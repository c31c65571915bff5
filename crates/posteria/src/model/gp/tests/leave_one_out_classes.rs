//! Leave-one-out predictions of classes, against quadrature over the functions.

use posteria_linalg::{Cholesky, Matrix};

use super::classes::{class_functions, dataset};
use super::posterior;
use super::prediction::{Plain, kriging, row, some_draw, stream};
use crate::density::special::{logistic, normal_cdf};
use crate::model::Posterior;
use crate::model::gp::GpPosterior;
use crate::model::gp::observed::Observed;
use crate::predict::Predictive;

const KNOWN: &str = "[hyperparameters]\nmagnitude = 1.8\nrelevance = 0.7\n";

/// Equally spaced numbers with normal weights: such sums are exact for smooth integrands.
fn normal_rule(points: usize) -> Vec<(f64, f64)> {
    let spacing = 14.0 / (points - 1) as f64;
    let constant = spacing / std::f64::consts::TAU.sqrt();
    let at = |index: usize| index as f64 * spacing - 7.0;
    (0..points).map(|i| (at(i), constant * (-0.5 * at(i).powi(2)).exp())).collect()
}

/// Probabilities of the classes of every row, i·classes + c, by `Predictor::leave_one_out`.
fn left_out(posterior: &GpPosterior, state: &[f64], classes: usize) -> Vec<f64> {
    let rows = posterior.row_count();
    let mut draw = vec![0.0; posterior.layout().len()];
    posterior.evaluator().evaluate(state, &mut draw, &mut vec![0.0; rows]).unwrap();
    let mut predictor = posterior.predictor().unwrap();
    let family = predictor.family();
    let mut parameters = vec![f64::NAN; rows * family.width()];
    predictor.leave_one_out(&draw, &mut parameters);
    let mut all = Vec::new();
    for row in parameters.chunks(family.width()) {
        let predictive = Predictive::new(family, row);
        all.extend((0..classes).map(|class| predictive.log_density(&[class as f64]).exp()));
    }
    all
}

#[track_caller]
fn assert_near(found: f64, expected: f64, what: &str) {
    assert!((found - expected).abs() < 1e-7 * expected, "{what}: {found}, expected {expected}");
}

/// At one draw: the function of a row given those of the others is normal, and the probability of
/// a class is averaged over it.
#[test]
fn given_a_draw_the_function_of_a_row_is_integrated_out() {
    let mut stream = stream(30);
    for (model, classes) in [("", 2), ("link = 'probit'", 2), ("", 3)] {
        let codes: Vec<usize> = (0..6).map(|row| row * row % classes).collect();
        let posterior = posterior(model, &dataset(&codes, classes));
        let (state, _) = some_draw(&posterior, &mut stream);
        let found = left_out(&posterior, &state, classes);
        let plain = Plain::new(&posterior, &state, 0);
        let of_classes: Vec<_> = (0..6).map(|i| class_functions(&posterior, &state, i)).collect();
        for i in 0..6 {
            let kept: Vec<usize> = (0..6).filter(|other| *other != i).collect();
            let rows: Vec<_> = kept.iter().map(|i| row(&posterior.inputs, *i)).collect();
            // One function of two classes, else one of every class: what they have in common
            // cancels.
            let functions: Vec<usize> = if classes == 2 { vec![1] } else { (0..classes).collect() };
            let moments: Vec<(f64, f64)> = functions
                .iter()
                .map(|class| {
                    let values: Vec<f64> = kept.iter().map(|j| of_classes[*j][*class]).collect();
                    let at = row(&posterior.inputs, i);
                    kriging(&plain, &rows, (&values, &[0.0; 5]), &at, posterior.jitter)
                })
                .collect();
            let mut expected = vec![0.0; classes];
            let rule = normal_rule(if classes == 2 { 281 } else { 43 });
            for mut index in 0..rule.len().pow(functions.len() as u32) {
                let (mut weight, mut f) = (1.0, vec![0.0; classes]);
                for ((mean, variance), class) in moments.iter().zip(&functions) {
                    let (z, w) = rule[index % rule.len()];
                    index /= rule.len();
                    weight *= w;
                    f[*class] = mean + variance.sqrt() * z;
                }
                let total: f64 = f.iter().map(|f| f.exp()).sum();
                for (class, expected) in expected.iter_mut().enumerate() {
                    *expected += weight
                        * match &posterior.observed {
                            Observed::Binary { .. } if model.contains("probit") => {
                                normal_cdf(if class == 1 { f[1] } else { -f[1] })
                            }
                            _ => f[class].exp() / total,
                        };
                }
            }
            for (class, expected) in expected.iter().enumerate() {
                assert_near(found[i * classes + class], *expected, &format!("{model} {classes}"));
            }
        }
    }
}

/// Over draws: weighted by 1/p(y_i given the functions of the others), which is what leave-one-out
/// does with draws of *all* rows, the probabilities are those of a fit without the row. Both by
/// quadrature over three functions at known hyperparameters.
#[test]
fn weighted_over_the_posterior_they_are_those_of_a_fit_without_the_row() {
    let codes = [1, 0, 1];
    for link in ["", "link = 'probit'\n"] {
        let posterior = posterior(&format!("{link}{KNOWN}"), &dataset(&codes, 2));
        let mut state = posterior.start(&mut stream(31));
        let plain = Plain::new(&posterior, &state, 0);
        let rule = normal_rule(29);
        let covariances = Matrix::from_fn(3, 3, |i, j| {
            let [a, b] = [i, j].map(|k| row(&posterior.inputs, k));
            plain.at(&a, &b) + if i == j { posterior.jitter.powi(2) } else { 0.0 }
        });
        let factor = Cholesky::new(&covariances).unwrap();
        // Of every row: Σ weights, Σ weights of the second class; and without the row.
        let (mut weighted, mut without) = ([[0.0; 2]; 3], [[0.0; 2]; 3]);
        for index in 0..rule.len().pow(3) {
            let points = [index, index / 29, index / 841].map(|k| rule[k % 29]);
            let mut f = points.map(|(z, _)| z);
            factor.multiply_lower(&mut f);
            state[posterior.latents.clone()].copy_from_slice(&f);
            let prior: f64 = points.iter().map(|(_, w)| w).product();
            let probability = |f: f64| if link.is_empty() { logistic(f) } else { normal_cdf(f) };
            // Small probabilities must keep their digits: weights divide by them.
            let likelihoods =
                [0, 1, 2].map(|i| probability(if codes[i] == 1 { f[i] } else { -f[i] }));
            let left_out = left_out(&posterior, &state, 2);
            for i in 0..3 {
                let p = left_out[2 * i + 1];
                let weight =
                    prior * likelihoods.iter().product::<f64>() / left_out[2 * i + codes[i]];
                weighted[i][0] += weight;
                weighted[i][1] += weight * p;
                let others: f64 = (0..3).filter(|j| *j != i).map(|j| likelihoods[j]).product();
                without[i][0] += prior * others;
                without[i][1] += prior * others * probability(f[i]);
            }
        }
        for i in 0..3 {
            let expected = without[i][1] / without[i][0];
            assert_near(weighted[i][1] / weighted[i][0], expected, link);
            // Their mean is 1/p(y_i given the others): the weights' own sum is that of a fit
            // without the row.
            assert_near(weighted[i][0], without[i][0], link);
        }
    }
}
