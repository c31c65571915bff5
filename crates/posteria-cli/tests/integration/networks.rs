//! Fit neural networks to data of every kind, and refuse what cannot be fitted.

use serde_json::Value;

use crate::posteria::{Place, assert_same_files, surface, wide};

const TINY: &str = "--model mlp --chains 2 --warmup 20 --draws 20 --out run";

/// The median of every variable of a run, all of which must be numbers.
#[track_caller]
fn medians(place: &Place, run: &str) -> Vec<(String, f64)> {
    let json = place.call(&format!("summary {run} --json")).json();
    let number = |row: &Value, key: &str| {
        row[key].as_f64().unwrap_or_else(|| panic!("{key} of {row} is not a number"))
    };
    json["variables"]
        .as_array()
        .expect("variables")
        .iter()
        .map(|row| {
            // A deviation may be beyond all numbers where a prior is heavy-tailed; a mean not.
            number(row, "mean");
            (row["name"].as_str().expect("a name").to_string(), number(row, "median"))
        })
        .collect()
}

/// Fits a network and forgets it; returns what the fit printed.
#[track_caller]
fn fit(place: &Place, table: &str, rest: &str) -> Value {
    place.write("t.csv", table);
    let hidden = if rest.contains("--hidden") { "" } else { "--hidden 3" };
    let json = place.call(&format!("fit t.csv --target y {TINY} {hidden} {rest} --json -q")).json();
    for (name, median) in medians(place, "run") {
        assert!(median.is_finite(), "{name}");
    }
    std::fs::remove_dir_all(place.path("run")).expect("removed");
    json
}

#[test]
fn poor_tables_are_fitted_all_the_same() {
    let place = Place::new();
    let constant = fit(&place, "x,c,y\n1,5,2\n2,5,4\n3,5,1\n4,5,7\n5,5,11\n", "");
    assert!(constant["warnings"].to_string().contains("column c"), "{constant}");
    fit(&place, "x,y\n1,3\n2,3\n3,3\n", "");
    fit(&place, "x,y\n1,2\n", "");
    let json = fit(&place, &wide(), "");
    assert_eq!(json["relevance"].as_array().expect("relevances").len(), 20);
}

#[test]
fn enormous_and_tiny_targets_are_fitted_on_their_scale() {
    let place = Place::new();
    for spread in [1e150, 1e-150] {
        for residual in ["normal", "student-t"] {
            let json = fit(&place, &surface(20, spread), &format!("--residual {residual}"));
            let error = json["training_error"]["mean"].as_f64().expect("an error") / spread;
            assert!(error > 0.0 && error < 5.0, "{spread}: {json}");
        }
    }
}

#[test]
fn every_residual_family_is_fitted_and_told_apart_by_groups() {
    let place = Place::new();
    for rest in [
        "--residual laplace",
        "--residual per-case",
        "--residual student-t --residual-by g",
        "--residual-by g",
        "--residual-by g x",
        "--residual student-t --dof-by g",
        "--hidden 0",
        "--kernel hmc",
        "--kernel nuts --start prior",
    ] {
        fit(&place, &surface(24, 1.0), rest);
    }
}

#[test]
fn classes_may_be_text_and_may_be_one_only() {
    let place = Place::new();
    let table = |class: fn(usize) -> &'static str| {
        let lines: String = (0..18).map(|i| format!("{},{}\n", i * i % 13, class(i))).collect();
        format!("x,y\n{lines}")
    };
    let two = fit(&place, &table(|i| if i % 3 == 0 { "yes" } else { "no" }), "");
    let share = two["training_error"]["mean"].as_f64().expect("a share");
    assert!((0.0..=1.0).contains(&share), "{two}");
    fit(&place, &table(|i| ["red", "green", "blue"][i % 3]), "");
    fit(&place, &table(|i| ["red", "green", "blue"][i % 3]), "--hidden 0");
    let one = fit(&place, &table(|_| "always"), "");
    assert!(one["warnings"].to_string().contains("every row has class always"), "{one}");
    assert!(!one["warnings"].to_string().contains("stuck"), "{one}");
}

