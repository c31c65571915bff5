//! What a person meets first: folders, refusals before words, standard input, replaced runs.

use std::fs;
use std::io::Write as _;
use std::process::Stdio;

use crate::posteria::{Outcome, Place};

const SHORT: &str = "--chains 2 --warmup 60 --draws 60";

/// Calls the program with `data` on standard input.
fn call_with_input(place: &Place, line: &str, data: &[u8]) -> Outcome {
    let arguments: Vec<&str> = line.split_whitespace().collect();
    let mut command = place.command(&arguments);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("the program starts");
    child.stdin.take().expect("a pipe").write_all(data).expect("read");
    let done = child.wait_with_output().expect("ends");
    Outcome {
        code: done.status.code().unwrap_or(-1),
        stdout: String::from_utf8(done.stdout).expect("UTF-8"),
        stderr: String::from_utf8(done.stderr).expect("UTF-8"),
    }
}

#[test]
fn the_folders_of_a_run_are_made() {
    let place = Place::with_data(30);
    let fit = format!("fit data.csv --target y --inputs a b --out some/new/run {SHORT}");
    assert_eq!(place.call(&fit).code, 0);
    assert!(place.path("some/new/run/spec.toml").exists());
}

#[test]
fn what_can_be_refused_is_before_anything_is_said() {
    let place = Place::with_data(30);
    let fit = format!("fit data.csv --target y --inputs a b {SHORT}");
    assert_eq!(place.call(&format!("{fit} --out run")).code, 0);
    fs::create_dir(place.path("mine")).expect("a folder");
    place.write("mine/notes.txt", "mine");
    // A refusal is one line, with nothing about the model before it.
    place
        .call(&format!("{fit} --out run"))
        .assert_refused("taken", &["run holds a run", "--force"]);
    place.call(&format!("{fit} --out mine")).assert_refused("mine", &["mine is not empty"]);
    place
        .call(&format!("{fit} --out data.csv/run"))
        .assert_refused("file", &["data.csv is a file"]);
    place
        .call("fit data.csv --target nothere --out new/run")
        .assert_refused("column", &["nothere"]);
    assert!(!place.path("new").exists(), "nothing is left of what was refused");
    place.call("resume nothere").assert_refused("resume", &["there is no folder nothere"]);
    place.call("predict nothere data.csv").assert_refused("predict", &["no folder nothere"]);
}

#[test]
fn a_run_is_replaced_when_that_is_said_and_nothing_else_ever_is() {
    let place = Place::with_data(30);
    let fit = |rest: &str| place.call(&format!("fit data.csv --target y --inputs a b {rest}"));
    assert_eq!(fit(&format!("--out run {SHORT}")).code, 0);
    // With all that commands have kept beside it.
    for kept in ["assess run", "check run --statistic max(y)", "evidence run --method exact"] {
        assert_eq!(place.call(&format!("{kept} -q")).code, 0, "{kept}");
    }
    assert!(place.path("run/check.json").exists() && place.path("run/assess.json").exists());
    let again = fit(&format!("--out run {SHORT} --model mlp --hidden 2 --force --json"));
    assert_eq!(again.json()["model"], "mlp");
    // What is refused leaves the old run where it was.
    let kept = fs::read(place.path("run/spec.toml")).expect("a run");
    let refused = fit("--out run --force --covariance se --hidden 3");
    assert_eq!(refused.code, 2);
    assert_eq!(fs::read(place.path("run/spec.toml")).expect("a run"), kept);
    fs::create_dir(place.path("mine")).expect("a folder");
    place.write("mine/notes.txt", "mine");
    fit(&format!("--out mine --force {SHORT}")).assert_refused("no run", &["holds no run"]);
    place.write("run/notes.txt", "mine");
    fit(&format!("--out run --force {SHORT}")).assert_refused("notes", &["\"notes.txt\""]);
    assert!(place.path("run/notes.txt").exists() && place.path("mine/notes.txt").exists());
}

#[test]
fn a_table_from_standard_input_is_that_of_a_file() {
    let place = Place::with_data(40);
    let data = fs::read(place.path("data.csv")).expect("a table");
    let fit = |source: &str, out: &str| {
        let line = format!("fit {source} --target y --inputs a b --out {out} {SHORT} --json");
        call_with_input(&place, &line, &data).json()
    };
    let (file, input) = (fit("data.csv", "file"), fit("-", "input"));
    assert_eq!(file["max_r_hat"], input["max_r_hat"]);
    let predict = |run: &str| {
        call_with_input(&place, &format!("predict {run} - --json"), &data).json()["rows"].clone()
    };
    assert_eq!(predict("file"), predict("input"));
    // A run whose table cannot be read again goes on from what it keeps, bit for bit.
    let extend = |run: &str| {
        assert_eq!(place.call(&format!("resume {run} --draws 90")).code, 0);
        place.call(&format!("summary {run} --json")).json()["variables"].clone()
    };
    assert_eq!(extend("file"), extend("input"));
    place
        .call_with(&["fit", "-", "--target", "y", "--out", "empty"])
        .assert_refused("nothing came", &["standard input"]);
}

/// What asks for the table again takes what the run keeps of it: the same to rounding.
#[test]
fn a_run_of_standard_input_can_be_asked_everything() {
    let place = Place::new();
    let row = |i: usize| format!("{},{},{}\n", i % 7, i % 5, 2 * (i % 7) + i % 3);
    let data = format!("a,b,y\n{}", (0..40).map(row).collect::<String>()).into_bytes();
    place.write("data.csv", String::from_utf8_lossy(&data).into_owned());
    for (source, out) in [("data.csv", "file"), ("-", "input")] {
        let fit = format!("fit {source} --target y --inputs a b --out {out} {SHORT} -q");
        assert_eq!(call_with_input(&place, &fit, &data).code, 0);
    }
    let number = |line: String, at: &str| {
        let told = place.call(&format!("{line} --json"));
        assert_eq!(told.code, 0, "{line}: {}", told.stderr);
        told.json().pointer(at).and_then(serde_json::Value::as_f64).expect("a number")
    };
    let evidence = |run| number(format!("evidence {run} --method exact"), "/log_evidence");
    assert!((evidence("file") - evidence("input")).abs() < 1e-9);
    let by_column = |run| number(format!("assess {run} --weights a"), "/utilities/0/mean");
    assert!((by_column("file") - by_column("input")).abs() < 1e-9);
    let select = "--target y --chains 2 --warmup 50 --draws 100 --nested 2 --json";
    let select = |source: &str, out: &str| {
        let chosen =
            call_with_input(&place, &format!("select {source} {select} --out {out}"), &data);
        assert_eq!(chosen.code, 0, "{}", chosen.stderr);
        chosen.json()
    };
    let (file, input) = (select("data.csv", "of-file"), select("-", "chosen"));
    assert_eq!(input["chosen"], serde_json::json!(["a"]));
    // Without a fold the rows of the whole run are divided, and all columns are there.
    assert_eq!(
        (&input["nested"]["folds"], &input["nested"]["sets"]),
        (&2.into(), &file["nested"]["sets"])
    );
}
