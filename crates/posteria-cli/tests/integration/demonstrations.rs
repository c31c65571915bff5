//! Check that the demonstrations of networks and processes run and keep their contract.

use std::fs;

use serde_json::Value;

use crate::posteria::Place;

/// In the order of the list.
pub const NAMES: [&str; 19] = [
    "surface-mlp",
    "two-class-mlp",
    "three-class-mlp",
    "outliers-mlp",
    "noise-sensitivity",
    "relevance",
    "surface-gp",
    "two-class-gp",
    "outliers-gp",
    "input-selection-mlp",
    "input-selection-gp",
    "input-selection-concrete-like",
    "robot-arm",
    "robot-arm-assess",
    "residual-models",
    "grouped-data",
    "lindley",
    "line",
    "linear-inputs",
];

/// Those of approximations, which follow in the list.
pub const MODES: [&str; 3] = ["evidence-sinusoid", "neuron-laplace", "tempered"];

/// Studies that have a full form, and a quantity that only this has.
const FULL: [(&str, &str); 5] = [
    ("input-selection-concrete-like", "network: inputs that were chosen"),
    ("robot-arm-assess", "table 3, network: true expected RMSE"),
    ("residual-models", "network, likelihood: expected of in.dep. t"),
    ("grouped-data", "tree, folds of images: error rate"),
    ("evidence-robot-arm", "noise 0.5, hidden units of the greatest evidence"),
];

/// What every demonstration must put beside its own figures: part of a quantity, published.
const PUBLISHED: [(&str, &[(&str, f64)]); 15] = [
    ("surface-mlp", &[("new rows (published", 0.24), ("residual standard deviation", 0.25)]),
    ("two-class-mlp", &[("test accuracy", 0.90)]),
    ("three-class-mlp", &[("test accuracy", 0.87), ("test error", 0.14)]),
    (
        "outliers-mlp",
        &[
            ("t residuals: RMSE to the true curve", 0.029),
            ("t residuals: test MSE", 0.019_17),
            ("clean, normal residuals: test MSE", 0.009_41),
            ("outliers: test MSE of the true curve", 0.019_36),
        ],
    ),
    (
        "noise-sensitivity",
        &[
            ("normal noise: RMSE of Bayes", 0.2779),
            ("normal noise: RMSE of the committee", 0.2784),
            ("normal noise: probability", 0.15),
            ("Laplace noise: RMSE of Bayes", 0.2828),
            ("Laplace noise: RMSE of the committee", 0.2766),
            ("Laplace noise: probability", 0.99),
        ],
    ),
    ("relevance", &[]),
    ("surface-gp", &[("new rows (published", 0.24), ("residual standard deviation", 0.25)]),
    ("two-class-gp", &[("test accuracy", 0.90)]),
    (
        "outliers-gp",
        &[
            ("t residuals: RMSE to the true curve", 0.019),
            ("t residuals: test MSE", 0.019_39),
            ("clean, normal residuals: test MSE", 0.009_99),
        ],
    ),
    (
        "input-selection-mlp",
        &[("probability of x1", 1.0), ("probability of x3", 0.15), ("probability of x4", 0.17)],
    ),
    (
        "input-selection-gp",
        &[("probability of x2", 1.0), ("probability of x3", 0.04), ("probability of x4", 0.05)],
    ),
    (
        "input-selection-concrete-like",
        &[
            ("inputs more probable than not", 9.0),
            ("nine inputs are better than eight", 0.9),
            ("inputs that were chosen", 9.0),
        ],
    ),
    (
        "robot-arm",
        &[
            ("network: residual standard deviation", 0.05),
            ("Gaussian process: residual standard deviation", 0.05),
        ],
    ),
    ("line", &[("20 points: intercept", -0.3), ("20 points: slope", 0.5)]),
    (
        "linear-inputs",
        &[
            ("true distribution: log predictive density", 0.8836),
            ("maximum likelihood, 10 inputs: log predictive density", 0.2764),
            ("maximum likelihood, 10 inputs: test variance", 0.0219),
            ("penalised likelihood, 3 inputs: log predictive density", 0.7917),
            ("inputs of the greatest evidence, conjugate prior", 3.0),
        ],
    ),
];

/// What pages of demonstrations say besides; what is printed is that of others.
const SAID: [(&str, [&str; 2]); 2] = [
    ("surface-gp", ["posterior mean", "GPstuff"]),
    ("robot-arm", ["Gaussian process: expected RMSE of a new row", "thesis"]),
];

#[track_caller]
fn results(json: &Value) -> Vec<(String, Option<f64>, f64)> {
    let results = json["results"].as_array().expect("results");
    let one = |result: &Value| {
        let name = result["quantity"].as_str().expect("a name").to_string();
        let here = result["here"].as_f64();
        let sd = &result["sd"];
        assert!(sd.is_number() || (sd.is_null() && result.get("sd").is_some()), "{name}: {sd}");
        (name.clone(), result["published"].as_f64(), here.unwrap_or_else(|| panic!("{name}: NaN")))
    };
    results.iter().map(one).collect()
}

