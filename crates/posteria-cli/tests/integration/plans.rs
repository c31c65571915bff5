//! Work that is divided into units: any order, any number of machines, repeats, kills.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::Duration;

use crate::posteria::{Outcome, Place, assert_same_files, exists};

/// Few draws: that bits are the same does not depend on their number.
const SHORT: &str = "fit data.csv --target y --inputs a b --chains 2 --warmup 40 --draws 40 -q";
const KFOLD: &str = "--method kfold --folds 4";

/// A place with three runs of the same rows.
fn with_runs() -> Place {
    let place = Place::with_data(24);
    for (name, model) in
        [("line", "linear"), ("net", "mlp --hidden 2"), ("process", "gp --relevance common")]
    {
        done(&place, &format!("{SHORT} --model {model} --out {name}"));
    }
    place
}

/// Calls the program, which must succeed.
#[track_caller]
pub fn done(place: &Place, line: &str) -> Outcome {
    let outcome = place.call(line);
    assert_eq!(outcome.code, 0, "{line}: {}", outcome.stderr);
    outcome
}

/// Copies a folder to another name.
pub fn copy(place: &Place, from: &str, to: &str) {
    for (name, content) in place.files(from) {
        let path = place.path(to).join(name);
        fs::create_dir_all(path.parent().expect("a folder")).expect("made");
        fs::write(path, content).expect("written");
    }
}

/// The files of a run, but who wrote it and how long that took.
pub fn files(place: &Place, name: &str) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut files = place.files(name);
    files.retain(|path, _| !path.ends_with("lock") && !path.ends_with("time.json"));
    files
}

/// Runs a script in the place, where the program is found.
pub fn shell(place: &Place, script: &str, first: &Path) -> Output {
    let program = Path::new(env!("CARGO_BIN_EXE_posteria")).parent().expect("a folder");
    let path = std::env::var("PATH").unwrap_or_default();
    let path = format!("{}:{}:{path}", first.display(), program.display());
    let mut shell = Command::new("sh");
    shell.args(["-euc", script]).current_dir(place.path("")).env("PATH", path);
    shell.output().expect("a shell")
}

