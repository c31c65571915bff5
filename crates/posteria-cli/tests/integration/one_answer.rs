//! The same question asked two ways has one answer, and doubts about a run are repeated.

use std::num::NonZero;

use posteria::assess::{AssessOptions, CompareOptions, Method, compare_fits};
use posteria::evidence::{self, EvidenceOptions, compare_evidence};
use posteria::model::spec::{InferenceChoice, Spec};
use posteria::select::{SelectOptions, select_inputs};
use posteria::{FitOptions, Gp, Linear, Mlp, Table, Utility};
use posteria_store::{Run, RunFolder};
use serde::Serialize;
use serde_json::Value;

use crate::posteria::{Place, surface};

/// A mean of a utility that `assess` reports.
fn utility(report: &Value, name: &str) -> f64 {
    let utilities = report["utilities"].as_array().expect("utilities");
    let found = utilities.iter().find(|it| it["name"] == name).expect("the utility");
    found["mean"].as_f64().expect("a number")
}

/// What the library has to tell is what the command tells, name by name and number by number; the
/// command adds which run it is about, its version and its warnings.
fn same_values(report: &impl Serialize, told: &Value, what: &str) {
    // Numbers are read from text on both sides.
    let report = serde_json::to_string(report).expect("JSON");
    let report: Value = serde_json::from_str(&report).expect("JSON");
    let mut told = told.as_object().expect("an object").clone();
    for key in ["format", "run", "warnings"] {
        told.remove(key);
    }
    let told = Value::from(told);
    assert_eq!(report, told, "{what}");
}

/// Test rows of `x,z,g,y` and of classes.
fn place() -> Place {
    let place = Place::new();
    let classes = |text: String, seed: usize| {
        let rows = text.lines().enumerate().map(|(index, line)| match index {
            0 => format!("{line},two,three"),
            _ => {
                let y: f64 = line.rsplit(',').next().expect("y").parse().expect("a number");
                let y = y + 0.4 * (((index + seed) as f64 * 0.37).fract() - 0.5);
                let three = if y < -0.2 {
                    "low"
                } else if y < 0.7 {
                    "mid"
                } else {
                    "high"
                };
                format!("{line},{},{three}", if y > 0.2 { "yes" } else { "no" })
            }
        });
        rows.collect::<Vec<_>>().join("\n")
    };
    place.write("train.csv", classes(surface(60, 1.0), 0));
    let later: Vec<String> = classes(surface(100, 1.0), 5).lines().map(String::from).collect();
    let test: Vec<&str> = [&later[0]].into_iter().chain(&later[61..]).map(String::as_str).collect();
    place.write("test.csv", test.join("\n"));
    place
}