#[test]
fn every_demonstration_runs_and_prints_what_was_published() {
    let place = Place::new();
    for (name, published) in PUBLISHED {
        let call = place.call(&format!("demo {name} --quick --json --quiet --threads 2"));
        let json = call.json();
        assert_eq!(json["name"], name);
        let path = format!("posteria-demo/{name}/report.html");
        assert_eq!(json["report"], path);
        let page = fs::read_to_string(place.path(&path)).expect("a page");
        assert!(page.contains("What was done"), "{name}: the words");
        assert!(page.contains("<figure"), "{name}: no figure");
        for words in SAID.iter().filter(|(of, _)| *of == name).flat_map(|(_, words)| words) {
            assert!(page.contains(words), "{name}: no {words:?}");
        }
        let found = results(&json);
        for (quantity, ..) in &found {
            let shown = quantity.replace('\'', "&#39;").replace('>', "&gt;");
            assert!(page.contains(&shown), "{name}: the page lacks {quantity}");
        }
        for (part, value) in published {
            let with = found.iter().find(|(quantity, ..)| quantity.contains(part));
            let (_, published, _) = with.unwrap_or_else(|| panic!("{name} lacks {part}"));
            assert!((published.expect("published") - value).abs() < 1e-9, "{name}: {part}");
        }
        assert!(found.iter().any(|(quantity, ..)| quantity.contains("R-hat")), "{name}");
        for (quantity, _, here) in &found {
            let share = ["accuracy", "error,", "share", "probability"];
            if share.iter().any(|word| quantity.contains(word)) {
                assert!((0.0..=1.0).contains(here), "{name}: {quantity} {here}");
            }
        }
    }
    assert_eq!(place.names(), ["posteria-demo"], "nothing else is left behind");
}

#[test]
fn pages_go_where_they_are_told_and_replace_their_own_alone() {
    let place = Place::new();
    let quick = "demo evidence-sinusoid --quick -q";
    let json = place.call(&format!("{quick} --out mine --json")).json();
    assert_eq!(json["report"], "mine/report.html");
    let page = fs::read_to_string(place.path("mine/report.html")).expect("a page");
    for words in ["Bishop 2006, figure 3.16", "The evidence is greatest there", "<figure"] {
        assert!(page.contains(words), "{words}");
    }
    // Again in the same folder, in one of a stranger, and where a file is.
    assert_eq!(place.call(&format!("{quick} --out mine")).code, 0);
    fs::create_dir(place.path("theirs")).expect("a folder");
    place.write("theirs/report.html", "precious");
    place
        .call(&format!("{quick} --out theirs"))
        .assert_refused("a stranger's", &["theirs", "did not make"]);
    place.write("file", "precious");
    place.call(&format!("{quick} --out file")).assert_refused("a file", &["file"]);
    let kept = fs::read_to_string(place.path("theirs/report.html")).expect("there");
    assert_eq!(kept, "precious");
}

#[test]
fn assessments_run_and_lindleys_paradox_is_seen() {
    let place = Place::new();
    let found = |name: &str| {
        let json = place.call(&format!("demo {name} --quick --json --quiet --threads 2")).json();
        assert_eq!(json["name"], name);
        results(&json)
    };
    let here = |results: &[(String, Option<f64>, f64)], part: &str| {
        let with = results.iter().find(|(name, ..)| name.contains(part));
        with.unwrap_or_else(|| panic!("{part} is missing")).2
    };
    let lindley = found("lindley");
    for width in ["1e0", "1e10", "1e30"] {
        let name = format!("n = 100, τ = {width}: probability of M2, cross-validation");
        assert!(here(&lindley, &name) > 0.95, "{width}");
    }
    assert!(here(&lindley, "n = 100, τ = 1e0: probability of M2, Bayes factor") > 0.95);
    assert!(here(&lindley, "n = 100, τ = 1e30: probability of M2, Bayes factor") < 0.5);
    let models = found("residual-models");
    let (.., published, share) = models
        .iter()
        .find(|(name, ..)| {
            name == "Gaussian process, likelihood: probability that in.dep. t is better than N"
        })
        .expect("the pair");
    assert!((published.expect("published") - 1.0).abs() < 1e-9);
    assert!((0.0..=1.0).contains(share));
    let arm = found("robot-arm-assess");
    let errors = arm.iter().filter(|(name, ..)| name.ends_with("expected RMSE"));
    // The noise of 0.05 is the least that is possible, but for chance in so few rows.
    assert_eq!(errors.map(|(.., rmse)| assert!(*rmse > 0.02, "{rmse}")).count(), 6);
    // The true errors are of the noise and more, wherever the rows are.
    for model in ["network", "Gaussian process"] {
        assert!(here(&arm, &format!("{model}: true RMSE within the hulls")) > 0.05);
    }
    let by_deviance = arm.iter().find(|(name, ..)| name.ends_with("hyperparameters, DIC"));
    assert!((by_deviance.and_then(|it| it.1).expect("published") - 2.0).abs() < 1e-9);
    let grouped = found("grouped-data");
    let parts = ["true error rate", "leave-one-out", "random folds", "folds of images: error"];
    for part in parts.into_iter().chain(["k nearest neighbours", "tree"]) {
        assert!((0.0..=1.0).contains(&here(&grouped, part)), "{part}");
    }
}

