//! Open reports in a browser as readers do; where there is none, say so.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs, io};

use crate::posteria::Place;
use crate::predict::QUICK;

/// A program that a variable names, or one of these names on the path.
fn program(variable: &str, names: &[&str]) -> Option<PathBuf> {
    if let Some(named) = env::var_os(variable).filter(|named| !named.is_empty()) {
        return Some(named.into());
    }
    let folders: Vec<PathBuf> = env::split_paths(&env::var_os("PATH")?).collect();
    let paths = names.iter().flat_map(|name| folders.iter().map(move |folder| folder.join(name)));
    paths.into_iter().find(|path| path.is_file())
}

/// A table of three classes and two targets, with a column of names.
fn table() -> String {
    let mut text = String::from("a,b,kind,class,y\n");
    for row in 0..80_u32 {
        let part = |step: f64| 2.0 * (f64::from(row) * step).fract() - 1.0;
        let (a, b) = (part(0.618_034), part(0.754_878));
        let class = if a + 0.4 * part(0.569_84) > 0.4 {
            "upper class"
        } else if b > 0.0 {
            "middle"
        } else {
            "low"
        };
        let kind = ["p", "q", "r"][row as usize % 3];
        let y = 3.0 * a + b * b + 0.5 * part(0.328_2);
        text.push_str(&format!("{a},{b},{kind},{class},{y}\n"));
    }
    text
}

#[test]
fn reports_are_whole_on_phones_and_desks() {
    let chromium = program(
        "POSTERIA_CHROMIUM",
        &["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"],
    );
    let (Some(chromium), Some(node)) = (chromium, program("POSTERIA_NODE", &["node", "nodejs"]))
    else {
        // Past the harness, which shows nothing of tests that succeed.
        let _ = writeln!(
            io::stderr(),
            "SKIPPED: no Chromium or no Node here, so reports were not opened in a browser; install \
             both, or name the browser in POSTERIA_CHROMIUM"
        );
        return;
    };
    let place = Place::new();
    place.write("table.csv", table());
    let evidence = "--method path --draws 50 --warmup 50 --ladders 2";
    for line in [
        // Real targets of one input, of two, and of a column of names.
        &format!("fit table.csv --target y --inputs a {QUICK} --out one"),
        &format!("fit table.csv --target y --inputs a b {QUICK} --out two"),
        &format!("fit table.csv --target y --inputs a kind {QUICK} --out names"),
        "assess one --utility elpd rmse -q",
        "assess two --utility elpd rmse -q",
        &format!("evidence one {evidence} -q"),
        "report one two names -o regression.html -q",
        &format!("fit table.csv --target class --inputs a b kind {QUICK} --out classes"),
        "assess classes --utility elpd accuracy -q",
        "report classes -o classes.html -q",
        "select table.csv --target y --inputs a b kind --chains 2 --warmup 100 --draws 400 --out set -q",
        "report set -o selection.html -q",
        "fit table.csv --target y --inputs a b --model mlp --chains 2 --warmup 0 --draws 6 -q --out bad",
        "assess bad -q --refit 0",
        "report bad -o bad.html -q",
        "demo line --quick -q",
    ] {
        let done = place.call(line);
        assert_eq!(done.code, 0, "{line}\n{}", done.stderr);
    }
    fs::copy(place.path("posteria-demo/line/report.html"), place.path("demo.html"))
        .expect("a copy");
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../posteria-report/tests/browser.mjs");
    let pages = ["regression", "classes", "selection", "bad", "demo"];
    let mut command = Command::new(node);
    command.arg(script).env("POSTERIA_CHROMIUM", chromium);
    // Where somebody wants to look at them too.
    if let Some(folder) = env::var_os("POSTERIA_PICTURES") {
        command.arg("--pictures").arg(folder);
    }
    command.args(pages.map(|name| place.path(&format!("{name}.html"))));
    let done = command.output().expect("node");
    let said = String::from_utf8_lossy(&done.stdout);
    let failed = String::from_utf8_lossy(&done.stderr);
    assert!(done.status.success(), "{said}\n{failed}");
    // Every page at two widths in two schemes.
    assert_eq!(said.matches(" figures, ").count(), 4 * pages.len(), "{said}");
}