/// `predict` and `assess --method holdout` give the same figures of the same rows, for every model
/// and inference that there is.
#[test]
fn one_predictive_distribution_per_run() {
    let place = place();
    let short = "--chains 2 --warmup 30 --draws 30";
    let small = "--model mlp --hidden 3";
    let fits = [
        ("linear", format!("y --model linear {short}")),
        ("linear-laplace", "y --model linear --inference laplace".into()),
        ("linear-map", "y --model linear --inference map".into()),
        ("logistic-laplace", "two --model linear --inference laplace".into()),
        ("softmax", format!("three --model linear {short}")),
        ("mlp", format!("y {small} {short}")),
        ("mlp-laplace", format!("y {small} --inference laplace")),
        ("mlp-variational", format!("y {small} --inference variational")),
        ("mlp-map", format!("y {small} --inference map")),
        ("mlp-committee", format!("y {small} --inference committee --draws 4")),
        ("mlp-two-laplace", format!("two {small} --inference laplace")),
        ("mlp-three-laplace", format!("three {small} --inference laplace")),
        ("gp", format!("y --model gp {short}")),
        ("gp-laplace", "y --model gp --inference laplace --draws 20".into()),
        ("gp-three-map", "three --model gp --inference map --draws 20".into()),
        ("gp-two", "two --model gp --chains 2 --warmup 40 --draws 40".into()),
    ];
    for (name, words) in fits {
        let fit = format!("fit train.csv --inputs x z --out {name} --target {words}");
        let done = place.call(&fit);
        assert_eq!(done.code, 0, "{name}: {}", done.stderr);
        let predicted = place.call(&format!("predict {name} test.csv --json")).json();
        let assess = format!("assess {name} --test test.csv --json --utility elpd");
        let real = words.starts_with("y ");
        let assess = if real { format!("{assess} rmse") } else { format!("{assess} accuracy") };
        let assessed = place.call(&assess).json();
        let close = |one: &Value, other: f64, what: &str| {
            let one = one.as_f64().expect("a number");
            assert!(
                (one - other).abs() < 1e-6 * other.abs().max(1.0),
                "{name} {what}: {one} {other}"
            );
        };
        close(&predicted["mean_log_density"], utility(&assessed, "elpd"), "elpd");
        match real {
            true => close(&predicted["rmse"], utility(&assessed, "rmse"), "rmse"),
            false => close(&predicted["accuracy"], utility(&assessed, "accuracy"), "accuracy"),
        }
    }
    // Leaving rows out of a linearised network agrees with folds, which fit it again.
    for name in ["mlp-laplace", "mlp-two-laplace"] {
        let loo = place.call(&format!("assess {name} --json")).json();
        assert_eq!(loo["linearised"], true, "{name}");
        assert!(loo["waic"].is_null() && loo["pareto_k"].is_null(), "{name}");
        let p = loo["p_loo"].as_f64().expect("a number");
        assert!(p > 0.0 && p < 25.0, "{name}: {p}");
        let folds = place.call(&format!("assess {name} --folds 6 --json")).json();
        let (one, other) = (utility(&loo, "elpd"), utility(&folds, "elpd"));
        let sd = folds["utilities"][0]["sd"].as_f64().expect("a number");
        assert!((one - other).abs() < 3.0 * sd, "{name}: {one} {other} ± {sd}");
    }
}

/// A program that uses the library has the draws of the command line bit for bit, and its answers.
#[test]
fn the_library_and_the_command_line_have_one_answer() {
    let place = place();
    let read = |name| Table::read(place.path(name)).expect("a table");
    let (train, test, columns) = (read("train.csv"), read("test.csv"), ["x", "z"]);
    let models: [(&str, Spec, &str); 4] = [
        ("linear", Linear::default().inputs(columns).into(), ""),
        ("mlp", Mlp::default().hidden(2).inputs(columns).into(), "--hidden 2"),
        ("gp", Gp::default().inputs(columns).into(), ""),
        (
            "linear",
            Linear::default().inputs(columns).inference(InferenceChoice::Laplace).into(),
            "--inference laplace",
        ),
    ];
    for (index, (kind, spec, flags)) in models.into_iter().enumerate() {
        let options = match flags.contains("laplace") {
            true => FitOptions::default(),
            // Until there are enough, but for what would take long here.
            false if kind == "linear" => FitOptions { seed: Some(3), ..FitOptions::default() },
            false => FitOptions {
                chains: NonZero::new(2),
                warmup: Some(40),
                draws: NonZero::new(40),
                ..FitOptions::default()
            },
        };
        let numbers = match (options.seed, options.draws) {
            (Some(_), _) => "--seed 3",
            (_, Some(_)) => "--chains 2 --warmup 40 --draws 40",
            _ => "",
        };
        let run = format!("run-{index}");
        let line =
            format!("fit train.csv --inputs x z --target y --model {kind} {flags} {numbers}");
        let done = place.call(&format!("{line} --out {run}"));
        assert_eq!(done.code, 0, "{line}: {}", done.stderr);
        let fit = posteria::fit(&train, "y", spec, &options).expect("a fit");
        let kept = Run::open(&place.path(&run)).expect("a run").draws().expect("draws");
        let bits = |values: &[f64]| values.iter().map(|it| it.to_bits()).collect::<Vec<_>>();
        assert_eq!(bits(&fit.draws.values), bits(&kept.values), "{line}");
        assert_eq!(bits(&fit.draws.log_likelihood), bits(&kept.log_likelihood), "{line}");
        let loo = fit.loo(&[Utility::Elpd, Utility::Rmse]).expect("rows left out");
        let seed = options.seed.map_or(String::new(), |seed| format!("--seed {seed}"));
        let assessed = place.call(&format!("assess {run} --json {seed}")).json();
        for expected in &loo.expected {
            let here = utility(&assessed, &expected.name);
            let there = expected.estimate;
            assert!((there - here).abs() < 1e-12, "{line}: {} {there} {here}", expected.name);
        }
        let report = loo.report(&fit).expect("a report");
        assert_eq!(report.pointwise.len(), fit.rows(), "{line}");
        same_values(&report, &assessed, &line);
        let predicted = place.call(&format!("predict {run} test.csv --json")).json();
        same_values(&fit.predict(&test).expect("predictions"), &predicted, &line);
        // What was kept in a folder is the same run, and goes on to the same draws.
        let saved = format!("saved-{index}");
        RunFolder::save(&fit, &place.path(&saved)).expect("kept");
        let loaded = RunFolder::load(&place.path(&saved)).expect("a fit");
        assert_eq!(bits(&loaded.draws.values), bits(&fit.draws.values), "{line}");
        if flags.contains("laplace") {
            // What was found at the mode is kept too.
            assert!(loaded.approximation.is_some() && loaded.approximation == fit.approximation);
            let summary = place.call(&format!("summary {saved}")).stdout;
            assert!(summary.contains("\nlog evidence "), "{summary}");
            continue;
        }
        assert_eq!(loaded.memories, fit.memories, "{line}");
        let more = [&run, &saved].map(|run| {
            let more = 5 + fit.draws.draws;
            let done = place.call(&format!("resume {run} --draws {more}"));
            assert_eq!(done.code, 0, "{line}: {}", done.stderr);
            Run::open(&place.path(run)).expect("a run").draws().expect("draws")
        });
        assert_eq!(bits(&more[0].values), bits(&more[1].values), "{line}");
        assert!(more[1].draws > fit.draws.draws, "{line}");
    }
}

