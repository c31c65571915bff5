//! The way to the user's scale and the completeness of specifications.

use super::*;
use crate::density::special::{LOG_SQRT_2PI, log1p_exp};
use crate::model::Posterior;

const X_SCALE: [Standardization; 2] =
    [Standardization { centre: 12.0, scale: 4.0 }, Standardization { centre: -3.0, scale: 0.01 }];
const Y_SCALE: Standardization = Standardization { centre: 250.0, scale: 30.0 };

/// Rows on the user's scale, and the dataset as a model sees them.
fn standardized(classified: bool) -> (Matrix, Vec<f64>, Dataset) {
    let mut noise = stream(40);
    let x = Matrix::from_fn(15, 2, |_, k| X_SCALE[k].invert(noise.normal()));
    let y: Vec<f64> = (0..15).map(|i| 200.0 + 4.0 * x[(i, 0)] + 9.0 * noise.normal()).collect();
    let inner = Matrix::from_fn(15, 2, |i, k| X_SCALE[k].apply(x[(i, k)]));
    let mut data = if classified {
        classes(inner, y.iter().map(|&y| usize::from(y > 250.0)).collect())
    } else {
        let mut data = real(inner, y.iter().map(|&y| Y_SCALE.apply(y)).collect());
        data.target_scaling = vec![Y_SCALE];
        data
    };
    data.input_scaling = X_SCALE.to_vec();
    (x, y, data)
}

/// Draws and log likelihoods of a short chain.
fn short_chain(posterior: &LinearPosterior) -> Vec<(Vec<f64>, Vec<f64>)> {
    let mut noise = stream(43);
    let mut state = posterior.start(&mut noise);
    let (mut sweep, mut evaluator) = (posterior.sweep(1.0), posterior.evaluator());
    let next = |_| {
        sweep.pass(&mut state, &mut noise);
        let mut draw = vec![f64::NAN; posterior.layout().len()];
        let mut rows = vec![f64::NAN; posterior.rows()];
        let terms = evaluator.evaluate(&state, &mut draw, &mut rows).unwrap();
        assert!((terms.log_likelihood - rows.iter().sum::<f64>()).abs() < 1e-9);
        (draw, rows)
    };
    (0..50).map(next).collect()
}

#[test]
fn a_draw_alone_gives_the_log_likelihood_in_the_users_unit() {
    for (text, names) in [
        ("", "intercept weights[x0] weights[x1] weight_scale residual_scale"),
        (
            "[prior.weights]\nsharing = 'per-input'\n[prior.intercept]\ndof = 4.0",
            "intercept weights[x0] weights[x1] relevance[x0] relevance[x1] intercept_scale \
             residual_scale",
        ),
        // No intercept on the standardised scale is the mean target on the user's.
        (
            "[model]\nintercept = false\n[prior.weights]\nfixed = 2.0",
            "intercept weights[x0] weights[x1] residual_scale",
        ),
        (
            "[prior.weights]\nfamily = 'conjugate'\nrho = 1.0",
            "intercept weights[x0] weights[x1] residual_scale",
        ),
    ] {
        let (x, y, data) = standardized(false);
        let posterior = conditioned(text, &data);
        assert_eq!(posterior.layout().component_names().join(" "), names);
        for (draw, rows) in short_chain(&posterior) {
            let scale = draw[draw.len() - 1];
            for row in 0..15 {
                let output = draw[0] + draw[1] * x[(row, 0)] + draw[2] * x[(row, 1)];
                let z = (y[row] - output) / scale;
                let expected = -0.5 * z * z - scale.ln() - LOG_SQRT_2PI;
                let error = (rows[row] - expected).abs();
                assert!(error < 1e-8 * expected.abs().max(1.0), "{text}: {error}");
            }
        }
    }
}

#[test]
fn log_odds_are_those_of_the_users_inputs() {
    let (x, y, data) = standardized(true);
    let posterior = conditioned("", &data);
    let names = "intercept weights[x0] weights[x1] weight_scale";
    assert_eq!(posterior.layout().component_names().join(" "), names);
    for (draw, rows) in short_chain(&posterior) {
        for row in 0..15 {
            let output = draw[0] + draw[1] * x[(row, 0)] + draw[2] * x[(row, 1)];
            let expected = -log1p_exp(if y[row] > 250.0 { -output } else { output });
            assert!((rows[row] - expected).abs() < 1e-9);
        }
    }
}

