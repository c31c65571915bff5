//! Check summaries, diagnostics and exports.

use std::fs;

use serde_json::Value;

use crate::posteria::Place;

fn with_run() -> Place {
    let place = Place::with_data(20);
    let fit =
        "fit data.csv --target y --inputs a b --chains 3 --warmup 100 --draws 120 --out run -q";
    assert_eq!(place.call(fit).code, 0);
    place
}

fn names(json: &Value) -> Vec<String> {
    let variables = json["variables"].as_array().expect("variables");
    variables.iter().map(|row| row["name"].as_str().expect("a name").to_string()).collect()
}

#[test]
fn summary_and_diagnose_give_the_promised_fields() {
    let place = with_run();
    let summary = place.call("summary run --json").json();
    assert!(summary["warnings"].is_array());
    for row in summary["variables"].as_array().expect("variables") {
        for key in ["mean", "sd", "hdi_3%", "hdi_97%", "mcse_mean", "ess_bulk", "ess_tail", "r_hat"]
        {
            assert!(row[key].is_number(), "{key} in {row}");
        }
    }
    let diagnosis = place.call("diagnose run --json").json();
    for row in diagnosis["variables"].as_array().expect("variables") {
        for key in [
            "r_hat",
            "r_hat_classic",
            "ess_bulk",
            "ess_tail",
            "mcse_mean",
            "autocorrelation_time",
            "ks_p",
        ] {
            assert!(row[key].is_number(), "{key} in {row}");
        }
    }
    assert_eq!(names(&summary), names(&diagnosis));
    let text = place.call("summary run").stdout;
    for word in ["mean", "hdi_3%", "ess_bulk", "weights[a]", "3 chains of 120 draws"] {
        assert!(text.contains(word), "{word} is missing in\n{text}");
    }
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    assert!(place.call("summary run --wide").stdout.contains("mcse_sd"));
}

#[test]
fn what_is_not_defined_is_null() {
    let place = Place::with_data(10);
    let fit =
        "fit data.csv --target y --inputs a --chains 1 --warmup 5 --draws 3 --out run --json -q";
    let json = place.call(fit).json();
    assert!(json["max_r_hat"].is_null() && json["min_ess_bulk"].is_null(), "{json}");
    let summary = place.call("summary run --json").json();
    assert!(summary["variables"][0]["r_hat"].is_null());
    assert!(!summary["warnings"].as_array().expect("warnings").is_empty());
}

#[test]
fn exported_draws_give_the_same_diagnosis() {
    let place = with_run();
    let whole = place.call("diagnose run --json").json();
    let csv = place.call("export run --format csv --out d.csv --json").json();
    assert_eq!(csv["path"], "d.csv");
    assert_eq!(csv["draws"], 120);
    // Bit for bit: the table holds every digit.
    assert_eq!(place.call("diagnose d.csv --json").json()["variables"], whole["variables"]);
    let stan = place.call("export run --format stan-csv --out s --json").json();
    assert_eq!(stan["files"], serde_json::json!(["s_1.csv", "s_2.csv", "s_3.csv"]));
    let stan = place.call("diagnose s_1.csv s_2.csv s_3.csv --json").json();
    assert_eq!(stan["variables"][0]["r_hat"], whole["variables"][0]["r_hat"]);
    assert_eq!(place.call("export run --format json --out d.json").code, 0);
    let json: Value =
        serde_json::from_slice(&fs::read(place.path("d.json")).expect("a file")).expect("JSON");
    assert_eq!(json["posterior"]["intercept"].as_array().expect("chains").len(), 3);
    assert_eq!(place.call("export run --format zarr --out d.zarr").code, 0);
    assert!(place.path("d.zarr/posterior").exists());
    let hidden: Vec<String> =
        place.names().into_iter().filter(|name| name.starts_with('.')).collect();
    assert_eq!(hidden, [] as [&str; 0], "no temporary file is left");
}

#[test]
fn exports_are_thinned_and_batched() {
    let place = with_run();
    for (flags, draws) in [
        ("--thin 10", 12),
        ("--burn 20 --thin 10", 10),
        ("--burn 20 --last 70", 50),
        ("--batch 7", 17),
        ("--thin 2 --batch 6 --batch-by median", 10),
    ] {
        let json =
            place.call(&format!("export run --format csv {flags} --out d.csv --json")).json();
        assert_eq!(json["draws"], draws, "{flags}");
        let lines = fs::read_to_string(place.path("d.csv")).expect("a table").lines().count();
        assert_eq!(lines, 1 + 3 * draws, "{flags}");
    }
    let before = fs::read(place.path("d.csv")).expect("a table");
    let refused = place.call("export run --format csv --burn 120 --out d.csv");
    assert_eq!(refused.code, 2);
    assert_eq!(fs::read(place.path("d.csv")).expect("kept"), before);
}

#[test]
fn the_default_place_of_an_export_is_never_taken_from_another_file() {
    let place = with_run();
    assert_eq!(place.call("export run --format csv -q").code, 0);
    assert!(place.path("run-draws.csv").exists());
    assert!(place.call("export run --format csv -q").refusal().contains("--out run-draws.csv"));
    assert!(place.call("export run --format csv --out run").refusal().contains("folder"));
}

#[test]
fn draws_of_others_that_cannot_be_used_are_refused() {
    let place = Place::new();
    for (text, words) in [
        ("", vec!["d.csv"]),
        ("chain,a\n", vec!["d.csv"]),
        ("chain,a\n0,1\n0,x\n", vec!["d.csv:3:2", "\"x\""]),
        ("chain,a\n0,1\n1,2\n1,3\n", vec!["d.csv"]),
        ("chain,a\n0,1\n0\n", vec!["d.csv:3"]),
    ] {
        place.write("d.csv", text);
        let outcome = place.call("diagnose d.csv");
        let said = outcome.refusal();
        for word in words {
            assert!(said.contains(word), "{text:?}: {word:?} is missing in {said:?}");
        }
    }
    assert!(place.call("diagnose absent.csv").refusal().contains("absent.csv"));
}
