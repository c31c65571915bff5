//! Check what a choice of inputs is worth: nested folds, inputs left out, and interruptions.

use std::fs;
use std::time::Duration;

use serde_json::{Value, json};

use crate::posteria::{Place, assert_same_files, signal};

/// A place with `table.csv`: y depends on a, hardly on b, not on c.
fn place() -> Place {
    let place = Place::new();
    let mut text = String::from("a,b,c,y\n");
    for row in 0..48 {
        let part = |step: f64| (row as f64 * step).fract() - 0.5;
        let (a, b, c) = (part(0.618_034), part(0.754_878), part(0.569_84));
        text.push_str(&format!("{a},{b},{c},{}\n", 2.0 * a + 0.2 * b + 0.6 * part(0.328_2)));
    }
    place.write("table.csv", text);
    place
}

const SELECT: &str = "select table.csv --target y --model linear --chains 2 --warmup 60 --draws 120 \
                      --folds 3 --fold-draws 40 --largest 2 --sets 1 --out run";

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value} is no number"))
}

#[test]
fn nested_folds_repeat_search_and_choice() {
    let place = place();
    let json = place.call(&format!("{SELECT} --nested 4 --json")).json();
    let nested = &json["nested"];
    assert_eq!(nested["folds"], 4);
    assert!(number(&nested["sd"]) > 0.0 && number(&nested["q05"]) < number(&nested["q95"]));
    // What the chosen set looks like is what the choice says, and the rest is optimism.
    let all = json["utilities"].as_array().expect("utilities");
    let chosen = all.iter().find(|it| it["inputs"] == json["chosen"]).expect("the chosen set");
    for key in ["mean", "sd", "q05", "q95"] {
        assert!((number(&nested["chosen"][key]) - number(&chosen[key])).abs() < 1e-12, "{key}");
    }
    // Up to the Monte Carlo error of the replicates.
    let gap = number(&nested["chosen"]["mean"]) - number(&nested["mean"]);
    let optimism = &nested["optimism"];
    let off = (gap - number(&optimism["mean"])).abs();
    assert!(off < 0.1 * number(&optimism["sd"]), "{nested}");
    // a alone explains nine tenths: every fold finds it.
    assert_eq!(nested["inputs"][0], json!({"name": "a", "folds": 4}), "{nested}");
    let sets = nested["sets"].as_array().expect("sets");
    assert_eq!(sets.iter().map(|it| it["folds"].as_u64().expect("a count")).sum::<u64>(), 4);
    assert!(json["note"].as_str().expect("a note").contains("nested folds put"), "{json}");
    // Searches are runs without the rows of their fold, their sets without these too.
    let fold = "run/nested/random-4-seed-1/fold-0002";
    let spec = fs::read_to_string(place.path(&format!("{fold}/spec.toml"))).expect("there");
    assert!(spec.contains("[selection]") && spec.contains("rows = 36"), "{spec}");
    let inner = format!("{fold}/sets/set-7/folds/random-3-seed-1/fold-0001/spec.toml");
    let inner = fs::read_to_string(place.path(&inner)).expect("there");
    assert!(inner.contains("[data.fold.within]") && inner.contains("rows = 24"), "{inner}");
    assert_eq!(place.call(&format!("verify {fold}")).code, 0);
    // All of it is used again, by the same command and by one that names the run.
    let files = place.files("run/nested");
    let again = place.call(&format!("{SELECT} --nested 4 --json")).json();
    assert_eq!(again["nested"], json["nested"]);
    place
        .call("select run --folds 3 --fold-draws 40 --largest 2 --sets 1 --nested 4")
        .assert_says(&["4 nested folds", "search and choice", "chosen without each fold: a"]);
    assert_same_files(&files, &place.files("run/nested"));
    assert_eq!(place.call("report run --out page.html -q").code, 0);
    let page = fs::read_to_string(place.path("page.html")).expect("there");
    assert!(page.contains("repeated without each of 4 folds"));
    // Another command does not go on with this run, and folds need rows.
    let other = place.call(&SELECT.replace("--draws 120", "--draws 130"));
    other.assert_refused("another run", &["run is another run", "--out"]);
    let many = place.call("select run --folds 3 --fold-draws 40 --nested 49 -q");
    many.assert_refused("--nested 49", &["49", "48"]);
    assert_eq!(place.call("select run --nested 3 --no-choice").code, 2);
}

