//! Functions of the inputs: exact values, the user's scale, names, predictions.

use super::super::ClosedForm;
use super::*;
use crate::data::{Roles, TextFormat};
use crate::density::InverseGamma;
use crate::model::ModelError;
use crate::model::Posterior;

const GAUSSIAN: &str =
    "[model]\nbasis = { kind = 'gaussian', centres = [0.0, 0.5, 1.0], width = 0.15 }\n";

fn table(standardize: bool) -> Dataset {
    let mut noise = stream(140);
    let mut text = "x,colour,y\n".to_string();
    for row in 0..20 {
        let x = 100.0 + 0.05 * f64::from(row);
        let y = 3.0 + (6.0 * (x - 100.0)).sin() + 0.1 * noise.normal();
        text.push_str(&format!("{x},{},{y}\n", if row % 3 == 0 { "red" } else { "blue" }));
    }
    let table = crate::data::Table::from_text("d", text.as_bytes(), &TextFormat::default());
    let roles = Roles { targets: vec!["y".into()], standardize, ..Roles::default() };
    Dataset::new(&table.unwrap(), &roles).unwrap().0
}

#[test]
fn without_standardisation_columns_are_the_functions_themselves() {
    let x = Matrix::from_fn(4, 2, |i, k| [0.1, 0.4, 0.7, 1.3][i] + k as f64);
    let y = vec![0.2, 1.0, -0.4, 0.3];
    let text = format!(
        "{GAUSSIAN}[prior.weights]\nfamily = 'conjugate'\nrho = 0.1\n\
         [residual]\nprecision = {{ shape = 2.0, scale = 5.0 }}"
    );
    let posterior = conditioned(&text, &real(x.clone(), y.clone()));
    let names = posterior.layout().component_names().join(" ");
    assert!(names.starts_with("intercept weights[gaussian(x0 at 0)] weights[gaussian(x0 at 0.5)]"));
    let function = |x: f64, centre: f64| (-(x - centre) * (x - centre) / (2.0 * 0.15 * 0.15)).exp();
    let row = |x: &[f64]| -> Vec<f64> {
        let functions = x.iter().flat_map(|x| [0.0, 0.5, 1.0].map(|centre| function(*x, centre)));
        std::iter::once(1.0).chain(functions).collect()
    };
    let rows: Vec<Vec<f64>> = (0..4).map(|i| row(&[x[(i, 0)], x[(i, 1)]])).collect();
    let design = Matrix::from_fn(4, 7, |i, k| rows[i][k]);
    let residual = InverseGamma::from_shape_rate(2.0, 0.2).unwrap();
    let exact = ClosedForm::new(&design, &y, 0.1, residual, 1.0).unwrap();
    assert!((posterior.log_evidence().unwrap() - exact.log_evidence()).abs() < 1e-12);
    let new = [0.33, 0.9];
    let (found, expected) = (posterior.predictive(&new).unwrap(), exact.predictive(&row(&new)));
    assert!((found.location - expected.location).abs() < 1e-12);
    assert!((found.scale - expected.scale).abs() < 1e-12);
}

