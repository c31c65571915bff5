//! Check predictions against the line itself and the exact predictive distribution.

use posteria_linalg::Matrix;

use super::super::LinearPosterior;
use super::{FAR, conditioned, random_matrix, stream, z_score};
use crate::data::{Dataset, Roles, Table, TextFormat};
use crate::density::special::logistic;
use crate::draws::Draws;
use crate::model::Posterior;
use crate::predict::{Family, PredictiveTable};

const CONJUGATE: &str =
    "[model]\nkind = 'linear'\n[prior.weights]\nfamily = 'conjugate'\nrho = 0.1";

/// Two inputs far from 0 on different scales, standardised by their table.
fn table(binary: bool) -> Dataset {
    let mut stream = stream(40);
    let mut text = "a,b,y\n".to_string();
    for _ in 0..15 {
        let (a, b) = (100.0 + 3.0 * stream.normal(), -2.0 + 0.01 * stream.normal());
        let y = 7.0 + 0.5 * (a - 100.0) + 80.0 * (b + 2.0) + stream.normal();
        let y = if binary { (if y > 7.0 { "yes" } else { "no" }).into() } else { y.to_string() };
        text.push_str(&format!("{a},{b},{y}\n"));
    }
    let table = Table::from_text("d", text.as_bytes(), &TextFormat::default()).unwrap();
    let roles = Roles { targets: vec!["y".into()], ..Roles::default() };
    Dataset::new(&table, &roles).unwrap().0
}

/// One chain after a short warm-up.
fn sampled(posterior: &LinearPosterior, count: usize) -> Draws {
    let mut stream = stream(42);
    let mut state = posterior.start(&mut stream);
    let (mut sweep, mut evaluator) = (posterior.sweep(1.0), posterior.evaluator());
    let mut draws = Draws::empty(posterior.layout().clone(), 1, posterior.rows());
    let mut draw = vec![0.0; posterior.layout().len()];
    let mut log_likelihood = vec![0.0; posterior.rows()];
    for number in 0..count + 20 {
        sweep.pass(&mut state, &mut stream);
        evaluator.evaluate(&state, &mut draw, &mut log_likelihood).unwrap();
        if number >= 20 {
            draws.values.extend_from_slice(&draw);
            draws.log_likelihood.extend_from_slice(&log_likelihood);
            draws.draws += 1;
        }
    }
    draws
}

#[test]
fn outputs_are_on_the_users_scale_and_so_is_the_noise() {
    for binary in [false, true] {
        let data = table(binary);
        let posterior = conditioned("[model]\nkind = 'linear'", &data);
        let draws = sampled(&posterior, 5);
        let mut predictor = posterior.predictor().unwrap();
        let inputs = random_matrix(4, 2, &mut stream(41));
        let (mut functions, mut parameters) = (vec![0.0; 4], vec![0.0; if binary { 4 } else { 8 }]);
        for number in 0..5 {
            let draw = draws.draw(0, number);
            predictor.functions(draw, &inputs, &mut functions);
            predictor.at(draw, &inputs, &mut parameters);
            for row in 0..4 {
                let user = [0, 1].map(|k| data.input_scaling[k].invert(inputs[(row, k)]));
                let line = draw[0] + draw[1] * user[0] + draw[2] * user[1];
                assert!((functions[row] - line).abs() < 1e-9 * line.abs().max(1.0));
                if binary {
                    assert_eq!(parameters[row].to_bits(), functions[row].to_bits());
                } else {
                    assert_eq!(parameters[2 * row].to_bits(), functions[row].to_bits());
                    let scale = posterior.layout().variable("residual_scale").unwrap().offset;
                    assert_eq!(parameters[2 * row + 1].to_bits(), draw[scale].to_bits());
                }
            }
        }
        let width = predictor.family().width();
        let mut of_training_rows = [0, 1].map(|_| vec![f64::NAN; 15 * width]);
        predictor.at(draws.draw(0, 2), &data.inputs, &mut of_training_rows[0]);
        predictor.leave_one_out(draws.draw(0, 2), &mut of_training_rows[1]);
        assert_eq!(of_training_rows[0], of_training_rows[1]);
        let table = PredictiveTable::new(&mut *predictor, &draws, 0..5, &inputs);
        if binary {
            assert_eq!(table.family(), Family::Bernoulli);
            let mean = table.parameters(1).iter().map(|f| logistic(*f)).sum::<f64>() / 5.0;
            let found = table.predictive(1).log_probability(1).exp();
            assert!((found - mean).abs() < 1e-14);
        }
    }
}