#[test]
fn studies_of_the_published_size_say_what_they_do_and_run() {
    let place = Place::new();
    for (name, says) in FULL {
        let call = place.call(&format!("demo {name} --full --quick --json --threads 2"));
        assert!(call.stderr.contains("the full study: "), "{name}: {}", call.stderr);
        let found = results(&call.json());
        assert!(found.iter().any(|(quantity, ..)| quantity.contains(says)), "{name} lacks {says}");
    }
    let grouped = place.call("demo grouped-data --full --quick --json --quiet").json();
    let published = results(&grouped).into_iter().filter_map(|(_, published, _)| published);
    assert_eq!(
        published.map(|rate| (100.0 * rate).round()).collect::<Vec<_>>(),
        [11.0, 20.0, 30.0]
    );
}

#[test]
fn approximations_are_shown_beside_what_was_published() {
    let place = Place::new();
    let found = |name: &str| {
        let call = place.call(&format!("demo {name} --quick --json --quiet"));
        let json = call.json();
        assert_eq!(json["name"], name);
        results(&json)
    };
    let here = |results: &[(String, Option<f64>, f64)], part: &str| {
        results.iter().find(|(name, ..)| name.contains(part)).expect("the quantity").2
    };
    let sinusoid = found(MODES[0]);
    // The greatest evidence is where the curves cross, to half a step of the grid.
    let [crossing, top] = ["where γ", "greatest evidence"].map(|part| here(&sinusoid, part));
    assert!((crossing - top).abs() <= 0.126, "{crossing} {top}");
    assert!(here(&sinusoid, "RMSE) there") < 1.1 * here(&sinusoid, "least test error (RMSE)"));
    let gamma = here(&sinusoid, "effective parameters");
    assert!(gamma > 2.0 && gamma < 10.0, "{gamma}");
    let neuron = found(MODES[1]);
    assert!(here(&neuron, "κ moderation") < 0.02);
    // Clearly different in numbers, as the source says, but better than the mode alone.
    let from_chains = here(&neuron, "largest difference of the normal");
    assert!(from_chains > 0.02 && from_chains < here(&neuron, "mode alone from Monte Carlo"));
    let tempered = found(MODES[2]);
    for (name, published, here) in &tempered {
        if name.contains("expected error") {
            let published = published.expect("published");
            assert!((here - published).abs() < 0.05 * published + 0.01, "{name}: {here}");
        }
    }
}

#[test]
fn demonstrations_depend_on_the_seed_and_not_on_threads() {
    let place = Place::new();
    for name in ["outliers-mlp", "noise-sensitivity"] {
        let figures = |options: &str| {
            let line = format!("demo {name} --quick --json --quiet {options}");
            place.call(&line).json()
        };
        let one = figures("--threads 1 --seed 5");
        assert_eq!(one, figures("--threads 3 --seed 5"), "{name}");
        assert_ne!(one, figures("--seed 6"), "{name}");
    }
}

#[test]
fn text_has_pictures_sources_and_progress_apart() {
    let place = Place::new();
    for (name, says) in [
        ("surface-mlp", ["posterior mean", "GPstuff"]),
        ("outliers-mlp", ["rows o, true curve .", "MCMCstuff"]),
        ("relevance", ["rank correlation of relevance with importance", "Vehtari 2001"]),
    ] {
        let call = place.call(&format!("demo {name} --quick"));
        assert_eq!(call.code, 0, "{}", call.stderr);
        for text in says {
            assert!(call.stdout.contains(text), "{name} lacks {text}:\n{}", call.stdout);
        }
        assert!(call.stdout.contains("largest R-hat of fitted values"), "{name}");
        assert!(!call.stdout.contains("NaN") && !call.stdout.contains("inf"), "{}", call.stdout);
    }
    let progress = place.call("demo noise-sensitivity --quick --tables 3");
    assert!(progress.stderr.contains("Laplace noise, table 3 of 3"), "{}", progress.stderr);
    assert!(!progress.stdout.contains("table 3 of 3"));
    let refusal = place.call("demo relevance --tables 3 --quick");
    assert!(refusal.refusal().contains("--tables is for"), "{}", refusal.stderr);
    let refusal = place.call("demo relevance --full --quick");
    for name in FULL.map(|(name, _)| name) {
        assert!(refusal.refusal().contains(name), "{}", refusal.stderr);
    }
    let full = place.call("demo evidence-robot-arm --full --quick");
    assert!(full.stderr.contains("1, 2, …, 19 hidden units"), "{}", full.stderr);
    // So few draws settle nothing, and --strict says so after the figures.
    let strict = place.call("demo two-class-mlp --quick --quiet --strict --seed 1");
    assert_eq!(strict.code, 3, "{}", strict.stderr);
    assert!(strict.stdout.contains("test accuracy") && strict.stderr.contains("R-hat"));
}