#[test]
fn draws_and_predictions_are_those_of_functions_on_the_users_scale() {
    type Functions = fn(f64, f64) -> Vec<f64>;
    let polynomial: Functions = |x, mean| vec![x, (x - mean).powi(2), (x - mean).powi(3)];
    let gaussian: Functions = |x, _| {
        [100.0, 100.5].map(|centre| (-0.5 * ((x - centre) / 0.3_f64).powi(2)).exp()).to_vec()
    };
    let fourier: Functions = |x, _| {
        let angle = 2.0 * std::f64::consts::PI * x / 0.7;
        vec![angle.sin(), angle.cos(), (2.0 * angle).sin(), (2.0 * angle).cos()]
    };
    for (basis, functions, names) in [
        (
            "{ kind = 'polynomial', degree = 3 }",
            polynomial,
            ["weights[x] weights[(x-mean)^2] weights[(x-mean)^3]", "weights[x] weights[x^2]"],
        ),
        (
            "{ kind = 'gaussian', centres = [100.0, 100.5], width = 0.3 }",
            gaussian,
            ["weights[gaussian(x at 100)] weights[gaussian(x at 100.5)]"; 2],
        ),
        (
            "{ kind = 'fourier', period = 0.7, terms = 2 }",
            fourier,
            ["weights[sin1(x)] weights[cos1(x)] weights[sin2(x)] weights[cos2(x)]"; 2],
        ),
    ] {
        for standardize in [true, false] {
            let data = table(standardize);
            let text = format!("[model]\nbasis = {basis}\n[prior.weights]\nsharing = 'per-input'");
            let posterior = conditioned(&text, &data);
            let all = posterior.layout().component_names().join(" ");
            assert!(all.contains(names[usize::from(!standardize)]), "{all}");
            // Indicators are left alone, and an input has one relevance whatever became of it.
            assert!(
                all.contains("weights[colour[red]] relevance[x] relevance[colour[red]]"),
                "{all}"
            );
            let centre = data.input_scaling[0].centre;
            let mut noise = stream(141);
            let mut state = posterior.start(&mut noise);
            let mut sweep = posterior.sweep(1.0);
            let mut evaluator = posterior.evaluator();
            let mut predictor = posterior.predictor().unwrap();
            let (mut draw, mut rows) = (vec![0.0; posterior.layout().len()], vec![0.0; 20]);
            let (mut outputs, mut parameters) = (vec![0.0; 20], vec![0.0; 40]);
            for _ in 0..30 {
                sweep.pass(&mut state, &mut noise);
                evaluator.evaluate(&state, &mut draw, &mut rows).unwrap();
                predictor.functions(&draw, &data.inputs, &mut outputs);
                predictor.at_training_rows(&draw, &mut parameters);
                for row in 0..20 {
                    let x = data.input_scaling[0].invert(data.inputs[(row, 0)]);
                    let red = data.input_scaling[1].invert(data.inputs[(row, 1)]);
                    let phi = functions(x, centre);
                    let size = phi.iter().zip(&draw[1..]).map(|(p, w)| (p * w).abs()).sum::<f64>();
                    let f = draw[0]
                        + phi.iter().zip(&draw[1..]).map(|(p, w)| p * w).sum::<f64>()
                        + draw[1 + phi.len()] * red;
                    let tolerance = 1e-9 * (1.0 + size + draw[0].abs());
                    assert!((outputs[row] - f).abs() < tolerance, "{basis}");
                    assert!((parameters[2 * row] - f).abs() < tolerance, "{basis}");
                }
            }
        }
    }
}

#[test]
fn functions_that_are_no_numbers_are_refused_and_flat_ones_are_not() {
    let x = Matrix::from_fn(3, 1, |i, _| 1e60 * (i as f64 - 1.0));
    let cubes = model("[model]\nbasis = { kind = 'polynomial', degree = 6 }");
    let error = cubes.condition(&real(x, vec![0.0; 3]), nuts()).err().unwrap();
    assert_eq!(error, ModelError::NotFinite { column: "x0^6".into(), row: 0 });
    // A bump far from all rows is 0 everywhere: a column that says nothing, and a proper posterior.
    let mut noise = stream(142);
    for standardize in [true, false] {
        let data = table(standardize);
        let text = "[model]\nbasis = { kind = 'gaussian', centres = [-1e6, 100.5], width = 0.1 }";
        let posterior = conditioned(text, &data);
        let mut state = posterior.start(&mut noise);
        let mut sweep = posterior.sweep(1.0);
        let (mut draw, mut rows) = (vec![0.0; posterior.layout().len()], vec![0.0; 20]);
        for _ in 0..50 {
            let steps = sweep.pass(&mut state, &mut noise);
            assert!(steps.iter().all(|step| step.infeasible.is_none()));
            posterior.evaluator().evaluate(&state, &mut draw, &mut rows).unwrap();
        }
    }
}