/// As many sweeps as these commands ask for.
fn short() -> FitOptions {
    FitOptions {
        chains: NonZero::new(2),
        warmup: Some(60),
        draws: NonZero::new(60),
        ..FitOptions::default()
    }
}

/// A comparison of fits in memory is that of their runs.
#[test]
fn fits_are_compared_as_runs_are() {
    let place = place();
    let train = Table::read(place.path("train.csv")).expect("a table");
    let short = short();
    let fitted = [("one", vec!["x"]), ("two", vec!["x", "z"])].map(|(name, inputs)| {
        let line = format!(
            "fit train.csv --inputs {} --target y --model linear --chains 2 --warmup 60 --draws 60",
            inputs.join(" ")
        );
        assert_eq!(place.call(&format!("{line} --out {name}")).code, 0, "{line}");
        posteria::fit(&train, "y", Linear::default().inputs(inputs), &short).expect("a fit")
    });
    let fits = [("one", &fitted[0]), ("two", &fitted[1])];
    let loo = Method::leave_one_out();
    let asked = CompareOptions::default();
    let found = compare_fits(&fits, &loo, &[], &asked).expect("a comparison");
    same_values(&found, &place.call("compare one two --json").json(), "usual");
    let asked = CompareOptions { difference: Some(0.01), ..CompareOptions::default() };
    let (folds, by) = (Method::k_fold(3, 1), [Utility::Mae]);
    let found = compare_fits(&fits, &folds, &by, &asked).expect("a comparison");
    let line = "compare one two --json --folds 3 --utility mae --difference 0.01";
    same_values(&found, &place.call(line).json(), line);
    let twice = compare_fits(&[fits[0], fits[0]], &loo, &[], &asked).expect_err("one model");
    assert_eq!(twice.to_string(), "one is given twice; give it once");
    assert!(compare_fits(&fits[..1], &loo, &[], &asked).is_err());
    // By rows that neither has seen.
    let test = &Table::read(place.path("test.csv")).expect("a table");
    let asked = CompareOptions { test: Some(test), ..CompareOptions::default() };
    let found = compare_fits(&fits, &Method::HoldOut, &[], &asked).expect("a comparison");
    let line = "compare one two --json --test test.csv";
    same_values(&found, &place.call(line).json(), line);
    let options =
        EvidenceOptions { methods: vec![evidence::Method::Exact], ..EvidenceOptions::default() };
    let found = compare_evidence(&fits, &options, &[2.0, 1.0]).expect("probabilities");
    let line = "evidence one two --json --method exact --prior-weights 2,1";
    same_values(&found, &place.call(line).json(), line);
    assert!(compare_evidence(&fits, &options, &[1.0]).is_err());
    assert!(compare_evidence(&fits[..1], &options, &[]).is_err());
}

