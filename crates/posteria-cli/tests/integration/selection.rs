//! Check input sets from selection to prediction.

use std::fs;

use serde_json::{Value, json};

use crate::posteria::{Place, assert_same_files};

/// A place with `table.csv`: y depends on a and on the colour, not on b and c.
fn place() -> Place {
    let place = Place::new();
    let mut text = String::from("a,b,c,colour,y\n");
    for row in 0..60 {
        let part = |step: f64| (row as f64 * step).fract() - 0.5;
        let colour = ["red", "green", "blue"][row % 3];
        let (a, b, c) = (part(0.618_034), part(0.754_878), part(0.569_84));
        let y = 2.0 * a + [0.0, 0.8, -0.5][row % 3] + 0.4 * part(0.328_2);
        text.push_str(&format!("{a},{b},{c},{colour},{y}\n"));
    }
    place.write("table.csv", text);
    place
}

#[test]
fn a_selection_keeps_its_contract_and_can_be_told_again() {
    let place = place();
    let select = "select table.csv --target y --model linear --chains 2 --warmup 100 --draws 400";
    let json = place.call(&format!("{select} --no-choice --out run --json")).json();
    let inputs = json["inputs"].as_array().expect("inputs");
    let names: Vec<&str> =
        inputs.iter().map(|input| input["name"].as_str().expect("there")).collect();
    assert_eq!(names, ["a", "b", "c", "colour"], "indicators of one column are one");
    let probability = |index: usize| inputs[index]["probability"].as_f64().expect("a number");
    assert!(probability(0) > 0.99 && probability(3) > 0.99, "{json}");
    assert!(probability(1) < 0.5 && probability(2) < 0.5, "{json}");
    assert!(inputs.iter().all(|input| input["sd"].as_f64().expect("a number") > 0.0));
    assert_eq!(json["sizes"].as_array().expect("there").len(), 5);
    let best = &json["models"][0];
    assert_eq!(best["inputs"], serde_json::json!(["a", "colour"]));
    assert_eq!(json["chosen"], serde_json::json!(["a", "colour"]));
    assert!(json["chosen_by"].as_str().expect("there").contains("median probability"));
    assert!(json["between_model_r_hat"].as_f64().expect("a number") < 1.1);
    assert!(json["ks_p"].as_f64().expect("a number") > 0.001);
    // The run is one like any other, and tells the same again.
    let again = place.call("select run --no-choice --json").json();
    assert_eq!(again["inputs"], json["inputs"]);
    let spec = fs::read_to_string(place.path("run/spec.toml")).expect("there");
    assert!(spec.contains("[selection]") && spec.contains("uniform-models"), "{spec}");
    let repeated = place.call("fit --spec run/spec.toml --out again --quiet");
    assert_eq!(repeated.code, 0, "{}", repeated.stderr);
    assert_same_files(&place.files("run/draws.zarr"), &place.files("again/draws.zarr"));
    let predicted = place.call("predict run table.csv --json").json();
    assert!(predicted["rmse"].as_f64().expect("a number") < 0.25, "{}", predicted["rmse"]);
    place.call("select run --no-choice").assert_says(&[
        "input probability sd prior",
        "colour",
        "chosen: a, colour",
    ]);
}

#[test]
fn networks_and_processes_select_and_resume_bit_for_bit() {
    let place = place();
    for (model, flags) in [("mlp", "--hidden 2"), ("gp", ""), ("gp", "--relevance common")] {
        let name = if flags.starts_with("--relevance") { "common" } else { model };
        let select = format!(
            "select table.csv --target y --no-choice --model {model} {flags} --chains 2 --warmup 20"
        );
        let whole = place.call(&format!("{select} --draws 12 --out {name} --json"));
        assert_eq!(whole.json()["inputs"].as_array().expect("there").len(), 4);
        let part = place.call(&format!("{select} --draws 5 --out {name}-part --quiet"));
        assert_eq!(part.code, 0, "{}", part.stderr);
        assert_eq!(place.call(&format!("resume {name}-part --draws 12 --quiet")).code, 0);
        let sets = |run: &str| {
            place.call(&format!("select {run} --no-choice --json")).json()["models"].clone()
        };
        assert_eq!(sets(name), sets(&format!("{name}-part")));
    }
}

