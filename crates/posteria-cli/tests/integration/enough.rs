//! Draw until that is enough, and no longer than one may.

use std::time::{Duration, Instant};

use serde_json::Value;

use crate::posteria::{Place, assert_same_files, signal};

/// A network whose chains need more than the first 250 draws for so high a goal.
const NETWORK: &str = "fit data.csv --target y --inputs a b --model mlp --hidden 2 --chains 2";

fn enough(json: &Value, goal: f64) -> bool {
    let predictions = &json["predictions"];
    let number = |key: &str| predictions[key].as_f64().expect("a number");
    number("r_hat") <= 1.01 && number("ess_bulk") >= goal && number("ess_tail") >= goal
}

#[test]
fn a_linear_regression_has_enough_at_the_first_look() {
    let place = Place::with_data(40);
    let fit = place.call("fit data.csv --target y --inputs a b --out run --json");
    let json = fit.json();
    assert_eq!((&json["draws"], &json["stopped"]), (&175.into(), &"enough".into()));
    assert_eq!((&json["goal"]["ess"], &json["goal"]["r_hat"]), (&400.0.into(), &1.01.into()));
    assert!(enough(&json, 400.0), "{json}");
    for part in ["fitted", "residual_scale", "log_density"] {
        assert!(json["predictions"][part]["ess_tail"].as_f64() >= Some(400.0), "{json}");
    }
    let verified = place.call("verify run --json").json();
    assert_eq!((&verified["complete"], &verified["draws"]), (&true.into(), &175.into()));
    // What is said about it, and that there is nothing left to do.
    let again = place.call("resume run");
    assert!(
        again.stderr.contains("every chain has 175 draws, which is enough"),
        "{}",
        again.stderr
    );
    assert!(again.stdout.contains("effective draws, which is enough"), "{}", again.stdout);
    // Its folds have as many draws as itself.
    let folds = place.call("assess run --method kfold --folds 3 -q");
    assert_eq!(folds.code, 0, "{}", folds.stderr);
    let fold = place.call("verify run/folds/random-3-seed-1/fold-0001 --json").json();
    assert_eq!(fold["draws"], 175);
}

#[test]
fn a_linear_model_goes_on_for_its_coefficients() {
    let place = Place::new();
    let mut text = String::from("a,b,c,d,e,f,g,y\n");
    for row in 0..40 {
        let part = |step: f64| (f64::from(row) * step).fract() - 0.5;
        let steps = [0.618_034, 0.754_878, 0.569_84, 0.819_173, 0.671_044, 0.549_701, 0.3282];
        let inputs = steps.map(part);
        let y = 1.0 + 2.0 * inputs[0] - inputs[1] + part(0.414_214);
        inputs.iter().for_each(|input| text.push_str(&format!("{input:.4},")));
        text.push_str(&format!("{y:.4}\n"));
    }
    place.write("data.csv", text);
    // With this seed predictions have enough at the first look, and a coefficient is doubtful there.
    let json = place.call("fit data.csv --target y --out run --json").json();
    let draws = json["draws"].as_u64().expect("a number");
    assert!(draws > 175 && draws <= 3 * 175, "{json}");
    assert_eq!((&json["stopped"], &json["warnings"]), (&"enough".into(), &Value::Array(vec![])));
    // It has what it asks of itself, and with a number of draws it asks nothing.
    assert!(place.call("resume run").stderr.contains("which is enough"));
    let exact = place.call("fit data.csv --target y --draws 175 --out exact --json").json();
    assert_eq!((&exact["draws"], &exact["stopped"]), (&175.into(), &"asked".into()));
}

#[test]
fn a_goal_is_reached_in_one_go_or_in_several_with_the_same_bytes() {
    let place = Place::with_data(15);
    let whole = place.call(&format!("{NETWORK} --ess 700 --out whole --threads 2 --json")).json();
    assert_eq!(whole["stopped"], "enough", "{whole}");
    assert!(enough(&whole, 700.0) && whole["draws"].as_u64() > Some(250), "{whole}");
    // A lower goal first, then the higher one, on another number of threads.
    let first = place.call(&format!("{NETWORK} --ess 100 --out run --threads 1 --json")).json();
    assert!(first["draws"].as_u64() < whole["draws"].as_u64(), "{first}");
    let then = place.call("resume run --ess 700 --json --threads 1").json();
    assert_eq!((&then["draws"], &then["stopped"]), (&whole["draws"], &"enough".into()));
    assert_same_files(&place.files("whole/draws.zarr"), &place.files("run/draws.zarr"));
    // Repeated from what it wrote of itself.
    assert_eq!(place.call("fit --spec whole/spec.toml --out again -q").code, 0);
    assert_same_files(&place.files("whole/draws.zarr"), &place.files("again/draws.zarr"));
}

#[test]
fn a_run_that_was_stopped_on_its_way_to_a_goal_goes_on_to_the_same_bytes() {
    let place = Place::with_data(15);
    let fit = format!("{NETWORK} --ess 600 --quiet --threads 2");
    let began = Instant::now();
    assert_eq!(place.call(&format!("{fit} --out whole")).code, 0);
    let takes = began.elapsed();
    // In warm-up, in which it is not yet known where that ends, and among the draws.
    for (name, share) in [("early", 0.01), ("soon", 0.1), ("late", 0.6)] {
        let mut child = place.start(&format!("{fit} --out {name}"));
        place.wait_for(&format!("{name}/checkpoint"));
        std::thread::sleep(takes.mul_f64(share));
        signal(&child, "INT");
        child.wait().expect("ended");
        let resumed = place.call(&format!("resume {name} --quiet --threads 1"));
        assert_eq!(resumed.code, 0, "{}", resumed.stderr);
        let [whole, resumed] = ["whole", name].map(|run| place.files(&format!("{run}/draws.zarr")));
        assert_same_files(&whole, &resumed);
    }
}

