//! Enforce the import table of ARCHITECTURE.md and the size of files.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

/// Longest source file, tests included.
const LONGEST_FILE: usize = 400;

/// Every module of the library with its layer: a module may import from lower layers only.
const LAYERS: [(&str, usize); 17] = [
    ("random", 0),
    ("density", 0),
    ("caution", 0),
    ("json", 0),
    ("target", 1),
    ("data", 1),
    ("draws", 1),
    ("sample", 2),
    ("optimise", 2),
    ("diagnose", 2),
    ("predict", 2),
    ("model", 3),
    ("approximate", 4),
    ("fit", 5),
    ("assess", 6),
    ("evidence", 7),
    ("select", 7),
];

/// Imports within a layer that are part of the design.
const WITHIN: [(&str, &str); 2] = [("density", "random"), ("sample", "optimise")];

fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("the folder is there") {
        let path = entry.expect("a readable entry").path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
}

fn layer(module: &str) -> Option<usize> {
    LAYERS.iter().find(|(name, _)| *name == module).map(|(_, layer)| *layer)
}

/// The modules named after `crate::`, also inside braces.
fn imported(text: &str) -> Vec<String> {
    let word = |rest: &str| -> String {
        rest.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect()
    };
    let mut modules = Vec::new();
    for (at, _) in text.match_indices("crate::") {
        let rest = &text[at + "crate::".len()..];
        match rest.strip_prefix('{') {
            Some(list) => modules.extend(
                list.split('}').next().unwrap_or("").split(',').map(|item| word(item.trim())),
            ),
            None => modules.push(word(rest)),
        }
    }
    modules
}

#[test]
fn imports_run_one_way() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = Vec::new();
    sources(&root, &mut files);
    let mut offences = Vec::new();
    for file in &files {
        let inside = file.strip_prefix(&root).expect("below the root");
        let first = inside.components().next().expect("a component").as_os_str();
        let module = first.to_string_lossy().trim_end_matches(".rs").to_string();
        if module == "lib" {
            continue;
        }
        let Some(own) = layer(&module) else {
            offences.push(format!("{module} is missing from the table of layers"));
            continue;
        };
        let text = fs::read_to_string(file).expect("readable source");
        for other in imported(&text) {
            let allowed = other == module
                || layer(&other).is_some_and(|layer| layer < own)
                || WITHIN.contains(&(module.as_str(), other.as_str()));
            if !allowed {
                offences.push(format!("{} imports crate::{other}", inside.display()));
            }
        }
    }
    assert!(offences.is_empty(), "{}", offences.join("\n"));
}

/// A specification is data: models read it, and it knows none of them.
#[test]
fn specifications_know_no_model() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/model/spec");
    let mut files = Vec::new();
    sources(&root, &mut files);
    assert!(files.len() > 10, "the sources were found");
    let mut offences = Vec::new();
    for file in &files {
        let text = fs::read_to_string(file).expect("readable source");
        for (at, path) in text.match_indices("crate::model") {
            let visibility = text[..at].ends_with("pub(in ");
            if !visibility && !text[at + path.len()..].starts_with("::spec") {
                offences.push(format!("{} names another part of the models", file.display()));
            }
        }
        let is_root = file.ends_with("mod.rs");
        if text.contains("super::super::") || is_root && text.contains("use super::") {
            offences.push(format!("{} reaches beyond the specification", file.display()));
        }
    }
    assert!(offences.is_empty(), "{}", offences.join("\n"));
}

