//! Refuse what cannot be used: exit code 2, one line, nothing left behind.

use std::fs;

use crate::posteria::Place;

const FIT: &str = "--chains 1 --warmup 5 --draws 5 --out run --quiet";

/// Tables that cannot be used, with words that the refusal must hold.
#[test]
fn tables_that_cannot_be_used_are_refused_with_place_and_cure() {
    let cases: &[(&str, &[u8], &[&str])] = &[
        ("missing cell", b"x,y\n1,2\n,3\n", &["t.csv:3:1", "missing", "--missing drop"]),
        ("NA", b"x,y\n1,2\n2,NA\n", &["t.csv:3:2", "missing"]),
        ("NaN", b"x,y\n1,2\nnan,3\n", &["t.csv:3:1", "missing"]),
        ("infinity", b"x,y\n1,2\ninf,3\n", &["t.csv:3:1", "infinite"]),
        ("ragged", b"x,y\n1,2\n1,2,3\n", &["t.csv:3", "3 field", "has 2"]),
        ("empty", b"", &["t.csv", "no rows"]),
        ("header only", b"x,y\n", &["t.csv", "header"]),
        ("duplicate column", b"x,x,y\n1,2,3\n2,3,4\n", &["t.csv", "both called", "rename"]),
        ("not UTF-8", b"x,y\n1,2\n\xff\xfe,3\n", &["t.csv:3:1", "UTF-8"]),
        ("binary", b"x,y\n1,\0\n", &["t.csv", "NUL"]),
        ("gzip", b"\x1f\x8b\x08\0\0\0\0\0", &["t.csv", "gzip", "unpack"]),
        ("no input", b"y\n1\n2\n", &["t.csv", "no column is left"]),
        ("unclosed quote", b"x,y\n1,\"2\n3,4\n", &["t.csv:2:2", "never closed"]),
    ];
    let place = Place::new();
    for (case, table, words) in cases {
        place.write("t.csv", table);
        let outcome = place.call(&format!("fit t.csv --target y {FIT}"));
        let said = outcome.refusal();
        for word in *words {
            assert!(said.contains(word), "{case}: {word:?} is missing in {said:?}");
        }
        assert_eq!(place.names(), ["t.csv"], "{case}: nothing is left behind");
    }
}

#[test]
fn a_text_among_many_numbers_is_no_class() {
    let place = Place::new();
    let rows: String = (0..40).map(|row| format!("{row},{}\n", row * row)).collect();
    place.write("t.csv", format!("x,y\n{rows}forty,1\n"));
    let outcome = place.call(&format!("fit t.csv --target y {FIT}"));
    let said = outcome.refusal();
    assert!(said.contains("t.csv:42:1") && said.contains("\"forty\""), "{said}");
}

#[test]
fn columns_and_files_that_are_not_there_are_named() {
    let place = Place::with_data(10);
    fs::create_dir(place.path("folder")).expect("a folder");
    for (line, words) in [
        ("fit data.csv --target yy", vec!["data.csv", "no column \"yy\"", "a", "class"]),
        ("fit data.csv --target y --inputs a q", vec!["no column \"q\""]),
        ("fit data.csv --target y --inputs a y", vec!["\"y\"", "twice"]),
        ("fit absent.csv --target y", vec!["absent.csv", "cannot be opened"]),
        ("fit data.parquet --target y", vec!["data.parquet"]),
        ("fit folder --target y", vec!["folder", "this is a folder"]),
        ("fit data.csv --target y --spec absent.toml", vec!["absent.toml"]),
        ("fit data.csv --target y --model pca", vec!["target in [data]", "has no targets"]),
        ("fit data.csv --target class --task regression", vec!["data.csv:2:4", "not a number"]),
        ("fit --target y", vec!["posteria fit DATA"]),
        ("fit --target y data.csv", vec!["data.csv", "before --target"]),
        ("fit data.csv", vec!["--target"]),
    ] {
        let outcome = place.call(&format!("{line} {FIT}"));
        let said = outcome.refusal();
        for word in words {
            assert!(said.contains(word), "{line}: {word:?} is missing in {said:?}");
        }
        assert!(!place.path("run").exists(), "{line}");
    }
    assert!(place.call("fit data.csv --target y").refusal().contains("--out"));
}