#[test]
fn equivalent_priors_give_the_same_draws_with_and_without_standardisation() {
    // Only scales here: a centre would put the intercept's prior somewhere else.
    let (sx, sy) = (Standardization { centre: 0.0, scale: 4.0 }, 30.0);
    let mut noise = stream(41);
    let x = random_matrix(12, 1, &mut noise);
    let y: Vec<f64> = (0..12).map(|i| 2.0 * x[(i, 0)] + noise.normal()).collect();
    let mut standard = real(x.clone(), y.clone());
    standard.input_scaling = vec![sx];
    standard.target_scaling = vec![Standardization { centre: 0.0, scale: sy }];
    let raw_x = Matrix::from_fn(12, 1, |i, _| sx.invert(x[(i, 0)]));
    let raw = real(raw_x, y.iter().map(|y| sy * y).collect());
    let text = |weight: f64, intercept: f64, residual: f64| {
        format!(
            "[prior.weights]\nscale = {weight:e}\ndof = 3.0\n[prior.intercept]\nfixed = {intercept:e}\n\
             [residual]\nscale = {residual:e}\nscale_dof = 4.0"
        )
    };
    let standard = conditioned(&text(1.5, 2.0, 0.5), &standard);
    let raw = conditioned(&text(1.5 * sy / sx.scale, 2.0 * sy, 0.5 * sy), &raw);
    let log_factor = (sy / sx.scale).ln();
    let (mut a, mut b) = (stream(42), stream(42));
    let mut inner = standard.start(&mut a);
    raw.start(&mut b);
    let mut outer =
        vec![inner[0] * sy, inner[1] * sy / sx.scale, inner[2] + log_factor, inner[3] + sy.ln()];
    let (mut inner_sweep, mut outer_sweep) = (standard.sweep(1.0), raw.sweep(1.0));
    let mut draws = [[0.0; 4]; 2];
    let mut rows = [[0.0; 12]; 2];
    for _ in 0..200 {
        inner_sweep.pass(&mut inner, &mut a);
        outer_sweep.pass(&mut outer, &mut b);
        standard.evaluator().evaluate(&inner, &mut draws[0], &mut rows[0]).unwrap();
        raw.evaluator().evaluate(&outer, &mut draws[1], &mut rows[1]).unwrap();
        for component in [0, 1, 3] {
            let difference = draws[0][component] - draws[1][component];
            assert!(difference.abs() < 1e-9 * draws[1][component].abs().max(1.0));
        }
        for (a, b) in rows[0].iter().zip(&rows[1]) {
            assert!((a - b).abs() < 1e-9 * a.abs().max(1.0));
        }
    }
}

#[test]
fn the_exact_evidence_and_predictive_are_in_the_users_unit() {
    let (x, y, data) = standardized(false);
    let text = "[prior.weights]\nfamily = 'conjugate'\nrho = 0.2\n\
                [residual]\nprecision = { shape = 2.0, scale = 1.0 }";
    // Chain rule over the rows, each predicted on the user's scale.
    let mut sum = 0.0;
    for row in 0..15 {
        let mut before = data.clone();
        before.inputs = Matrix::from_fn(row.max(1), 2, |i, k| data.inputs[(i, k)]);
        let Targets::Real { names, values } = &data.targets else { panic!("real targets") };
        let values = Matrix::from_fn(row.max(1), 1, |i, _| values[(i, 0)]);
        before.targets = Targets::Real { names: names.clone(), values };
        let posterior = conditioned(text, &before);
        let predictive = posterior.predictive(&[x[(row, 0)], x[(row, 1)]]).unwrap();
        if row == 0 {
            // Nothing comes before the first row; its density is the evidence of one row.
            sum += posterior.log_evidence().unwrap();
        } else {
            sum += predictive.log_density(y[row]);
        }
    }
    let evidence = conditioned(text, &data).log_evidence().unwrap();
    assert!((evidence - sum).abs() < 1e-9, "{evidence} {sum}");
    let relevances = conditioned("[prior.weights]\nsharing = 'per-input'", &data);
    assert_eq!(relevances.log_evidence(), None);
    // By quadrature, in the user's unit too: standardised or not makes the Jacobian's difference.
    let mut raw = data.clone();
    raw.target_scaling = vec![Standardization::IDENTITY];
    let [here, there] = [&data, &raw].map(|data| conditioned("", data).log_evidence().unwrap());
    assert!((there - here - 15.0 * Y_SCALE.scale.ln()).abs() < 1e-9);
}

#[test]
fn a_completed_specification_is_the_same_model() {
    for (text, task) in [
        ("", Task::Regression),
        ("", Task::Binary),
        ("[prior.weights]\nsharing = 'per-input'\ndof = 3.0", Task::Binary),
        ("[prior.weights]\nfixed = 2.5\n[prior.intercept]\nscale = 2.0", Task::Regression),
        ("[prior.weights]\nfamily = 'conjugate'\nrho = 0.1", Task::Regression),
        ("[model]\nintercept = false\n[residual]\nscale = 1.0", Task::Regression),
        ("", Task::Multiclass),
        ("[residual]\nfamily = 'student-t'", Task::Regression),
        ("[residual]\nfamily = 'per-case'\nby = ['g']", Task::Regression),
        ("[residual]\nslopes = ['x']\nby = ['g']", Task::Regression),
        ("[model]\nbasis = { kind = 'fourier', period = 7.0, terms = 2 }", Task::Binary),
    ] {
        let mut spec = Spec::from_toml(text).unwrap();
        let before = Linear::new(&spec).unwrap().for_task(task).unwrap();
        spec.complete(task).unwrap();
        let after = Linear { spec: before.spec.clone(), ..Linear::new(&spec).unwrap() };
        assert_eq!(before, after, "{text}");
    }
    for text in ["[residual]\nscale = 1.0", "[prior.weights]\nfamily = 'conjugate'\nrho = 1.0"] {
        let error = Spec::from_toml(text).unwrap().complete(Task::Binary).unwrap_err();
        assert!(error.to_string().contains("binary"), "{error}");
    }
    let mut spec = Spec::from_toml("[model]\ntask = 'binary'").unwrap();
    assert!(spec.complete(Task::Regression).is_err());
}
