//! What is not kept of large tables, and what a sample of their rows says.

use serde_json::Value;

use crate::posteria::{Place, assert_same_files, exists, surface};
use crate::predict::{QUICK, number};

#[track_caller]
fn assert_near(left: &Value, right: &Value, tolerance: f64) {
    let (left, right) = (number(left), number(right));
    assert!((left - right).abs() <= tolerance * right.abs().max(1.0), "{left} for {right}");
}

/// Fits `options` with and without log likelihoods, into `kept` and `again`.
fn fit_both(place: &Place, table: &str, options: &str) {
    for (out, limit) in [("kept", ""), ("again", "--log-lik-limit 0")] {
        let fit = place.call(&format!("fit {table} {options} {limit} --out {out}"));
        assert_eq!(fit.code, 0, "{}", fit.stderr);
    }
    assert!(exists(place.path("kept/draws.zarr/log_likelihood")));
    assert!(!exists(place.path("again/draws.zarr/log_likelihood")));
    let draws = |run: &str| place.files(&format!("{run}/draws.zarr/posterior"));
    assert_same_files(&draws("kept"), &draws("again"));
}

#[test]
fn log_likelihoods_that_were_not_kept_are_computed_again() {
    let few = "--chains 2 --warmup 60 --draws 60 -q";
    let models = [
        "--target y --inputs a b",
        "--target class --inputs a b",
        "--target class --inputs a b --model mlp --hidden 3",
        "--target y --inputs a b --model mlp --hidden 3",
    ];
    for model in models {
        let place = Place::with_data(30);
        fit_both(&place, "data.csv", &format!("{model} {few}"));
        let [kept, again] = ["kept", "again"]
            .map(|run| place.call(&format!("assess {run} --no-matching --refit 0 --json -q")));
        let (kept, again) = (kept.json(), again.json());
        for key in ["elpd_loo", "se", "p_loo", "waic", "p_waic", "dic", "p_dic"] {
            assert_near(&again[key], &kept[key], 1e-7);
        }
        assert_near(&again["pareto_k"]["max"], &kept["pareto_k"]["max"], 1e-5);
        assert_near(&again["utilities"][1]["mean"], &kept["utilities"][1]["mean"], 1e-7);
    }
}

#[test]
fn residual_models_and_several_classes_are_computed_again() {
    let place = Place::new();
    place.write("surface.csv", surface(40, 1.0));
    place.write("student.toml", "[data]\ntarget = [\"y\"]\n[residual]\nfamily = \"student-t\"\n");
    place.write("groups.toml", "[data]\ntarget = [\"y\"]\n[residual]\nby = [\"g\"]\n");
    for spec in ["student.toml", "groups.toml"] {
        let place_of_run = Place::new();
        for file in ["surface.csv", spec] {
            let content = std::fs::read(place.path(file)).expect("written");
            place_of_run.write(file, content);
        }
        let few = "--chains 2 --warmup 60 --draws 60 -q";
        fit_both(&place_of_run, "surface.csv", &format!("--spec {spec} {few}"));
        let assess = |run: &str| {
            place_of_run.call(&format!("assess {run} --no-matching --refit 0 --json -q")).json()
        };
        let (kept, again) = (assess("kept"), assess("again"));
        for key in ["elpd_loo", "se", "p_loo", "waic", "dic"] {
            assert_near(&again[key], &kept[key], 1e-7);
        }
    }
}

#[test]
fn what_is_not_kept_is_told_before_and_a_run_goes_on_without_it() {
    let place = Place::with_data(50);
    let fit = "fit data.csv --target y --inputs a b --chains 2 --warmup 50 --log-lik-limit 0.01";
    let long = place.call(&format!("{fit} --draws 90 --out long"));
    assert_eq!(long.code, 0, "{}", long.stderr);
    let said = long.stderr.split_whitespace().collect::<Vec<_>>().join(" ");
    let expected = "the log likelihoods of 50 rows under 180 draws, 72 kB, are beyond the limit of \
                    10 kB (--log-lik-limit MB) and not kept";
    assert!(said.contains(expected), "{said}");
    // 40 draws would be within the limit of 20 kB, and are kept; the run goes on as it began.
    assert_eq!(place.call(&format!("{fit} --draws 40 -q --out short")).code, 0);
    assert_eq!(place.call("resume short --draws 90 -q").code, 0);
    let draws = |run: &str| place.files(&format!("{run}/draws.zarr"));
    assert_same_files(&draws("short"), &draws("long"));
    assert_eq!(place.call("verify short -q").code, 0);
    assert_eq!(place.call("export short --format zarr --out copy.zarr -q").code, 0);
    let refused = |flags: &str, words: &[&str]| {
        let fit = format!("fit data.csv --target y --inputs a {flags} --out x");
        place.call(&fit).assert_refused(flags, words);
    };
    refused("--log-lik-limit=-1", &["log_lik_limit", "megabytes"]);
    refused("--log-lik-limit 1 --model gp", &["log_lik_limit", "always kept"]);
}

