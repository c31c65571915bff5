//! Ladders of temperatures as units: the evidences of one machine.

use std::fs;
use std::path::Path;
use std::time::Duration;

use crate::plans::{copy, done, files, shell, succeeded};
use crate::plans_slurm::by_slurm;
use crate::posteria::{Place, assert_same_files, exists};

const SHORT: &str = "fit data.csv --target y --inputs a b --chains 2 --warmup 40 --draws 40 -q";
const FEW: &str = "--ladders 3 --warmup 40 --draws 40";

#[test]
fn evidences_by_ladders_elsewhere_have_the_bytes_of_one_machine() {
    let place = Place::with_data(24);
    for (name, model) in [("net", "mlp --hidden 2"), ("process", "gp --relevance common")] {
        done(&place, &format!("{SHORT} --model {model} --out {name}"));
        copy(&place, name, &format!("alone/{name}"));
    }
    let spec = fs::read_to_string(place.path("net/spec.toml")).expect("a specification");
    place.write("wide.toml", spec.replacen("hidden = 2", "hidden = 3", 1));
    place.write("alone/wide.toml", fs::read(place.path("wide.toml")).expect("written"));
    for (options, stages, script) in [
        ("--method path,bridge,annealed --particles 20", 2, "slurm"),
        ("--schedule power --rungs 6 --method warp,sweep", 1, "sh"),
        ("--method bridge --rungs 5 --sensitivity residual=0.5,2 --seed 7", 2, "sh"),
    ] {
        let asked = format!("evidence net process wide.toml {FEW} {options}");
        done(&place, &format!("plan {asked} -o plan -q --script {script}"));
        let units = fs::read_to_string(place.path("plan/order.txt")).expect("an order");
        let models = if options.contains("sensitivity") { 9 } else { 3 };
        assert_eq!(units.lines().count(), if stages == 2 { models } else { 3 * models });
        match script {
            "slurm" => assert_eq!(by_slurm(&place, "plan"), 2 * stages, "each with its collection"),
            _ => succeeded(&shell(&place, "sh plan/run.sh 2", Path::new(""))),
        }
        let output = shell(&place, "posteria collect plan --json -q", Path::new(""));
        succeeded(&output);
        let script = format!("cd alone; posteria {asked} --json -q");
        let alone = shell(&place, &script, Path::new(""));
        succeeded(&alone);
        let told = |output: &[u8]| String::from_utf8_lossy(output).into_owned();
        assert_eq!(told(&output.stdout), told(&alone.stdout), "{options}");
        if script == "slurm" {
            let script = format!("cd alone; posteria {asked}");
            let alone = told(&shell(&place, &script, Path::new("")).stdout);
            let collected = fs::read_to_string(place.path("plan/collected.txt")).expect("told");
            assert!(collected.contains(&alone), "{collected}\n{alone}");
        }
        for run in ["net", "process"] {
            assert_same_files(&files(&place, run), &files(&place, &format!("alone/{run}")));
        }
        let plan = fs::read_to_string(place.path("plan/plan.json")).expect("a plan");
        assert!(plan.contains(&format!("\"stages\":{stages}")), "{plan}");
        fs::remove_dir_all(place.path("plan")).expect("removed");
    }
}

#[test]
fn a_ladder_that_is_killed_goes_on_and_what_is_not_of_it_is_refused() {
    let place = Place::with_data(24);
    let other = Place::with_data(25);
    for here in [&place, &other] {
        done(here, &format!("{SHORT} --model mlp --hidden 2 --out run"));
        let asked = "evidence run --ladders 2 --warmup 40 --draws 600 --schedule power --rungs 6";
        done(here, &format!("plan {asked} -o plan -q"));
    }
    let started = std::time::Instant::now();
    done(&place, "run-unit plan 2 -q");
    let takes = started.elapsed();
    let result = |unit: &str| place.path(&format!("plan/results/{unit}.unit"));
    let whole = fs::read(result("000002")).expect("a result");
    fs::remove_file(result("000002")).expect("removed");
    let mut killed = place.start("run-unit plan 2");
    std::thread::sleep(takes.mul_f64(0.6).min(Duration::from_secs(5)));
    killed.kill().expect("killed");
    killed.wait().expect("ended");
    let both = [place.start("run-unit plan 2"), place.start("run-unit plan 2")];
    for child in both {
        let output = child.wait_with_output().expect("ends");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
    assert!(fs::read(result("000002")).expect("a result") == whole, "the same bytes");
    assert_eq!(fs::read_dir(place.path("plan/work")).expect("a folder").count(), 0);
    let partly = place.call("collect plan");
    assert_eq!(partly.code, 1);
    let words = "1 of 2 units are missing: 1 (ladder 1 of 2 of run)";
    assert!(partly.stderr.contains(words), "{}", partly.stderr);

    done(&other, "run-unit plan 1 -q");
    fs::copy(other.path("plan/results/000001.unit"), result("000001")).expect("copied");
    place.call("collect plan").assert_refused("data", &["is a result of other data"]);
    fs::copy(result("000002"), result("000001")).expect("copied");
    let words = "is a result of another unit: of ladder 2 of 2";
    place.call("collect plan").assert_refused("unit", &[words]);
    fs::remove_file(result("000001")).expect("removed");
    done(&place, "run-unit plan 1 -q");
    // Another model in its place.
    fs::remove_dir_all(place.path("run")).expect("removed");
    done(&place, &format!("{SHORT} --model mlp --hidden 3 --out run"));
    let words = "run has another specification than when the plan was made";
    place.call("collect plan").assert_refused("specification", &[words]);
    for (line, words) in [
        ("plan evidence run --method laplace -o p", "none of these methods runs ladders"),
        ("plan evidence run --ladders 1 -o p", "ladders must be at least 2"),
        ("plan evidence none -o p", "there is no run folder or specification file none"),
    ] {
        place.call(line).assert_refused(line, &[words]);
        assert!(!exists(place.path("p")), "{line}");
    }
}
