//! Chains that do not mix: named with what they disagree about, weighed, and what to do.

use serde_json::Value;

use crate::posteria::Place;

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("no number: {value}"))
}

fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().expect("a list").iter().map(number).collect()
}

/// The warning with this code.
fn warning<'j>(json: &'j Value, code: &str) -> Option<&'j Value> {
    json["warnings"].as_array().expect("a list").iter().find(|it| it["code"] == code)
}

#[test]
fn stacked_predictions_are_mixtures_of_the_chains() {
    let place = Place::with_data(30);
    let fit = "fit data.csv --target y --inputs a b --chains 3 --warmup 40 --draws 60 -q";
    assert_eq!(place.call(&format!("{fit} --out run")).code, 0);
    let stacked = place.call("predict run data.csv --chains stacked --json").json();
    let weights = numbers(&stacked["stacking"]["weights"]);
    assert_eq!(weights.len(), 3);
    assert!((weights.iter().sum::<f64>() - 1.0).abs() < 1e-9, "{weights:?}");
    let score = |key: &str| number(&stacked["stacking"][key]);
    assert!(score("elpd_stacked") >= score("elpd_equal"), "{stacked}");
    assert!((score("elpd_stacked") - score("elpd_equal") - score("elpd_diff")).abs() < 1e-9);
    assert!(score("elpd_stacked_by_others") <= score("elpd_stacked") + 1e-9);
    // The mean of a row is that of f over the draws of every chain, weighed.
    let out = place.call("predict run data.csv --draws-out f.csv -q");
    assert_eq!(out.code, 0, "{}", out.stderr);
    let text = std::fs::read_to_string(place.path("f.csv")).expect("written");
    let mut mean = 0.0;
    for line in text.lines().skip(1) {
        let cells: Vec<&str> = line.split(',').collect();
        let chain: usize = cells[0].parse().expect("a chain");
        mean += weights[chain] / 60.0 * cells[2].parse::<f64>().expect("f of the first row");
    }
    let told = number(&stacked["rows"][0]["mean"]);
    assert!((told - mean).abs() < 1e-9 * mean.abs().max(1.0), "{told} {mean}");
    // What was not kept is computed again; fewer draws of every chain keep their chain's weight.
    assert_eq!(place.call(&format!("{fit} --log-lik-limit 0 --out bare")).code, 0);
    let again = place.call("predict bare data.csv --chains stacked --draws 90 --json").json();
    for (one, other) in weights.iter().zip(numbers(&again["stacking"]["weights"])) {
        assert!((one - other).abs() < 1e-5, "{weights:?} {again}");
    }
    // `assess` scores rows that were not fitted as `predict` does, and keeps nothing of it.
    place.write("test.csv", "a,b,y\n0.1,0.2,1.1\n-0.3,0.1,0.2\n0.4,-0.4,2.3\n");
    let [assessed, predicted] = ["assess run --test test.csv", "predict run test.csv"]
        .map(|line| place.call(&format!("{line} --chains stacked --json")).json());
    let elpd = number(&assessed["utilities"][0]["mean"]);
    assert!((elpd - number(&predicted["mean_log_density"])).abs() < 1e-9, "{assessed}");
    assert_eq!(assessed["stacking"], predicted["stacking"]);
    assert!(!place.path("run/assess.json").exists());
    place.call("assess run --chains stacked").assert_refused("no test", &["--test FILE"]);
    let text = place.call("predict run data.csv --chains stacked");
    text.assert_says(&["chains weighed by stacking", "equal weights", "is optimistic"]);
    // `diagnose` has the same weights, and tells chains from 1.
    let all = place.call("diagnose run --all --json").json();
    for (chain, weight) in all["chains"].as_array().expect("chains").iter().zip(&weights) {
        assert!((number(&chain["weight"]) - weight).abs() < 1e-12, "{all}");
        assert!(number(&chain["elpd_diff"]) <= 0.0 && number(&chain["distance"]) > 0.0, "{all}");
    }
    let shown = place.call("diagnose run --all");
    shown.assert_says(&["What the chains say about the rows of the fit", "elpd_diff", "30 rows"]);
    let first = shown.stdout.lines().find(|line| line.starts_with("chain")).expect("a table");
    let after = shown.stdout.split(first).nth(1).expect("rows");
    assert!(after.trim_start().starts_with('1'), "{}", shown.stdout);
}

