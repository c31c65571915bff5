//! Fit Gaussian processes to data of every kind, and refuse what cannot be fitted.

use serde_json::Value;

use crate::posteria::{Place, assert_same_files, surface, wide};

const TINY: &str = "--model gp --chains 2 --warmup 20 --draws 20 --out run";

/// Fits a process and forgets it; returns what the fit printed. Every summary is a number.
#[track_caller]
fn fit(place: &Place, table: &str, rest: &str) -> Value {
    place.write("t.csv", table);
    let json = place.call(&format!("fit t.csv --target y {TINY} {rest} --json -q")).json();
    let summary = place.call("summary run --json").json();
    for row in summary["variables"].as_array().expect("variables") {
        for key in ["mean", "median"] {
            assert!(row[key].as_f64().is_some_and(f64::is_finite), "{key} of {row}");
        }
    }
    std::fs::remove_dir_all(place.path("run")).expect("removed");
    json
}

fn error(json: &Value) -> f64 {
    json["training_error"]["mean"].as_f64().expect("an error")
}

#[test]
fn poor_tables_are_fitted_all_the_same() {
    let place = Place::new();
    let constant = fit(&place, "x,c,y\n1,5,2\n2,5,4\n3,5,1\n4,5,7\n5,5,11\n", "");
    assert!(constant["warnings"].to_string().contains("column c"), "{constant}");
    fit(&place, "x,y\n1,3\n2,3\n3,3\n", "");
    fit(&place, "x,y\n1,2\n", "");
    // Rows that are all there twice, and an input that is another one doubled.
    fit(&place, &format!("x,y\n{}", "1,2\n2,3\n3,1\n4,1\n".repeat(5)), "");
    let twins: String = (0..15).map(|i| format!("{i},{},{}\n", 2 * i, i * i % 7)).collect();
    fit(&place, &format!("x,x2,y\n{twins}"), "--covariance se+linear");
    // More inputs than rows.
    let json = fit(&place, &wide(), "");
    assert_eq!(json["relevance"].as_array().expect("relevances").len(), 20);
    let common = fit(&place, &wide(), "--relevance common");
    assert!(common.get("relevance").is_none(), "{common}");
}

#[test]
fn enormous_and_tiny_targets_are_fitted_on_their_scale() {
    let place = Place::new();
    for spread in [1e150, 1e-150] {
        for residual in ["normal", "student-t"] {
            let json = fit(&place, &surface(20, spread), &format!("--residual {residual}"));
            let error = error(&json) / spread;
            assert!(error > 0.0 && error < 5.0, "{spread}: {json}");
        }
    }
}

#[test]
fn every_covariance_and_residual_is_fitted() {
    let place = Place::new();
    for rest in [
        "--covariance matern-3/2+linear",
        "--covariance periodic(x)*se(z)+constant",
        "--covariance nn",
        "--covariance rq*exponential",
        "--residual laplace",
        "--residual per-case",
        "--residual student-t --residual-by g",
        "--residual-by g",
        "--residual-by x g",
        "--residual student-t --dof-by g",
        "--residual-by x --neighbours 5",
        "--kernel hmc",
        "--kernel nuts --start prior",
        "--neighbours 5",
    ] {
        let json = fit(&place, &surface(24, 1.0), rest);
        assert!(error(&json) < 3.0, "{rest}: {json}");
        assert_eq!(json["model"], "gp");
    }
}

#[test]
fn several_targets_have_processes_of_their_own() {
    let place = Place::new();
    let line = |i: usize| format!("{i},{},{}\n", i * i % 7, 100 * (i % 5));
    place.write("t.csv", format!("x,y1,y2\n{}", (0..20).map(line).collect::<String>()));
    let two = place.call(&format!("fit t.csv --target y1 y2 {TINY} --json -q")).json();
    let inputs: Vec<&str> = two["relevance"]
        .as_array()
        .expect("relevances")
        .iter()
        .map(|relevance| relevance["input"].as_str().expect("a name"))
        .collect();
    assert!(inputs.contains(&"y1, x") && inputs.contains(&"y2, x"), "{inputs:?}");
    let text = place.call("summary run").stdout;
    assert!(text.contains("magnitude[y1]") && text.contains("relevance[y2, x]"), "{text}");
}

