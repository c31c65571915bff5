//! Check leave-one-out from anyone's log likelihoods.

use std::fs;

use serde_json::Value;

use crate::posteria::Place;

fn stored() -> Value {
    let text = include_str!("../../../posteria/tests/reference/loo.json");
    serde_json::from_str(text).expect("valid JSON")
}

/// A stored case as a table with columns chain, draw, y1, …, or without the first two.
fn table(case: &Value, with_chain: bool) -> String {
    let shape: Vec<usize> = case["shape"]
        .as_array()
        .expect("a shape")
        .iter()
        .map(|x| x.as_u64().expect("a size") as usize)
        .collect();
    let (draws, rows) = (shape[1], shape[2]);
    let values = case["values"].as_array().expect("values");
    let names: Vec<String> = (1..=rows).map(|row| format!("y{row}")).collect();
    let begin = if with_chain { "chain,draw," } else { "" };
    let mut text = format!("{begin}{}\n", names.join(","));
    for (index, row) in values.chunks_exact(rows).enumerate() {
        if with_chain {
            text.push_str(&format!("{},{},", index / draws + 1, index % draws + 1));
        }
        let cells: Vec<String> = row.iter().map(Value::to_string).collect();
        text.push_str(&format!("{}\n", cells.join(",")));
    }
    text
}

fn case(name: &str) -> Value {
    let stored = stored();
    let cases = stored["cases"].as_array().expect("cases");
    cases.iter().find(|case| case["name"] == name).expect("the case").clone()
}

#[track_caller]
fn assert_close(here: &Value, there: &Value) {
    let (here, there) = (here.as_f64().expect("a number"), there.as_f64().expect("a number"));
    assert!((here - there).abs() <= 1e-6 * there.abs().max(1.0), "{here} for {there}");
}

#[test]
fn the_numbers_are_those_of_arviz() {
    let place = Place::new();
    let several = case("several_chains");
    place.write("several.csv", table(&several, true));
    let json = place.call("assess --log-lik several.csv --pointwise rows.csv --json").json();
    assert_eq!(json["method"], "loo");
    assert_close(&json["elpd_loo"], &several["loo_independent"]["elpd"]);
    assert_close(&json["se"], &several["loo_independent"]["se"]);
    assert_close(&json["p_loo"], &several["loo_independent"]["p"]);
    assert_close(&json["waic"], &several["waic"]["elpd"]);
    assert_close(&json["p_waic"], &several["waic"]["p"]);
    assert_close(&json["se_waic"], &several["waic"]["se"]);
    let k = &json["pareto_k"];
    assert_eq!([&k["good"], &k["ok"], &k["bad"]], [7, 0, 0]);
    let shapes = several["loo_independent"]["pareto_k"].as_array().expect("shapes");
    let largest = shapes.iter().filter_map(Value::as_f64).fold(f64::NEG_INFINITY, f64::max);
    assert_close(&k["max"], &largest.into());
    let size = |key: &str| json["m_eff"][key].as_f64().expect("a size");
    assert!(size("min") <= size("q10") && size("q10") <= 400.0 && size("min") > 100.0);
    assert_eq!(json["warnings"], Value::Array(Vec::new()));

    let rows = fs::read_to_string(place.path("rows.csv")).expect("written");
    let lines: Vec<Vec<&str>> = rows.lines().map(|line| line.split(',').collect()).collect();
    assert_eq!(lines[0][..2], ["row", "elpd_loo"]);
    assert_eq!(lines.len(), 8);
    for (line, there) in
        lines[1..].iter().zip(several["loo_independent"]["pointwise"].as_array().expect("rows"))
    {
        let elpd: f64 = line[1].parse().expect("a number");
        assert_close(&elpd.into(), there);
    }

    let single = case("one_chain");
    place.write("single.csv", table(&single, false));
    let json = place.call("assess --log-lik single.csv --json").json();
    assert_close(&json["elpd_loo"], &single["loo"]["elpd"]);
    let slow = case("slow_chains");
    place.write("slow.csv", table(&slow, true));
    let call = "assess --log-lik slow.csv --relative-efficiency 1 --json";
    assert_close(&place.call(call).json()["elpd_loo"], &slow["loo_independent"]["elpd"]);
}

