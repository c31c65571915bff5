//! Check that actions are chosen by costs, and what is refused.

use std::fs;

use serde_json::Value;

use crate::posteria::Place;

const QUICK: &str = "--chains 2 --warmup 100 --draws 200 -q";

fn with_run(target: &str) -> Place {
    let place = Place::with_data(40);
    let fit = format!("fit data.csv --target {target} --inputs a b {QUICK} --out run");
    assert_eq!(place.call(&fit).code, 0);
    place
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value} is no number"))
}

#[test]
fn a_table_of_costs_chooses_among_classes() {
    let place = with_run("class");
    place.write("costs.csv", "action,yes,no\nno,10,0\nyes,0,1\nask,0.6,0.5\n");
    let json = place.call("predict run data.csv --cost costs.csv --out p.csv --json").json();
    let data = fs::read_to_string(place.path("data.csv")).expect("the table");
    let classes: Vec<&str> =
        data.lines().skip(1).filter_map(|line| line.split(',').nth(3)).collect();
    let (mut seen, mut total) = (Vec::new(), 0.0);
    for (row, class) in json["rows"].as_array().expect("rows").iter().zip(classes) {
        let (no, yes) = (number(&row["prob"]["no"]), number(&row["prob"]["yes"]));
        let costs = [("no", 10.0 * yes), ("yes", no), ("ask", 0.6 * yes + 0.5 * no)];
        let best = costs.iter().min_by(|a, b| a.1.total_cmp(&b.1)).expect("three");
        assert_eq!(row["action"], best.0, "{row}");
        assert!((number(&row["expected_cost"]) - best.1).abs() < 1e-9);
        assert!(row.get("worst_cost").is_none());
        seen.push(best.0);
        total += match (best.0, class) {
            ("no", "yes") => 10.0,
            ("yes", "no") => 1.0,
            ("ask", "yes") => 0.6,
            ("ask", _) => 0.5,
            _ => 0.0,
        };
    }
    seen.sort_unstable();
    seen.dedup();
    assert!(seen.len() > 1, "more than one action is used: {seen:?}");
    assert!((number(&json["mean_cost"]) - total / 40.0).abs() < 1e-9);
    let table = fs::read_to_string(place.path("p.csv")).expect("the predictions");
    assert!(table.lines().next().expect("a header").ends_with("log_density,action,expected_cost"));
    assert!(
        table
            .lines()
            .nth(1)
            .expect("a row")
            .contains(json["rows"][0]["action"].as_str().expect("a word"))
    );
    let text = place.call("predict run data.csv --cost costs.csv --rule minimax").stdout;
    for word in ["action", "expected_cost", "worst_cost", "mean cost"] {
        assert!(text.contains(word), "{word} is missing in\n{text}");
    }
    // Without costs nothing is added.
    let plain = place.call("predict run data.csv --json").json();
    assert!(plain.get("mean_cost").is_none() && plain["rows"][0].get("action").is_none());
}

#[test]
fn formulas_choose_among_numbers_and_words() {
    let place = with_run("y");
    let line = "predict run data.csv --cost abs(y-a) --actions -1,0,1,2 --json";
    for row in place.call(line).json()["rows"].as_array().expect("rows") {
        let median = number(&row["q50"]);
        let off = |action: &&str| (median - action.parse::<f64>().expect("a number")).abs();
        let nearest = ["-1", "0", "1", "2"].into_iter().min_by(|a, b| off(a).total_cmp(&off(b)));
        assert_eq!(row["action"], nearest.expect("four"), "{row}");
        assert!(number(&row["expected_cost"]) > 0.0);
    }
    let line =
        "predict run data.csv --cost if(a==wait,0,1-y) --actions wait,go --json --rule minimax";
    for row in place.call(line).json()["rows"].as_array().expect("rows") {
        let certain = number(&row["mean"]) - 4.0 * number(&row["sd"]) > 1.0;
        let hopeless = number(&row["mean"]) < 1.0;
        assert!(!certain || row["action"] == "go", "{row}");
        assert!(!hopeless || row["action"] == "wait", "{row}");
        assert!(row["worst_cost"].is_number());
    }
}