#[test]
fn what_a_process_cannot_do_is_refused_with_place_and_cure() {
    let place = Place::new();
    place.write("t.csv", surface(24, 1.0));
    place.write("c.csv", "x,y\n1,a\n2,b\n3,a\n4,b\n");
    let many: String = (0..20_001).map(|i| format!("{i},{}.5\n", i % 7)).collect();
    place.write("many.csv", format!("x,y\n{many}"));
    for (line, words) in [
        ("t.csv --covariance matern", vec!["column 1: 'matern'", "matern-3/2, matern-5/2"]),
        ("t.csv --covariance se+linear(q)", vec!["column 11: 'q' is no input", "x, z, g"]),
        ("t.csv --covariance se(x", vec!["expected ',' or ')'", "the end"]),
        ("t.csv --covariance se++linear", vec!["column 4", "a covariance function"]),
        ("t.csv --hidden 3", vec!["hidden in [model]", "kind = \"gp\""]),
        ("t.csv --neighbours 3 --inverse-temperature 2", vec!["inverse_temperature", "neighbours"]),
        ("t.csv --residual-by q", vec!["q in residual.by is not an input", "x, z, g"]),
        ("c.csv --residual student-t", vec!["[residual]", "a target that is a class"]),
        ("c.csv --neighbours 2", vec!["neighbours", "a class"]),
        ("many.csv", vec!["20001 rows are too many", "--neighbours 30"]),
        ("many.csv --dry-run", vec!["20001 rows are too many", "--neighbours 30"]),
    ] {
        let outcome = place.call(&format!(
            "fit {line} --model gp --target y --chains 1 --warmup 5 --draws 5 --out run -q"
        ));
        outcome.assert_refused(line, &words);
        assert!(!place.path("run").exists(), "{line}");
    }
    let large: String = many.lines().take(4200).map(|line| format!("{line}\n")).collect();
    place.write("large.csv", format!("x,y\n{large}"));
    let dry = place.call("fit large.csv --target y --model gp --dry-run --threads 2 -q");
    assert_eq!(dry.code, 0, "{}", dry.stderr);
    for words in ["4200 rows needs about 1.7 GB", "2 running chains", "--neighbours 30"] {
        assert!(dry.stderr.contains(words), "{words:?} is missing in {}", dry.stderr);
    }
    let quick = place.call("fit large.csv --target y --neighbours 5 --dry-run -q");
    assert_eq!((quick.code, quick.stderr.as_str()), (0, ""));
}

#[test]
fn wrong_specifications_of_processes_are_refused_with_file_and_section() {
    let place = Place::new();
    place.write("t.csv", surface(24, 1.0));
    for (text, words) in [
        ("[prior.weights]\nscale = 1.0", vec!["prior.weights", "magnitude, relevance"]),
        ("[prior.magnitude]\nsharing = 'common'", vec!["sharing in [prior.magnitude]"]),
        ("[prior.relevance]\ndof = -1.0", vec!["dof = -1", "positive"]),
        ("[prior.relevance]\nfamily = 'gamma'", vec!["prior.relevance", "needs shape"]),
        (
            "[prior.shape]\nfamily = 'log-uniform'\nlower = 2.0\nupper = 1.0",
            vec!["upper = 1", "above lower"],
        ),
        ("[hyperparameters]\nrelevance = [1.0, 2.0]", vec!["relevance", "expected 3, found 2"]),
        ("[hyperparameters]\nmagnitude = -0.5", vec!["magnitude = -0.5", "positive"]),
        ("[hyperparameters]\nresidual = [0.1, 0.2]", vec!["residual", "expected 1, found 2"]),
        ("[hyperparameters]\nlength = 1.0", vec!["m.toml:6:1", "length"]),
        ("[sampling]\nlatents = 'elliptical'", vec!["latents in [sampling]", "drawn exactly"]),
        ("[sampling]\nwindow = 3", vec!["window in [sampling]", "kind = \"gp\""]),
    ] {
        place.write("m.toml", format!("[data]\ntarget = 'y'\n[model]\nkind = 'gp'\n{text}\n"));
        let outcome = place.call("fit t.csv --spec m.toml --out run -q");
        outcome.assert_refused(text, &words);
        assert!(!place.path("run").exists());
    }
}