#[test]
fn specifications_that_cannot_be_used_are_refused_with_line_and_column() {
    let place = Place::with_data(10);
    for (text, words) in [
        ("[data\n", vec!["m.toml:1:"]),
        ("[data]\ntarget = 'y'\n[sampling]\nchain = 3\n", vec!["m.toml:4:1", "chain"]),
        ("[data]\ntarget = 'y'\n[sampling]\nchains = 'x'\n", vec!["m.toml:4:10"]),
        ("[data]\ntarget = 'y'\n[sampling]\nchains = 0\n", vec!["m.toml", "chains", "at least 1"]),
        ("[data]\ntarget = 'y'\n[prior.weights]\nscale = -1.0\n", vec!["scale", "positive"]),
        ("[data]\ntarget = 'y'\n[model]\nkind = 'pca'\n", vec!["m.toml", "pca", "no targets"]),
    ] {
        place.write("m.toml", text);
        let outcome = place.call("fit data.csv --spec m.toml --out run --quiet");
        let said = outcome.refusal();
        for word in words {
            assert!(said.contains(word), "{text:?}: {word:?} is missing in {said:?}");
        }
        assert!(!place.path("run").exists());
    }
}

#[test]
fn names_from_files_cannot_drive_the_terminal() {
    let place = Place::new();
    place.write("t.csv", "x\u{1b}[31m,y\n1,2\n2,\n");
    let said = place.call(&format!("fit t.csv --target z {FIT}"));
    assert!(!said.refusal().contains('\u{1b}'), "{:?}", said.stderr);
    place.write("t.csv", "x\u{1b}[31m,y\n1,2\n2,3\n3,5\n");
    let fit = place.call("fit t.csv --target y --chains 1 --warmup 5 --draws 8 --out run");
    assert_eq!(fit.code, 0);
    let summary = place.call("summary run");
    assert!(summary.stdout.contains("weights[x\\u{1b}[31m]"), "{:?}", summary.stdout);
    assert!(!fit.stderr.contains('\u{1b}') && !summary.stdout.contains('\u{1b}'));
}

#[test]
fn wrong_usage_ends_with_two() {
    let place = Place::with_data(5);
    for line in [
        "",
        "nonsense",
        "fit data.csv --target y --out run --chains none",
        "fit data.csv --target y --out run --chains 0",
        "fit data.csv --target y --out run --seed -1",
        "fit data.csv --target y --out run --no-such-flag",
        "export run --format",
        "export run --format parquet",
        "diagnose",
        "--threads 0 demo",
        "completions bash --json",
        "demo nonsense",
    ] {
        let outcome = place.call(line);
        assert_eq!(outcome.code, 2, "{line}: {}", outcome.stderr);
        assert_eq!(outcome.stdout, "", "{line}");
        assert!(!outcome.stderr.is_empty(), "{line}");
    }
}

#[test]
fn the_run_folder_must_have_a_place() {
    let place = Place::with_data(10);
    let fit = |out: &str| {
        place.call(&format!(
            "fit data.csv --target y --inputs a --chains 1 --warmup 5 --draws 5 --quiet --out {out}"
        ))
    };
    place.write("file", "here first");
    assert!(fit("file").refusal().contains("file"));
    assert!(fit("file/run").refusal().contains("file"));
    fs::create_dir(place.path("full")).expect("a folder");
    place.write("full/mine", "precious");
    assert!(fit("full").refusal().contains("not empty"));
    assert_eq!(fs::read(place.path("full/mine")).expect("kept"), b"precious");
    assert_eq!(fit("run").code, 0);
    let before = place.files("run");
    assert!(fit("run").refusal().contains("--force"), "a run is never overwritten unasked");
    assert_eq!(before, place.files("run"));
    assert_eq!(place.names(), ["data.csv", "file", "full", "run"], "nothing is left behind");
}

/// The super user may write everywhere, so there the test shows nothing.
#[cfg(unix)]
#[test]
fn a_folder_that_may_not_be_written_is_refused() {
    use std::os::unix::fs::PermissionsExt;
    let place = Place::with_data(10);
    let locked = place.path("locked");
    fs::create_dir(&locked).expect("a folder");
    fs::set_permissions(&locked, fs::Permissions::from_mode(0o555)).expect("locked");
    if fs::write(locked.join("probe"), "").is_ok() {
        return;
    }
    let outcome = place.call(
        "fit data.csv --target y --inputs a --chains 1 --warmup 5 --draws 5 --quiet --out locked/run",
    );
    assert!(outcome.refusal().contains("locked"), "{}", outcome.stderr);
}
