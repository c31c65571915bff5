//! Predict by several runs, compare them in subgroups, check what they describe.

use std::fs;

use crate::posteria::Place;

const SHORT: &str = "--chains 2 --warmup 100 --draws 200";

/// A place with runs of y by both inputs, normal and Laplace residuals.
fn runs() -> Place {
    let place = Place::with_data(60);
    let fit = format!("fit data.csv --target y --inputs a b {SHORT}");
    place.call(&format!("{fit} --out runs/normal")).assert_says(&[]);
    place.call(&format!("{fit} --residual laplace --out runs/laplace")).assert_says(&[]);
    place
}

#[test]
fn an_average_lies_between_its_models_and_has_their_weights() {
    let place = runs();
    let predict = |what: &str| place.call(&format!("predict {what} --json")).json();
    let [one, two] = ["normal", "laplace"].map(|run| predict(&format!("runs/{run} data.csv")));
    let both = predict("runs/normal runs/laplace data.csv --weights equal");
    for row in 0..60 {
        let of = |value: &serde_json::Value, name: &str| {
            value["rows"][row][name].as_f64().expect("a number")
        };
        let mean = 0.5 * (of(&one, "mean") + of(&two, "mean"));
        assert!((of(&both, "mean") - mean).abs() < 1e-9 * mean.abs().max(1.0));
        let density = 0.5 * (of(&one, "log_density").exp() + of(&two, "log_density").exp());
        assert!((of(&both, "log_density") - density.ln()).abs() < 1e-9, "row {row}");
        let ends = [of(&one, "q95"), of(&two, "q95")];
        let between = ends[0].min(ends[1]) - 1e-9..=ends[0].max(ends[1]) + 1e-9;
        assert!(between.contains(&of(&both, "q95")), "row {row}");
    }
    assert_eq!(both["average"]["models"][0]["mean_log_density"], one["mean_log_density"]);
    // Stacking weights are those of the comparison, made before or on the way.
    let made = predict("runs/normal runs/laplace data.csv");
    let compared = place.call("compare runs/normal runs/laplace --json").json();
    let kept = predict("runs/normal runs/laplace data.csv");
    assert_eq!(made["average"], kept["average"]);
    for model in made["average"]["models"].as_array().expect("models") {
        let rows = compared["table"].as_array().expect("a table");
        let own = rows.iter().find(|row| row["model"] == model["run"]).expect("a row");
        assert_eq!(own["weight"], model["weight"]);
    }
}

#[test]
fn weights_by_evidence_are_probabilities_of_models() {
    let place = Place::with_data(40);
    for (name, inputs) in [("both", "a b"), ("one", "a")] {
        let fit = format!("fit data.csv --target y --inputs {inputs} {SHORT} --out runs/{name}");
        place.call(&fit).assert_says(&[]);
    }
    let predict = "predict runs/both runs/one data.csv --weights evidence";
    place.call(predict).assert_refused(predict, &["posteria evidence runs/both runs/one"]);
    let found = place.call("evidence runs/both runs/one --method exact --json").json();
    let average = place.call(&format!("{predict} --json")).json();
    for model in 0..2 {
        let weight = average["average"]["models"][model]["weight"].as_f64().expect("a weight");
        let probability = found["models"][model]["probability"].as_f64().expect("a probability");
        assert!((weight - probability).abs() < 1e-9, "{weight} and {probability}");
    }
    for (line, words) in [
        ("predict runs/both runs/one data.csv --effects", "--effects is about one run"),
        ("predict runs/both data.csv --weights equal", "--weights is for the average"),
        ("predict runs/both runs/both data.csv", "given twice"),
    ] {
        place.call(line).assert_refused(line, &[words]);
    }
}

#[test]
fn checks_are_kept_and_shown() {
    let place = runs();
    let checked = place.call("check runs/normal --statistic max(y) mean(y<0)");
    checked.assert_says(&["max(y)", "leave-one-out", "60 rows"]);
    assert!(place.path("runs/normal/check.json").exists());
    place.call("report runs/normal --out page.html").assert_says(&[]);
    let page = fs::read_to_string(place.path("page.html")).expect("the page");
    assert!(page.contains("Predictive checks") && page.contains("mean(y&lt;0)"));
    for (statistic, words) in [("y", "is of a row"), ("max(z)", "unknown name"), ("max(y", "`)`")] {
        place
            .call(&format!("check runs/normal --statistic {statistic}"))
            .assert_refused(&format!("check runs/normal --statistic {statistic}"), &[words]);
    }
}

#[test]
fn folds_may_be_regions() {
    let place = runs();
    let assess = "assess runs/normal --method kfold --folds 3 --spatial a b --fold-draws 60";
    let found = place.call(&format!("{assess} --buffer 0.1 --json")).json();
    assert!(found["elpd_kfold"].is_number() && found["folds"] == 3, "{found}");
    place
        .call(&format!("{assess} --buffer 1e9"))
        .assert_refused(&format!("{assess} --buffer 1e9"), &["smaller buffer"]);
    place
        .call("assess runs/normal --method kfold --spatial y")
        .assert_refused("assess runs/normal --method kfold --spatial y", &["y is no input"]);
    place
        .call("assess runs/normal --spatial a --method loo")
        .assert_refused("assess runs/normal --spatial a --method loo", &["--spatial"]);
}

#[test]
fn batches_may_be_replaced_by_any_formula() {
    let place = runs();
    let export = "export runs/normal --format csv --batch 50 --batch-by";
    place.call(&format!("{export} max(y)-min(y) --out range.csv")).assert_says(&[]);
    let text = fs::read_to_string(place.path("range.csv")).expect("the file");
    assert_eq!(text.lines().count(), 1 + 2 * 4);
    place
        .call(&format!("{export} y --out none.csv"))
        .assert_refused(&format!("{export} y --out none.csv"), &["is of a row"]);
}
