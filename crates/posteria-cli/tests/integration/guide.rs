//! Run every command of the guide and of the README.
//!
//! The README is run as it is written. Of the guide chains are shorter than it says: that commands
//! are understood and go together does not depend on their length, and
//! `the_guide_runs_as_it_is_written` has them in full among the slow tests.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

use crate::draws_store;
use crate::posteria::Place;

/// The folder of the repository.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The blocks of shell commands of a page, in order.
fn blocks(page: &str) -> Vec<String> {
    blocks_of(page, "```sh")
}

/// The blocks of a page that begin so, in order.
fn blocks_of(page: &str, begin: &str) -> Vec<String> {
    let text = fs::read_to_string(root().join(page)).unwrap_or_else(|_| panic!("no {page}"));
    let mut blocks = Vec::new();
    let mut inside: Option<String> = None;
    for line in text.lines() {
        match (&mut inside, line) {
            (None, line) if line == begin => inside = Some(String::new()),
            (Some(block), "```") => {
                blocks.push(std::mem::take(block));
                inside = None;
            }
            (Some(block), line) => block.extend([line, "\n"]),
            (None, _) => {}
        }
    }
    assert!(inside.is_none(), "{page}: a block does not end");
    blocks
}

/// The program with chains, and goals, of a twentieth of the length that was asked for and ten draws
/// more, lest short ones become too short; who asked for neither gets a goal.
const SHORTER: &str = r#"#!/usr/bin/env bash
arguments=() last='' goal=wanted
for it in "$@"; do
    case $last in --draws | --warmup | --ess) it=$((it / 20 + 10)) goal=given ;; esac
    case $it in --dry-run | --inference | --chain) goal=given ;; esac
    arguments+=("$it") last=$it
done
[[ $1 == fit && $goal == wanted ]] && arguments+=(--ess 50)
exec PROGRAM "${arguments[@]}"
"#;

/// A folder with a program of the name of ours, which is called with less to do.
fn shorter() -> Place {
    let place = Place::new();
    place.write("posteria", SHORTER.replace("PROGRAM", env!("CARGO_BIN_EXE_posteria")));
    let may_be_run = fs::Permissions::from_mode(0o755);
    fs::set_permissions(place.path("posteria"), may_be_run).expect("a file of ours");
    place
}

/// Runs the blocks of `page` one after the other in an empty folder, after those of `before`, with
/// shorter chains than they ask for.
fn run(page: &str, before: &[String]) -> Place {
    let shorter = shorter();
    run_with(&shorter.path(""), page, before)
}

/// The folder of the program itself.
fn as_written() -> PathBuf {
    Path::new(env!("CARGO_BIN_EXE_posteria")).parent().expect("a folder").to_path_buf()
}

/// Runs the blocks with the program in `programs`.
fn run_with(programs: &Path, page: &str, before: &[String]) -> Place {
    let blocks = blocks(page);
    assert!(!blocks.is_empty(), "{page} has no commands");
    let place = Place::new();
    let path = format!("{}:{}", programs.display(), env::var("PATH").unwrap_or_default());
    for block in before.iter().chain(&blocks) {
        let script = format!("set -euo pipefail\n{block}");
        let mut shell = Command::new("bash");
        shell.args(["-c", &script]).current_dir(place.path("")).env("PATH", &path);
        let done = shell.output().expect("bash");
        let said = String::from_utf8_lossy(&done.stderr);
        assert!(done.status.success(), "{page}:\n{block}\n{said}");
    }
    place
}

/// The table that the chapters use.
fn table() -> Vec<String> {
    blocks("docs/guide/README.md")
}

#[test]
fn the_first_chapter_runs() {
    run("docs/guide/first-fit.md", &table());
}

#[test]
fn the_chapter_about_one_model_runs() {
    run("docs/guide/good.md", &table());
}

#[test]
fn the_chapter_about_two_models_runs() {
    run("docs/guide/which.md", &table());
}

#[test]
fn the_chapter_about_inputs_runs() {
    run("docs/guide/inputs.md", &table());
}

#[test]
fn the_chapter_about_evidence_runs() {
    run("docs/guide/probable.md", &table());
}

#[test]
fn the_chapter_about_chains_runs() {
    run("docs/guide/chains.md", &table());
}

/// Its Python is run where there is one that knows ArviZ.
#[test]
fn the_chapter_about_arviz_runs() {
    let page = "docs/guide/arviz.md";
    let place = run(page, &table());
    let Some(python) = draws_store::python() else { return };
    let programs = blocks_of(page, "```python").join("\n");
    assert!(programs.contains("plot_loo_pit"));
    draws_store::run_python(&python, &place.path(""), &programs);
}

/// With a GPU or without.
#[test]
fn the_chapter_about_gpus_runs() {
    run("docs/guide/gpu.md", &table());
}

#[test]
fn the_chapter_about_columns_runs() {
    run("docs/guide/columns.md", &table());
}

#[test]
fn the_chapter_about_noise_runs() {
    run("docs/guide/noise.md", &[]);
}

#[test]
fn the_chapter_about_predictions_runs() {
    run("docs/guide/predictions.md", &table());
}

#[test]
fn the_chapter_about_classes_runs() {
    run("docs/guide/classes.md", &table());
}

#[test]
fn the_chapter_about_counts_runs() {
    run("docs/guide/counts.md", &table());
}

#[test]
fn the_chapter_about_grades_runs() {
    run("docs/guide/grades.md", &table());
}

#[test]
fn the_chapter_about_durations_runs() {
    run("docs/guide/durations.md", &table());
}

#[test]
fn the_chapter_about_several_targets_runs() {
    run("docs/guide/several-targets.md", &table());
}

