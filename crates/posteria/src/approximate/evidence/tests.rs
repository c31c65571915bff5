//! Check the evidence framework where the answer is known, and by what it must satisfy.

use posteria_linalg::SymmetricEigen;

use super::*;
use crate::approximate::{Approximation, Linearised, NormalAtMode, average_probability};
use crate::data::{Column, Dataset, Roles, Table};
use crate::density::special::logistic;
use crate::model::linear::{Linear, LinearPosterior};
use crate::model::mlp::{Mlp, MlpPosterior};
use crate::model::spec::Spec;
use crate::random::Stream;
use crate::sample::hmc::{Nuts, NutsOptions};

const ROWS: usize = 40;

fn stream(index: u64) -> Stream {
    Seed(8).stream(Purpose::Data, [index, 0])
}

/// y depends on a and b; c is noise. `class` says whether y is above its middle, `third` whether it
/// is low, middling or high.
fn data(text: &str) -> (Spec, Dataset) {
    let mut stream = stream(0);
    let mut draw = || -> Vec<f64> { (0..ROWS).map(|_| stream.normal()).collect() };
    let (a, b, c, noise) = (draw(), draw(), draw(), draw());
    let y: Vec<f64> =
        (0..ROWS).map(|i| 5.0 + 3.0 * (1.2 * a[i]).sin() - 2.0 * b[i] + 0.5 * noise[i]).collect();
    let class: Vec<String> = y
        .iter()
        .zip(&noise)
        .map(|(y, e)| if y + 3.0 * e > 5.0 { "p" } else { "n" }.into())
        .collect();
    let third = y.iter().zip(&noise).map(|(y, e)| match y + 3.0 * e {
        high if high > 7.0 => "h",
        middling if middling > 3.0 => "m",
        _ => "l",
    });
    let third = Column::from_texts(third).unwrap();
    let columns = vec![
        ("a".into(), Column::numbers(a)),
        ("b".into(), Column::numbers(b)),
        ("c".into(), Column::numbers(c)),
        ("y".into(), Column::numbers(y)),
        ("third".into(), third),
        ("class".into(), Column::from_texts(class.iter().map(String::as_str)).unwrap()),
    ];
    let table = Table::new("memory", columns).unwrap();
    let spec = Spec::from_toml(text).unwrap();
    let inputs = Some(["a", "b", "c"].map(String::from).to_vec());
    let roles = Roles { targets: spec.data.target.clone(), inputs, ..Roles::default() };
    let (data, _) = Dataset::new(&table, &roles).unwrap();
    (spec, data)
}

fn linear(text: &str) -> LinearPosterior {
    let (spec, data) = data(text);
    let kernel = |dim| -> Box<dyn crate::sample::Kernel> {
        Box::new(Nuts::new(dim, NutsOptions::default()))
    };
    Linear::new(&spec).unwrap().condition(&data, std::sync::Arc::new(kernel)).unwrap()
}

fn network(text: &str) -> MlpPosterior {
    let (spec, data) = data(text);
    Mlp::new(&spec).unwrap().condition(&data, None).unwrap()
}

const REAL: &str = "[data]\ntarget = 'y'\n";
const THREE: &str = "[data]\ntarget = 'third'\n";
const CLASS: &str = "[data]\ntarget = 'class'\n";
const NETWORK: &str = "[data]\ntarget = 'y'\n[model]\nkind = 'mlp'\nhidden = 3\n";

