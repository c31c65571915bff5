//! Log evidences from the command line: contract, agreement, comparison, refusals.

use std::fs;

use crate::posteria::Place;

/// A linear model whose evidence is known by quadrature.
const LINEAR: &str = "[data]\npath = 'data.csv'\ntarget = 'y'\ninputs = ['a', 'b']\n\
    [prior.weights]\nfamily = 'independent'\nshape = 0.5\nrate_scale = 100.0\n\
    [prior.intercept]\nfixed = 5.0\n[residual]\nprecision = { shape = 0.5, scale = 100.0 }\n";

fn number(json: &serde_json::Value, key: &str) -> f64 {
    json[key].as_f64().unwrap_or_else(|| panic!("{key} in {json}"))
}

#[test]
fn methods_agree_with_the_exact_value_and_the_curve_is_kept() {
    let place = Place::with_data(40);
    place.write("m.toml", LINEAR);
    let exact = place.call("evidence m.toml --method exact --json").json();
    assert_eq!(exact["method"], "exact");
    assert!(number(&exact, "mcse").abs() < 1e-300 && exact["usable"] == true);
    assert_eq!((&exact["forward"], &exact["backward"]), (&().into(), &().into()));
    assert_eq!(place.call("fit --spec m.toml --out run --draws 20 --warmup 20 -q").code, 0);
    let line = "evidence run --method path,bridge,stepping-stone,exact,harmonic --draws 200 \
                --ladders 4 --json";
    let found = place.call(line).json();
    assert_eq!((&found["method"], &found["usable"]), (&"path".into(), &true.into()), "{found}");
    let truth = number(&exact, "log_evidence");
    for method in found["methods"].as_array().expect("methods") {
        if method["method"] == "harmonic" {
            assert_eq!(method["usable"], false);
            continue;
        }
        // Beyond four errors once in 16 000.
        let off = (number(method, "log_evidence") - truth).abs();
        assert!(off < 4.0 * number(method, "mcse") + 1e-6, "{method} {truth}");
    }
    for key in ["forward", "backward"] {
        assert!((number(&found, key) - truth).abs() < 2.0, "{found}");
    }
    let kept = fs::read_to_string(place.path("run/evidence.json")).expect("evidence.json");
    let kept: serde_json::Value = serde_json::from_str(&kept).expect("JSON");
    let curve = kept["curve"].as_array().expect("a curve");
    assert_eq!(curve.len() as u64, found["rungs"].as_u64().expect("rungs"));
    assert!(curve.iter().all(|rung| rung["inverse_temperature"].is_number()));
    assert!(curve.last().expect("a rung")["forward_mean"].is_number());
    assert_eq!(place.call("verify run -q").code, 0, "the run is as it was");
    // The same numbers on any number of threads.
    let again = place.call(&format!("{line} --threads 1")).json();
    assert_eq!(again["log_evidence"], found["log_evidence"]);
    let text = place.call("evidence m.toml --method exact");
    text.assert_says(&[]);
    assert!(text.stdout.contains("log evidence of m.toml (40 rows)"), "{}", text.stdout);
}

#[test]
fn models_of_the_same_targets_are_compared() {
    let place = Place::with_data(40);
    place.write("both.toml", LINEAR);
    place.write("one.toml", LINEAR.replace("['a', 'b']", "['a']"));
    let line = "evidence both.toml one.toml --method exact --prior-weights 1,3 --json";
    let found = place.call(line).json();
    let models = found["models"].as_array().expect("models");
    let value = |index: usize, key: &str| number(&models[index], key);
    let difference = value(0, "log_evidence") - value(1, "log_evidence");
    assert!((value(0, "probability") + value(1, "probability") - 1.0).abs() < 1e-12);
    let odds = value(0, "probability") / value(1, "probability");
    assert!((odds.ln() - difference + 3f64.ln()).abs() < 1e-6, "{found}");
    let factor = found["bayes_factors"][0][1].as_f64().expect("a number");
    assert!((factor.ln() - difference).abs() < 1e-6);
    let sensitive =
        place.call("evidence both.toml --method exact --sensitivity weights=0.5,1,2 --json").json();
    let points = sensitive["sensitivity"].as_array().expect("points");
    assert!((number(&points[1], "log_evidence") - value(0, "log_evidence")).abs() < 1e-9);
    assert!((number(&points[0], "log_evidence") - value(0, "log_evidence")).abs() > 1e-3);

    place.write("other.toml", LINEAR.replace("'y'", "'a'").replace("['a', 'b']", "['b']"));
    let refused = place.call("evidence both.toml other.toml --method exact");
    refused.assert_refused("another target", &["another target", "cannot be compared"]);
}