#[test]
fn a_dry_run_tells_the_prior_in_words_and_draws_functions_from_it() {
    let place = Place::new();
    place.write("t.csv", surface(30, 1.0));
    let fit = "fit t.csv --target y --covariance matern-5/2(x,z)+linear --residual student-t \
               --dry-run";
    let dry = place.call(fit);
    dry.assert_says(&[
        "Gaussian process regression of y on 3 inputs, 30 rows",
        "matern-5/2(x,z)+linear: η_1² (1 + √5 r + 5r²/3) exp(-√5 r) + Σ ρ² x x'",
        "r² = Σ ρ² (x - x')²",
        "mean zero",
        "standard deviation 0.01 (",
        "log-normal about a common value, nine in ten within a factor of 5.2; the common",
        "log-normal about 1 (",
        "Student's t with unknown degrees of freedom, equally probable 2, 2.3",
        "30 function values are sampled",
        "f integrated out; f is then drawn exactly",
        "4 chains, warm-up until they have settled (at most 250 sweeps), 400 effective draws of",
        "the predictions (at most 4000 draws each), seed 1",
        "over x from",
        "deviation of f over the rows: median",
        "residual scale: median",
        "▁",
    ]);
    assert!(!dry.stdout.contains("NaN") && !dry.stdout.contains("inf"), "{}", dry.stdout);
    assert_eq!(place.names(), ["t.csv"], "nothing was written");
    let json = place.call(&format!("{fit} --json")).json();
    let functions = &json["prior_functions"];
    assert_eq!(functions["draws"].as_array().expect("draws").len(), 5);
    // Not the posterior: targets a thousand times as spread leave the standardised prior alone.
    let median = |functions: &Value| functions["sd_of_f"]["median"].as_f64().expect("a number");
    place.write("t.csv", surface(30, 1000.0));
    let wide = place.call(&format!("{fit} --json")).json();
    let ratio = median(&wide["prior_functions"]) / median(functions);
    assert!((ratio / 1000.0 - 1.0).abs() < 1e-6, "{ratio}");
    // Known hyperparameters, a mean function, groups of rows, and neighbours are told too.
    place.write(
        "m.toml",
        "[data]\ntarget = 'y'\n[model]\nkind = 'gp'\nmean = 'linear'\nneighbours = 4\n\
         [hyperparameters]\nmagnitude = 0.8\nrelevance = [0.9, 0.6, 0.1]\n[residual]\nby = ['g']\n",
    );
    let dry = place.call("fit t.csv --spec m.toml --dry-run");
    dry.assert_says(&[
        "an unknown linear function of the inputs",
        "0.9, 0.6, 0.1, known and not sampled",
        "a row depends on the 4 nearest",
        "each of 3 groups by g",
    ]);
    place.write(
        "m.toml",
        "[data]\ntarget = 'y'\n[model]\nkind = 'gp'\n[residual]\nfamily = 'student-t'\n\
         dof = { scale = 6.0, dof = 1.0, above = 2.0 }\n",
    );
    place.call("fit t.csv --spec m.toml --dry-run").assert_says(&[
        "Student's t with unknown degrees of freedom above 2, inverse gamma about 6 with 1 degree",
    ]);
}

#[test]
fn a_summary_has_sections_and_words_of_its_own() {
    let place = Place::new();
    place.write("t.csv", surface(40, 1.0));
    let line = "fit t.csv --target y --model gp --residual student-t --chains 2 --warmup 100 \
                --draws 100 --test t.csv --out run";
    let fit = place.call(line);
    assert_eq!(fit.code, 0, "{}", fit.stderr);
    for words in ["inputs by relevance: ", "training error of a draw: ", "test error of a draw: "] {
        assert!(fit.stdout.contains(words), "{words:?} is missing in\n{}", fit.stdout);
    }
    let summary = place.call("summary run").stdout;
    for words in [
        "Relevance of inputs",
        "inverse length scales ρ of inputs with standard deviation 1, no factor ½",
        "Hyperparameters",
        "magnitude",
        "relevance_above",
        "Residual",
        "residual_dof",
        "Errors and log density",
        "jitter 0.01 on the diagonal",
        "latents: 40 components not shown; largest R-hat",
        "fitted: 40 components not shown; largest R-hat",
        "--all shows them",
    ] {
        assert!(summary.contains(words), "{words:?} is missing in\n{summary}");
    }
    assert!(!summary.contains("weights out of an input"), "{summary}");
    let all = place.call("summary run --all").stdout;
    assert!(all.contains("latents[39]") && all.contains("fitted[39]"), "{all}");
    assert!(place.call("diagnose run").stdout.contains("components not shown"));
    assert_eq!(place.call("resume run --draws 120 -q").code, 0);
    assert_eq!(place.call("export run --format csv --thin 4 --out draws.csv -q").code, 0);
    assert!(place.path("draws.csv").exists());
    assert_eq!(place.call("verify run").code, 0);
}

#[test]
fn the_saved_specification_of_a_process_repeats_it_on_any_number_of_threads() {
    let place = Place::new();
    place.write("t.csv", surface(25, 1.0));
    for rest in [
        "--covariance periodic(x)*se+linear(z) --residual laplace --residual-by g --test t.csv",
        "--relevance common",
        "--neighbours 6",
    ] {
        let fit = format!(
            "fit t.csv --target y --model gp --chains 3 --warmup 40 --draws 40 --threads 1 \
             {rest} --out one -q"
        );
        assert_eq!(place.call(&fit).code, 0);
        assert_eq!(place.call("fit --spec one/spec.toml --threads 2 --out two -q").code, 0);
        let [one, two] = ["one", "two"].map(|run| place.files(&format!("{run}/draws.zarr")));
        assert!(one.len() > 15);
        assert_same_files(&one, &two);
        for run in ["one", "two"] {
            std::fs::remove_dir_all(place.path(run)).expect("removed");
        }
    }
}
