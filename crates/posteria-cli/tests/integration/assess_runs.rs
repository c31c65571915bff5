//! Assess and compare runs: contract, folds that go on, refusals.

use std::fs;

use crate::posteria::Place;
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
    let counts = json["effective_parameters"].as_array().expect("a list");
    let methods: Vec<&str> = counts.iter().filter_map(|it| it["method"].as_str()).collect();
    assert_eq!(methods, ["loo", "waic", "dic"]);
    for (count, key) in counts.iter().zip(["p_loo", "p_waic", "p_dic"]) {
        let value = number(&count["value"]);
        assert!((value - number(&json[key])).abs() < 1e-9 * value.abs(), "{key}: {count}");
        let [low, sd, high] = ["q05", "sd", "q95"].map(|name| number(&count[name]));
        assert!(low < value && value < high && sd > 0.1 && sd < value, "{key}: {count}");
    }
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
        ("--group y", vec!["--group y", "every row"]),
        ("--method holdout", vec!["--test FILE"]),
        ("--test absent.csv", vec!["absent.csv"]),
        ("--test data.csv", vec!["data.csv", "fitted to", "posterior"]),
        ("--method loo --test data.csv", vec!["data.csv"]),
        ("--method posterior --no-matching", vec!["--no-matching", "loo"]),
        ("--utility expr:mean+", vec!["mean+", "column"]),
        ("--utility expr:prob(x)", vec!["prob"]),
    ] {
        place.call(&format!("assess run -q {rest}")).assert_refused(rest, &words);
    }
    let mixed = place.call("assess --log-lik data.csv --folds 3");
    mixed.assert_refused("folds of a matrix", &["--folds", "--log-lik"]);
    let none = place.call("assess");
    assert_eq!(none.code, 2);
}

#[test]
fn rows_that_were_held_out_are_judged_by_the_run() {
    let place = with_run();
    let row = |i: usize| {
        let (a, b) = ((i as f64 * 0.37).fract(), (i as f64 * 0.71).fract());
        format!("{a},{b},{},{}\n", 1.0 + 2.0 * a - b + 0.3 * ((i % 3) as f64 - 1.0), i % 4)
    };
    let text: String = (1..=25).map(row).collect();
    place.write("new.csv", format!("a,b,y,g\n{text}"));
    let json = place.call("assess run --test new.csv --utility elpd rmse --by g --json -q").json();
    assert_eq!((json["method"].as_str(), json["rows"].as_u64()), (Some("holdout"), Some(25)));
    let predicted = place.call("predict run new.csv --json -q").json();
    let rmse = number(&json["utilities"][1]["mean"]);
    assert!((rmse - number(&predicted["rmse"])).abs() < 1e-9, "{json} {predicted}");
    let per_row = number(&json["utilities"][0]["mean"]);
    assert!((25.0 * per_row - number(&json["elpd_holdout"])).abs() < 1e-9);
    assert!(json["pareto_k"].is_null() && json["calibration"].is_object(), "{json}");
    assert_eq!(json["subgroups"].as_array().map(Vec::len), Some(4));
    // By groups the four of them are what is uncertain.
    let line = "assess run --method holdout --test new.csv --utility rmse --group g --json -q";
    let grouped = place.call(line).json();
    assert!(grouped["warnings"].to_string().contains("4 groups"), "{grouped}");
    let fit = format!("fit data.csv --target y --inputs a {QUICK} --out small");
    assert_eq!(place.call(&fit).code, 0);
    let line = "compare small run --method holdout --test new.csv --utility rmse --json -q";
    let compared = place.call(line).json();
    assert_eq!(compared["method"], "holdout");
    let expected = &compared["utilities"][0]["expected"][1]["mean"];
    assert!((number(expected) - rmse).abs() < 1e-9, "{compared}");
    place.write("far.csv", "a,b,y\n90,0.5,3\n0.5,0.5,1\n");
    for line in ["assess run --test far.csv", "compare small run --method holdout --test far.csv"] {
        let far = place.call(&format!("{line} --json -q")).json()["warnings"].to_string();
        assert!(far.contains("\"extrapolation\""), "{line}: {far}");
    }
    place.write("blind.csv", "a,b\n1,2\n");
    let blind = place.call("assess run --test blind.csv");
    blind.assert_refused("no targets", &["blind.csv", "y"]);
}

