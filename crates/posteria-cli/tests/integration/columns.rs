//! Check what becomes of columns that are not what they seem, and of rows unlike those of the fit.

use std::fs;

use serde_json::Value;

use crate::posteria::{Outcome, Place};

const QUICK: &str = "--chains 1 --warmup 20 --draws 20 -q";

/// Twelve rows of a measurement with an id, a date, a colour and a hexadecimal code.
fn samples(odd: &str) -> String {
    let row = |i: usize| {
        let x = if i == 3 && !odd.is_empty() { odd.to_string() } else { format!("{i}.25") };
        let colour = ["red", "green", "blue"][i % 3];
        format!("S{i:02},2024-05-{:02},{colour},0x{i:X}A,{x},{}\n", i + 1, 3 * i + i % 2)
    };
    format!("id,day,colour,code,x,y\n{}", (0..12).map(row).collect::<String>())
}

fn fit(place: &Place, rest: &str) -> Outcome {
    place.call(&format!("fit t.csv --target y {QUICK} --out run {rest}"))
}

/// All words of the warnings of a JSON result, whatever form each has.
fn warnings(json: &Value) -> String {
    json["warnings"].to_string()
}

#[test]
fn an_odd_cell_among_numbers_is_named_and_marks_can_be_dropped() {
    let place = Place::new();
    place.write("t.csv", samples("abc"));
    for missing in ["error", "drop"] {
        fit(&place, &format!("--inputs x --missing {missing}")).assert_refused(
            "an odd cell",
            &["t.csv:5:5", "\"abc\"", "\"x\"", "most cells of the column are", "--missing drop"],
        );
    }
    for mark in ["-", "NA", "n/a", "?", "none", "."] {
        place.write("t.csv", samples(mark));
        let refused = fit(&place, "--inputs x");
        refused.assert_refused(mark, &["t.csv:5:5", "missing", "--missing drop"]);
        let kept = place.call(&format!(
            "fit t.csv --target y {QUICK} --inputs x --missing drop --dry-run --json"
        ));
        assert!(kept.stderr.contains(" rows were dropped for missing values"), "{mark}");
        assert_eq!(kept.code, 0, "{}", kept.stderr);
    }
    assert_eq!(place.names(), ["t.csv"], "nothing is left behind");
    // A column that takes most rows with it is named.
    let rows: String =
        (0..12).map(|i| format!("{},{i},{}\n", if i < 5 { "9" } else { "" }, i % 5)).collect();
    place.write("t.csv", format!("rare,x,y\n{rows}"));
    let dropped = fit(&place, "--missing drop --dry-run");
    let words = "7 of 12 rows were dropped for missing values, 7 of them for column \"rare\"; keep them \
                 with --exclude rare";
    assert!(dropped.stderr.contains(words), "{}", dropped.stderr);
}

#[test]
fn ids_dates_and_codes_are_refused_with_advice_unless_so_many_are_allowed() {
    let place = Place::new();
    place.write("t.csv", samples(""));
    for (inputs, words) in [
        (
            "id x",
            ["\"id\" has 12 different values in 12 row(s)", "ids or free text", "--exclude id"],
        ),
        ("day x", ["\"day\" has 12 different", "dates (such as \"2024-05-01\")", "days since"]),
        ("code x", ["\"code\"", "hexadecimal numbers (such as \"0x0A\")", "as decimal numbers"]),
    ] {
        let refused = fit(&place, &format!("--inputs {inputs}"));
        refused.assert_refused(inputs, &words);
        refused.assert_refused(inputs, &["t.csv: ", "--max-levels 12"]);
    }
    // All of them are named with the cure; classes are no matter.
    fit(&place, "").assert_refused(
        "all columns",
        &["\"id\"", "leave it and \"day\", \"code\" like it out with --exclude id day code"],
    );
    assert_eq!(fit(&place, "--exclude id day code --dry-run").code, 0);
    fit(&place, "--exclude id dya").assert_refused("a typing error", &["\"dya\"", "\"day\""]);
    let both = fit(&place, "--exclude id --inputs x");
    assert!(
        both.code == 2 && both.stderr.contains("cannot be used with '--inputs"),
        "{}",
        both.stderr
    );
    assert_eq!(fit(&place, "--inputs colour x").code, 0);
    let allowed = place
        .call(&format!("fit t.csv --target y --inputs id x --max-levels 12 {QUICK} --out allowed"));
    assert_eq!(allowed.code, 0, "{}", allowed.stderr);
    let kept = fs::read_to_string(place.path("allowed/spec.toml")).expect("a specification");
    assert!(kept.contains("max_levels = 12"), "{kept}");
    // The key says the same, and the complete specification repeats the run.
    let again = place.call("fit --spec allowed/spec.toml --out again -q");
    assert_eq!(again.code, 0, "{}", again.stderr);
    place.write("m.toml", "[data]\npath = 't.csv'\ntarget = 'y'\nmax_levels = 2\n");
    let few = place.call("fit --spec m.toml --inputs colour x --out few -q");
    few.assert_refused("a lower limit", &["\"colour\" has 3 different", "more than the 2 that"]);
    let none = place.call("fit t.csv --target y --max-levels 0 --out none -q");
    assert_eq!(none.code, 2);
}