/// What a fit in memory says about new rows, inputs and single chains is what its run does.
#[test]
fn new_rows_inputs_and_chains_are_judged_as_of_runs() {
    let place = place();
    let [train, test] =
        ["train.csv", "test.csv"].map(|file| Table::read(place.path(file)).expect("a table"));
    let line = "fit train.csv --inputs x z --target y --model mlp --hidden 2 --out run";
    let done = place.call(&format!("{line} --chains 2 --warmup 60 --draws 60"));
    assert_eq!(done.code, 0, "{}", done.stderr);
    let model = Mlp::default().hidden(2).inputs(["x", "z"]);
    let fit = posteria::fit(&train, "y", model, &short()).expect("a fit");
    let chains = fit.stack_chains(None).expect("chains");
    let by = [Utility::Elpd, Utility::Rmse];
    for (chains, flag) in [(None, ""), (Some(&chains), "--chains stacked")] {
        let asked = AssessOptions { test: Some(&test), chains, ..AssessOptions::default() };
        let found = fit.assess_with(&Method::HoldOut, &by, &asked).expect("judged");
        let line = format!("assess run --test test.csv --json {flag}");
        let mut told = place.call(&line).json();
        if let Some(chains) = chains {
            let stacking = told.as_object_mut().and_then(|it| it.remove("stacking"));
            same_values(&chains.stacked(), &stacking.expect("weights"), &line);
        }
        same_values(&found.report(&fit).expect("a report"), &told, &line);
    }
    let told = place.call("predict run test.csv --effects --json").json();
    let effects = serde_json::to_string(&fit.effects().expect("effects")).expect("JSON");
    assert_eq!(serde_json::from_str::<Value>(&effects).expect("JSON"), told["effects"]);
    let none = AssessOptions::default();
    let refused = fit.assess_with(&Method::HoldOut, &by, &none).expect_err("no rows");
    assert!(refused.to_string().contains("not seen"), "{refused}");
    let seen = AssessOptions { test: Some(&train), ..AssessOptions::default() };
    let refused = fit.assess_with(&Method::HoldOut, &by, &seen).expect_err("rows of the fit");
    assert!(refused.to_string().contains("very rows"), "{refused}");
    // The same rows in another file are refused too.
    let text = std::fs::read_to_string(place.path("train.csv")).expect("a table");
    place.write("again.csv", format!("{}\n", text.trim_end().replace('\n', "\r\n")));
    place.call("assess run --test again.csv").assert_refused("seen", &["again.csv", "very rows"]);
}