#[test]
fn priors_and_names_are_said_in_words_or_refused() {
    let place = place();
    place
        .call("select table.csv --target y --set-prior beta-binomial:5,10 --always a --dry-run")
        .assert_says(&["3 inputs may leave", "Beta(5, 10)", "as one: colour", "always in: a"]);
    place
        .call("select table.csv --target y --requires c:a,b colour:a --dry-run")
        .assert_says(&["each in with probability 0.5", "c only with a and b; colour only with a"]);
    let told = place.call("select table.csv --target y --requires c --out no");
    assert!(told.code == 2 && told.stderr.contains("c:a,b"), "{}", told.stderr);
    let spec = "[data]\npath = 'table.csv'\ntarget = 'y'\n[model]\nkind = 'gp'\n[selection]\n";
    for (more, words) in [
        ("always = ['d']", &["d in selection.always", "a, b, c"][..]),
        ("prior = { sizes = [1, 1] }", &["2 numbers for 4 candidates"]),
        ("switch = 2.0", &["switch", "0.95"]),
        ("requires = { c = ['d'] }", &["d in selection.requires", "a, b, c"]),
        ("requires = { c = ['a'] }\nprior = 'uniform-sizes'", &["requires", "binomial = 0.5"]),
        ("[sampling]\ninference = 'laplace'", &["inference"]),
    ] {
        place.write("spec.toml", format!("{spec}{more}\n"));
        place.call("fit --spec spec.toml --out no").assert_refused(more, words);
    }
    assert!(!place.path("no").exists());
    let told = place.call("select table.csv --target y --set-prior flat --out no");
    assert_eq!(told.code, 2, "{}", told.stderr);
    let plain =
        place.call("fit table.csv --target y --chains 2 --warmup 5 --draws 5 --out plain -q");
    assert_eq!(plain.code, 0, "{}", plain.stderr);
    place.call("select plain").assert_refused("plain", &["no [selection]"]);
}

#[test]
fn a_run_folder_is_named_after_the_data() {
    let place = place();
    let select = "select table.csv --target y --no-choice --chains 2 --warmup 5 --draws 5 --quiet";
    assert_eq!(place.call(select).code, 0);
    assert_eq!(place.call(select).code, 0);
    assert!(place.path("table-select/spec.toml").exists());
    assert!(place.path("table-select-2/spec.toml").exists());
}

/// k, inputs, mean, as good.
fn utilities(json: &Value) -> Vec<(u64, Value, f64, bool)> {
    let each = json["utilities"].as_array().expect("utilities").iter().map(|it| {
        assert!(
            it["sd"].as_f64().expect("a number") > 0.0 && it["p_full_better"].is_number(),
            "{it}"
        );
        assert!(
            it["q05"].as_f64().expect("a number") < it["q95"].as_f64().expect("a number"),
            "{it}"
        );
        let mean = it["mean"].as_f64().expect("a number");
        (
            it["k"].as_u64().expect("a count"),
            it["inputs"].clone(),
            mean,
            it["as_good"].as_bool().expect("a verdict"),
        )
    });
    each.collect()
}

