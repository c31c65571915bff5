//! Weighted hyperparameters against quadrature.

use std::num::NonZero;

use crate::data::{Table, TextFormat};
use crate::fit::{ApproximationFindings, Fit, FitOptions, HyperparameterFindings, fit_table};
use crate::model::gp::GpPosterior;
use crate::model::spec::{InferenceChoice, Spec};
use crate::target::LogDensity;

fn table(rows: i32) -> Table {
    let row = |i: i32| {
        let x = f64::from(i * i * 7 % 23) / 7.0 - 1.6;
        format!("{x},{}\n", (1.7 * x).sin() + f64::from(i * 11 % 7 - 3) / 8.0)
    };
    let text = format!("x,y\n{}", (1..=rows).map(row).collect::<String>());
    Table::from_text("t.csv", text.as_bytes(), &TextFormat::default()).expect("a table")
}

fn fit(text: &str, rows: i32, inference: &str) -> Fit {
    let text = format!("[model]\nkind = 'gp'\n{text}[sampling]\ninference = '{inference}'\n");
    let spec = Spec::from_toml(&text).expect("a specification");
    let draws = (inference == "laplace").then_some(NonZero::new(500)).flatten();
    fit_table(&table(rows), "y", spec, &FitOptions { draws, ..FitOptions::default() })
        .expect("a fit")
}

fn findings(fit: &Fit) -> &HyperparameterFindings {
    match fit.approximation.as_ref().map(|found| &found.findings) {
        Some(ApproximationFindings::Hyperparameters(findings)) => findings,
        other => panic!("{other:?}"),
    }
}

fn process(fit: &Fit) -> &GpPosterior {
    match &fit.prepared.posterior {
        crate::fit::Conditioned::Process(process) => process,
        _ => panic!("a process"),
    }
}

/// Magnitude and relevance, the residual scale known: mass, means and spreads of their logarithms by
/// a lattice over ± 9 deviations of the prior. Of 2000 independent draws of about 400 effective
/// weights a mean is off by five of its standard errors with probability 6e-7.
#[test]
fn they_have_the_moments_and_the_evidence_of_quadrature() {
    let text = "[prior.magnitude]\nfamily = 'log-normal'\nscale = 1.0\nlog_sd = 0.8\n\
                [prior.relevance]\nfamily = 'log-normal'\nscale = 1.0\nlog_sd = 0.8\n\
                [hyperparameters]\nresidual = 0.4\n";
    let fit = fit(text, 9, "laplace");
    let mut density = process(&fit).hyperparameters().expect("a density");
    assert_eq!(density.dim(), 2);
    let (step, half) = (0.08, 60);
    let (mut mass, mut sums, mut squares) = (0.0, [0.0; 2], [0.0; 2]);
    let mut top = (f64::NEG_INFINITY, [0.0; 2]);
    for i in -half..=half {
        for j in -half..=half {
            let at = [step * f64::from(i), step * f64::from(j)];
            let log = density.log_density(&at).expect("a density");
            if log > top.0 {
                top = (log, at);
            }
            let weight = log.exp() * step * step;
            mass += weight;
            for axis in 0..2 {
                sums[axis] += weight * at[axis];
                squares[axis] += weight * at[axis] * at[axis];
            }
        }
    }
    let found = findings(&fit);
    let weights = found.weights.as_ref().expect("weights");
    let off = weights.log_evidence - mass.ln() - density.log_unit();
    assert!(off.abs() < 5.0 * weights.log_evidence_error, "{off} {weights:?}");
    assert!(
        weights.log_evidence_error < 0.1 && fit.approximation.as_ref().unwrap().doubts.is_empty()
    );
    let scale = fit.prepared.encoder.target_scaling()[0].scale;
    for (axis, (name, unit)) in [("magnitude", scale), ("relevance[x]", 1.0)].iter().enumerate() {
        let (mean, variance) = (sums[axis] / mass, squares[axis] / mass);
        let sd = (variance - mean * mean).sqrt();
        let place = fit.draws.layout.component_names().iter().position(|it| it == name);
        let chains = fit.draws.component(place.expect("the variable"));
        let logs: Vec<f64> = chains.iter().flatten().map(|value| (value / unit).ln()).collect();
        let own = logs.iter().sum::<f64>() / logs.len() as f64;
        let spread = logs.iter().map(|x| (x - own).powi(2)).sum::<f64>() / logs.len() as f64;
        let size = 1.0 / (1.0 / weights.effective_size + 1.0 / logs.len() as f64);
        assert!((own - mean).abs() < 5.0 * sd / size.sqrt(), "{name}: {own} {mean} ± {sd}");
        assert!((spread.sqrt() / sd - 1.0).abs() < 5.0 / size.sqrt(), "{name}: {spread} {sd}");
    }
    // The mode is no lower than the highest place of the lattice, and one draw.
    let mode = self::fit(text, 9, "map");
    assert_eq!(mode.draws.values.len(), mode.draws.layout.len());
    let top = top.0 + density.log_unit();
    let lacking = top - findings(&mode).log_density;
    assert!((-0.01..1e-9).contains(&lacking), "{lacking}");
}

/// A density without a mode inside its walls is told, not made up.
#[test]
fn no_mode_is_an_error_that_says_what_to_do() {
    let text = "[model]\nkind = 'gp'\n[prior.relevance]\nfamily = 'log-uniform'\nlower = 1e-9\n\
                upper = 1e-8\n[sampling]\ninference = 'laplace'\n";
    let spec = Spec::from_toml(text).expect("a specification");
    assert_eq!(spec.sampling.inference(), InferenceChoice::Laplace);
    let error = fit_table(&table(9), "y", spec, &FitOptions::default()).err().expect("refused");
    assert!(error.to_string().contains("--inference mcmc"), "{error}");
}