/// Evidences and selections of a table in memory are those of runs.
#[test]
fn evidences_and_selections_are_those_of_runs() {
    let place = place();
    let train = Table::read(place.path("train.csv")).expect("a table");
    let short = short();
    let model = Linear::default().inputs(["x", "z"]);
    let fit = posteria::fit(&train, "y", model.clone(), &short).expect("a fit");
    let common =
        "train.csv --inputs x z --target y --model linear --chains 2 --warmup 60 --draws 60";
    assert_eq!(place.call(&format!("fit {common} --out run")).code, 0);
    let methods = vec![evidence::Method::Path, evidence::Method::Laplace];
    let options = EvidenceOptions {
        methods,
        draws: Some(60),
        rungs: Some(5),
        ladders: Some(2),
        ..EvidenceOptions::default()
    };
    let found = fit.evidence(&options).expect("an evidence").report(fit.rows());
    let line = "evidence run --method path,laplace --draws 60 --rungs 5 --ladders 2 --json";
    same_values(&found, &place.call(line).json(), line);
    for (options, flags) in [
        (SelectOptions::default(), ""),
        (SelectOptions { folds: Some(3), ..SelectOptions::default() }, "--folds 3"),
    ] {
        let found = select_inputs(&train, "y", model.clone(), (&short, &options));
        let found = found.expect("a selection").report().expect("a report");
        let line = format!("select {common} --fold-draws 60 {flags} --out sel --force --json");
        same_values(&found, &place.call(&line).json(), &line);
    }
}

/// A run that has not converged says so wherever it is used.
#[test]
fn doubts_about_a_run_are_repeated_by_every_command() {
    let place = place();
    let poor = "--chains 2 --warmup 2 --draws 6";
    for (name, kind) in [("poor", "--model mlp --hidden 4"), ("other", "--model gp")] {
        let fit = format!("fit train.csv --inputs x z --target y {kind} {poor} --out {name}");
        assert_eq!(place.call(&fit).code, 0);
    }
    for line in [
        "predict poor test.csv",
        "assess poor --test test.csv",
        "assess poor --no-matching --refit 0",
        "compare poor other --test test.csv",
        "evidence poor --method laplace",
        "export poor --format csv --out draws.csv",
    ] {
        let plain = place.call(line);
        let repeated: Vec<&str> = plain
            .stderr
            .lines()
            .filter(|line| {
                line.starts_with("warning: poor: read what is made of its draws with care")
            })
            .collect();
        assert_eq!((plain.code, repeated.len()), (0, 1), "{line}: {}", plain.stderr);
        assert!(repeated[0].contains("posteria diagnose poor"), "{}", repeated[0]);
        let json = place.call(&format!("{line} --json")).json();
        assert_eq!(json["format"], 1, "{line}");
        let warnings = json["warnings"].as_array().expect("warnings");
        let own = warnings.iter().find(|it| it["run"] == "poor" && it["doubt"] == true);
        assert!(own.expect("a warning")["cure"].is_string(), "{line}");
        let strict = place.call(&format!("{line} --strict"));
        assert_eq!(strict.code, 3, "{line}: {}", strict.stderr);
    }
}

/// No probability is given where importance weights fail; new fits of those rows bring it back.
#[test]
fn probabilities_that_rest_on_failing_weights_are_withheld() {
    let place = Place::new();
    let mut text = String::from("x,y\n");
    for i in 0..24 {
        let x = f64::from(i) / 12.0 - 1.0;
        let far = if i % 8 == 3 { 9.0 } else { 0.0 };
        text.push_str(&format!("{x},{}\n", x + 0.1 * (f64::from(i) * 0.618).fract() + far));
    }
    place.write("data.csv", text);
    for (name, kind) in [("a", "--basis polynomial:6"), ("b", "")] {
        let short = "--chains 2 --warmup 200 --draws 200";
        let fit = format!("fit data.csv --target y --model linear {kind} {short} --out {name}");
        assert_eq!(place.call(&fit).code, 0);
    }
    let compare = "compare a b --json --no-matching";
    let withheld = place.call(&format!("{compare} --refit 0")).json();
    let codes = |json: &Value| -> Vec<String> {
        let each = json["warnings"].as_array().expect("warnings").iter();
        each.map(|it| it["code"].as_str().expect("a code").to_string()).collect()
    };
    assert!(codes(&withheld).contains(&"probability-withheld".to_string()), "{withheld}");
    assert!(withheld["p_better"][0][1].is_null());
    assert!(place.call("compare a b --no-matching --refit 0").stdout.contains(" -"));
    let refitted = place.call(&format!("{compare} --refit 24")).json();
    assert!(!codes(&refitted).contains(&"probability-withheld".to_string()), "{refitted}");
    assert!(refitted["p_better"][0][1].is_number());
}