#[test]
fn what_cannot_be_found_is_refused_with_the_cure() {
    let place = Place::with_data(30);
    place.write("m.toml", LINEAR);
    place.write("t.toml", format!("{LINEAR}family = 'student-t'\n"));
    place.write(
        "mix.toml",
        "[data]\npath = 'data.csv'\n[model]\nkind = 'mixture'\ncomponents = 2\n",
    );
    for (line, words) in [
        ("evidence t.toml --method exact", &["no closed form", "use the method path"][..]),
        ("evidence t.toml --method warp", &["discrete", "bridge"]),
        ("evidence m.toml --prior-weights 1,2", &["--prior-weights", "one for each"]),
        ("evidence m.toml --method exact --sensitivity hidden=1", &["no prior hidden", "weights"]),
        ("evidence m.toml --method importance --proposal ensemble", &["kind = \"mlp\""]),
        ("evidence m.toml --rungs 2", &["at least 3 rungs"]),
        ("evidence m.toml --schedule power --exponent 1", &["below 1"]),
        ("evidence m.toml --draws 5", &["draws must be at least 20"]),
        ("evidence mix.toml --method path", &["variational bound", "omit"]),
        ("evidence nothing.toml", &["nothing.toml"]),
        ("evidence m.toml --method exact path", &["separated by commas"]),
    ] {
        place.call(line).assert_refused(line, words);
    }
    let bound = place.call("evidence mix.toml --json").json();
    assert_eq!((&bound["method"], &bound["usable"]), (&"bound".into(), &false.into()));
    assert!(bound["warnings"][0].to_string().contains("lower bound"));
    assert_eq!(place.call("evidence mix.toml --strict -q").code, 3);
}

#[test]
fn networks_and_processes_have_evidences_too() {
    let place = Place::with_data(25);
    let data = "[data]\npath = 'data.csv'\ntarget = 'y'\ninputs = ['a']\n";
    place.write("gp.toml", format!("{data}[model]\nkind = 'gp'\n"));
    place.write(
        "known.toml",
        format!(
            "{data}[model]\nkind = 'gp'\n[hyperparameters]\nmagnitude = 1.0\nrelevance = 0.5\n\
             residual = 0.3\n"
        ),
    );
    place.write("mlp.toml", format!("{data}[model]\nkind = 'mlp'\nhidden = 2\n"));
    let known = place.call("evidence known.toml --method exact --json").json();
    assert!(number(&known, "log_evidence").is_finite());
    let few = "--draws 40 --warmup 60 --ladders 3 --json";
    let gp = place.call(&format!("evidence gp.toml --method bridge,laplace {few}")).json();
    assert!(number(&gp, "log_evidence").is_finite() && number(&gp, "mcse") > 0.0, "{gp}");
    assert!((number(&gp["methods"][1], "log_evidence") - number(&gp, "log_evidence")).abs() < 5.0);
    let mlp = place.call(&format!("evidence mlp.toml --method bridge,laplace {few}")).json();
    assert!(number(&mlp, "log_evidence").is_finite() && number(&mlp, "mcse") > 0.0, "{mlp}");
    assert_eq!(mlp["methods"][1]["usable"], false);
}

#[test]
fn demonstrations_run_in_their_quick_form() {
    let place = Place::new();
    for name in ["normalizing-constant", "evidence-linear", "evidence-robot-arm", "hysteresis"] {
        let found = place.call(&format!("demo {name} --quick --json --quiet --threads 2"));
        let json = found.json();
        assert_eq!(json["name"], name);
        assert!(json["results"].as_array().expect("results").len() > 3, "{json}");
    }
    let constant = place.call("demo normalizing-constant --quick --json --quiet").json();
    let row = &constant["results"][2];
    // 10 runs of 10 000 draws with standard deviation 0.01 each: off by 0.02 is six errors.
    assert!((number(row, "here") - number(row, "published")).abs() < 0.02, "{row}");
}

#[test]
fn an_interrupted_estimate_goes_on_from_its_checkpoint() {
    let place = Place::with_data(40);
    place.write("m.toml", LINEAR);
    assert_eq!(place.call("fit --spec m.toml --out run --draws 20 --warmup 20 -q").code, 0);
    let line = "evidence run --method bridge --draws 400 --warmup 100 --ladders 4";
    let whole = place.call(&format!("{line} --json")).json();
    assert!(!crate::posteria::exists(place.path("run/evidence.partial")));
    let mut child = place.start(&format!("{line} -q"));
    place.wait_for("run/evidence.partial");
    crate::posteria::signal(&child, "INT");
    let code = child.wait().expect("it ends").code();
    // The signal may come when all is done already.
    if code == Some(130) {
        assert!(crate::posteria::exists(place.path("run/evidence.partial")));
    } else {
        assert_eq!(code, Some(0));
    }
    let again = place.call(&format!("{line} --json --threads 1")).json();
    assert_eq!(again["log_evidence"], whole["log_evidence"]);
    assert!(!crate::posteria::exists(place.path("run/evidence.partial")));
}