#[test]
fn a_sample_of_the_rows_is_told_and_agrees_with_all_of_them() {
    let place = Place::with_data(400);
    assert_eq!(
        place.call(&format!("fit data.csv --target y --inputs a b {QUICK} --out run")).code,
        0
    );
    let all = place.call("assess run --json -q").json();
    assert_eq!(place.call("assess run --subsample all --json -q").json(), all);
    assert_eq!(place.call("assess run --subsample 400 --json -q").json(), all);
    let line = "assess run --subsample 80 --pointwise rows.csv --json -q";
    let part = place.call(line).json();
    assert_eq!(place.call(&format!("{line} --threads 1")).json(), part);
    assert_eq!(part["rows"], 400);
    let sample = &part["subsample"];
    assert_eq!(sample["rows"], 80);
    // Of a simple model nearly all is known without leaving any row out: what the sample leaves open
    // is far less than what the rows do, and the estimate is where it says (5 errors, 6e-7).
    let (error, se) = (number(&sample["elpd"]["subsampling_se"]), number(&part["se"]));
    assert!(error > 0.0 && error < 0.2 * se, "{sample} {se}");
    let off = number(&part["elpd_loo"]) - number(&all["elpd_loo"]);
    assert!(off.abs() < 5.0 * error, "{off} ± {error}");
    assert_near(&part["se"], &all["se"], 0.05);
    for (one, other) in [(0, 0), (1, 1)] {
        let [one, other] = [&part["utilities"][one], &all["utilities"][other]];
        let error = number(&one["components"]["subsampling"]);
        let off = number(&one["mean"]) - number(&other["mean"]);
        assert!(error > 0.0 && off.abs() < 5.0 * error, "{one} {other}");
        assert!(other["components"].get("subsampling").is_none());
    }
    assert_near(&part["p_loo"], &all["p_loo"], 0.6);
    assert_near(&part["waic"], &part["elpd_loo"], 1e-2);
    let rows = std::fs::read_to_string(place.path("rows.csv")).expect("written");
    let numbers: Vec<usize> = rows
        .lines()
        .skip(1)
        .map(|line| line.split(',').next().and_then(|it| it.parse().ok()).expect("a number"))
        .collect();
    assert!(numbers.len() == 80 && numbers.windows(2).all(|pair| pair[0] < pair[1]));
    assert!(numbers[79] > 200 && numbers[79] <= 400);
    place.call("assess run --subsample 80").assert_says(&[
        "80 of 400 rows, chosen at random, each left out in turn",
        "by the choice of 80 rows) over all rows",
    ]);
    place.call("assess run --subsample 80 --by class").assert_says(&["class = "]);
    place
        .call("assess run --method kfold --subsample 80")
        .assert_refused("folds", &["--subsample"]);
    assert_eq!(place.call("assess run --subsample some").code, 2);
}

#[test]
fn models_are_compared_by_the_same_sample() {
    let place = Place::with_data(300);
    for (inputs, out) in [("a b", "both"), ("a", "one")] {
        let fit = format!("fit data.csv --target y --inputs {inputs} {QUICK} --out {out}");
        assert_eq!(place.call(&fit).code, 0);
    }
    let all = place.call("compare both one --json -q").json();
    let part = place.call("compare both one --subsample 60 --json -q").json();
    assert_eq!(part["subsample"]["rows"], 60);
    assert_eq!(part["subsample"]["of"], 300);
    assert!(all.get("subsample").is_none());
    let [full, found] = [&all["table"][1], &part["table"][1]];
    assert_eq!(full["model"], found["model"]);
    let error = number(&found["subsampling_dse"]);
    let off = number(&found["elpd_diff"]) - number(&full["elpd_diff"]);
    assert!(error > 0.0 && off.abs() < 5.0 * error, "{off} ± {error}");
    assert_near(&found["dse"], &full["dse"], 0.1);
    assert!((number(&part["p_better"][0][1]) - 1.0).abs() < 1e-9);
    place.call("compare both one --subsample 60").assert_says(&[
        "by 60 of 300 rows, chosen at random and the same for all models",
        "sample_dse",
    ]);
}
