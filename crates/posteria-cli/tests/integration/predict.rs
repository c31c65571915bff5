//! Check predictions: what is promised, how columns are found, what is refused.

use std::fs;
use std::process::Stdio;
use std::time::Duration;

use serde_json::Value;

use crate::posteria::{Outcome, Place, signal};

/// Two short chains.
pub const QUICK: &str = "--chains 2 --warmup 100 --draws 200 -q";

/// A place with `data.csv` and a run of its target `y` on `a` and `b`.
pub fn with_run() -> Place {
    let place = Place::with_data(40);
    let fit = format!("fit data.csv --target y --inputs a b {QUICK} --out run");
    assert_eq!(place.call(&fit).code, 0);
    place
}

/// A JSON number.
pub fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value} is no number"))
}

/// The fields of a file without quotation marks inside.
fn cells(place: &Place, name: &str) -> Vec<Vec<String>> {
    let text = fs::read_to_string(place.path(name)).expect("a table");
    text.lines().map(|line| line.split(',').map(str::to_string).collect()).collect()
}

#[test]
fn regression_gives_the_promised_object() {
    let place = with_run();
    let json = place.call("predict run data.csv --json").json();
    let rows = json["rows"].as_array().expect("rows");
    assert_eq!(rows.len(), 40);
    let targets: Vec<f64> = cells(&place, "data.csv")[1..]
        .iter()
        .map(|row| row[2].parse().expect("a number"))
        .collect();
    let (mut squares, mut absolute, mut densities) = (0.0, 0.0, 0.0);
    for (index, row) in rows.iter().enumerate() {
        assert_eq!(row["row"], index + 1);
        let of = |key: &str| number(&row[key]);
        assert!(of("q05") < of("q50") && of("q50") < of("q95") && of("sd") > 0.0);
        assert!((of("q50") - of("mean")).abs() < 0.1 * of("sd"));
        assert!(row.get("prob").is_none() && row.get("predicted").is_none());
        squares += (targets[index] - of("mean")).powi(2);
        absolute += (targets[index] - of("q50")).abs();
        densities += of("log_density");
        // Nearly normal.
        let z = (targets[index] - of("mean")) / of("sd");
        let normal = -0.5 * z * z - of("sd").ln() - 0.918_938_533;
        assert!((of("log_density") - normal).abs() < 0.1, "{row}");
    }
    assert!((number(&json["rmse"]) - (squares / 40.0).sqrt()).abs() < 1e-12);
    assert!((number(&json["mae"]) - absolute / 40.0).abs() < 1e-12);
    assert!((number(&json["mean_log_density"]) - densities / 40.0).abs() < 1e-12);
    assert!(json["accuracy"].is_null() && json.get("targets").is_none());
    // The noise of this table has deviation 0.5/√12, the fit about that.
    assert!(number(&json["rmse"]) < 0.2);
}

#[test]
fn classes_give_probabilities_and_accuracy() {
    let place = Place::with_data(40);
    let fit = format!("fit data.csv --target class --inputs a b {QUICK} --out run");
    assert_eq!(place.call(&fit).code, 0);
    let json = place.call("predict run data.csv --json").json();
    let classes: Vec<String> =
        cells(&place, "data.csv")[1..].iter().map(|row| row[3].clone()).collect();
    let mut right = 0;
    for (row, class) in json["rows"].as_array().expect("rows").iter().zip(&classes) {
        let (no, yes) = (number(&row["prob"]["no"]), number(&row["prob"]["yes"]));
        assert!((no + yes - 1.0).abs() < 1e-12);
        assert_eq!(row["predicted"], if yes > no { "yes" } else { "no" });
        let own = number(&row["prob"][class]);
        assert!((number(&row["log_density"]) - own.ln()).abs() < 1e-9);
        right += usize::from(row["predicted"] == class.as_str());
        assert!(row.get("mean").is_none() && row.get("q50").is_none());
    }
    assert!((number(&json["accuracy"]) - right as f64 / 40.0).abs() < 1e-12);
    assert!(json["rmse"].is_null() && json["mae"].is_null());
    assert!(json["mean_log_density"].is_number());
    let text = place.call("predict run data.csv").stdout;
    for word in ["predicted", "yes", "log_density", "accuracy", "the first 20 of 40 rows"] {
        assert!(text.contains(word), "{word} is missing in\n{text}");
    }
    place.write("new.csv", "a,b,class\n0.1,0.2,perhaps\n");
    let said = place.call("predict run new.csv");
    for word in ["new.csv:2:3", "\"perhaps\"", "\"no\", \"yes\""] {
        assert!(said.refusal().contains(word), "{word} in {}", said.stderr);
    }
}