#[test]
fn the_smallest_set_that_predicts_as_well_is_chosen_and_kept() {
    let place = place();
    let select = "select table.csv --target y --model linear --chains 2 --warmup 100 --draws 200 \
                  --folds 4 --largest 4 --out run --json";
    let json = place.call(select).json();
    assert_eq!(json["chosen"], json!(["a", "colour"]), "{json}");
    assert!(json["chosen_by"].as_str().expect("there").contains("below 0.95"), "{json}");
    assert_eq!((&json["utility"], &json["folds"]), (&json!("elpd"), &json!(4)));
    assert_eq!(json["method"], "kfold");
    assert!(json["note"].as_str().expect("there").contains("optimistic"));
    let all = utilities(&json);
    let ranked: Vec<u64> = all.iter().map(|it| it.0).collect();
    assert!(ranked.is_sorted() && [1, 2, 3, 4].iter().all(|k| ranked.contains(k)), "{ranked:?}");
    let [one, two] = [0, 1].map(|index| &all[index]);
    assert!(!one.3 && two.3 && two.2 > one.2 + 0.1, "{all:?}");
    // All four are the full model.
    let full = json["full"]["mean"].as_f64().expect("a number");
    let last = all.last().expect("there");
    assert!(last.0 == 4 && (last.2 - full).abs() < 1e-12 && last.3);
    // The sets are runs without jumps, and are used again.
    let files = place.files("run/sets");
    let sets = fs::read_dir(place.path("run/sets")).expect("there").count();
    assert!((4..=7).contains(&sets), "{sets}");
    let kept: Value =
        serde_json::from_slice(&fs::read(place.path("run/selection.json")).expect("there"))
            .expect("there");
    assert_eq!(kept, json);
    let again = place.call("select run --folds 4 --largest 4 --json").json();
    for key in ["inputs", "models", "utilities", "full", "chosen", "chosen_by"] {
        assert_eq!(again[key], json[key], "{key}");
    }
    assert_same_files(&files, &place.files("run/sets"));
    // Leave-one-out comes to the same, by the same fits.
    let loo = place.call("select run --json").json();
    assert_eq!((&loo["chosen"], &loo["method"]), (&json["chosen"], &json!("loo")), "{loo}");
    assert_eq!(loo.get("folds"), None);
    let close = |it: &Value| it["full"]["mean"].as_f64().expect("a number");
    assert!((close(&loo) - close(&json)).abs() < 0.05, "{loo}");
    assert_same_files(&files, &place.files("run/sets"));
    place.call("select run").assert_says(&["elpd by leave-one-out", "chosen: a, colour"]);
    // Two sizes tell as much: two inputs do, one does not.
    let few: Vec<u64> = utilities(&loo).iter().map(|it| it.0).collect();
    assert_eq!(few, [1, 2], "{loo}");
    // Who forgives much is content with less.
    let lenient = place.call("select run --folds 4 --tolerance 5 --json").json();
    assert_eq!(lenient["chosen"].as_array().expect("there").len(), 1, "{lenient}");
    assert!(lenient["chosen_by"].as_str().expect("there").contains("better by more than 5"));
    place.call("select run --folds 4 --utility rmse --sets 0 --largest 2").assert_says(&[
        "rmse by 4-fold",
        "P(all better)",
        "chosen: a, colour",
        "optimistic",
    ]);
    let page = place.call("report run --out page.html --quiet");
    assert_eq!(page.code, 0, "{}", page.stderr);
    let page = fs::read_to_string(place.path("page.html")).expect("there");
    for words in
        ["Which inputs matter", "Inputs that suffice: a, colour", "How many inputs suffice"]
    {
        assert!(page.contains(words), "{words}");
    }
    fs::remove_file(place.path("run/selection.json")).expect("there");
    assert_eq!(place.call("report run --out draws.html --quiet").code, 0);
    let page = fs::read_to_string(place.path("draws.html")).expect("there");
    assert!(page.contains("Which inputs are in the model"));
    assert!(!page.contains("How many inputs suffice"));
}

#[test]
fn inputs_that_are_always_in_are_in_every_set_and_bad_choices_are_refused() {
    let place = place();
    let select = "select table.csv --target y --always b --chains 2 --warmup 50 --draws 50 --folds 3 \
                  --largest 2 --sets 1 --out run";
    let json = place.call(&format!("{select} --json")).json();
    assert_eq!(json["always"], json!(["b"]));
    assert_eq!(json["chosen"], json!(["a", "colour"]), "{json}");
    let specs = fs::read_dir(place.path("run/sets")).expect("there").map(|set| {
        let text = fs::read_to_string(set.expect("there").path().join("spec.toml")).expect("there");
        assert!(!text.contains("[selection]"), "{text}");
        text.lines().find(|line| line.starts_with("inputs")).expect("there").to_string()
    });
    let specs: Vec<String> = specs.collect();
    assert!(specs.iter().all(|line| line.contains("\"b\"")), "{specs:?}");
    assert!(specs.contains(&"inputs = [\"a\", \"b\", \"colour\"]".to_string()), "{specs:?}");
    for (flags, words) in [("--utility profit", &["profit"][..]), ("--folds 61", &["61", "60"])] {
        place.call(&format!("select run {flags} --quiet")).assert_refused(flags, words);
    }
    for flags in ["--level 0", "--level 0.7", "--tolerance -1", "--largest 0"] {
        assert_eq!(place.call(&format!("select run {flags}")).code, 2, "{flags}");
    }
    // Other sets would have other rows.
    let table = fs::read_to_string(place.path("table.csv")).expect("there");
    let holes: Vec<String> = table
        .lines()
        .enumerate()
        .map(|(row, line)| {
            let cells: Vec<&str> = line.split(',').collect();
            let c = if row == 7 { "" } else { cells[2] };
            [cells[0], cells[1], c, cells[3], cells[4]].join(",")
        })
        .collect();
    place.write("holes.csv", holes.join("\n"));
    let select = "select holes.csv --target y --missing drop --chains 2 --warmup 20 --draws 20";
    let refused = place.call(&format!("{select} --out holes --quiet"));
    assert_eq!(refused.code, 2, "{}", refused.stderr);
    for words in ["other rows", "--no-choice"] {
        assert!(refused.stderr.contains(words), "{}", refused.stderr);
    }
}