#[test]
fn the_log_likelihood_of_the_run_is_the_log_density_of_the_prediction() {
    for binary in [false, true] {
        let data = table(binary);
        let posterior = conditioned("[model]\nkind = 'linear'", &data);
        let draws = sampled(&posterior, 3);
        let mut predictor = posterior.predictor().unwrap();
        for number in 0..3 {
            let one =
                PredictiveTable::new(&mut *predictor, &draws, number..number + 1, &data.inputs);
            for row in 0..data.rows() {
                let observed = match &data.targets {
                    crate::data::Targets::Real { values, .. } => {
                        data.target_scaling[0].invert(values[(row, 0)])
                    }
                    crate::data::Targets::Classes { codes, .. } => codes[row] as f64,
                    crate::data::Targets::Counts { values, .. } => values[row],
                    crate::data::Targets::Durations { times, .. } => times[row],
                };
                let expected = draws.log_likelihood[number * data.rows() + row];
                let found = one.predictive(row).log_density(&[observed]);
                assert!((found - expected).abs() < 1e-8 * expected.abs().max(1.0), "{row}");
            }
        }
    }
}

#[test]
fn the_mixture_is_the_exact_predictive_distribution() {
    let data = table(false);
    let posterior = conditioned(CONJUGATE, &data);
    // Independent draws from the exact posterior.
    let draws = sampled(&posterior, 20_000);
    let mut predictor = posterior.predictor().unwrap();
    let new = Matrix::from_fn(2, 2, |row, k| [[0.3, -0.5], [4.0, 3.0]][row][k]);
    let table = PredictiveTable::new(&mut *predictor, &draws, 0..20_000, &new);
    for row in 0..2 {
        let user: Vec<f64> = (0..2).map(|k| data.input_scaling[k].invert(new[(row, k)])).collect();
        let exact = posterior.predictive(&user).unwrap();
        let student_t =
            crate::density::StudentT::new(exact.location, exact.scale, exact.dof).unwrap();
        let predictive = table.predictive(row);
        let each = |quantity: &dyn Fn(f64, f64) -> f64| -> Vec<f64> {
            let parameters = table.parameters(row).chunks_exact(2);
            parameters.map(|p| quantity(p[0], p[1])).collect()
        };
        let normal = |m: f64, s: f64| crate::density::Normal::new(m, s).unwrap();
        for p in [0.01, 0.25, 0.5, 0.95] {
            let y = student_t.quantile(p);
            // Means over independent draws, as the mixture computes them: |z| < 4.5 by chance
            // once in 15 000.
            let z = z_score(&each(&|m, s| normal(m, s).cdf(y)), p, 0.0);
            assert!(z.abs() < FAR, "distribution function at {p}: {z}");
            let density = student_t.log_density(y).exp();
            let z = z_score(&each(&|m, s| normal(m, s).log_density(y).exp()), density, 0.0);
            assert!(z.abs() < FAR, "density at {p}: {z}");
            // And the mixture is that mean; 20 000 draws leave 1 % of these.
            assert!((predictive.cdf(0, y) - p).abs() < 0.01);
            assert!((predictive.log_density(&[y]) - density.ln()).abs() < 0.05);
            assert!((predictive.quantile(0, p) - y).abs() < 0.05 * exact.scale);
        }
        let z = z_score(&each(&|m, _| m), exact.location, 0.0);
        assert!(z.abs() < FAR, "mean: {z}");
        let sd = exact.scale * (exact.dof / (exact.dof - 2.0)).sqrt();
        assert!((predictive.sd(0).unwrap() / sd - 1.0).abs() < 0.03);
    }
}
