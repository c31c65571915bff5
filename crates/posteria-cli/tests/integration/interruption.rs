//! Kill, interrupt, lock and damage runs.

use std::fs;
use std::path::Path;
use std::process::Child;
use std::time::{Duration, Instant};

use crate::posteria::{Outcome, Place, assert_same_files, exists, signal};

/// About a second of work with checkpoints in between, on two chains.
const LONG: &str = "fit data.csv --target y --inputs a b --chains 2 --warmup 500 --draws 4000 \
                    --thin 8 --threads 2 --quiet";

fn finish(child: Child) -> Outcome {
    let output = child.wait_with_output().expect("the program ends");
    Outcome {
        code: output.status.code().unwrap_or(-1),
        stdout: String::from_utf8(output.stdout).expect("UTF-8"),
        stderr: String::from_utf8(output.stderr).expect("UTF-8"),
    }
}

#[test]
fn runs_killed_at_random_moments_resume_to_the_same_bytes() {
    /// Runs, and how often each is killed.
    const RUNS: usize = 3;
    const KILLS: usize = 5;
    let place = Place::with_data(15);
    let began = Instant::now();
    assert_eq!(place.call(&format!("{LONG} --out whole")).code, 0);
    let whole_takes = began.elapsed();
    let whole = place.files("whole/draws.zarr");
    // Moments from a multiplicative generator: random enough, and the same every time.
    let mut state: u64 = 0x9e37_79b9_7f4a_7c15;
    let mut moment = || {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        whole_takes.mul_f64((state >> 33) as f64 / (1_u64 << 31) as f64)
    };
    for run in 0..RUNS {
        let name = format!("run{run}");
        for _ in 0..KILLS {
            let line = if exists(place.path(&format!("{name}/checkpoint"))) {
                format!("resume {name} --quiet --threads 2")
            } else {
                format!("{LONG} --out {name}")
            };
            let mut child = place.start(&line);
            std::thread::sleep(moment());
            child.kill().expect("killed");
            child.wait().expect("ended");
        }
        if !exists(place.path(&format!("{name}/checkpoint"))) {
            assert_eq!(place.call(&format!("{LONG} --out {name}")).code, 0);
        }
        let resumed = place.call(&format!("resume {name} --draws 4000 --json --quiet"));
        assert_eq!(resumed.json()["draws"], 4000);
        assert_same_files(&whole, &place.files(&format!("{name}/draws.zarr")));
        assert_eq!(place.call(&format!("verify {name}")).code, 0);
    }
}

#[test]
fn a_killed_network_resumes_to_the_same_bytes() {
    let place = Place::with_data(15);
    let fit = "fit data.csv --target y --inputs a b --model mlp --hidden 2 --residual student-t \
               --chains 2 --warmup 100 --draws 500 --threads 2 --quiet";
    let began = Instant::now();
    assert_eq!(place.call(&format!("{fit} --out whole")).code, 0);
    let whole_takes = began.elapsed();
    // In warm-up, and among the draws.
    for (name, share) in [("early", 0.05), ("late", 0.6)] {
        let mut child = place.start(&format!("{fit} --out {name}"));
        place.wait_for(&format!("{name}/checkpoint"));
        std::thread::sleep(whole_takes.mul_f64(share));
        child.kill().expect("killed");
        child.wait().expect("ended");
        assert_eq!(place.call(&format!("resume {name} --quiet --threads 1")).code, 0);
        let [whole, resumed] = ["whole", name].map(|run| place.files(&format!("{run}/draws.zarr")));
        assert_same_files(&whole, &resumed);
    }
}