#[test]
fn the_text_tells_the_same_and_doubts_are_for_strict_callers() {
    let place = Place::new();
    place.write("heavy.csv", table(&case("heavy_tails"), true));
    let call = place.call("assess --log-lik heavy.csv");
    call.assert_says(&[
        "2 chains of 200 draws, 4 rows",
        "elpd_loo -99.6",
        "p_waic",
        "above 0.62 3 bad",
        "m_eff",
    ]);
    assert!(call.stderr.contains("3 of 4 row(s): Pareto k is 2.90 for row 4"), "{}", call.stderr);
    assert_eq!(place.call("assess --log-lik heavy.csv --strict").code, 3);
    let json = place.call("assess --log-lik heavy.csv --json").json();
    assert_eq!(json["pareto_k"]["bad"], 3);
    place.write("fine.csv", table(&case("several_chains"), true));
    assert_eq!(place.call("assess --log-lik fine.csv --strict").code, 0);
    let few = table(&case("few_draws"), false);
    place.write("few.csv", few);
    let json = place.call("assess --log-lik few.csv --json").json();
    assert!(json["pareto_k"]["max"].is_null() && json["elpd_loo"].is_number());
    let said = json["warnings"].to_string();
    assert!(said.contains("16 draw(s) are too few"), "{said}");
}

#[test]
fn cmdstan_files_are_chains_and_only_their_log_lik_counts() {
    let place = Place::new();
    let lines = |shift: f64| -> String {
        let line = |i: usize| {
            let x = (i as f64 * 0.618_034 + shift).fract();
            format!("-5.0,0.9,{x},{},{}\n", -1.0 - 0.3 * x, -0.5 - 0.2 * x * x)
        };
        (0..60).map(line).collect()
    };
    let header = "# model = m\nlp__,accept_stat__,theta,log_lik.1,log_lik.2\n";
    place.write("output_1.csv", format!("{header}{}", lines(0.0)));
    place.write("output_2.csv", format!("{header}{}", lines(0.4)));
    let json = place.call("assess --log-lik output_1.csv output_2.csv --json").json();
    assert_eq!([&json["chains"], &json["draws"], &json["rows"]], [2, 60, 2]);
    let elpd = json["elpd_loo"].as_f64().expect("a number");
    assert!((-1.8..-1.6).contains(&elpd), "{elpd}");

    let without = "# model = m\nlp__,accept_stat__,theta\n-5.0,0.9,1\n-5.0,0.9,2\n";
    place.write("none.csv", without);
    place.call("assess --log-lik none.csv").assert_refused("no log_lik", &["none.csv", "log_lik"]);
}

#[test]
fn what_cannot_be_used_is_refused_with_file_and_column() {
    let place = Place::new();
    let bad = |cell: &str| {
        format!("chain,draw,y1,y2\n1,1,-1,-2\n1,2,-1,-2\n2,1,-1,-3\n2,2,-1.5,{cell}\n")
    };
    for (cell, words) in [
        ("nan", &["log.csv", "\"y2\"", "draw 2 of chain 2", "NaN"][..]),
        ("inf", &["log.csv", "\"y2\"", "draw 2 of chain 2", "inf"]),
        ("NA", &["log.csv:5:4", "\"y2\"", "\"NA\""]),
        ("", &["log.csv:5:4", "\"y2\"", "missing"]),
        ("1,2", &["log.csv:5", "5 cells"]),
    ] {
        place.write("log.csv", bad(cell));
        place.call("assess --log-lik log.csv --json").assert_refused(cell, words);
    }
    place.write("log.csv", bad("-inf"));
    let json = place.call("assess --log-lik log.csv --json").json();
    assert!(json["elpd_loo"].is_null(), "{json}");
    assert!(json["warnings"].to_string().contains("likelihood 0"), "{json}");

    place.write("empty.csv", "chain,draw,y1\n");
    place.call("assess --log-lik empty.csv").assert_refused("no draws", &["empty.csv", "no draw"]);
    place.call("assess --log-lik absent.csv").assert_refused("absent", &["absent.csv"]);
    assert_eq!(place.call("assess").code, 2);
    assert_eq!(place.call("assess --log-lik log.csv --relative-efficiency 0").code, 2);
    let nowhere = "assess --log-lik log.csv --pointwise absent/rows.csv";
    place.call(nowhere).assert_refused("nowhere", &["absent/rows.csv"]);
}
