//! Check committees of early-stopped networks, from fit to prediction.

use std::fs;

use crate::posteria::{Place, assert_same_files};

const FIT: &str = "fit data.csv --target y --inputs a b --model mlp --hidden 4";

#[test]
fn a_committee_is_fitted_summarised_predicted_and_exported() {
    let place = Place::with_data(60);
    let json = place.call(&format!("{FIT} --inference committee --out run --json")).json();
    assert_eq!(json["inference"], "committee");
    assert_eq!((&json["chains"], &json["draws"]), (&1.into(), &10.into()));
    assert!(json["max_r_hat"].is_null() && json["min_ess_bulk"].is_null(), "{json}");
    assert_eq!(json["warnings"], serde_json::json!([]));
    let spec = fs::read_to_string(place.path("run/spec.toml")).expect("a spec");
    for key in ["inference = \"committee\"", "draws = 10", "chains = 1", "warmup = 0"] {
        assert!(spec.contains(key), "{key} is missing in\n{spec}");
    }
    assert!(!spec.contains("kernel"), "a committee has nothing to move:\n{spec}");

    let summary = place.call("summary run --json --strict").json();
    assert_eq!(summary["warnings"], serde_json::json!([]));
    let variables = summary["variables"].as_array().expect("variables");
    let of = |name: &str| variables.iter().find(|v| v["name"] == name).expect("the variable");
    let scale = of("residual_scale");
    assert!(scale["r_hat"].is_null() && scale["ess_bulk"].is_null(), "{scale}");
    // The noise of the table has deviation 0.5/√12 = 0.14.
    assert!((0.1..0.35).contains(&scale["mean"].as_f64().expect("a number")), "{scale}");
    let text = place.call("summary run").stdout;
    assert!(text.starts_with("committee of 10 early-stopped networks\n"), "{text}");
    assert!(!text.contains("r_hat"), "{text}");

    let predicted = place.call("predict run data.csv --json").json();
    let rmse = predicted["rmse"].as_f64().expect("a number");
    let error = of("training_error")["mean"].as_f64().expect("a number");
    assert!(rmse < error && rmse < 0.25, "{rmse} against {error} of the average member");

    assert_eq!(place.call("export run --format csv --out draws.csv -q").code, 0);
    let rows = fs::read_to_string(place.path("draws.csv")).expect("draws");
    assert_eq!(rows.lines().count(), 11);
    assert_eq!(place.call("verify run -q").code, 0);
    let diagnosed = place.call("diagnose run");
    assert!(diagnosed.refusal().contains("no convergence to judge"), "{}", diagnosed.stderr);
}

#[test]
fn classes_have_committees_too_and_text_names_them() {
    let place = Place::with_data(60);
    let fit = "fit data.csv --target class --inputs a b --hidden 3 --inference committee --draws 4";
    let told = place.call(&format!("{fit} --out run"));
    assert_eq!(told.code, 0, "{}", told.stderr);
    assert!(
        told.stdout.starts_with("run: committee of 4 early-stopped networks"),
        "{}",
        told.stdout
    );
    assert!(!told.stdout.contains("R-hat"));
    let predicted = place.call("predict run data.csv --json").json();
    assert!(predicted["accuracy"].as_f64().expect("a number") > 0.75, "{predicted}");
    let dry = place.call(&format!("{fit} --dry-run")).stdout;
    assert!(dry.contains("committee of 4 early-stopped networks, each trained on"), "{dry}");
    assert!(!dry.contains("warm-up"), "{dry}");
}

#[test]
fn members_do_not_depend_on_threads_nor_on_when_they_were_asked_for() {
    let place = Place::with_data(40);
    let fit = |members: usize, threads: usize, out: &str| {
        let line = format!(
            "{FIT} --inference committee --draws {members} --threads {threads} --seed 5 --out {out} -q"
        );
        assert_eq!(place.call(&line).code, 0);
    };
    fit(5, 1, "one");
    fit(5, 2, "two");
    fit(2, 2, "grown");
    let grown = place.call("resume grown --draws 5 --json").json();
    assert_eq!((&grown["inference"], &grown["draws"]), (&"committee".into(), &5.into()));
    let [one, two] = ["one", "two"].map(|run| place.files(&format!("{run}/draws.zarr")));
    assert!(one.len() > 20);
    assert_same_files(&one, &two);
    let draws = |run: &str| {
        assert_eq!(place.call(&format!("export {run} --format csv --out {run}.csv -q")).code, 0);
        fs::read_to_string(place.path(&format!("{run}.csv"))).expect("draws")
    };
    assert_eq!(draws("one"), draws("grown"));
}

#[test]
fn what_is_no_committee_is_refused() {
    let place = Place::with_data(20);
    let refusal = |line: &str| place.call(line).refusal().to_string();
    let linear = refusal("fit data.csv --target y --inference committee --out run");
    assert!(linear.contains("--model mlp"), "{linear}");
    for flag in ["--chains 4", "--warmup 10", "--thin 2"] {
        let said = refusal(&format!("{FIT} --inference committee {flag} --out run"));
        assert!(said.contains("members in place of chains"), "{said}");
    }
    assert!(!place.path("run").exists());
}