#[test]
fn a_run_killed_after_its_last_draw_ends_with_the_same_bytes() {
    let place = Place::with_data(15);
    let fit = "fit data.csv --target y --inputs a b --chains 2 --warmup 10 --draws 20 --out run -q";
    assert_eq!(place.call(fit).code, 0);
    let mut whole = place.files("run");
    let text = |name: &str| {
        String::from_utf8(whole[Path::new(&format!("draws.zarr/{name}"))].clone()).expect("text")
    };
    let all: serde_json::Value = serde_json::from_str(&text(".zmetadata")).expect("JSON");
    let shown = all["metadata"].as_object().expect("documents").iter();
    let (added, own): (Vec<_>, Vec<_>) =
        shown.partition(|(name, _)| name.starts_with("posterior_predictive/"));
    assert!(added.len() > 5 && own.len() > 20);
    let own: serde_json::Map<_, _> =
        own.into_iter().map(|(name, document)| (name.clone(), document.clone())).collect();
    let without_added = serde_json::json!({ "zarr_consolidated_format": 1, "metadata": own });
    // The checkpoint before the one that says that the writer ended by itself.
    let mut open = whole[Path::new("checkpoint")].clone();
    let body = open.len() - 4;
    let first_chain = [&[1, 1][..], &30_u64.to_le_bytes()].concat();
    let flags: Vec<usize> = open
        .windows(first_chain.len())
        .enumerate()
        .filter_map(|(place, bytes)| (bytes == first_chain).then_some(place))
        .collect();
    assert_eq!(flags.len(), 1, "the closing flag, and the first chain");
    open[flags[0]] = 0;
    let checksum = crc32fast::hash(&open[..body]).to_le_bytes();
    open[body..].copy_from_slice(&checksum);
    let earlier = text("posterior/intercept/.zarray").replace("[2, 20]", "[2, 10]");
    whole.remove(Path::new("time.json"));
    whole.remove(Path::new("lock"));
    let written = |name: &str, content: Vec<u8>| place.write(&format!("run/{name}"), content);
    let removed =
        |name: &str| fs::remove_file(place.path(&format!("run/{name}"))).expect("removed");
    let kills: [(&str, &dyn Fn()); 4] = [
        ("before the metadata told of the last draws", &|| {
            written("checkpoint", open.clone());
            written("draws.zarr/posterior/intercept/.zarray", earlier.clone().into_bytes());
        }),
        ("before the group was whole", &|| {
            removed("draws.zarr/posterior_predictive/.checksums");
        }),
        ("before the metadata told of the group", &|| {
            written("draws.zarr/.zmetadata", without_added.to_string().into_bytes());
        }),
        ("before the model was put in words", &|| removed("model.txt")),
    ];
    for (when, kill) in kills {
        kill();
        assert_eq!(place.call("resume run -q").code, 0);
        let mut resumed = place.files("run");
        resumed.retain(|name, _| whole.contains_key(name));
        let differs = whole.iter().find(|(name, content)| resumed.get(*name) != Some(content));
        assert_eq!(differs.map(|(name, _)| name), None, "killed {when}");
    }
}

#[test]
fn signals_keep_the_draws_and_tell_how_to_go_on() {
    let place = Place::with_data(15);
    // Thinned, so that few files wait to be synced when the signal comes.
    let endless = "fit data.csv --target y --inputs a b --chains 3 --draws 500000 --thin 200 \
                   --threads 2 -q";
    for (name, code) in [("INT", 130), ("TERM", 143)] {
        let run = format!("run{name}");
        let child = place.start(&format!("{endless} --out {run}"));
        place.wait_for(&format!("{run}/checkpoint"));
        std::thread::sleep(Duration::from_millis(300));
        let began = Instant::now();
        signal(&child, name);
        let outcome = finish(child);
        assert!(began.elapsed() < Duration::from_secs(10), "ends soon after the signal");
        assert_eq!(outcome.code, code, "{}", outcome.stderr);
        assert_eq!(outcome.stdout, "");
        let advice = format!("posteria resume {run}");
        assert!(outcome.stderr.contains(&advice), "{}", outcome.stderr);
        let verified = place.call(&format!("verify {run} --json")).json();
        assert_eq!(verified["complete"], false);
        assert_eq!(verified["locked"], false);
    }
}

#[test]
fn an_interrupted_run_resumes_to_the_same_bytes() {
    let place = Place::with_data(15);
    assert_eq!(place.call(&format!("{LONG} --out whole")).code, 0);
    let child = place.start(&format!("{LONG} --out run"));
    place.wait_for("run/checkpoint");
    std::thread::sleep(Duration::from_millis(150));
    signal(&child, "INT");
    let outcome = finish(child);
    assert!([130, 0].contains(&outcome.code), "{}", outcome.stderr);
    assert_eq!(place.call("resume run -q").code, 0);
    assert_same_files(&place.files("whole/draws.zarr"), &place.files("run/draws.zarr"));
}

#[test]
fn a_run_can_be_extended_and_a_complete_one_says_so() {
    let place = Place::with_data(15);
    let fit = |draws: usize, out: &str| {
        let line = format!(
            "fit data.csv --target y --inputs a b --chains 2 --warmup 100 --draws {draws} \
             --out {out} -q"
        );
        assert_eq!(place.call(&line).code, 0);
    };
    fit(300, "run");
    fit(700, "whole");
    let complete = place.call("resume run");
    assert_eq!(complete.code, 0);
    assert!(complete.stderr.contains("complete"), "{}", complete.stderr);
    assert_eq!(place.call("resume run --draws 200 --json -q").json()["draws"], 300);
    assert_eq!(place.call("resume run --draws 700 --json -q").json()["draws"], 700);
    assert_same_files(&place.files("whole/draws.zarr"), &place.files("run/draws.zarr"));
}

