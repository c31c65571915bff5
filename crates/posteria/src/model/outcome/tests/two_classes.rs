//! Two classes by the probit: the joint distribution is kept, the prior returned, predictions are those of the
//! functions, and the posterior predictive probability is its closed form.

use std::f64::consts::PI;

use posteria_linalg::Matrix;

use super::{FAR, MODELS, ROWS, chain, check_one, dataset, mean, posterior, stream};
use crate::data::{Dataset, Targets, Task};
use crate::density::special::{log_normal_cdf, logistic, normal_cdf};
use crate::model::spec::{ModelKind, Spec};
use crate::predict::Family;

fn classes(codes: &[f64]) -> Dataset {
    Dataset {
        target_scaling: Vec::new(),
        targets: Targets::Classes {
            name: "y".into(),
            labels: vec!["no".into(), "yes".into()],
            codes: codes.iter().map(|code| *code as usize).collect(),
        },
        task: Task::Binary,
        ..dataset(codes, false)
    }
}

fn check(model: usize, seed: u64) {
    let (kind, sections, _) = MODELS[model];
    let text = match sections.contains("[model]") {
        true => sections.replace("[model]\n", "[model]\nlink = 'probit'\n"),
        false => format!("[model]\nlink = 'probit'\n{sections}"),
    };
    let conditioned = |codes: &[f64]| posterior(kind, &text, &classes(codes));
    check_one(conditioned, 0.0, &mut stream(seed), &format!("{kind:?}"));
    // Of a state the same is said by the evaluator, the predictor, and what is recorded.
    let codes = [0.0, 1.0, 1.0, 0.0];
    let own = conditioned(&codes);
    let stream = &mut stream(seed + 1);
    for _ in 0..20 {
        let state = own.prior_state(stream).unwrap();
        let (mut draw, mut rows) = (vec![0.0; own.layout().len()], vec![0.0; ROWS]);
        own.evaluator().evaluate(&state, &mut draw, &mut rows).unwrap();
        let mut predictor = own.predictor().unwrap();
        assert_eq!(predictor.family(), Family::Bernoulli);
        let mut odds = vec![0.0; ROWS];
        predictor.at_training_rows(&draw, &mut odds);
        for (row, code) in codes.iter().enumerate() {
            let probability = logistic(if *code > 0.5 { odds[row] } else { -odds[row] });
            assert!((probability.ln() - rows[row]).abs() < 1e-9 * (1.0 - rows[row]), "{row}");
            if let Some(fitted) = own.layout().variable("fitted") {
                assert!((draw[fitted.offset + row] - logistic(odds[row])).abs() < 1e-12);
            }
        }
    }
}

#[test]
fn linear_models_by_the_probit_keep_the_joint_distribution() {
    check(0, 120);
}

#[test]
fn networks_by_the_probit_keep_the_joint_distribution() {
    check(1, 122);
}

/// With y = 1 where w + e > 0, both normal, w with variance s²: after one row of the second class another is
/// of it with the probability P(both) / P(one) = ½ + asin(ρ)/π, ρ = s²/(1 + s²) [Sheppard 1899].
#[test]
fn the_predictive_probability_after_one_row_is_closed() {
    let data = Dataset {
        inputs: Matrix::zeros(1, 0),
        input_names: Vec::new(),
        input_scaling: Vec::new(),
        ..classes(&[1.0])
    };
    for (index, sd) in [0.5_f64, 2.0].into_iter().enumerate() {
        let text = format!("[model]\nlink = 'probit'\n[prior.intercept]\nfixed = {sd:.1}\n");
        let own = posterior(ModelKind::Linear, &text, &data);
        let states = chain(&*own, 8192, &mut stream(126 + index as u64));
        let rows: Vec<Vec<f64>> = states.iter().map(|state| vec![normal_cdf(state[0])]).collect();
        let (found, variance) = mean(&rows, 0);
        let expected = 0.5 + (sd * sd / (1.0 + sd * sd)).asin() / PI;
        let z = (found - expected) / variance.sqrt();
        assert!(z.abs() < FAR, "{found} is not {expected}: {z}");
        let (mut draw, mut row) = (vec![0.0; own.layout().len()], vec![0.0]);
        own.evaluator().evaluate(&[-40.0], &mut draw, &mut row).unwrap();
        assert!((row[0] / log_normal_cdf(-40.0) - 1.0).abs() < 1e-14);
    }
}

#[test]
fn a_link_says_the_task_and_is_refused_for_others() {
    for kind in ["linear", "mlp", "gp"] {
        let spec = |keys: &str| {
            Spec::from_toml(&format!("[model]\nkind = '{kind}'\nlink = 'probit'\n{keys}")).unwrap()
        };
        assert_eq!(spec("").task(), Some(Task::Binary));
        let refused = spec("task = 'multiclass'").check().unwrap_err().to_string();
        assert!(refused.contains("probit") && refused.contains("binary"), "{refused}");
    }
}