#[test]
fn what_a_network_cannot_do_is_refused_with_place_and_cure() {
    let place = Place::new();
    place.write("t.csv", surface(24, 1.0));
    place.write("c.csv", "x,y\n1,a\n2,b\n3,a\n4,b\n");
    let few: String = (0..12).map(|i| format!("{},{},{i}\n", i % 3, i / 4)).collect();
    place.write("few.csv", format!("x,z,y\n{few}"));
    place.write("no-target.csv", "x,z,g\n1,2,0\n");
    place.write("no-input.csv", "x,y\n1,2\n");
    place.write("other.csv", "x,y\n1,c\n");
    for (line, words) in [
        ("t.csv --residual-by q", vec!["q in residual.by is not an input", "x, z, g"]),
        ("few.csv --residual-by x z", vec!["x, z in residual.by", "9 groups", "few values"]),
        ("t.csv --residual student-t --dof-by g --kernel nuts", vec!["dof_by", "kernel"]),
        ("t.csv --dof-by g", vec!["dof_by", "student-t"]),
        ("c.csv --residual student-t", vec!["[residual]", "a target that is a class"]),
        ("c.csv --residual-by x", vec!["[residual]", "a target that is a class"]),
        ("t.csv --hidden 5000", vec!["hidden = 5000", "at most 1000"]),
        ("t.csv --test no-target.csv", vec!["no-target.csv", "target y"]),
        ("t.csv --test no-input.csv", vec!["no-input.csv", "\"z\""]),
        ("t.csv --test absent.csv", vec!["absent.csv", "cannot be opened"]),
        ("c.csv --test other.csv", vec!["other.csv:2:2", "\"c\""]),
        ("t.csv --model linear --test t.csv --hidden 3", vec!["hidden", "linear"]),
        ("t.csv --model linear --kernel nuts", vec!["kernel in [sampling]", "linear"]),
    ] {
        let model = if line.contains("--model") { "" } else { "--model mlp" };
        let outcome = place.call(&format!(
            "fit {line} {model} --target y --chains 1 --warmup 5 --draws 5 --out run -q"
        ));
        outcome.assert_refused(line, &words);
        assert!(!place.path("run").exists(), "{line}");
    }
    for inference in ["laplace", "committee"] {
        let line =
            format!("fit t.csv --target y --model mlp --residual-by x --inference {inference}");
        let outcome = place.call(&format!("{line} --out run -q"));
        outcome.assert_refused(&line, &["slopes", "[residual]", inference]);
    }
}

#[test]
fn wrong_specifications_of_networks_are_refused_with_file_and_section() {
    let place = Place::new();
    place.write("t.csv", surface(24, 1.0));
    for (text, words) in [
        ("[prior.hidden_weights]\nscale = 1.0", vec!["prior.hidden_weights", "input_weights"]),
        ("[prior.output_weights]\nfixed = 1.0\nscale = 1.0", vec!["prior.output_weights", "fixed"]),
        ("[prior.output_weights]\nwidth_scaled = 'fmb'", vec!["m.toml:6:16", "fbm", "mcmcstuff"]),
        ("[prior.hidden_bias]\nsharing = 'per-input'", vec!["prior.hidden_bias", "per-input"]),
        ("[prior.input_weights]\ndof = -1.0", vec!["dof = -1", "positive"]),
        ("[residual]\nfamily = 'normal'\ndof = 4.0", vec!["dof in [residual]", "family"]),
        ("[residual]\nfamily = 'cauchy'", vec!["m.toml:6:10", "cauchy", "student-t"]),
        ("[sampling]\nwindow = 3", vec!["window in [sampling]", "hmc"]),
        ("[sampling]\nkernel = 'gibbs'", vec!["m.toml:6:10", "auto"]),
        ("[sampling]\ntemperatures = 0", vec!["temperatures", "between 1"]),
    ] {
        place.write("m.toml", format!("[data]\ntarget = 'y'\n[model]\nkind = 'mlp'\n{text}\n"));
        let outcome = place.call("fit t.csv --spec m.toml --out run -q");
        outcome.assert_refused(text, &["m.toml"]);
        outcome.assert_refused(text, &words);
        assert!(!place.path("run").exists());
    }
}

#[test]
fn a_dry_run_tells_the_prior_in_words_and_draws_functions_from_it() {
    let place = Place::new();
    place.write("t.csv", surface(30, 1.0));
    let fit = "fit t.csv --target y --model mlp --hidden 8 --residual student-t --dry-run";
    let dry = place.call(fit);
    dry.assert_says(&[
        "neural network regression of y on 3 inputs, 30 rows",
        "sum over 8 hidden units",
        "24 weights, normal about 0; one scale for each of 3 inputs",
        "(1.5 / 8^(1/2) = 0.53",
        "1 bias, normal about 0 with standard deviation 1.5, fixed",
        "Student's t with unknown degrees of freedom, equally probable 2, 2.3",
        "41 weights and 8 hyperparameters are sampled",
        "output weights integrated out",
        "over x from",
        "deviation of f over the rows: median",
        "residual scale: median",
        "▁",
    ]);
    assert!(!dry.stdout.contains("NaN") && !dry.stdout.contains("inf"), "{}", dry.stdout);
    assert_eq!(place.names(), ["t.csv"], "nothing was written");
    let json = place.call(&format!("{fit} --json")).json();
    let functions = &json["prior_functions"];
    assert_eq!(functions["input"], "x");
    assert_eq!(functions["draws"].as_array().expect("draws").len(), 5);
    let places = functions["at"].as_array().expect("places").len();
    for draw in functions["draws"].as_array().expect("draws") {
        assert_eq!(draw.as_array().expect("values").len(), places);
    }
    let quantile = |of: &str, key: &str| functions[of][key].as_f64().expect("a number");
    for of in ["sd_of_f", "residual_scale"] {
        assert!(quantile(of, "q05") < quantile(of, "median"), "{functions}");
    }
    // Half of the residual scales lie above 0.3 sd(y); 400 draws know that to a factor of 1.1.
    let sd = 0.75;
    let median = quantile("residual_scale", "median") / (0.3 * sd);
    assert!((0.7..1.4).contains(&median), "{median}");
    // Numbers near the end of what can be computed with are told in words.
    place.write("huge.csv", surface(30, 1e151));
    let huge = place.call("fit huge.csv --target y --model mlp --dry-run");
    assert_eq!(huge.code, 0, "{}", huge.stderr);
    assert!(!huge.stdout.contains("NaN") && !huge.stdout.contains("inf"), "{}", huge.stdout);
    place.call("fit huge.csv --target y --model mlp --dry-run --json").json();
    // Classes: probabilities.
    let class = "x,y\n1,a\n2,b\n3,c\n4,b\n";
    place.write("c.csv", class);
    let json = place.call("fit c.csv --target y --model mlp --dry-run --json").json();
    assert_eq!(json["prior_functions"]["of"], "probability of a");
    for value in json["prior_functions"]["draws"][0].as_array().expect("values") {
        assert!((0.0..=1.0).contains(&value.as_f64().expect("a probability")));
    }
    // Trajectories are shorter between exchanges with other temperatures.
    let classes = "fit c.csv --target y --model mlp --dry-run";
    place.call(classes).assert_says(&["200 leapfrog steps"]);
    place
        .call(&format!("{classes} --temperatures 3"))
        .assert_says(&["120 leapfrog steps", "replica exchange between 3 temperatures"]);
}