/// What a front end has no business with: kernels, densities, optimisers, and models by their kind
/// (but to put one in words). Demonstrations are programs of their own, in a crate of theirs.
#[test]
fn the_command_line_moves_no_chain_and_knows_no_model() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the crates folder");
    let root = crates.join("posteria-cli").join("src");
    let mut files = Vec::new();
    sources(&root, &mut files);
    assert!(files.len() > 50, "the sources were found");
    let kinds = ["gp", "linear", "mixture", "mlp", "pca"].map(|kind| format!("model::{kind}::"));
    let layers = ["density::", "optimise::", "sample::hmc", "target::"].map(String::from);
    let mut offences = Vec::new();
    for file in &files {
        let inside = file.strip_prefix(&root).expect("below the root");
        let text = fs::read_to_string(file).expect("readable source");
        let described = if inside.starts_with("words") { &[][..] } else { &kinds[..] };
        for path in described.iter().chain(&layers) {
            if text.contains(&format!("posteria::{path}")) {
                offences.push(format!("{} names posteria::{path}", inside.display()));
            }
        }
        for call in [".sweep(", ".evaluator(", ".condition("] {
            if text.contains(call) {
                offences.push(format!("{} calls {call}…)", inside.display()));
            }
        }
    }
    assert!(offences.is_empty(), "{}", offences.join("\n"));
}

/// What commands call is given what it needs, not all that a command is run with: otherwise every file
/// of the command line would know every other.
#[test]
fn commands_alone_know_what_they_are_run_with() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the crates folder");
    let root = crates.join("posteria-cli").join("src");
    let mut files = Vec::new();
    sources(&root, &mut files);
    assert!(files.len() > 50, "the sources were found");
    let mut offences = Vec::new();
    for file in &files {
        let inside = file.strip_prefix(&root).expect("below the root");
        let is_command = inside.starts_with("commands") || inside.starts_with("commands.rs");
        let text = fs::read_to_string(file).expect("readable source");
        for name in ["context", "commands"] {
            if !is_command && text.contains(&format!("crate::{name}")) {
                offences.push(format!("{} imports crate::{name}", inside.display()));
            }
        }
    }
    assert!(offences.is_empty(), "{}", offences.join("\n"));
}

/// Identifiers in the first column of GLOSSARY.md stand in the code; plain words need not.
#[test]
fn the_glossary_names_what_exists() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the crates folder");
    let mut files = Vec::new();
    sources(crates, &mut files);
    let is_letter = |c: char| c.is_alphanumeric() || c == '_';
    let mut known = HashSet::new();
    for file in &files {
        let text = fs::read_to_string(file).expect("readable source");
        known.extend(text.split(|c| !is_letter(c)).map(String::from));
    }
    let glossary = crates.parent().expect("the root").join("GLOSSARY.md");
    let glossary = fs::read_to_string(glossary).expect("the glossary");
    let terms = glossary.lines().filter_map(|line| line.strip_prefix("| ")?.split('|').next());
    let named = terms.flat_map(|term| term.split('`').skip(1).step_by(2));
    let is_identifier = |word: &&str| {
        word.chars().all(is_letter) && word.contains(|c: char| c.is_uppercase() || c == '_')
    };
    let named: Vec<&str> = named.filter(is_identifier).collect();
    assert!(named.len() > 30, "the terms were found");
    let missing: Vec<&&str> = named.iter().filter(|word| !known.contains(**word)).collect();
    assert!(missing.is_empty(), "{missing:?}");
}

#[test]
fn files_are_short_and_say_what_they_are_for() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the crates folder");
    let mut files = Vec::new();
    sources(crates, &mut files);
    assert!(files.len() > 20, "the sources were found");
    let mut offences = Vec::new();
    for file in &files {
        let text = fs::read_to_string(file).expect("readable source");
        let lines = text.lines().count();
        if lines > LONGEST_FILE {
            offences.push(format!("{}: {lines} lines", file.display()));
        }
        if !text.starts_with("//! ") {
            offences.push(format!("{}: no header", file.display()));
        }
    }
    assert!(offences.is_empty(), "{}", offences.join("\n"));
}

#[test]
fn the_table_sees_imports_in_every_form() {
    let text = "use crate::model::Posterior; fn f() -> crate::fit::Outcome {} use crate::{draws, sample::Plan};";
    assert_eq!(imported(text), ["model", "fit", "draws", "sample"]);
}