#[test]
fn columns_are_found_by_name_and_the_target_may_be_absent() {
    let place = with_run();
    place.write("plain.csv", "a,b\n0.25,-0.125\n-0.3,0.4\n");
    place.write("other.csv", "extra;b;colour;a\nx;-0.125;red;0.25\ny;0.4;blue;-0.3\n");
    place.write("empty.csv", "b,y,a\n-0.125,NA,0.25\n0.4,,-0.3\n");
    let plain = place.call("predict run plain.csv --json").json();
    for key in ["mean_log_density", "rmse", "mae", "accuracy"] {
        assert!(plain[key].is_null(), "{key}");
    }
    assert!(plain["rows"][0].get("log_density").is_none());
    for name in ["other.csv", "empty.csv"] {
        assert_eq!(place.call(&format!("predict run {name} --json")).json(), plain, "{name}");
    }
    let text = place.call("predict run plain.csv").stdout;
    assert!(text.contains("q95") && !text.contains("rmse"), "{text}");
}

#[test]
fn tables_without_names_are_matched_by_position() {
    let place = Place::new();
    let rows: String = (0..12)
        .map(|row| {
            let (x, z) = (f64::from(row), f64::from(row * row % 7));
            format!("{} {x} {z}\n", 3.0 + 2.0 * x - z + 0.1 * f64::from(row % 3))
        })
        .collect();
    place.write("data.txt", &rows);
    assert_eq!(place.call(&format!("fit data.txt --target x1 {QUICK} --out run")).code, 0);
    place.write("with.txt", "9.0 2 1\n5.5 4 6\n");
    place.write("without.txt", "2 1\n4 6\n");
    place.write("named.csv", "x3,x2\n1,2\n6,4\n");
    let with = place.call("predict run with.txt --json").json();
    let without = place.call("predict run without.txt --json").json();
    assert!(with["rmse"].is_number() && without["rmse"].is_null());
    assert_eq!(with["rows"][1]["mean"], without["rows"][1]["mean"]);
    assert_eq!(place.call("predict run named.csv --json").json(), without);
    place.write("wide.txt", "1 2 3 4\n5 6 7 8\n");
    let outcome = place.call("predict run wide.txt");
    let said = outcome.refusal();
    for word in ["wide.txt", "4 columns", "3 of the training table", "2 without the target"] {
        assert!(said.contains(word), "{word:?} in {said}");
    }
    // A fit with names, new rows without.
    let place = with_run();
    place.write("four.csv", "0.25,-0.125,1.7,0\n");
    place.write("named.csv", "b,a\n-0.125,0.25\n");
    let four = place.call("predict run four.csv --json").json();
    let named = place.call("predict run named.csv --json").json();
    assert_eq!(four["rows"][0]["q05"], named["rows"][0]["q05"]);
    assert!(four["rmse"].is_number());
    let header = place.call("predict run four.csv --header");
    assert!(header.refusal().contains("no row of data"), "{}", header.stderr);
}

#[test]
fn the_run_folder_is_enough() {
    let place = Place::new();
    let rows: String = (0..30)
        .map(|row| {
            let colour = ["red", "green", "blue"][row % 3];
            let sex = if row % 4 < 2 { "f" } else { "m" };
            let y = row as f64 + [0.0, 10.0, 20.0][row % 3];
            format!("{row},{colour},{sex},{y}\n")
        })
        .collect();
    place.write("data.csv", format!("x,colour,sex,y\n{rows}"));
    assert_eq!(place.call(&format!("fit data.csv --target y {QUICK} --out run")).code, 0);
    let before = place.call("predict run data.csv --data data.csv --json").json();
    fs::rename(place.path("data.csv"), place.path("moved.csv")).expect("moved");
    let after = place.call("predict run moved.csv --json").json();
    // From the kept data to rounding what the table gives.
    for (one, other) in [("rmse", "rmse"), ("mean_log_density", "mean_log_density")] {
        assert!((number(&before[one]) - number(&after[other])).abs() < 1e-9);
    }
    place.write("new.csv", "x,colour,sex\n3,violet,f\n");
    let outcome = place.call("predict run new.csv");
    let said = outcome.refusal();
    for word in ["new.csv:2:2", "\"violet\"", "\"blue\", \"green\", \"red\""] {
        assert!(said.contains(word), "{word} in {said}");
    }
    place.write("other.csv", "x,colour,sex,y\n1,red,f,2\n");
    let said = place.call("predict run moved.csv --data other.csv");
    assert!(said.refusal().contains("is not the file"), "{}", said.stderr);
}