#[test]
fn the_chapter_about_covariance_functions_runs() {
    run("docs/guide/covariances.md", &table());
}

#[test]
fn the_chapter_about_networks_runs() {
    run("docs/guide/networks.md", &table());
}

#[test]
fn the_chapter_about_priors_runs() {
    run("docs/guide/priors.md", &table());
}

#[test]
fn the_chapter_about_chains_that_do_not_converge_runs() {
    run("docs/guide/not-converged.md", &table());
}

#[test]
fn the_chapter_about_run_folders_runs() {
    run("docs/guide/run-folder.md", &table());
}

#[test]
fn the_chapter_about_more_than_one_machine_runs() {
    run("docs/guide/machines.md", &table());
}

#[test]
fn the_chapter_about_json_runs() {
    run("docs/guide/json.md", &table());
}

#[test]
fn the_chapter_about_approximations_runs() {
    run("docs/guide/approximations.md", &table());
}

#[test]
fn the_chapter_for_users_of_other_programs_runs() {
    run("docs/guide/coming-from.md", &table());
}

#[test]
fn the_chapter_about_demonstrations_runs() {
    run("docs/guide/demonstrations.md", &[]);
}

#[test]
fn the_chapter_about_the_report_runs() {
    run("docs/guide/report.md", &table());
}

#[test]
fn the_session_of_the_readme_runs() {
    run_with(&as_written(), "README.md", &[]);
}

#[test]
#[ignore = "slow: chains of full length"]
fn the_guide_runs_as_it_is_written() {
    for entry in fs::read_dir(root().join("docs/guide")).expect("the guide") {
        let name = entry.expect("a file").file_name().into_string().expect("a name");
        let page = format!("docs/guide/{name}");
        if name != "README.md" && !blocks(&page).is_empty() {
            run_with(&as_written(), &page, &table());
        }
    }
}

#[test]
fn every_page_with_commands_is_run_by_a_test() {
    let tests = include_str!("guide.rs");
    for entry in fs::read_dir(root().join("docs/guide")).expect("the guide") {
        let name = entry.expect("a file").file_name().into_string().expect("a name");
        let page = format!("docs/guide/{name}");
        let quoted = format!("\"{page}\"");
        assert!(tests.contains(&quoted) || blocks(&page).is_empty(), "{page} is not run");
    }
}

#[test]
fn the_demonstrations_of_the_guide_are_those_of_the_program() {
    let listed = Place::new().call("demo --list --json").json();
    let text = |item: &serde_json::Value, key: &str| item[key].as_str().expect(key).to_string();
    let demos = listed["demos"].as_array().expect("a list");
    let expected: Vec<(String, String)> =
        demos.iter().map(|item| (text(item, "name"), text(item, "source"))).collect();
    let page = fs::read_to_string(root().join("docs/guide/demonstrations.md")).expect("the page");
    let rows = page.lines().filter_map(|line| line.strip_prefix("| `"));
    let shown: Vec<(String, String)> = rows
        .map(|row| {
            let cells: Vec<&str> = row.trim_end_matches('|').split(" | ").map(str::trim).collect();
            (cells[0].trim_end_matches('`').to_string(), cells[cells.len() - 1].to_string())
        })
        .collect();
    assert_eq!(shown, expected);
    let readme = fs::read_to_string(root().join("README.md")).expect("the README");
    assert!(readme.contains(&format!("[{} demonstrations]", expected.len())));
}

#[test]
fn the_readme_is_short() {
    let readme = fs::read_to_string(root().join("README.md")).expect("the README");
    assert!(readme.lines().count() <= 150, "what is longer belongs into the guide");
}

/// The anchors of the headings of a page, as they are made by the usual renderers.
fn anchors(text: &str) -> Vec<String> {
    let headings = text.lines().filter(|line| line.starts_with('#'));
    let anchor = |line: &str| {
        let title = line.trim_start_matches('#').trim().to_lowercase();
        let kept = title.chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
        kept.map(|c| if c == ' ' { '-' } else { c }).collect()
    };
    headings.map(anchor).collect()
}

#[test]
fn links_between_pages_lead_somewhere() {
    let guide = fs::read_dir(root().join("docs/guide")).expect("the guide");
    let pages = guide.map(|entry| entry.expect("a file").path());
    let others = ["README.md", "docs/spec.md", "ARCHITECTURE.md", "CONTRIBUTING.md"];
    let mut links = 0;
    for path in pages.chain(others.map(|page| root().join(page))) {
        let text = fs::read_to_string(&path).expect("text");
        for part in text.split("](").skip(1) {
            let link = part.split(')').next().unwrap_or_default();
            if link.starts_with("http") {
                continue;
            }
            let (target, anchor) = link.split_once('#').unwrap_or((link, ""));
            let page = match target {
                "" => path.clone(),
                target => path.parent().expect("a folder").join(target),
            };
            assert!(page.exists(), "{}: {link}", path.display());
            if !anchor.is_empty() {
                let anchors = anchors(&fs::read_to_string(&page).expect("text"));
                assert!(anchors.iter().any(|it| it == anchor), "{}: {link}", path.display());
            }
            links += 1;
        }
    }
    assert!(links > 20, "{links} links");
}

#[test]
fn every_chapter_is_in_the_contents() {
    let contents = fs::read_to_string(root().join("docs/guide/README.md")).expect("the contents");
    for entry in fs::read_dir(root().join("docs/guide")).expect("the guide") {
        let name = entry.expect("a file").file_name().into_string().expect("a name");
        assert!(name == "README.md" || contents.contains(&format!("({name})")), "{name}");
    }
}
