//! Assess and compare runs: contract, folds that go on, refusals.

use std::fs;

use crate::predict::{QUICK, number, with_run};

#[test]
fn leave_one_out_gives_the_promised_object() {
    let place = with_run();
    let json = place.call("assess run --json -q").json();
    assert_eq!(json["method"], "loo");
    for key in ["elpd_loo", "se", "p_loo", "dic", "p_dic", "waic"] {
        assert!(json[key].is_number(), "{key} in {json}");
    }
    let utilities = json["utilities"].as_array().expect("utilities");
    assert_eq!(utilities.len(), 2);
    for (utility, name) in utilities.iter().zip(["elpd", "rmse"]) {
        assert_eq!(utility["name"], name);
        let [low, middle, high] = ["q05", "q50", "q95"].map(|key| number(&utility[key]));
        assert!(low < middle && middle < high && number(&utility["sd"]) > 0.0);
        assert!(utility["bias_correction"].is_null());
    }
    // The mean over rows of the one is the sum over rows of the other.
    let per_row = number(&utilities[0]["mean"]);
    assert!((40.0 * per_row - number(&json["elpd_loo"])).abs() < 1e-9);
    let k = &json["pareto_k"];
    let counts = ["good", "ok", "bad"].map(|key| k[key].as_u64().expect("a count"));
    assert_eq!(counts.iter().sum::<u64>(), 40);
    assert!(number(&json["m_eff"]["min"]) <= number(&json["m_eff"]["q10"]));
    // Two inputs, an intercept, a scale.
    assert!((1.0..8.0).contains(&number(&json["p_loo"])), "{}", json["p_loo"]);
    assert!((number(&json["waic"]) - number(&json["elpd_loo"])).abs() < 0.5);
    // The noise of this table has deviation 0.5/√12.
    assert!((0.10..0.20).contains(&number(&utilities[1]["mean"])), "{}", utilities[1]);
    assert!(place.path("run/assess.json").exists());
    let same = place.call("assess run --json -q --threads 1").json();
    assert_eq!(json, same);
}

#[test]
fn folds_are_fitted_once_and_go_on() {
    let place = with_run();
    let line = "assess run --method kfold --folds 4 --utility rmse mae --json -q";
    let json = place.call(line).json();
    assert_eq!((json["method"].as_str(), json["folds"].as_u64()), (Some("kfold"), Some(4)));
    for utility in json["utilities"].as_array().expect("utilities") {
        assert!(utility["bias_correction"].is_number(), "{utility}");
        // Errors shrink with more training rows, so the correction is towards smaller ones.
        assert!(number(&utility["bias_correction"]) < 0.01, "{utility}");
    }
    let fold = place.path("run/folds/random-4-seed-1/fold-0002");
    assert!(fold.join("draws.zarr").exists());
    // As if it had been killed before this fold began: the others are used as they are.
    fs::remove_dir_all(&fold).expect("a folder");
    assert_eq!(place.call(line).json(), json);
    assert!(fold.exists());
    let alone = place.call("fit --spec run/folds/random-4-seed-1/fold-0001/spec.toml --out x -q");
    assert_eq!(alone.code, 0, "{}", alone.stderr);
    let repeated = "assess run --method kfold --folds 4 --repeats 2 --utility rmse --json -q";
    let repeated = place.call(repeated).json();
    assert!(repeated["utilities"][0]["components"]["folds"].is_number(), "{repeated}");
}

#[test]
fn models_are_compared_in_pairs() {
    let place = with_run();
    let fit = format!("fit data.csv --target y --inputs a {QUICK} --out small");
    assert_eq!(place.call(&fit).code, 0);
    let json = place.call("compare small run --utility elpd rmse --json -q").json();
    assert_eq!(json["models"], serde_json::json!(["small", "run"]));
    // y depends on b too.
    assert_eq!(json["table"][0]["model"], "run");
    assert!(number(&json["table"][1]["elpd_diff"]) > 0.0);
    let p = |row: usize, column: usize| number(&json["p_better"][row][column]);
    assert!(p(1, 0) > 0.99 && (p(0, 1) + p(1, 0) - 1.0).abs() < 1e-12);
    assert!((p(0, 0) - 0.5).abs() < 1e-12);
    let weights = json["table"].as_array().expect("rows").iter().map(|row| number(&row["weight"]));
    assert!((weights.sum::<f64>() - 1.0).abs() < 1e-9);
    let text = place.call("compare small run -q");
    assert!(text.stdout.contains("P(row better than column)"), "{}", text.stdout);
    place.write("other.csv", "a,b,y\n1,2,3\n2,1,4\n3,3,5\n4,0,1\n");
    let fit = format!("fit other.csv --target y {QUICK} --out other");
    assert_eq!(place.call(&fit).code, 0);
    for (line, words) in [
        ("compare run other", vec!["run", "other", "40 rows", "4 rows"]),
        ("compare run run", vec!["run", "twice"]),
        ("compare run absent", vec!["absent"]),
    ] {
        place.call(line).assert_refused(line, &words);
    }
}

#[test]
fn what_makes_no_sense_is_refused() {
    let place = with_run();
    for (rest, words) in [
        ("--folds 41", vec!["40", "41"]),
        ("--folds 1", vec!["at least 2"]),
        ("--method loo --folds 4", vec!["--folds", "kfold"]),
        ("--utility accuracy", vec!["accuracy", "rmse"]),
        ("--utility rmes", vec!["rmes", "rmse"]),
        ("--utility expr:maen", vec!["maen", "mean", "column 1"]),
        ("--group nobody", vec!["nobody", "a"]),
        ("--block 40 --folds 2", vec!["40"]),
        ("--weights nobody", vec!["nobody"]),
        ("--by nobody", vec!["nobody"]),
    ] {
        place.call(&format!("assess run -q {rest}")).assert_refused(rest, &words);
    }
    let mixed = place.call("assess --log-lik data.csv --folds 3");
    mixed.assert_refused("folds of a matrix", &["--folds", "--log-lik"]);
    let none = place.call("assess");
    assert_eq!(none.code, 2);
}