#[test]
fn an_outlier_is_left_out_by_moved_draws_before_any_refit() {
    let place = Place::new();
    let row = |i: usize| {
        let a = (i as f64 * 0.618_034).fract();
        format!("{a},{}\n", a + 0.2 * (i as f64 * 0.754_878).fract())
    };
    let text: String = (0..24).map(row).collect();
    place.write("data.csv", format!("a,y\n{text}2.5,2.2\n"));
    let fit = "fit data.csv --target y --chains 2 --warmup 100 --draws 1000 -q --out run";
    assert_eq!(place.call(fit).code, 0);
    let assess = |rest: &str| {
        place.call(&format!("assess run {rest} --utility elpd --pointwise rows.csv --json")).json()
    };
    let outlier = || {
        let text = fs::read_to_string(place.path("rows.csv")).expect("rows");
        let cells: Vec<String> =
            text.lines().last().expect("a row").split(',').map(str::to_string).collect();
        cells[1].parse::<f64>().expect("a number")
    };
    let plain = assess("--no-matching --refit 0");
    assert!(plain["pareto_k"]["bad"].as_u64() > Some(0), "{plain}");
    assert!(plain["warnings"].to_string().contains("Pareto"), "{plain}");
    let by_weights = outlier();
    let matched = assess("--refit 0");
    assert_eq!(matched["matched"], serde_json::json!([25]), "{matched}");
    assert_eq!(matched["pareto_k"]["bad"], 0, "{matched}");
    let by_moves = outlier();
    let refitted = assess("--no-matching");
    assert_eq!(refitted["refitted"], serde_json::json!([25]), "{refitted}");
    let exact = outlier();
    let [before, after] = [by_weights, by_moves].map(|it| (it - exact).abs());
    assert!(after < 0.5 * before, "weights {by_weights}, moved {by_moves}, refit {exact}");
    // Nothing is left for a refit.
    assert_eq!(assess("")["refitted"], serde_json::json!([]));
}

#[test]
fn a_class_that_a_fold_would_hide_is_named() {
    let place = Place::new();
    let row = |i: usize| {
        let class = if i < 3 { "rare" } else { ["cat", "dog"][i % 2] };
        format!("{},{class},{}\n", i as f64 * 0.1, i / 3)
    };
    let text: String = (0..30).map(row).collect();
    place.write("data.csv", format!("x,kind,g\n{text}"));
    let fit = format!("fit data.csv --target kind --inputs x {QUICK} --out run");
    assert_eq!(place.call(&fit).code, 0);
    for rest in ["--fold-column g", "--method kfold --folds 5 --group g"] {
        place.call(&format!("assess run -q {rest}")).assert_refused(rest, &["rare", "fold"]);
    }
    let refused = place.call("assess run -q --utility rmse");
    refused.assert_refused("error of a class", &["rmse", "accuracy"]);
}

#[test]
fn concordance_of_durations_is_of_folds_and_new_rows() {
    let place = Place::new();
    // Twice as long with every step of x; one in five is cut short.
    let table = |rows: std::ops::Range<i32>| {
        let each = rows.map(|row| {
            let (x, noise) = (row % 7, 0.3 * f64::from(row * 13 % 11) - 1.5);
            let time = (0.7 * f64::from(x) + noise).exp();
            let ended = row % 5 != 0;
            format!("{x},{},{}\n", if ended { time } else { 0.6 * time }, u8::from(ended))
        });
        format!("x,time,ended\n{}", each.collect::<String>())
    };
    place.write("lasts.csv", table(0..40));
    place.write("others.csv", table(40..90));
    let line = "fit lasts.csv --target time --event ended --chains 2 --draws 200 --warmup 200 --out run -q";
    assert_eq!(place.call(line).code, 0);
    let line = "assess run --method kfold --folds 3 --utility elpd concordance --json -q";
    let json = place.call(line).json();
    let found = &json["utilities"][1];
    assert_eq!((&found["name"], &found["better"]), (&"concordance".into(), &"higher".into()));
    let [mean, sd, low, high] = ["mean", "sd", "q05", "q95"].map(|key| number(&found[key]));
    assert!((0.65..0.95).contains(&mean) && (0.01..0.1).contains(&sd), "{found}");
    assert!(low < mean && mean < high && high < 1.0 && found["bias_correction"].is_number());
    let line = "assess run --test others.csv --utility concordance --json -q";
    let new = place.call(line).json();
    assert!((number(&new["utilities"][0]["mean"]) - mean).abs() < 0.1, "{new}");
    let said = place.call("assess run --utility concordance").refusal().to_string();
    assert!(said.contains("leave-one-out") && said.contains("--method kfold"), "{said}");
}
