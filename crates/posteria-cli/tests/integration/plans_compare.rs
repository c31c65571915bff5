//! Comparisons of specifications, and folds of every kind, as units.

use std::fs;
use std::path::Path;

use crate::plans::{copy, done, files, shell, succeeded};
use crate::plans_slurm::by_slurm;
use crate::posteria::{Place, assert_same_files, exists};

const SHORT: &str = "fit data.csv --target y --inputs a b --chains 2 --warmup 40 --draws 40 -q";

/// A place with two specifications, and a run.
fn with_specifications() -> Place {
    let place = Place::with_data(24);
    for (name, model) in [("line", "linear"), ("net", "mlp --hidden 2")] {
        done(&place, &format!("{SHORT} --model {model} --out fitted/{name}"));
        let spec = fs::read(place.path(&format!("fitted/{name}/spec.toml"))).expect("there");
        place.write(&format!("{name}.toml"), spec);
    }
    done(&place, &format!("{SHORT} --residual student-t --out robust"));
    fs::create_dir(place.path("alone")).expect("made");
    for name in ["line.toml", "net.toml"] {
        fs::copy(place.path(name), place.path(&format!("alone/{name}"))).expect("copied");
    }
    copy(&place, "robust", "alone/robust");
    place
}

#[test]
fn specifications_are_fitted_and_compared_on_one_machine_and_on_many() {
    let place = with_specifications();
    let asked = "compare line.toml net.toml robust --method kfold --folds 3 --repeats 2";
    let alone = shell(&place, &format!("cd alone; posteria {asked} --json -q"), Path::new(""));
    succeeded(&alone);
    assert_same_files(&files(&place, "fitted/net"), &{
        let mut run = files(&place, "alone/net");
        run.retain(|path, _| !path.starts_with("folds") && !path.ends_with("compare.json"));
        run
    });
    done(&place, &format!("plan {asked} --unit chain -o plan -q --script slurm"));
    let order = fs::read_to_string(place.path("plan/order.txt")).expect("an order");
    assert_eq!(order.lines().count(), 4, "chains of both specifications");
    assert_eq!(by_slurm(&place, "plan"), 4, "chains, their collection, folds, theirs");
    let told = done(&place, "collect plan --json -q").stdout;
    assert_eq!(told, String::from_utf8_lossy(&alone.stdout));
    for run in ["line", "net", "robust"] {
        assert_same_files(&files(&place, run), &files(&place, &format!("alone/{run}")));
    }
    // What is there is not fitted again, and what is another model is refused.
    assert_eq!(done(&place, &format!("{asked} --json -q")).stdout, told);
    place.call(&format!("plan {asked} -o p -q")).assert_refused("all done", &["nothing to do"]);
    let spec = fs::read_to_string(place.path("net.toml")).expect("there");
    place.write("net.toml", spec.replacen("hidden = 2", "hidden = 3", 1));
    let words = "net is a run of another specification than net.toml";
    place.call(&format!("{asked} -q")).assert_refused("another", &[words]);
    place.write("goal.toml", spec.replacen("[sampling]", "[sampling]\ness = 400.0", 1));
    place
        .call("plan compare goal.toml robust -o p -q")
        .assert_refused("waits", &["wait for each other", "warmup and draws in [sampling]"]);
    place.call("compare none.toml robust -q").assert_refused("none", &["cannot read", "none.toml"]);
    assert!(!exists(place.path("p")) && !exists(place.path("goal")));
}

#[test]
fn folds_of_every_kind_have_the_bytes_of_one_machine() {
    let place = Place::with_data(24);
    let rows = fs::read_to_string(place.path("data.csv")).expect("data");
    let mut lines = rows.lines();
    let header = format!("{},site,part", lines.next().expect("a header"));
    let all = lines.enumerate().map(|(row, line)| format!("{line},s{},p{}", row % 5, row % 3));
    let text: Vec<String> = std::iter::once(header).chain(all).collect();
    place.write("data.csv", text.join("\n") + "\n");
    done(&place, &format!("{SHORT} --out run"));
    copy(&place, "run", "alone/run");
    for how in [
        "--folds 3 --repeats 3",
        "--folds 3 --group site",
        "--folds 3 --block 1",
        "--folds 3 --spatial a b --buffer 0.1",
        "--fold-column part",
    ] {
        let asked = format!("assess run --method kfold {how} --fold-draws 20");
        done(&place, &format!("plan {asked} -o plan -q"));
        let units = "xargs -n 5 -P 2 posteria run-unit -q plan < plan/order.txt";
        succeeded(&shell(&place, units, Path::new("")));
        let told = done(&place, "collect plan --json -q").stdout;
        let alone = shell(&place, &format!("cd alone; posteria {asked} --json -q"), Path::new(""));
        succeeded(&alone);
        assert_eq!(told, String::from_utf8_lossy(&alone.stdout), "{how}");
        fs::remove_dir_all(place.path("plan")).expect("removed");
    }
    assert_same_files(&files(&place, "run"), &files(&place, "alone/run"));
}

#[test]
fn chains_of_folds_are_units_with_the_bytes_of_one_machine() {
    let place = Place::with_data(24);
    // Chains of folds are as long as they are, however long those of all rows went on.
    done(
        &place,
        "fit data.csv --target y --inputs a b --residual student-t --chains 3 --out line -q",
    );
    done(
        &place,
        "fit data.csv --target y --inputs a b --inference laplace --draws 40 --out mode -q",
    );
    for (name, model) in [("net", "--model mlp --hidden 2"), ("process", "--model gp")] {
        done(&place, &format!("{SHORT} {model} --out {name}"));
    }
    let runs = ["line", "net", "mode", "process"];
    runs.iter().for_each(|run| copy(&place, run, &format!("alone/{run}")));
    let asked =
        "compare line net mode process --method kfold --folds 2 --fold-draws 20 --repeats 2";
    let told = done(&place, &format!("plan {asked} --unit chain -o plan --json"));
    assert_eq!(told.json()["units"], 4 * (3 + 2 + 1 + 2));
    let some = "head -n 20 plan/order.txt | xargs -n 1 -P 2 posteria run-unit -q plan";
    succeeded(&shell(&place, some, Path::new("")));
    let partly = place.call("collect plan").stderr;
    assert!(
        partly.contains("12 of 32 units are missing: ") && partly.contains("(chain "),
        "{partly}"
    );
    let all = "xargs -n 1 -P 2 posteria run-unit -q plan < plan/order.txt";
    succeeded(&shell(&place, all, Path::new("")));
    let told = done(&place, "collect plan --json -q").stdout;
    let alone = shell(&place, &format!("cd alone; posteria {asked} --json -q"), Path::new(""));
    succeeded(&alone);
    assert_eq!(told, String::from_utf8_lossy(&alone.stdout));
    for run in runs {
        assert_same_files(&files(&place, run), &files(&place, &format!("alone/{run}")));
    }
    assert_eq!(place.files("plan/work").len(), 0, "nothing is left behind");
}