#[test]
fn a_summary_judges_what_is_identified_and_orders_the_rest() {
    let place = Place::new();
    place.write("t.csv", surface(40, 1.0));
    let line = "fit t.csv --target y --model mlp --hidden 4 --chains 2 --warmup 50 --draws 50 \
                --test t.csv --out run";
    let fit = place.call(line);
    assert_eq!(fit.code, 0, "{}", fit.stderr);
    for words in ["inputs by relevance: ", "training error of a draw: ", "test error of a draw: "] {
        assert!(fit.stdout.contains(words), "{words:?} is missing in\n{}", fit.stdout);
    }
    let summary = place.call("summary run");
    for words in [
        "Relevance of inputs",
        "[Vehtari 2001, §2.2.4]",
        "Scales",
        "Residual",
        "Errors and log density",
        "training_error",
        "test_error",
        "log_density",
        "median",
        "input_weights, hidden_bias, output_weights: 20 components not shown",
        "not identified and are not judged",
        "fitted: 40 components not shown; largest R-hat",
        "--all shows them",
    ] {
        assert!(summary.stdout.contains(words), "{words:?} is missing in\n{}", summary.stdout);
    }
    assert!(!summary.stdout.contains("input_weights["));
    assert!(place.call("summary run --wide").stdout.contains("mean_log"));
    let all = place.call("summary run --all").stdout;
    assert!(all.contains("input_weights[x, 0]") && all.contains("fitted[39]"), "{all}");
    assert!(!all.contains("not shown"));
    assert!(place.call("diagnose run").stdout.contains("components not shown"));
    let json = place.call("summary run --json").json();
    let mut largest = f64::NAN;
    for row in json["variables"].as_array().expect("variables") {
        let name = row["name"].as_str().expect("a name");
        let weight = ["input_weights", "hidden_bias[", "output_weights"];
        let identified = !weight.iter().any(|weight| name.starts_with(weight));
        assert_eq!(row.get("identified").is_none(), identified, "{name}");
        assert!(row["median"].is_number());
        assert_eq!(row.get("mean_log").is_some(), name.contains("_scale") || name.contains("rel"));
        if let (true, Some(r_hat)) = (identified, row["r_hat"].as_f64()) {
            largest = largest.max(r_hat);
        }
    }
    let report = place.call("resume run --json -q").json();
    assert_eq!(report["max_r_hat"].as_f64(), Some(largest), "the identified ones, log density too");
    // The attributes tell other readers.
    let attributes = |name: &str| {
        let file = format!("run/draws.zarr/posterior/{name}/.zattrs");
        std::fs::read_to_string(place.path(&file)).expect("attributes")
    };
    assert!(attributes("input_weights").contains("\"identified\":false"));
    assert!(!attributes("relevance").contains("identified"));
}

#[test]
fn the_saved_specification_of_a_network_repeats_it_on_any_number_of_threads() {
    let place = Place::new();
    place.write("t.csv", surface(25, 1.0));
    let fit = "fit t.csv --target y --model mlp --hidden 3 --residual student-t --residual-by g \
               --chains 3 --warmup 40 --draws 40 --test t.csv --threads 1 --out one -q";
    assert_eq!(place.call(fit).code, 0);
    assert_eq!(place.call("fit --spec one/spec.toml --threads 2 --out two -q").code, 0);
    let [one, two] = ["one", "two"].map(|run| place.files(&format!("{run}/draws.zarr")));
    assert!(one.len() > 20);
    assert_same_files(&one, &two);
}