#[test]
fn what_has_no_chains_to_weigh_is_refused_with_the_cure() {
    let place = Place::with_data(25);
    let fit = "fit data.csv --target y --inputs a b --warmup 30 --draws 30 -q";
    let short = |flags: &str| assert_eq!(place.call(&format!("{fit} {flags}")).code, 0, "{flags}");
    short("--chains 1 --out one");
    short("--chains 2 --out two");
    short("--model mlp --hidden 2 --chains 2 --inverse-temperature 0.5 --out warm");
    assert_eq!(
        place.call("fit data.csv --target y --inputs a b --inference laplace --out mode -q").code,
        0
    );
    assert_eq!(place.call("fit data.csv --inputs a b --model mixture --out mixture -q").code, 0);
    let stacked = |run: &str, more: &str| {
        place.call(&format!("predict {run} data.csv --chains stacked {more}"))
    };
    stacked("one", "").assert_refused("one chain", &["one chain", "--chains 4"]);
    stacked("mode", "").assert_refused("a mode", &["approximation", "--inference mcmc"]);
    stacked("warm", "").assert_refused("tempered", &["likelihood to another power"]);
    stacked("mixture", "").assert_refused("no target", &["no targets"]);
    stacked("two", "--effects").assert_refused("effects", &["--effects takes all draws alike"]);
    stacked("two", "--draws-out f.csv").assert_refused("draws", &["--draws-out"]);
    // Equal weights are what there is without the flag.
    let [plain, equal] = ["", "--chains equal"]
        .map(|flag| place.call(&format!("predict two data.csv {flag} --json")).json());
    assert_eq!(plain["rows"], equal["rows"]);
}

#[test]
fn slow_chains_are_told_how_many_draws_would_do_and_the_command_works() {
    let place = Place::with_data(30);
    let fit = "fit data.csv --target y --inputs a b --chains 2 --warmup 60 --draws 40";
    let short = place.call(&format!("{fit} --out run --json")).json();
    let warnings = short["warnings"].as_array().expect("warnings");
    let few = warnings.iter().filter(|it| it["code"] == "few-effective-draws");
    assert!(few.count() > 1, "{short}");
    // One command for all of them, with the draws that all of them need.
    let cures = warnings.iter().filter_map(|it| it["cure"].as_str());
    let cures: Vec<&str> = cures.filter(|it| it.starts_with("go on with")).collect();
    let [cure] = cures[..] else { panic!("{cures:?}") };
    assert!(cure.contains("at the pace so far"), "{cure}");
    let line = cure.split("posteria ").nth(1).and_then(|it| it.split(" (").next()).expect("a line");
    let asked: u64 = line.split_whitespace().last().and_then(|it| it.parse().ok()).expect("draws");
    assert!(asked > 40, "{line}");
    let longer = place.call(&format!("{line} --json")).json();
    assert_eq!(number(&longer["draws"]) as u64, asked);
    assert!(number(&longer["min_ess_bulk"]) > 2.0 * number(&short["min_ess_bulk"]), "{longer}");
}

#[test]
fn separable_classes_are_told_of_the_prior() {
    let place = Place::new();
    let row = |i: usize| {
        let [x, z] = [0.618_034, 0.754_878].map(|step| (i as f64 * step).fract() - 0.5);
        format!("{},{z},{}\n", x + 0.2 * x.signum(), if x > 0.0 { "yes" } else { "no" })
    };
    place.write("data.csv", format!("x,z,class\n{}", (0..40).map(row).collect::<String>()));
    let fit = "fit data.csv --target class --priors mcmcstuff --chains 2 --warmup 60 --draws 40";
    let json = place.call(&format!("{fit} --out run --json")).json();
    let told = warning(&json, "separable-classes").expect("told");
    assert_eq!(told["cure"], "fit with --priors weakly-informative", "{json}");
    let again = place.call("diagnose run --json").json();
    assert!(warning(&again, "separable-classes").is_some(), "{again}");
}
