//! Tempered chains against quadrature, and what no power of a prior is known for.

use super::*;
use crate::data::{Standardization, Targets};
use crate::random::{Purpose, Seed};
use crate::sample::{Adapt, Stage};

const TARGETS: [f64; 5] = [2.4, 1.1, 0.7, 1.9, 1.6];
/// Deviations of the priors of the mean, and of log σ about 0.
const MEAN_SD: f64 = 0.6;
const LOG_SD: f64 = 0.4;

/// A mean, with nothing standardised.
fn data() -> Dataset {
    Dataset {
        inputs: posteria_linalg::Matrix::zeros(TARGETS.len(), 0),
        input_names: Vec::new(),
        input_scaling: Vec::new(),
        target_scaling: vec![Standardization::IDENTITY],
        targets: Targets::Real {
            names: vec!["y".into()],
            values: posteria_linalg::Matrix::from_fn(TARGETS.len(), 1, |row, _| TARGETS[row]),
        },
        groups: None,
        offsets: None,
        task: Task::Regression,
    }
}

fn spec(sampling: &str) -> Spec {
    Spec::from_toml(&format!(
        "[model]\nkind = 'linear'\n[prior.intercept]\nfixed = {MEAN_SD}\n\
         [prior.weights]\nfixed = 1.0\n[residual]\nscale = 1.0\nlog_sd = {LOG_SD}\n[sampling]\n{sampling}"
    ))
    .unwrap()
}

/// Mean and variance of the mean, and mean of log σ, under prior^γ × likelihood^β: normal given log σ, which a
/// grid is summed over.
fn exact(beta: f64, gamma: f64) -> [f64; 3] {
    let count = TARGETS.len() as f64;
    let sum: f64 = TARGETS.iter().sum();
    let squares: f64 = TARGETS.iter().map(|y| y * y).sum();
    let parts: Vec<[f64; 4]> = (-4000..=4000)
        .map(|step| {
            let log_sigma = 0.001 * f64::from(step);
            let precision = (-2.0 * log_sigma).exp();
            let a = beta * count * precision + gamma / (MEAN_SD * MEAN_SD);
            let b = beta * sum * precision;
            let weight = -beta * (count * log_sigma + 0.5 * squares * precision)
                + 0.5 * (b * b / a - a.ln())
                - 0.5 * gamma * (log_sigma / LOG_SD).powi(2);
            [weight, b / a, 1.0 / a, log_sigma]
        })
        .collect();
    let top = parts.iter().map(|part| part[0]).fold(f64::NEG_INFINITY, f64::max);
    let average = |of: &dyn Fn(&[f64; 4]) -> f64| {
        let total: f64 = parts.iter().map(|part| (part[0] - top).exp()).sum();
        parts.iter().map(|part| (part[0] - top).exp() * of(part)).sum::<f64>() / total
    };
    let mean = average(&|part| part[1]);
    [mean, average(&|part| part[2] + (part[1] - mean).powi(2)), average(&|part| part[3])]
}

/// Means over 64 batches: |z| passes 5 by chance with probability 3e-6, and there are 18 of them.
#[test]
fn chains_sample_the_powers_that_are_asked_for() {
    for (number, tempering) in ["likelihood", "posterior", "opposed"].into_iter().enumerate() {
        for beta in [0.4, 30.0] {
            let keys = format!("inverse_temperature = {beta:?}\ntempering = '{tempering}'");
            let own = Conditioned::new(&spec(&keys), &data(), None).unwrap();
            let gamma = [1.0, beta, 1.0 / beta][number];
            let [mean, variance, log_sigma] = exact(beta, gamma);
            let stream = &mut Seed(218).stream(Purpose::Data, [number as u64, beta as u64]);
            let mut state = own.start(stream);
            let mut sweep = own.sweep(1.0);
            sweep.enter(&Stage { adapt: Adapt::StepSize, ..Stage::default() });
            (0..500).for_each(|_| {
                sweep.pass(&mut state, stream);
            });
            sweep.enter(&Stage::default());
            let batches: Vec<[f64; 3]> = (0..64)
                .map(|_| {
                    let mut sums = [0.0; 3];
                    for _ in 0..500 {
                        sweep.pass(&mut state, stream);
                        let of = [state[0], (state[0] - mean).powi(2), state[1]];
                        sums.iter_mut().zip(of).for_each(|(sum, it)| *sum += it / 500.0);
                    }
                    sums
                })
                .collect();
            for (index, expected) in [mean, variance, log_sigma].into_iter().enumerate() {
                let found = batches.iter().map(|it| it[index] / 64.0).sum::<f64>();
                let spread = batches.iter().map(|it| (it[index] - found).powi(2)).sum::<f64>();
                let z = (found - expected) / (spread / (63.0 * 64.0)).sqrt();
                assert!(z.abs() < 5.0, "{tempering} {beta}, {index}: {found}, not {expected}: {z}");
            }
            // What a draw is worth is that of the model itself.
            let plain = Conditioned::new(&spec(""), &data(), None).unwrap();
            let terms = |it: &Conditioned| {
                let (mut draw, mut rows) = (vec![0.0; it.layout().len()], vec![0.0; TARGETS.len()]);
                it.evaluator().evaluate(&state, &mut draw, &mut rows).unwrap()
            };
            assert_eq!(terms(&own), terms(&plain));
        }
    }
}

/// At β = 1 all are the posterior; at large β (prior × likelihood)^β is at its mode, and prior^(1/β) ×
/// likelihood^β at the maximum of the likelihood.
#[test]
fn families_have_the_ends_of_their_names() {
    let ml = TARGETS.iter().sum::<f64>() / 5.0;
    let ml_variance = TARGETS.iter().map(|y| (y - ml).powi(2)).sum::<f64>() / 5.0;
    let [opposed, spread, log_sigma] = exact(2000.0, 1.0 / 2000.0);
    assert!((opposed - ml).abs() < 1e-3 && spread < 1e-3);
    assert!((log_sigma - 0.5 * ml_variance.ln()).abs() < 1e-2);
    let [mode, spread, _] = exact(2000.0, 2000.0);
    assert!(mode < ml - 0.1 && spread < 1e-3, "{mode} {ml}");
}

#[test]
fn priors_whose_power_is_not_known_are_refused() {
    let tempered = "inverse_temperature = 2.0\ntempering = 'posterior'";
    let refused = |spec: Spec| match Conditioned::new(&spec, &data(), None) {
        Ok(_) => panic!("accepted"),
        Err(error) => error.to_string(),
    };
    let mut sampled = spec(tempered);
    sampled.prior.remove("intercept");
    sampled.prior.get_mut("weights").unwrap().fixed = None;
    let said = refused(sampled);
    assert!(said.contains("sampled") && said.contains("fixed = a number"), "{said}");
    let mut groups = spec(tempered);
    groups.residual.as_mut().unwrap().dof_by = Some(vec!["x".into()]);
    assert!(refused(groups).contains("dof_by"));
    let alone = spec("tempering = 'posterior'").check().unwrap_err().to_string();
    assert!(alone.contains("tempering") && alone.contains("inverse_temperature"), "{alone}");
    let process =
        "[model]\nkind = 'gp'\n[sampling]\ninverse_temperature = 2.0\ntempering = 'posterior'";
    assert!(Spec::from_toml(process).unwrap().check().is_err());
}