#[test]
fn the_evidence_of_a_regression_is_exact() {
    let posterior = linear(REAL);
    let model = posterior.regularised().unwrap();
    let found = Evidence::best(&model, Estimation::Evidence, 1, Seed(1)).unwrap();
    assert!(found.converged);
    // y ~ N(0, I/β + X diag(1/α) Xᵀ).
    let mut x = Matrix::zeros(ROWS, 4);
    model.outputs().jacobian(&found.weights, &mut x);
    let alpha = |k: usize| {
        let holds = |(d, a): (crate::model::Decay, &f64)| d.members.contains(&k).then_some(*a);
        model.decays().into_iter().zip(&found.scales.alphas).find_map(holds).unwrap()
    };
    let beta = found.scales.betas[0];
    let covariance = Matrix::from_fn(ROWS, ROWS, |i, j| {
        let shared: f64 = (0..4).map(|k| x[(i, k)] * x[(j, k)] / alpha(k)).sum();
        shared + if i == j { 1.0 / beta } else { 0.0 }
    });
    let factor = Cholesky::new(&covariance).unwrap();
    let crate::model::Response::Real { targets, .. } = model.response() else { panic!("real") };
    let mut whitened = targets.to_vec();
    factor.solve_lower(&mut whitened);
    let squares: f64 = whitened.iter().map(|z| z * z).sum();
    let exact = -0.5 * (squares + factor.log_determinant())
        - 0.5 * ROWS as f64 * std::f64::consts::TAU.ln()
        + model.log_unit();
    assert!((found.log_evidence - exact).abs() < 1e-8, "{} {exact}", found.log_evidence);

    // γ = Σ λ/(λ + α) for the weights, which share one α beside the intercept's.
    let gram = Matrix::from_fn(3, 3, |i, j| {
        beta * (0..ROWS).map(|row| x[(row, i + 1)] * x[(row, j + 1)]).sum::<f64>()
    });
    let weights = found.weight_groups.iter().find(|group| group.name == "weights").unwrap();
    let eigen = SymmetricEigen::new(&gram).unwrap();
    let gamma: f64 = eigen.values().iter().map(|l| l / (l + weights.precision)).sum();
    assert!((weights.effective_parameters - gamma).abs() < 1e-6, "{gamma}");

    // The fixed points, and that the evidence is greatest there.
    let size: f64 = found.weights[1..].iter().map(|w| w * w).sum();
    assert!((weights.precision * size / gamma - 1.0).abs() < 1e-3);
    let halves: f64 =
        Penalised::new(&model, found.scales.clone()).half_residuals(&found.weights)[0];
    let noise = (ROWS as f64 - found.effective_parameters) / (2.0 * halves);
    assert!((beta / noise - 1.0).abs() < 1e-3, "{beta} {noise}");
    let grid = [-0.4, -0.2, 0.0, 0.2, 0.4];
    let curve = evidence_curve(&model, &found, &grid).unwrap();
    let heights: Vec<f64> = curve.iter().map(|point| point.log_evidence).collect();
    assert!(heights.iter().all(|height| *height <= heights[2]), "{heights:?}");
    let gap = |at: usize| curve[at].effective_parameters - curve[at].twice_alpha_e_w;
    assert!(gap(0) > 0.0 && gap(2).abs() < 1e-3 && gap(4) < 0.0, "γ crosses 2αE_W there");
}

#[test]
fn scales_that_are_fixed_stay() {
    let posterior = linear(&format!("{REAL}[prior.weights]\nfixed = 0.7\n"));
    let model = posterior.regularised().unwrap();
    let found = Evidence::best(&model, Estimation::Evidence, 1, Seed(1)).unwrap();
    for group in &found.weight_groups {
        let expected: f64 = if group.name == "weights" { 0.7 } else { 1.5 };
        assert!((group.scale - expected).abs() < 1e-12 && group.fixed, "{group:?}");
    }
    assert!(!found.residual_groups[0].fixed);
}

#[test]
fn an_input_that_says_nothing_is_switched_off() {
    let posterior = linear(&format!("{REAL}[prior.weights]\nsharing = 'per-input'\n"));
    let model = posterior.regularised().unwrap();
    let found = Evidence::best(&model, Estimation::Evidence, 1, Seed(1)).unwrap();
    let scale =
        |name: &str| found.weight_groups.iter().find(|group| group.name == name).unwrap().scale;
    assert!(scale("weights[b]") > 0.2 && scale("weights[c]") < 0.1 * scale("weights[b]"));
}

