//! Linear outputs against explicit formulas, draws and rows left out.

use super::*;
use crate::approximate::{Approximation, Estimation, NormalAtMode};
use crate::data::{Column, Encoder, Roles, Table};
use crate::density::special::logistic;
use crate::draws::Role;
use crate::model::Regularised;
use crate::model::mlp::Mlp;
use crate::model::spec::Spec;
use crate::random::{Purpose, Seed};

/// A network of `hidden` units on 40 rows of two inputs and these targets.
fn network(hidden: usize, targets: &[&str]) -> MlpPosterior {
    let mut stream = Seed(7).stream(Purpose::Data, [0, 0]);
    let columns: Vec<Vec<f64>> =
        (0..4).map(|_| (0..40).map(|_| stream.normal()).collect()).collect();
    let target = |row: usize, slope: f64, noise: usize| {
        columns[0][row] + slope * columns[1][row] + 0.5 * columns[noise][row]
    };
    let y = (0..40).map(|row| target(row, 0.5, 2)).collect();
    let z = (0..40).map(|row| target(row, -1.0, 3)).collect();
    let c = (0..40).map(|row| if target(row, 0.5, 2) > 0.0 { "b" } else { "a" });
    let of_three = |row: usize| match target(row, 0.5, 2) {
        t if t < -0.6 => "a",
        t if t < 0.5 => "b",
        _ => "c",
    };
    let three = (0..40).map(of_three);
    let columns = vec![
        ("u".into(), Column::numbers(columns[0].clone())),
        ("v".into(), Column::numbers(columns[1].clone())),
        ("y".into(), Column::numbers(y)),
        ("z".into(), Column::numbers(z)),
        ("c".into(), Column::from_texts(c).unwrap()),
        ("d".into(), Column::from_texts(three).unwrap()),
    ];
    let table = Table::new("memory", columns).unwrap();
    let names: Vec<String> = targets.iter().map(|name| name.to_string()).collect();
    let inputs = Some(vec!["u".into(), "v".into()]);
    let roles = Roles { targets: names.clone(), inputs, ..Roles::default() };
    let data = Encoder::fit(&table, &roles).unwrap().dataset;
    let text = format!("[data]\ntarget = {names:?}\n[model]\nkind = 'mlp'\nhidden = {hidden}\n");
    let mut spec = Spec::from_toml(&text).unwrap();
    spec.complete(data.task).unwrap();
    Mlp::new(&spec).unwrap().condition(&data, None).unwrap()
}

fn mode(posterior: &MlpPosterior) -> Evidence {
    let model = posterior.regularised().unwrap();
    Evidence::best(&model as &dyn Regularised, Estimation::Evidence, 2, Seed(1)).unwrap()
}

#[test]
fn leaving_out_is_exact_where_the_outputs_are_linear() {
    for targets in [&["y"][..], &["y", "z"]] {
        let posterior = network(0, targets);
        let mode = mode(&posterior);
        let linearised = Linearised::at_mode(&posterior, &mode).unwrap();
        let found = linearised.leave_one_out().unwrap();
        let (rows, outputs) = (posterior.training_rows(), targets.len());
        let count = rows.len();
        let mut values = vec![0.0; count * outputs];
        let mut jacobian = Matrix::zeros(count * outputs, mode.weights.len());
        posterior.linearize(&mode.weights, rows, &mut values, &mut jacobian);
        let factor = mode.precision.factor();
        for row in [0, 17, 39] {
            // Aw = b loses what the row adds to both sides.
            let dim = mode.weights.len();
            let product = |i: usize, j: usize| {
                (0..=i.min(j)).map(|k| factor[(i, k)] * factor[(j, k)]).sum::<f64>()
            };
            let mut a = Matrix::from_fn(dim, dim, product);
            let mut b: Vec<f64> =
                (0..dim).map(|i| (0..dim).map(|j| a[(i, j)] * mode.weights[j]).sum()).collect();
            for output in 0..outputs {
                let at = output * count + row;
                let beta = linearised.noise[output].recip();
                for i in 0..dim {
                    let gradient = jacobian[(at, i)];
                    b[i] -= beta * gradient * posterior.targets()[at];
                    (0..dim).for_each(|j| a[(i, j)] -= beta * gradient * jacobian[(at, j)]);
                }
            }
            let without = Linearised {
                posterior: &posterior,
                precision: Cholesky::new(&a).unwrap(),
                weights: {
                    Cholesky::new(&a).unwrap().solve(&mut b);
                    b
                },
                noise: linearised.noise.clone(),
                family: linearised.family,
            };
            let expected = without.parameters_at(&rows.subset(&[row]));
            for (found, expected) in found[row * expected.len()..].iter().zip(&expected) {
                assert!((found - expected).abs() < 1e-8, "{row}: {found} {expected}");
            }
        }
    }
}

