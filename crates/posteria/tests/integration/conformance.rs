//! Every kind of model keeps the same contract: it is fitted, summarised, predicted from, assessed
//! by leave-one-out and by folds, and has an evidence, whatever its targets are and however many
//! threads work.

use std::num::NonZero;

use posteria::assess::AssessError;
use posteria::data::TextFormat;
use posteria::evidence::{EvidenceOptions, Method};
use posteria::fit::Workers;
use posteria::model::spec::{InferenceChoice, ModelKind, Spec};
use posteria::{Fit, FitOptions, Gp, Linear, Mlp, Table, Utility};

/// Enough for folds that hold every class.
const ROWS: i32 = 24;

/// Rows of two inputs; a real target, and what it means as two and three classes, with noise
/// enough that no input settles the class.
fn table(first: i32) -> Table {
    let noise = |i: i32, k: i32| f64::from(i * k % 29 - 14) / 14.0;
    let row = |i: i32| {
        let (a, b) = (noise(i * i + i, 7), noise(i * i + 5, 11));
        let y = a - 0.5 * b + 0.6 * noise(i, 17);
        let two = if y > 0.0 { "yes" } else { "no" };
        let three = ["low", "mid", "high"][usize::from(y > -0.3) + usize::from(y > 0.3)];
        format!("{a},{b},{y},{two},{three}\n")
    };
    let text =
        format!("a,b,real,two,three\n{}", (first..first + ROWS).map(row).collect::<String>());
    Table::from_text("t.csv", text.as_bytes(), &TextFormat::default()).expect("a table")
}

fn options(threads: usize) -> FitOptions {
    FitOptions {
        chains: NonZero::new(2),
        warmup: Some(20),
        draws: NonZero::new(20),
        workers: Workers::of(NonZero::new(threads).expect("not zero")),
        ..FitOptions::default()
    }
}

/// Every model, with how its posterior is found.
fn models() -> Vec<(&'static str, Spec)> {
    let inputs = ["a", "b"];
    let mlp = || Mlp::default().hidden(2).inputs(inputs);
    let linear = || Linear::default().inputs(inputs);
    vec![
        ("linear", linear().into()),
        ("mlp", mlp().into()),
        ("gp", Gp::default().inputs(inputs).into()),
        ("linear by Laplace", linear().inference(InferenceChoice::Laplace).into()),
        ("mlp by Laplace", mlp().inference(InferenceChoice::Laplace).into()),
        ("mlp by a committee", mlp().inference(InferenceChoice::Committee).into()),
    ]
}

/// What is asked of draws, as numbers that must not depend on the threads.
fn answers(fit: &Fit, target: &str, name: &str) -> Vec<f64> {
    let is_real = target == "real";
    let utility = if is_real { Utility::Rmse } else { Utility::Accuracy };
    let summary = fit.summary();
    assert!(!summary.to_string().is_empty());
    let mut all = Vec::new();
    let predicted = fit.predict(&table(50)).expect("predictions");
    assert_eq!(predicted.rows.len(), ROWS as usize, "{name}");
    for row in &predicted.rows {
        let is_sure = (row.probabilities.iter().sum::<f64>() - 1.0).abs() < 1e-9;
        assert!(is_real || is_sure, "{name} {target}: {:?}", row.probabilities);
        all.extend(row.outputs.iter().flat_map(|output| [output.mean, output.quantiles[1]]));
        all.extend(&row.probabilities);
        all.extend(row.log_density);
    }
    let right = predicted.figures.map(|it| it.rmse).or(predicted.accuracy);
    all.push(right.expect("the table has the target"));
    match fit.loo(&[Utility::Elpd, utility.clone()]) {
        Ok(loo) => {
            assert_eq!(loo.expected.len(), 2, "{name}");
            all.extend(loo.expected.iter().map(|expected| expected.mean()));
        }
        // A network may be all that a single row is known by.
        Err(AssessError::Predict(_)) if name == "mlp by Laplace" => {}
        Err(error) => panic!("{name} {target}: {error}"),
    }
    let folds = fit.k_fold(2, &[utility]).expect("folds");
    assert_eq!(folds.assessed.folds.expect("divided").iter().max(), Some(&1), "{name}");
    all.push(folds.expected[0].estimate);
    assert!(all.iter().all(|value| value.is_finite()), "{name} {target}: {all:?}");
    all
}

#[test]
fn every_model_keeps_the_contract_whatever_the_threads() {
    let training = table(0);
    let process = Gp::default().inputs(["a", "b"]).inference(InferenceChoice::Laplace);
    for (name, spec) in models().into_iter().chain([("gp by Laplace", process.into())]) {
        for target in ["real", "two", "three"] {
            let [fit, again] = [1, 3].map(|threads| {
                let fit = posteria::fit(&training, target, spec.clone(), &plain(&spec, threads));
                fit.unwrap_or_else(|error| panic!("{name} {target}: {error}"))
            });
            let bits = |values: &[f64]| values.iter().map(|it| it.to_bits()).collect::<Vec<_>>();
            assert_eq!(bits(&fit.draws.values), bits(&again.draws.values), "{name} {target}");
            let [one, three] = [&fit, &again].map(|fit| answers(fit, target, name));
            assert_eq!(bits(&one), bits(&three), "{name} {target}");
        }
    }
}

/// Numbers of chains are those of chains.
fn plain(spec: &Spec, threads: usize) -> FitOptions {
    match spec.sampling.inference() {
        InferenceChoice::Mcmc => options(threads),
        _ if spec.model.kind == ModelKind::Gp => FitOptions { warmup: None, ..options(threads) },
        _ => FitOptions { workers: options(threads).workers, ..FitOptions::default() },
    }
}

#[test]
fn every_model_has_an_evidence() {
    let training = table(0);
    let short = EvidenceOptions {
        methods: vec![Method::Path],
        rungs: Some(6),
        ladders: Some(2),
        draws: Some(30),
        warmup: Some(30),
        ..EvidenceOptions::default()
    };
    for (name, spec) in models().into_iter().take(3) {
        for target in ["real", "two"] {
            let fit = posteria::fit(&training, target, spec.clone(), &options(2));
            let found = fit.expect("a fit").evidence(&short).expect("an estimate");
            // A density of classes is a probability.
            let value = found.main().value;
            assert!(value.is_finite() && (target == "real" || value < 0.0), "{name}: {value}");
        }
    }
}