#[test]
fn a_run_whose_data_changed_is_not_resumed() {
    let place = Place::with_data(15);
    let fit = "fit data.csv --target y --inputs a b --chains 1 --warmup 10 --draws 20 --out run -q";
    assert_eq!(place.call(fit).code, 0);
    let before = place.files("run");
    let data = fs::read_to_string(place.path("data.csv")).expect("data");
    place.write("data.csv", data.replacen('1', "2", 1));
    let changed = place.call("resume run --draws 40 -q");
    assert!(changed.refusal().contains("data.csv is not the file"), "{}", changed.stderr);
    fs::remove_file(place.path("data.csv")).expect("removed");
    let vanished = place.call("resume run --draws 40 -q");
    assert!(vanished.refusal().contains("not there any more"), "{}", vanished.stderr);
    assert_same_files(&before, &place.files("run"));
    place.write("moved.csv", data);
    assert_eq!(place.call("resume run --draws 40 -q --data moved.csv").code, 0);
    assert!(place.call("resume run --seed 2").refusal().contains("--seed"));
}

#[test]
fn a_running_run_can_be_read_but_not_written() {
    let place = Place::with_data(15);
    let endless =
        "fit data.csv --target y --inputs a b --chains 2 --draws 50000000 --out run -q --threads 2";
    let child = place.start(endless);
    place.wait_for("run/checkpoint");
    let draws = || place.call("verify run --json").json()["draws"].as_u64();
    let began = Instant::now();
    while draws().is_none_or(|draws| draws < 10) {
        assert!(began.elapsed() < Duration::from_secs(30), "no draws appear");
        std::thread::sleep(Duration::from_millis(50));
    }
    let resume = place.call("resume run -q");
    let said = resume.refusal();
    assert!(said.contains(&child.id().to_string()), "names the process: {said}");
    let summary = place.call("summary run");
    assert_eq!(summary.code, 0, "{}", summary.stderr);
    assert!(summary.stderr.contains("still being written"), "{}", summary.stderr);
    for line in ["diagnose run", "verify run", "export run --format csv --out d.csv --json"] {
        let outcome = place.call(line);
        assert_eq!(outcome.code, 0, "{line}: {}", outcome.stderr);
    }
    signal(&child, "TERM");
    assert_eq!(finish(child).code, 143);
}

#[test]
fn damaged_and_newer_run_folders_are_refused() {
    let place = Place::with_data(15);
    let fit =
        "fit data.csv --target y --inputs a b --chains 2 --warmup 10 --draws 1500 --out run -q";
    assert_eq!(place.call(fit).code, 0);
    let whole = place.files("run");
    let restore = || {
        for (name, content) in &whole {
            place.write(&format!("run/{}", name.display()), content);
        }
    };
    let refused = |line: &str, words: &[&str]| {
        let outcome = place.call(line);
        let said = outcome.refusal();
        for word in words {
            assert!(said.contains(word), "{line}: {word:?} is missing in {said:?}");
        }
    };
    let checkpoint = &whole[Path::new("checkpoint")];

    let mut flipped = checkpoint.clone();
    flipped[checkpoint.len() / 2] ^= 4;
    place.write("run/checkpoint", &flipped);
    for line in [
        "summary run",
        "diagnose run",
        "verify run",
        "resume run -q --draws 2000",
        "export run --format json --out j.json",
    ] {
        refused(line, &["checkpoint", "damaged"]);
    }
    place.write("run/checkpoint", &checkpoint[..checkpoint.len() / 2]);
    refused("summary run", &["checkpoint", "damaged"]);

    let mut newer = checkpoint[..checkpoint.len() - 4].to_vec();
    newer[8..12].copy_from_slice(&99_u32.to_le_bytes());
    let checksum = crc32fast::hash(&newer);
    newer.extend(checksum.to_le_bytes());
    place.write("run/checkpoint", &newer);
    refused("summary run", &["format 99", "newer"]);
    restore();

    let chunk = whole.keys().find(|name| name.ends_with("posterior/intercept/0.0"));
    let chunk = chunk.expect("a full chunk of the intercept");
    let name = format!("run/{}", chunk.display());
    let mut content = whole[chunk].clone();
    content[100] ^= 1;
    place.write(&name, &content);
    for line in ["summary run", "verify run", "resume run -q --draws 2000"] {
        refused(line, &["posterior/intercept/0.0", "damaged"]);
    }
    fs::remove_file(place.path(&name)).expect("removed");
    let outcome = place.call("summary run");
    assert_eq!(outcome.code, 2, "{}", outcome.stderr);
    restore();

    place.write("run/spec.toml", "[data]\n");
    refused("summary run", &["spec.toml", "damaged"]);
    restore();
    assert_eq!(place.call("verify run").code, 0);

    refused("summary absent", &["there is no folder absent"]);
    refused("summary data.csv", &["data.csv", "not a run folder"]);
}