#[test]
fn a_target_of_names_is_refused_and_whole_numbers_are_questioned() {
    let place = Place::new();
    place.write("t.csv", samples(""));
    let names = place.call(&format!("fit t.csv --target id --inputs x {QUICK} --out run"));
    names.assert_refused("names", &["\"id\"", "choose another --target"]);
    let rows: String = (0..30).map(|i| format!("{i},{},{}\n", i % 2, i % 5)).collect();
    place.write("t.csv", format!("x,sick,grade\n{rows}"));
    for (target, task) in [("sick", "binary"), ("grade", "multiclass")] {
        let words = format!("--task {task}");
        let fit = |rest: &str, out: &str| {
            place.call(&format!(
                "fit t.csv --target {target} --inputs x {QUICK} --json {rest} --out {out}"
            ))
        };
        let asked = fit("", target);
        assert!(warnings(&asked.json()).contains(&words), "{}", asked.stdout);
        assert!(asked.stderr.contains(&words), "{}", asked.stderr);
        let told = fit("--task regression", &format!("{target}-told"));
        assert!(!warnings(&told.json()).contains("--task"), "{}", told.stdout);
        // What was asked for: numbers.
        let json = place.call(&format!("predict {target} t.csv --json")).json();
        assert!(json["rmse"].is_number() && json["accuracy"].is_null());
    }
}

#[test]
fn new_tables_are_read_as_the_fit_read_its_own() {
    let place = Place::new();
    place.write("t.csv", samples(""));
    assert_eq!(fit(&place, "--inputs colour x").code, 0);
    for (new, words) in [
        ("x,colour\n1,red\nabc,red\n", ["new.csv:3:1", "\"abc\"", "held numbers"]),
        ("x,colour\nabc,red\n", ["new.csv:2:1", "\"abc\"", "held numbers"]),
        ("x,colour\n1,red\n2,pink\n", ["new.csv:3:2", "\"pink\"", "\"green\""]),
        ("x,colour\n1,red\n-,red\n", ["new.csv:3:1", "missing", "--missing drop"]),
        ("x,colour\n-,red\n", ["new.csv:2:1", "missing", "--missing drop"]),
        ("x,colour\n1,red\n1e300,red\n", ["new.csv:3:1", "at most 1e152", "unit"]),
        ("x,colour,y\n1,red,2\n1,red,1e300\n", ["new.csv:3:3", "too large", "unit"]),
    ] {
        place.write("new.csv", new);
        place.call("predict run new.csv").assert_refused(new, &words);
    }
    place.write("new.csv", "x,colour\n1,red\n-,red\n3,blue\n");
    let dropped = place.call("predict run new.csv --missing drop --json").json();
    let rows: Vec<u64> = dropped["rows"]
        .as_array()
        .expect("rows")
        .iter()
        .filter_map(|row| row["row"].as_u64())
        .collect();
    assert_eq!(rows, [1, 3]);
}

#[test]
fn numbers_that_cannot_be_computed_with_are_refused_before_the_fit() {
    let place = Place::new();
    for (table, cell) in
        [("x,y\n1,1\n1e300,2\n3,4\n", "t.csv:3:1"), ("x,y\n1,1\n2,-1e300\n", "t.csv:3:2")]
    {
        place.write("t.csv", table);
        for rest in
            ["", "--no-standardize", "--model mlp --hidden 2", "--model gp", "--basis polynomial:2"]
        {
            fit(&place, rest).assert_refused(rest, &[cell, "at most 1e152", "unit"]);
        }
        assert_eq!(place.names(), ["t.csv"]);
    }
}

#[test]
fn predictions_that_overflow_are_told() {
    let place = Place::new();
    let rows: String = (0..12).map(|i| format!("{i},{}\n", i * i)).collect();
    place.write("t.csv", format!("x,y\n{rows}"));
    assert_eq!(fit(&place, "--basis polynomial:3").code, 0);
    // Within what can be read, but its cube is not a number.
    place.write("new.csv", "x\n3\n1e140\n");
    let told = place.call("predict run new.csv");
    assert!(
        told.stderr.contains("1 row(s) are not finite numbers, first that of row 2"),
        "{}",
        told.stderr
    );
}

#[test]
fn rows_unlike_those_of_the_fit_are_counted() {
    let place = Place::new();
    let rows: String = (0..40).map(|i| format!("{},{},k{},{i}.5\n", i % 8, i / 8, i % 2)).collect();
    place.write("t.csv", format!("a,b,k,y\n{rows}"));
    assert_eq!(fit(&place, "").code, 0);
    let inside = place.call("predict run t.csv");
    assert_eq!(inside.code, 0);
    assert!(!inside.stderr.contains("outside"), "rows of the fit are inside: {}", inside.stderr);
    place.write("new.csv", "a,b,k\n3,2,k1\n100,2,k1\n7.5,2,k0\n-50,-50,k0\n");
    let outside = place.call("predict run new.csv");
    assert_eq!(outside.code, 0, "{}", outside.stderr);
    let said: Vec<&str> = outside.stderr.lines().filter(|line| line.contains("outside")).collect();
    assert_eq!(said.len(), 1, "{}", outside.stderr);
    let said = said[0];
    for words in
        ["3 of 4 row(s) are outside the range", "(a 3, b 1)", "and 2 are farther from every row"]
    {
        assert!(said.contains(words), "{words:?} is missing in {said}");
    }
}