#[test]
fn folders_without_their_data_ask_for_the_table() {
    let place = with_run();
    // As an older version left it: no attribute called encoder.
    let path = place.path("run/checkpoint");
    let mut bytes = fs::read(&path).expect("a checkpoint");
    let at = bytes.windows(7).position(|window| window == b"encoder").expect("the attribute");
    bytes[at..at + 7].copy_from_slice(b"unknown");
    let body = bytes.len() - 4;
    let checksum = crc32fast::hash(&bytes[..body]);
    bytes[body..].copy_from_slice(&checksum.to_le_bytes());
    fs::write(&path, bytes).expect("written");
    let refused = place.call("predict run data.csv");
    assert!(refused.refusal().contains("--data FILE"), "{}", refused.stderr);
    assert!(place.call("predict run data.csv --data data.csv --json").json()["rmse"].is_number());
}

#[test]
fn quantiles_and_files_are_as_asked() {
    let place = with_run();
    let line = "predict run data.csv --quantiles 0.025,0.5,0.9 --out p.csv --json";
    let json = place.call(line).json();
    assert_eq!(json["out"], "p.csv");
    let table = cells(&place, "p.csv");
    assert_eq!(table[0], ["row", "mean", "sd", "q025", "q50", "q90", "log_density"]);
    assert_eq!(table.len(), 41);
    for (row, object) in table[1..].iter().zip(json["rows"].as_array().expect("rows")) {
        for (cell, name) in row.iter().zip(&table[0]) {
            let cell: f64 = cell.parse().expect("a number");
            assert_eq!(cell.to_bits(), number(&object[name]).to_bits(), "{name}");
        }
        assert!(object.get("q05").is_none());
    }
    let text = place.call("predict run data.csv --out p.csv").stdout;
    assert!(text.contains("p.csv: 40 rows") && text.contains("rmse"), "{text}");
    for line in [
        "predict run data.csv --quantiles 0.5,1.5",
        "predict run data.csv --quantiles x",
        "predict run data.csv --function-draws 5",
        "predict run",
    ] {
        assert_eq!(place.call(line).code, 2, "{line}");
    }
    assert!(place.call("predict run data.csv --quantiles 0.5,0.50").refusal().contains("twice"));
    // A refusal leaves the old file.
    let before = fs::read(place.path("p.csv")).expect("a table");
    place.write("bad.csv", "a,b\n1,\n");
    let refused = place.call("predict run bad.csv --out p.csv");
    assert!(refused.refusal().contains("bad.csv:2:2"), "{}", refused.stderr);
    assert_eq!(fs::read(place.path("p.csv")).expect("kept"), before);
}

#[test]
fn new_rows_that_cannot_be_used_are_refused_with_place_and_cure() {
    let place = with_run();
    for (text, words) in [
        ("a,c\n1,2\n", vec!["n.csv", "no column \"b\"", "\"a\", \"c\""]),
        ("a,b\n1,2\n3,NA\n", vec!["n.csv:3:2", "missing", "--missing drop"]),
        ("a,b\n1,2\nlow,3\n", vec!["n.csv:3:1", "\"low\"", "not a number"]),
        ("a,b\n1,inf\n", vec!["n.csv:2:2", "infinite"]),
        ("a,b\n", vec!["n.csv", "header"]),
        ("", vec!["n.csv", "no rows"]),
        ("a,b,y\n1,2,high\n", vec!["n.csv:2:3", "\"high\""]),
    ] {
        place.write("n.csv", text);
        let outcome = place.call("predict run n.csv");
        let said = outcome.refusal();
        for word in words {
            assert!(said.contains(word), "{text:?}: {word:?} is missing in {said:?}");
        }
    }
    assert!(place.call("predict run absent.csv").refusal().contains("absent.csv"));
    assert!(place.call("predict absent data.csv").refusal().contains("absent"));
    place.write("n.csv", "a,b\n1,2\n3,NA\n5,6\n");
    let dropped = place.call("predict run n.csv --missing drop --json");
    assert!(dropped.stderr.contains("1 of 3 rows were dropped"), "{}", dropped.stderr);
    let json = dropped.json();
    let rows: Vec<&Value> =
        json["rows"].as_array().expect("rows").iter().map(|row| &row["row"]).collect();
    assert_eq!(rows, [1, 3]);
}