#[test]
fn the_most_draws_and_numbers_that_are_given_are_kept_to() {
    let place = Place::with_data(15);
    let most = place.call(&format!("{NETWORK} --ess 5000 --draws 300 --out most --json"));
    let json = most.json();
    assert_eq!((&json["draws"], &json["stopped"]), (&300.into(), &"most-draws".into()));
    let codes: Vec<&Value> =
        json["warnings"].as_array().unwrap().iter().map(|w| &w["code"]).collect();
    assert!(codes.contains(&&"not-enough".into()), "{json}");
    let exact = place.call(&format!("{NETWORK} --warmup 60 --draws 300 --out exact --json")).json();
    assert_eq!((&exact["draws"], &exact["stopped"]), (&300.into(), &"asked".into()));
    assert!(exact.get("goal").is_none() && exact["predictions"]["r_hat"].is_f64(), "{exact}");
    assert!(place.call(&format!("{NETWORK} --ess 0 --out x")).refusal().contains("ess"));
    let soon = place.call(&format!("{NETWORK} --time soon --out x"));
    assert!(soon.code == 2 && soon.stderr.contains("10m, 90s"), "{}", soon.stderr);
    let select = place.call("select data.csv --target y --inputs a b --time 10m --out x");
    assert!(select.refusal().contains("--draws N"), "{}", select.stderr);
}

#[test]
fn a_fit_keeps_to_its_time_and_keeps_what_it_drew() {
    let place = Place::with_data(200);
    let endless =
        "fit data.csv --target y --inputs a b --model mlp --hidden 4 --chains 2 --ess 1000000";
    let began = Instant::now();
    let fit = place.call(&format!("{endless} --time 4s --out run --json"));
    let took = began.elapsed();
    let json = fit.json();
    assert_eq!(json["stopped"], "time", "{json}");
    // Within 10 %, and a second for a busy machine.
    assert!(took < Duration::from_millis(5400), "{took:?}");
    let draws = json["draws"].as_u64().expect("a number");
    assert!(draws > 0, "{json}");
    let verified = place.call("verify run --json").json();
    assert_eq!((&verified["complete"], verified["draws"].as_u64()), (&true.into(), Some(draws)));
    assert_eq!(place.call("summary run -q").code, 0);
    // It goes on, with the warm-up that there was time for.
    let more = draws + 50;
    let resumed = place.call(&format!("resume run --draws {more} --json")).json();
    assert_eq!((resumed["draws"].as_u64(), &resumed["stopped"]), (Some(more), &"asked".into()));
    // A warm-up that there is no time for is cut, however long it was to be, and that is told.
    let short = place.call(&format!("{endless} --warmup 1000000 --time 1s --out short --json"));
    let json = short.json();
    assert!(json["draws"].as_u64() > Some(0) && json["warmup"].as_u64() > Some(0), "{json}");
    let codes = json["warnings"].as_array().expect("warnings").iter().map(|it| &it["code"]);
    assert!(codes.into_iter().any(|code| code == "warmup-cut"), "{json}");
    let strict = place.call(&format!("{endless} --time 1s --strict --out strict -q"));
    assert_eq!(strict.code, 3, "{}", strict.stderr);
    let on =
        place.call(&format!("resume short --draws {} -q", json["draws"].as_u64().unwrap() + 9));
    assert_eq!(on.code, 0, "{}", on.stderr);
    assert_eq!(place.call("verify short").code, 0);
}

#[test]
fn a_search_over_input_sets_draws_until_that_is_enough() {
    let place = Place::with_data(40);
    let select = "select data.csv --target y --inputs a b --no-choice";
    let json = place.call(&format!("{select} --out run --json")).json();
    let probabilities = json["inputs"].as_array().expect("inputs");
    // The Monte Carlo error of a probability by 400 independent draws is at most 0.025.
    assert!(probabilities.iter().all(|it| it["sd"].as_f64() <= Some(0.025)), "{json}");
    assert!(json["between_model_r_hat"].as_f64() <= Some(1.05), "{json}");
    let drawn = |run: &str| place.call(&format!("verify {run} --json")).json()["draws"].clone();
    let draws = drawn("run").as_u64().expect("a number");
    assert!([175, 250, 350, 500].contains(&draws), "{draws}");
    // Interrupted and gone on with by the same command: the same bytes.
    let child = place.start(&format!("{select} --out part -q"));
    place.wait_for("part/checkpoint");
    signal(&child, "INT");
    child.wait_with_output().expect("it ends");
    assert_eq!(place.call(&format!("{select} --out part -q --threads 1")).code, 0);
    for group in ["posterior", "posterior_predictive"] {
        let [whole, part] =
            ["run", "part"].map(|run| place.files(&format!("{run}/draws.zarr/{group}")));
        assert!(!whole.is_empty(), "{group}");
        assert_same_files(&whole, &part);
    }
    // A number is a number.
    assert_eq!(place.call(&format!("{select} --draws 33 --out exact -q")).code, 0);
    assert_eq!(drawn("exact"), 33);
    // Higher goals take more.
    assert_eq!(place.call(&format!("{select} --ess 3000 --out more -q")).code, 0);
    assert!(drawn("more").as_u64() > Some(draws));
}
