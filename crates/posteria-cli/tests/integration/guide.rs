//! Run every command of the guide and of the README as it is written.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

use crate::posteria::Place;

/// The folder of the repository.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The blocks of shell commands of a page, in order.
fn blocks(page: &str) -> Vec<String> {
    let text = fs::read_to_string(root().join(page)).unwrap_or_else(|_| panic!("no {page}"));
    let mut blocks = Vec::new();
    let mut inside: Option<String> = None;
    for line in text.lines() {
        match (&mut inside, line) {
            (None, "```sh") => inside = Some(String::new()),
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

/// Runs the blocks of `page` one after the other in an empty folder, after those of `before`.
fn run(page: &str, before: &[String]) {
    let blocks = blocks(page);
    assert!(!blocks.is_empty(), "{page} has no commands");
    let place = Place::new();
    let program = Path::new(env!("CARGO_BIN_EXE_posteria"));
    let folder = program.parent().expect("a folder").display().to_string();
    let path = format!("{folder}:{}", env::var("PATH").unwrap_or_default());
    for block in before.iter().chain(&blocks) {
        let script = format!("set -euo pipefail\n{block}");
        let mut shell = Command::new("bash");
        shell.args(["-c", &script]).current_dir(place.path("")).env("PATH", &path);
        let done = shell.output().expect("bash");
        let said = String::from_utf8_lossy(&done.stderr);
        assert!(done.status.success(), "{page}:\n{block}\n{said}");
    }
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

#[test]
fn the_session_of_the_readme_runs() {
    run("README.md", &[]);
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