#[test]
fn the_function_itself_can_be_diagnosed() {
    let place = with_run();
    place.write("new.csv", "a,b\n0.25,-0.125\n-0.3,0.4\n");
    let call = |rest: &str| place.call(&format!("predict run new.csv --json {rest}")).json();
    let json = call("--draws-out f.csv");
    assert_eq!(json["draws_out"], "f.csv");
    let table = cells(&place, "f.csv");
    assert_eq!(table[0], ["chain", "draw", "f[1]", "f[2]"]);
    assert_eq!(table.len(), 1 + 400);
    let diagnosis = place.call("diagnose f.csv --json").json();
    assert_eq!(diagnosis["variables"][1]["name"], "f[2]");
    for row in 0..2 {
        // The noise has mean 0.
        let mean = number(&diagnosis["variables"][row]["mean"]);
        assert!((mean - number(&json["rows"][row]["mean"])).abs() < 1e-12);
    }
    call("--draws-out f.csv --function-draws 50");
    let few = cells(&place, "f.csv");
    assert_eq!(few.len(), 1 + 50);
    // The last draw of every chain is among them.
    assert_eq!(few[25][2..], table[200][2..]);
    assert_eq!(few[50][2..], table[400][2..]);
}

#[test]
fn linear_effects_are_the_weights() {
    let place = with_run();
    let json = place.call("predict run data.csv --effects --json").json();
    let summary = place.call("summary run --json").json();
    let weight = |name: &str| {
        let variables = summary["variables"].as_array().expect("variables");
        variables.iter().find(|row| row["name"] == name).expect("the weight").clone()
    };
    let effects = json["effects"].as_array().expect("effects");
    assert_eq!(effects.len(), 2);
    for effect in effects {
        assert_eq!(effect["output"], "y");
        let weight = weight(&format!("weights[{}]", effect["input"].as_str().expect("a name")));
        let (mean, sd) = (number(&weight["mean"]), number(&weight["sd"]));
        // 200 of the 400 draws: means differ by a fraction of the deviation.
        let comparison = &effect["comparison"];
        assert!((number(&comparison["mean"]) - mean).abs() < 0.4 * sd, "{effect} {weight}");
        assert!((number(&comparison["sd"]) / sd - 1.0).abs() < 0.3, "{effect} {weight}");
        let slope = number(&effect["mean_absolute_derivative"]["mean"]);
        assert!((slope - mean.abs()).abs() < 0.4 * sd);
    }
    let text = place.call("predict run data.csv --effects").stdout;
    assert!(text.contains("comparison") && text.contains("df/dx"), "{text}");
}

#[test]
fn results_do_not_depend_on_threads() {
    let place = with_run();
    let call = |threads: usize| -> Outcome {
        let out = format!("--out p{threads}.csv --draws-out f{threads}.csv");
        place.call(&format!("predict run data.csv {out} --effects --threads {threads}"))
    };
    for threads in [1, 2, 3] {
        assert_eq!(call(threads).code, 0);
        for name in ["p", "f"] {
            let read = |n: usize| fs::read(place.path(&format!("{name}{n}.csv"))).expect("a file");
            assert!(read(threads) == read(1), "{name} on {threads} threads");
        }
    }
    let text = |threads: usize| {
        place.call(&format!("predict run data.csv --effects --json --threads {threads}")).stdout
    };
    assert!(text(1) == text(3));
}

#[test]
fn an_interrupted_prediction_leaves_nothing() {
    let place = with_run();
    // Minutes of work.
    let rows: String = (0..300_000).map(|row| format!("{row},{row}\n")).collect();
    place.write("many.csv", format!("a,b\n{rows}"));
    let mut child = place
        .command(&["predict", "run", "many.csv", "--out", "p.csv", "--threads", "1"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("starts");
    std::thread::sleep(Duration::from_millis(1500));
    assert!(child.try_wait().expect("asked").is_none(), "still at work");
    signal(&child, "INT");
    let output = child.wait_with_output().expect("ends");
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(130), "{stderr}");
    assert!(stderr.contains("interrupted; nothing was written"), "{stderr}");
    assert_eq!(place.names(), ["data.csv", "many.csv", "run"]);
}
