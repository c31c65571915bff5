//! Searches over input sets as units, stage after stage: the choice of one machine.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use crate::plans::{copy, done, files, shell, succeeded};
use crate::plans_slurm::by_slurm;
use crate::posteria::{Place, assert_same_files, exists};

const SEARCH: &str = "select data.csv --target y --chains 2 --warmup 40 --draws 60";

/// Without how long something takes "at the pace so far", which no two runs have in common.
fn timeless(text: &[u8]) -> String {
    let text = String::from_utf8_lossy(text).into_owned();
    let mut parts = text.split(" (about ");
    let first = parts.next().unwrap_or_default().to_string();
    parts.fold(first, |all, part| match part.split_once(" at the pace so far)") {
        Some((_, rest)) => all + rest,
        None => all + " (about " + part,
    })
}

/// The files of a run, without times.
fn timeless_files(place: &Place, name: &str) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut files = files(place, name);
    for (path, content) in &mut files {
        if path.ends_with("selection.json") {
            *content = timeless(content).into_bytes();
        }
    }
    files
}

/// How often units were put into a plan.
fn stages(place: &Place) -> usize {
    let plan = fs::read_to_string(place.path("plan/plan.json")).expect("a plan");
    let plan: serde_json::Value = serde_json::from_str(&plan).expect("JSON");
    plan["stages"].as_u64().expect("a number") as usize
}

#[test]
fn choices_by_units_have_the_bytes_of_one_machine() {
    let place = Place::with_data(30);
    fs::create_dir(place.path("alone")).expect("made");
    fs::copy(place.path("data.csv"), place.path("alone/data.csv")).expect("copied");
    let data = place.path("data.csv").display().to_string();
    for (name, options, script) in [
        ("loo", "--leave-out --fold-draws 40", "sh"),
        ("folds", "--folds 2 --fold-draws 20 --set-prior uniform-sizes", "slurm"),
        ("nested", "--nested 2 --fold-draws 20 --largest 2 --seed 5", "sh"),
    ] {
        let search = SEARCH.replace("data.csv", &data);
        done(&place, &format!("plan {search} {options} --run {name} -o plan -q --script {script}"));
        match script {
            // The units of every stage, and a job that collects.
            "slurm" => assert_eq!(by_slurm(&place, "plan"), 2 * stages(&place)),
            _ => succeeded(&shell(&place, "sh plan/run.sh 2", Path::new(""))),
        }
        let output = shell(&place, "posteria collect plan --json -q", Path::new(""));
        succeeded(&output);
        let script = format!("cd alone; posteria {search} {options} --out {name} --json -q");
        let alone = shell(&place, &script, Path::new(""));
        succeeded(&alone);
        assert_eq!(timeless(&output.stdout), timeless(&alone.stdout), "{options}");
        assert!(stages(&place) >= 2, "{name}: {}", stages(&place));
        let alone = timeless_files(&place, &format!("alone/{name}"));
        assert_same_files(&timeless_files(&place, name), &alone);
        fs::remove_dir_all(place.path("plan")).expect("removed");
    }
    // The choice of a search that is there, which was made by itself.
    copy(&place, "alone/loo", "again");
    fs::remove_dir_all(place.path("again/sets")).expect("removed");
    let choice = "select again --sets 1 --fold-draws 40";
    done(&place, &format!("plan {choice} -o plan -q --script sh"));
    let finish = "sh plan/run.sh 2 > /dev/null; posteria collect plan --json -q";
    let output = shell(&place, finish, Path::new(""));
    succeeded(&output);
    copy(&place, "alone/loo", "other/again");
    fs::remove_dir_all(place.path("other/again/sets")).expect("removed");
    let alone = shell(&place, &format!("cd other; posteria {choice} --json -q"), Path::new(""));
    succeeded(&alone);
    assert_eq!(timeless(&output.stdout), timeless(&alone.stdout));
}

#[test]
fn what_cannot_be_divided_of_a_selection_is_refused() {
    let place = Place::with_data(24);
    done(&place, &format!("plan {SEARCH} --run there -o plan -q"));
    let missing = place.call("collect plan");
    assert_eq!(missing.code, 1);
    let words = "2 of 2 units are missing: 1 (chain 1 of 2 of there)";
    assert!(missing.stderr.contains(words), "{}", missing.stderr);
    fs::create_dir(place.path("taken")).expect("made");
    for (line, words) in [
        ("plan select data.csv --target y --draws 50 -o p", "wait for each other"),
        ("plan select - --target y --warmup 9 --draws 9 -o p", "write it into a file first"),
        ("plan select data.csv --target y --dry-run -o p", "--dry-run is not for the plan"),
        ("plan select data.csv --target y --run taken -o p", "taken is there already"),
        ("plan select plan -o p", "plan"),
        ("collect plan --out there", "so omit it"),
    ] {
        place.call(line).assert_refused(line, &[words]);
        assert!(!exists(place.path("p")), "{line}");
    }
}