#[test]
fn importance_is_told_side_by_side() {
    let place = place();
    let json = place.call(&format!("{SELECT} --relevance per-input --leave-out --json")).json();
    let of = |index: usize, key: &str| json["inputs"][index]["importance"][key].clone();
    let mean = |index: usize, key: &str| number(&of(index, key)["mean"]);
    // y = 2 a + …: per standard deviation of a, and of the target, about 1; a line has one slope.
    assert!((0.85..1.0).contains(&mean(0, "comparison")), "{}", of(0, "comparison"));
    let slope = mean(0, "mean_absolute_derivative");
    assert!((slope - mean(0, "comparison")).abs() < 1e-6, "{slope}");
    assert!(mean(2, "comparison").abs() < 0.1 && mean(0, "relevance") > 0.0);
    // Without a nothing is left.
    assert!(mean(0, "leave_out") > 0.5, "{}", of(0, "leave_out"));
    assert!(number(&of(0, "leave_out")["p_full_better"]) > 0.99);
    assert!(mean(2, "leave_out").abs() < 0.1 && number(&of(2, "leave_out")["sd"]) > 0.0);
    assert!(json["importance_note"].is_null(), "a linear model does not bend");
    place
        .call("select table.csv --target y --model gp --no-choice --chains 2 --warmup 20 --draws 20 -q")
        .assert_says(&["relevance", "an input with a straight effect"]);
    let rmse =
        "select run --folds 3 --fold-draws 40 --largest 1 --sets 0 --leave-out --utility rmse";
    let told = place.call(&format!("{rmse} --json")).json();
    // Smaller errors are better, but a loss is positive.
    assert!(number(&told["inputs"][0]["importance"]["leave_out"]["mean"]) > 0.2, "{told}");
    place.call(rmse).assert_says(&["lost without it", "P(needed)", "relevance"]);
    place.call("select run --no-choice").assert_says(&["comparison", "mean |df/dx|"]);
    assert_eq!(place.call("report run --out page.html -q").code, 0);
    let page = fs::read_to_string(place.path("page.html")).expect("there");
    assert!(page.contains("change%20per%20sd"));
}

#[test]
fn an_interrupted_choice_goes_on_by_the_same_command() {
    let place = place();
    let whole =
        format!("{SELECT} --nested 3 --leave-out --json").replace("--out run", "--out whole");
    let whole = place.call(&whole).json();
    let line = format!("{SELECT} --nested 3 --leave-out --json");
    let mut stopped = 0;
    for moment in [
        "run/checkpoint",
        "run/sets/set-7/folds",
        "run/sets/set-6",
        "run/nested/random-3-seed-1/fold-0001/checkpoint",
        "run/nested/random-3-seed-1/fold-0002/sets/set-7",
        "run/nested/random-3-seed-1/fold-0003",
    ] {
        // A signal noticed late left this moment behind. What is there already does not tell that
        // the program listens, and nothing is lost by a signal before that.
        if place.path(moment).exists() {
            continue;
        }
        let child = place.start(&line);
        place.wait_for(moment);
        std::thread::sleep(Duration::from_millis(20));
        signal(&child, "INT");
        let output = child.wait_with_output().expect("it ends");
        let stderr = String::from_utf8_lossy(&output.stderr);
        // The signal may come when all is done already.
        match output.status.code() {
            Some(130) => {
                assert!(output.stdout.is_empty());
                assert!(stderr.contains("kept"), "{stderr}");
                stopped += 1;
            }
            code => assert_eq!(code, Some(0), "{stderr}"),
        }
        assert!(!stderr.contains("panicked"), "{stderr}");
    }
    assert!(stopped >= 3, "{stopped} of 6 signals came in time");
    let json = place.call(&line).json();
    for key in ["inputs", "models", "utilities", "full", "chosen", "nested"] {
        assert_eq!(json[key], whole[key], "{key}");
    }
}