#[test]
fn draws_have_the_error_bars_of_the_approximation() {
    let posterior = network(NETWORK);
    let model = posterior.regularised().unwrap();
    let found = Evidence::best(&model, Estimation::Evidence, 2, Seed(1)).unwrap();
    let normal = NormalAtMode::new(&found);
    let (mut state, mut stream) = (vec![0.0; found.state.len()], stream(3));
    let dim = found.weights.len();
    let mut squares = 0.0;
    let mut jacobian = Matrix::zeros(ROWS, dim);
    model.outputs().jacobian(&found.weights, &mut jacobian);
    let (row, count) = (7, 3000);
    for _ in 0..count {
        normal.draw(&mut state, &mut stream);
        assert_eq!(state[dim..], found.state[dim..], "scales stand still");
        let shift: f64 = (0..dim).map(|k| jacobian[(row, k)] * (state[k] - found.weights[k])).sum();
        squares += shift * shift;
    }
    let expected = found.output_variances(&model)[row];
    let ratio = squares / (f64::from(count) * expected);
    // χ² with 3000 degrees of freedom; 4.5 standard deviations, 1e-5.
    assert!((ratio - 1.0).abs() < 4.5 * (2.0 / f64::from(count)).sqrt(), "{ratio}");
    assert!(normal.log_density(&found.state) > normal.log_density(&state));
}

#[test]
fn derivatives_of_outputs_are_those_of_differences() {
    for (text, outputs) in [
        (NETWORK, 1),
        ("[data]\ntarget = 'class'\n[model]\nkind = 'mlp'\nhidden = 2\ndirect = true\n", 1),
    ] {
        let posterior = network(text);
        let model = posterior.regularised().unwrap();
        let mut source = model.outputs();
        let weights = model.start(&mut stream(1));
        let mut jacobian = Matrix::zeros(outputs * ROWS, weights.len());
        source.jacobian(&weights, &mut jacobian);
        for k in 0..weights.len() {
            let mut at = |step: f64| {
                let (mut moved, mut values) = (weights.clone(), vec![0.0; outputs * ROWS]);
                moved[k] += step;
                source.outputs(&moved, &mut values);
                values
            };
            let (above, below) = (at(1e-5), at(-1e-5));
            for row in 0..outputs * ROWS {
                let numeric = (above[row] - below[row]) / 2e-5;
                assert!((jacobian[(row, k)] - numeric).abs() < 1e-8, "{k} {row}");
            }
        }
    }
}

#[test]
fn a_network_finds_the_noise_and_its_best_start() {
    let posterior = network(NETWORK);
    let model = posterior.regularised().unwrap();
    let all: Vec<Evidence> = (0..4)
        .map(|start| Evidence::from_start(&model, Estimation::Evidence, start, Seed(1)).unwrap())
        .collect();
    let best = Evidence::best(&model, Estimation::Evidence, 4, Seed(1)).unwrap();
    let highest = all.iter().map(|e| e.log_evidence).fold(f64::NEG_INFINITY, f64::max);
    assert_eq!(best.log_evidence.to_bits(), highest.to_bits());
    // The noise has deviation 0.5 in the user's unit.
    let scale = best.residual_groups[0].scale * model.units()[0];
    assert!((0.3..0.8).contains(&scale), "{scale}");
    let dim = best.weights.len() as f64;
    assert!(best.effective_parameters > 3.0 && best.effective_parameters < dim);
    // 2³ 3!.
    assert!((best.log_symmetries - 48.0_f64.ln()).abs() < 1e-12);
}

#[test]
fn probabilities_of_classes_are_moderated() {
    let posterior = linear(&format!("{CLASS}[prior.weights]\nfixed = 2.0\n"));
    let model = posterior.regularised().unwrap();
    let found = Evidence::best(&model, Estimation::Evidence, 1, Seed(1)).unwrap();
    let variances = found.output_variances(&model);
    let mut outputs = vec![0.0; ROWS];
    model.outputs().outputs(&found.weights, &mut outputs);
    let normal = NormalAtMode::new(&found);
    let (mut state, mut stream) = (vec![0.0; found.state.len()], stream(5));
    let (row, count) = (3, 4000);
    let mut x = Matrix::zeros(ROWS, found.weights.len());
    model.outputs().jacobian(&found.weights, &mut x);
    let mut draws = Vec::new();
    for _ in 0..count {
        normal.draw(&mut state, &mut stream);
        let f: f64 = (0..x.columns()).map(|k| x[(row, k)] * state[k]).sum();
        draws.push(logistic(f));
    }
    let mean = draws.iter().sum::<f64>() / f64::from(count);
    let spread = draws.iter().map(|p| (p - mean).powi(2)).sum::<f64>() / f64::from(count);
    let exact = average_probability(outputs[row], variances[row]);
    // 4.5 standard errors, 1e-5.
    assert!((mean - exact).abs() < 4.5 * (spread / f64::from(count)).sqrt(), "{mean} {exact}");
}