#[test]
fn costs_that_cannot_be_used_are_refused() {
    let place = with_run("y");
    place.write("costs.csv", "action,no,yes\nno,0,1\n");
    for (rest, words) in [
        ("--cost abs(y-b) --actions 1", vec!["unknown name `b`", "column 7", "abs(y-b)"]),
        ("--cost abs(y-a)", vec!["needs the actions", "--actions"]),
        ("--cost absent.csv", vec!["absent.csv", "cannot be read"]),
        ("--cost costs.csv", vec!["is for classes", "formula"]),
        ("--cost costs.csv --actions 1", vec!["omit --actions"]),
    ] {
        place.call(&format!("predict run data.csv {rest}")).assert_refused(rest, &words);
    }
    for rest in ["--rule minimax", "--actions 1,2"] {
        assert_eq!(place.call(&format!("predict run data.csv {rest}")).code, 2, "{rest}");
    }
    let place = with_run("class");
    place.write("costs.csv", "action,no,yse\nno,0,1\n");
    let refused = place.call("predict run data.csv --cost costs.csv");
    refused.assert_refused("yse", &["costs.csv:1:3", "did you mean \"yes\"?"]);
}

#[test]
fn the_cost_of_deciding_is_a_utility() {
    let place = with_run("class");
    place.write("costs.csv", "action,yes,no\nno,10,0\nyes,0,1\nask,0.6,0.5\n");
    let call = "assess run --cost costs.csv --refit 0 --pointwise rows.csv --json";
    let json = place.call(call).json();
    let cost = |json: &Value| {
        let all = json["utilities"].as_array().expect("utilities");
        all.iter().find(|it| it["name"] == "cost").expect("the cost").clone()
    };
    let found = cost(&json);
    assert_eq!(found["better"], "lower");
    // Every row pays the cost of one of the actions, and their mean is the expectation.
    let rows = fs::read_to_string(place.path("rows.csv")).expect("written");
    let mut lines = rows.lines().map(|line| line.split(',').collect::<Vec<_>>());
    let header = lines.next().expect("a header");
    let column = header.iter().position(|name| *name == "cost").expect("a column");
    let costs: Vec<f64> = lines.map(|line| line[column].parse().expect("a number")).collect();
    assert_eq!(costs.len(), 40);
    for value in &costs {
        let of_table = [0.0, 10.0, 1.0, 0.6, 0.5].iter().any(|cost| (cost - value).abs() < 1e-12);
        assert!(of_table, "{value}");
    }
    let mean = costs.iter().sum::<f64>() / 40.0;
    let (low, high) = (number(&found["q05"]), number(&found["q95"]));
    assert!(low < mean && mean < high, "{found} {mean}");
    // Asking every time costs 0.5 to 0.6: a choice by the model must not cost more on average.
    assert!(mean < 0.6, "{mean}");
    // A rule that looks at the worst that may come pays for it.
    let careful = cost(&place.call("assess run --cost costs.csv --rule minimax --json").json());
    assert!(number(&careful["mean"]) >= number(&found["mean"]) - 1e-9, "{careful} {found}");
    place.call("assess run --cost costs.csv").assert_says(&["cost"]);

    let place = with_run("y");
    let json = place.call("assess run --cost abs(y-a) --actions -1,0,1,2 --json").json();
    assert!(number(&cost(&json)["mean"]) > 0.0);
    for (rest, words) in [
        ("--cost abs(y-b) --actions 1", vec!["unknown name `b`"]),
        ("--cost abs(y-a)", vec!["needs the actions", "--actions"]),
        ("--cost costs.csv", vec!["costs.csv", "cannot be read"]),
    ] {
        place.call(&format!("assess run {rest}")).assert_refused(rest, &words);
    }
    assert_eq!(place.call("assess run --actions 1,2").code, 2);
}