/// Means of 4000 draws within five of their standard errors, variances within five of 2/4000:
/// a false alarm of the 160 comparisons in 10 000 seeds.
#[test]
fn draws_of_the_weights_have_the_distribution_of_the_outputs() {
    for target in ["y", "c"] {
        let posterior = network(3, &[target]);
        let mode = mode(&posterior);
        let linearised = Linearised::at_mode(&posterior, &mode).unwrap();
        let rows = posterior.training_rows();
        let (means, scaled) = linear_parts(&posterior, &mode.weights, &mode.precision, rows);
        let variances = (0..40).map(|row| dot(scaled.column(row), scaled.column(row)));
        let normal = NormalAtMode::new(&mode);
        let mut stream = Seed(3).stream(Purpose::Data, [1, 0]);
        let mut state = mode.state.clone();
        let mut draw = vec![0.0; posterior.layout().len()];
        let mut log_likelihood = vec![0.0; 40];
        let width = linearised.family().width();
        let (mut parameters, mut own) = (vec![0.0; 40 * width], vec![0.0; 40]);
        let mut sums = vec![[0.0; 2]; 40];
        let fitted = posterior.layout().range_of(Role::Fitted);
        let (mut evaluator, mut raw) = (linearised.evaluator(), posterior.evaluator());
        let mut predictor = linearised.predictor();
        let draws = 4000;
        for index in 0..draws {
            normal.draw(&mut state, &mut stream);
            let terms = evaluator.evaluate(&state, &mut draw, &mut log_likelihood).unwrap();
            predictor.at_training_rows(&draw, &mut parameters);
            for (row, sums) in sums.iter_mut().enumerate() {
                let at = parameters[row * width];
                let (f, shown) = match posterior.target_scaling().first() {
                    Some(scaling) => ((at - scaling.centre) / scaling.scale, at),
                    None => (at, logistic(at)),
                };
                let off = f - means[row];
                sums[0] += off;
                sums[1] += off * off;
                let kept = draw[fitted.clone()][row];
                assert!((kept - shown).abs() < 1e-9 * shown.abs().max(1.0), "{kept} {shown}");
            }
            if index == 0 {
                let of_network = raw.evaluate(&state, &mut draw, &mut own).unwrap();
                assert_eq!(terms, of_network, "the density is that of the network");
                assert_ne!(own, log_likelihood, "and rows are those of the linear outputs");
            }
        }
        let count = f64::from(draws);
        for ([sum, squares], variance) in sums.into_iter().zip(variances) {
            assert!((sum / count).abs() < 5.0 * (variance / count).sqrt(), "{sum} {variance}");
            let ratio = squares / count / variance;
            assert!((ratio - 1.0).abs() < 5.0 * (2.0 / count).sqrt(), "{ratio}");
        }
    }
}

#[test]
fn classes_are_left_out_nearly_as_by_fits_without_the_row() {
    let posterior = network(0, &["c"]);
    let mode = mode(&posterior);
    let linearised = Linearised::at_mode(&posterior, &mode).unwrap();
    let left_out = linearised.leave_one_out().unwrap();
    let known = linearised.at_training_rows();
    let sum = |log_odds: &[f64]| -> f64 {
        let rows = log_odds.iter().zip(posterior.targets());
        rows.map(|(a, y)| logistic(if *y > 0.5 { *a } else { -a }).ln()).sum()
    };
    // A row that is left out is predicted worse, by about one unit per weight in all.
    let gap = sum(&known) - sum(&left_out);
    assert!(gap > 0.5 && gap < 4.5, "{gap}");
    let rows = left_out.iter().zip(&known).zip(posterior.targets());
    for ((out, known), y) in rows {
        assert!(if *y > 0.5 { out <= known } else { out >= known }, "{out} {known} {y}");
    }
}

/// Of several classes likewise: predictions are probabilities, and worse without the row.
#[test]
fn several_classes_are_moderated_and_left_out() {
    let posterior = network(0, &["d"]);
    let mode = mode(&posterior);
    let linearised = Linearised::at_mode(&posterior, &mode).unwrap();
    let [left_out, known] = [linearised.leave_one_out().unwrap(), linearised.at_training_rows()];
    let codes = posterior.targets();
    let observed = |logs: &[f64], row: usize| logs[row * 3 + codes[row] as usize];
    let mut gap = 0.0;
    for row in 0..40 {
        let total: f64 = known[row * 3..][..3].iter().map(|log| log.exp()).sum();
        assert!((total - 1.0).abs() < 1e-12, "{total}");
        gap += observed(&known, row) - observed(&left_out, row);
        assert!(observed(&left_out, row) < observed(&known, row) + 2e-3, "{row}");
    }
    // About one unit per effective weight, of nine.
    assert!(gap > 0.5 && gap < 9.0, "{gap}");
    // Nearer to equal shares than the softmax at the mode.
    let mut at_mode = vec![0.0; 120];
    let mut jacobian = Matrix::zeros(120, mode.weights.len());
    posterior.linearize(&mode.weights, posterior.training_rows(), &mut at_mode, &mut jacobian);
    let mut softer = 0;
    for row in 0..40 {
        let outputs: Vec<f64> = (0..3).map(|c| at_mode[c * 40 + row]).collect();
        let largest = outputs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let plain = largest - log_sum_exp(&outputs);
        let moderated = known[row * 3..][..3].iter().copied().fold(f64::NEG_INFINITY, f64::max);
        softer += usize::from(moderated < plain + 1e-3);
    }
    assert!(softer >= 38, "{softer}");
}