/// Against the network without hidden units, which has its own likelihood and derivatives.
#[test]
fn several_classes_of_a_linear_model_are_those_of_a_network_without_hidden_units() {
    let posterior =
        linear(&format!("{THREE}[prior.weights]\nfixed = 0.7\n[prior.intercept]\nfixed = 1.5\n"));
    let model = posterior.regularised().unwrap();
    let found = Evidence::best(&model, Estimation::Evidence, 1, Seed(1)).unwrap();
    let network = network(&format!(
        "{THREE}[model]\nkind = 'mlp'\nhidden = 0\n[prior.direct_weights]\nfixed = 0.7\n\
         [prior.output_bias]\nfixed = 1.5\n"
    ));
    let other = Evidence::best(&network.regularised().unwrap(), Estimation::Evidence, 1, Seed(1));
    let other = other.unwrap();
    assert!(
        (found.log_evidence - other.log_evidence).abs() < 1e-7,
        "{} {}",
        found.log_evidence,
        other.log_evidence
    );
    assert!((found.criteria.nic_parameters - other.criteria.nic_parameters).abs() < 1e-6);
    assert!((found.effective_parameters - other.effective_parameters).abs() < 1e-6);
    let mut outputs = [vec![0.0; 3 * ROWS], vec![0.0; 3 * ROWS]];
    model.outputs().outputs(&found.weights, &mut outputs[0]);
    network.regularised().unwrap().outputs().outputs(&other.weights, &mut outputs[1]);
    for (own, other) in outputs[0].iter().zip(&outputs[1]) {
        assert!((own - other).abs() < 1e-5, "{own} {other}");
    }
}

#[test]
fn criteria_of_least_squares_are_those_of_the_textbook() {
    let wide = "[prior.weights]\nfixed = 1000.0\n[prior.intercept]\nfixed = 1000.0\n\
                [residual]\nscale = 1e-6\nscale_dof = 1e-6\n";
    let posterior = linear(&format!("{REAL}{wide}"));
    let model = posterior.regularised().unwrap();
    let found = Evidence::best(&model, Estimation::Mode, 1, Seed(1)).unwrap();
    let unit = model.units()[0];
    let n = ROWS as f64;
    let half = Penalised::new(&model, found.scales.clone()).half_residuals(&found.weights)[0];
    let mean = 2.0 * half / n * unit * unit;
    // Maximum likelihood: L = -n/2 (log 2πs² + 1).
    let log_likelihood = -0.5 * n * ((std::f64::consts::TAU * mean).ln() + 1.0);
    assert!((found.log_likelihood - log_likelihood).abs() < 1e-3);
    let criteria = found.criteria;
    assert!((criteria.aic - (log_likelihood - 5.0)).abs() < 1e-3);
    assert!((criteria.bic - (log_likelihood - 2.5 * n.ln())).abs() < 1e-3);
    let fpe = mean * (n + 4.0) / (n - 4.0);
    assert!((criteria.fpe.unwrap() / fpe - 1.0).abs() < 1e-6);
    // γ = p without a penalty, and then both prediction errors are the same to first order.
    assert!((found.effective_parameters - 4.0).abs() < 1e-3);
    let gpe = mean + 2.0 * mean * n / (n - 4.0) * 4.0 / n;
    assert!((criteria.gpe.unwrap() / gpe - 1.0).abs() < 1e-3);
    // tr(KJ⁻¹) = β Σ r² h with the leverages h of least squares.
    let mut x = Matrix::zeros(ROWS, 4);
    model.outputs().jacobian(&found.weights, &mut x);
    let gram = Matrix::from_fn(4, 4, |i, j| (0..ROWS).map(|row| x[(row, i)] * x[(row, j)]).sum());
    let factor = Cholesky::new(&gram).unwrap();
    let residuals = Penalised::new(&model, found.scales.clone()).residuals(&found.weights);
    let trace: f64 = (0..ROWS)
        .map(|row| {
            let mut whitened: Vec<f64> = (0..4).map(|k| x[(row, k)]).collect();
            factor.solve_lower(&mut whitened);
            let leverage: f64 = whitened.iter().map(|z| z * z).sum();
            found.scales.betas[0] * residuals[row].powi(2) * leverage
        })
        .sum();
    assert!((criteria.nic_parameters / trace - 1.0).abs() < 1e-3, "{trace}");
    assert!((criteria.nic - (found.log_likelihood - criteria.nic_parameters)).abs() < 1e-9);
}