#[track_caller]
pub fn succeeded(output: &Output) {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn a_comparison_has_the_same_bytes_by_itself_and_by_units_in_any_order() {
    let place = with_runs();
    let compare = format!("compare line net process {KFOLD}");
    let runs = ["line", "net", "process"];
    runs.iter().for_each(|run| copy(&place, run, &format!("alone/{run}")));
    runs.iter().for_each(|run| copy(&place, run, &format!("copied/{run}")));
    let told = place
        .call_with(&[
            "plan", "compare", "line", "net", "process", "--method", "kfold", "--folds", "4", "-o",
            "plan", "--json",
        ])
        .json();
    assert_eq!((&told["units"], &told["runs"]), (&12.into(), &3.into()));
    let nothing = place.call("collect plan");
    assert_eq!(nothing.code, 1);
    assert!(nothing.stderr.contains("12 of 12 units are missing: 1 (fold 1 of 4 of line"));

    // The last ones first, one by one; some by a second process, in another place.
    for unit in (9..=12).rev() {
        done(&place, &format!("run-unit plan {unit} -q"));
    }
    copy(&place, "plan", "elsewhere/plan");
    let away = "xargs -n 1 -P 2 posteria run-unit -q elsewhere/plan < elsewhere/plan/order.txt";
    succeeded(&shell(&place, away, Path::new("")));
    for unit in ["000005", "000007"] {
        let name = format!("plan/results/{unit}.unit");
        fs::copy(place.path(&format!("elsewhere/{name}")), place.path(&name)).expect("copied");
    }
    let partly = place.call("collect plan");
    assert!(partly.stderr.contains("6 of 12 units are missing: 1 ("), "{}", partly.stderr);
    assert!(exists(place.path("net/folds/random-4-seed-1/fold-0001/checkpoint")), "kept");
    // Repeats change nothing, neither one after the other nor at the same time.
    done(&place, "run-unit plan 9 9 1 -q");
    let all = "cat plan/order.txt plan/order.txt | xargs -n 1 -P 3 posteria run-unit -q plan";
    succeeded(&shell(&place, all, Path::new("")));
    assert_eq!(place.files("plan/work").len(), 0, "nothing is left behind");
    assert_same_files(&place.files("plan/results"), &place.files("elsewhere/plan/results"));

    let collected = done(&place, "collect plan --json -q").stdout;
    let script = format!("cd alone; posteria {compare} --json -q");
    let alone = shell(&place, &script, Path::new(""));
    succeeded(&alone);
    assert_eq!(collected, String::from_utf8_lossy(&alone.stdout));
    for run in runs {
        assert_same_files(&files(&place, run), &files(&place, &format!("alone/{run}")));
        done(&place, &format!("verify {run}/folds/random-4-seed-1/fold-0002"));
    }
    // A plan that was copied together with its runs finds them.
    fs::remove_dir_all(place.path("elsewhere/plan/work")).expect("removed");
    copy(&place, "elsewhere/plan", "copied/plan");
    fs::create_dir_all(place.path("copied/plan/work")).expect("made");
    let script = "cd copied/plan; posteria collect . --json -q";
    succeeded(&shell(&place, script, Path::new("")));
    assert_same_files(&files(&place, "copied/net/folds"), &files(&place, "alone/net/folds"));
    // The folds are there: nothing is fitted again.
    assert_eq!(done(&place, &format!("{compare} --json -q")).stdout, collected);
}

#[test]
fn a_unit_that_is_killed_goes_on_and_may_be_run_twice_at_once() {
    let place = Place::with_data(24);
    done(&place, &format!("{SHORT} --model mlp --hidden 3 --out net"));
    done(&place, "plan assess net --method kfold --folds 2 --fold-draws 1000 -o plan -q");
    copy(&place, "plan", "whole");
    fs::create_dir_all(place.path("whole/work")).expect("made");
    fs::create_dir_all(place.path("whole/results")).expect("made");
    fs::create_dir_all(place.path("plan/work")).expect("made");
    let started = std::time::Instant::now();
    done(&place, "run-unit whole 1 -q");
    let takes = started.elapsed();
    let mut killed = place.start("run-unit plan 1");
    std::thread::sleep(takes.mul_f64(0.6).min(Duration::from_secs(5)));
    killed.kill().expect("killed");
    killed.wait().expect("ended");
    let left = fs::read_dir(place.path("plan/work")).expect("a folder").count();
    assert!(left == 1 || exists(place.path("plan/results/000001.unit")), "{left}");
    let both = [place.start("run-unit plan 1"), place.start("run-unit plan 1")];
    for child in both {
        let output = child.wait_with_output().expect("ends");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
    assert_eq!(fs::read_dir(place.path("plan/work")).expect("a folder").count(), 0);
    let result = |plan: &str| fs::read(place.path(&format!("{plan}/results/000001.unit")));
    assert!(result("plan").expect("there") == result("whole").expect("there"), "the same bytes");
}

#[test]
fn chains_of_a_plan_are_the_run_of_a_fit_bit_for_bit() {
    let place = Place::with_data(24);
    let fit = "fit data.csv --target y --inputs a b";
    let chains = "--chains 3 --warmup 40 --draws 30";
    for (name, options, units) in [
        ("line", format!("--residual student-t {chains}"), 3),
        ("net", format!("--model mlp --hidden 2 {chains}"), 3),
        ("process", format!("--model gp {chains}"), 3),
        ("mode", "--inference laplace".into(), 1),
    ] {
        done(&place, &format!("{fit} {options} --out {name} -q"));
        let planned = done(&place, &format!("plan {fit} {options} -o {name}-plan --json"));
        assert_eq!(planned.json()["units"], units, "{name}");
        for unit in (1..=units).rev() {
            done(&place, &format!("run-unit {name}-plan {unit} -q"));
        }
        let told = done(&place, &format!("collect {name}-plan --out {name}-joined --json -q"));
        assert_eq!(told.json()["run"], format!("{name}-joined"));
        assert_same_files(&files(&place, name), &files(&place, &format!("{name}-joined")));
    }
    for chain in 1..=3 {
        done(&place, &format!("{fit} --model gp {chains} --chain {chain} --out chain{chain} -q"));
    }
    done(&place, "join chain3 chain1 chain2 --out joined");
    assert_same_files(&files(&place, "process"), &files(&place, "joined"));
    // It goes on as the run of all chains does.
    done(&place, "resume joined --draws 40 -q");
    done(&place, "resume process --draws 40 -q");
    assert_same_files(&place.files("process/draws.zarr"), &place.files("joined/draws.zarr"));
}

#[test]
fn what_does_not_belong_together_is_refused_by_name() {
    let place = Place::with_data(24);
    let other = Place::with_data(25);
    done(&place, &format!("{SHORT} --out run"));
    done(&place, &format!("{SHORT} --thin 2 --out thin"));
    done(&other, &format!("{SHORT} --out run"));
    let plan = format!("{KFOLD} -o");
    done(&place, &format!("plan assess run {plan} plan -q"));
    done(&place, &format!("plan assess thin {plan} thin-plan -q"));
    done(&other, &format!("plan assess run {plan} plan -q"));
    done(&place, "run-unit thin-plan 1 -q");
    done(&place, "run-unit plan 2 3 -q");
    done(&other, "run-unit plan 1 -q");
    let put = |from: PathBuf| {
        fs::copy(from, place.path("plan/results/000001.unit")).expect("copied");
        let refused = place.call("collect plan");
        assert_eq!(refused.code, 2, "{}", refused.stderr);
        refused.stderr
    };
    let said = put(other.path("plan/results/000001.unit"));
    assert!(said.contains("is a result of other data"), "{said}");
    let said = put(place.path("thin-plan/results/000001.unit"));
    assert!(said.contains("is a result of another specification"), "{said}");
    let said = put(place.path("plan/results/000002.unit"));
    assert!(said.contains("is a result of another unit: of fold 2 of 4"), "{said}");
    // Others are not kept from their places.
    assert!(exists(place.path("run/folds/random-4-seed-1/fold-0003/checkpoint")));

    let mut bytes = fs::read(place.path("plan/results/000002.unit")).expect("a result");
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    place.write("plan/results/000001.unit", &bytes);
    // As a power cut leaves a result: it counts as none, and is made again.
    done(&place, "run-unit plan 4 -q");
    for spoilt in [&bytes[..], &bytes[..middle], &[]] {
        place.write("plan/results/000001.unit", spoilt);
        let said = place.call("collect plan");
        assert_eq!(said.code, 1, "{}", said.stderr);
        assert!(
            said.stderr.contains("1 of 4 units are missing: 1 (fold 1 of 4"),
            "{}",
            said.stderr
        );
        assert!(said.stderr.contains("its result is damaged"), "{}", said.stderr);
        done(&place, "run-unit plan 1 -q");
    }
    done(&place, "collect plan");

    let text = fs::read_to_string(place.path("plan/plan.json")).expect("a plan");
    for (from, to, words) in [
        ("\"version\":\"", "\"version\":\"9", "was made by posteria 9"),
        ("\"format\":3", "\"format\":4", "has format 4, this posteria reads format 3"),
        ("\"format\":3", "\"format\":2", "was made by posteria of format 2"),
        ("\"units\":4", "\"units\":5", "has not as many units"),
        ("--method", "--pointwise", "--pointwise is not for plans"),
        ("\"runs\":[", "\"runs\":[1,", "is damaged"),
    ] {
        assert!(text.contains(from), "{from}");
        place.write("plan/plan.json", text.replacen(from, to, 1));
        place.call("collect plan").assert_refused(to, &[words]);
    }
    place.write("plan/plan.json", text);
    done(&place, "resume run --draws 60 -q");
    place.call("collect plan").assert_refused("gone on", &["run has gone on since the plan"]);

    done(&place, &format!("{SHORT} --chain 1 --out one"));
    done(&place, &format!("{SHORT} --chain 2 --thin 2 --out two"));
    done(&other, &format!("{SHORT} --chain 2 --out two"));
    place
        .call("join one two --out all")
        .assert_refused("join", &["two cannot be joined: it has another specification than one"]);
    let two = other.path("two").display().to_string();
    place
        .call_with(&["join", "one", &two, "--out", "all"])
        .assert_refused("join", &["it has other data than one"]);
    for (line, words) in [
        ("join one --out all", "of 2 chains these are missing: 2"),
        ("join run --out all", "is not a run of one chain among several"),
        ("run-unit plan 9", "there is no unit 9: plan has units 1 to 4"),
        ("run-unit run 1", "run is no plan: it has no file plan.json"),
        ("plan assess run --method loo -o p", "only folds are units"),
        (
            "plan assess run --nested 3 -o p",
            "are those of a search over input sets: posteria select run",
        ),
        ("compare run thin --nested 3 -q", "posteria select run --nested 3"),
        ("plan assess run --pointwise rows.csv -o p", "--pointwise is not for plans"),
        ("plan fit data.csv --target y --draws 50 -o p", "wait for each other"),
        ("plan fit - --target y --warmup 9 --draws 9 -o p", "write it into a file first"),
        ("plan assess run -o plan", "is not empty"),
    ] {
        place.call(line).assert_refused(line, &[words]);
        assert!(!exists(place.path("all")) && !exists(place.path("p")), "{line}");
    }
}