#[test]
fn what_is_not_normal_is_refused() {
    let refused = |text: &str| network(text).regularised().err().map(|error| error.to_string());
    let weights = refused(&format!("{NETWORK}[prior.hidden_bias]\nfamily = 'laplace'\n"));
    assert!(weights.unwrap().contains("other than normal"));
    let residual = refused(&format!("{NETWORK}[residual]\nfamily = 'student-t'\n"));
    assert!(residual.unwrap().contains("residual family"));
    assert!(refused(NETWORK).is_none());
}

#[test]
fn linearised_predictions_are_exact_where_the_outputs_are_linear() {
    let posterior = network("[data]\ntarget = 'y'\n[model]\nkind = 'mlp'\nhidden = 0\n");
    let model = posterior.regularised().unwrap();
    let mode = Evidence::best(&model, Estimation::Evidence, 1, Seed(1)).unwrap();
    let linearised = Linearised::at_mode(&posterior, &mode).unwrap();
    let inputs = Matrix::from_fn(2, 3, |i, k| 0.3 * i as f64 - 0.5 * k as f64);
    let parameters = linearised.parameters(&inputs);
    let (_, data) = data(NETWORK);
    let scaling = data.target_scaling[0];
    // Bias first, then direct weights; A⁻¹ column by column.
    let mut covariance = Matrix::zeros(4, 4);
    mode.precision.inverse(&mut covariance);
    for row in 0..2 {
        let x: Vec<f64> = std::iter::once(1.0).chain((0..3).map(|k| inputs[(row, k)])).collect();
        let mean: f64 = x.iter().zip(&mode.weights).map(|(x, w)| x * w).sum();
        let spread: f64 = (0..4)
            .flat_map(|i| (0..4).map(move |j| (i, j)))
            .map(|(i, j)| x[i] * covariance[(i, j)] * x[j])
            .sum();
        let sd = scaling.scale * (spread + 1.0 / mode.scales.betas[0]).sqrt();
        assert!((parameters[2 * row] - scaling.invert(mean)).abs() < 1e-9);
        assert!((parameters[2 * row + 1] / sd - 1.0).abs() < 1e-9);
    }
    let classes = network("[data]\ntarget = 'class'\n[model]\nkind = 'mlp'\nhidden = 2\n");
    let mode =
        Evidence::best(&classes.regularised().unwrap(), Estimation::Evidence, 2, Seed(1)).unwrap();
    let log_odds = Linearised::at_mode(&classes, &mode).unwrap().parameters(&inputs);
    // Against the average over the outputs of linearised draws.
    let mut jacobian = Matrix::zeros(2, mode.weights.len());
    let mut outputs = [0.0; 2];
    let rows = crate::model::mlp::Rows::new(&inputs);
    classes.linearize(&mode.weights, &rows, &mut outputs, &mut jacobian);
    let (normal, mut stream) = (NormalAtMode::new(&mode), stream(3));
    let (mut state, mut sums) = (mode.state.clone(), [0.0; 2]);
    const DRAWS: usize = 20_000;
    for _ in 0..DRAWS {
        normal.draw(&mut state, &mut stream);
        for row in 0..2 {
            let off = state.iter().zip(&mode.weights).map(|(a, b)| a - b).enumerate();
            let change: f64 = off
                .take(mode.weights.len())
                .map(|(weight, off)| jacobian[(row, weight)] * off)
                .sum();
            sums[row] += logistic(outputs[row] + change);
        }
    }
    for row in 0..2 {
        let (found, known) = (logistic(log_odds[row]), sums[row] / DRAWS as f64);
        // The standard error is at most 0.5 / √20 000 = 0.0035; false alarms below 1e-5.
        assert!((found - known).abs() < 4.5 * 0.0036, "{found} {known}");
    }
}
