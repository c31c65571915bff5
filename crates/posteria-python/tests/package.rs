//! The package as people get it: installed into a fresh virtual environment, and its own tests.
//!
//! Needs Python 3.10 or newer and its package index; without them it says so and goes on, unless
//! `POSTERIA_REQUIRE_PYTHON` is set, as it is in continuous integration.

use std::path::{Path, PathBuf};
use std::process::Command;

/// The repository.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Runs a program in the repository, those beside it at hand; what it wrote if it failed.
fn run(program: &Path, arguments: &[&str]) -> Result<(), String> {
    let beside = program.parent().filter(|it| it.is_absolute()).map(Path::to_path_buf);
    let others = std::env::var_os("PATH").unwrap_or_default();
    let places = beside.into_iter().chain(std::env::split_paths(&others));
    let places = std::env::join_paths(places).map_err(|error| error.to_string())?;
    let mut command = Command::new(program);
    command.args(arguments).current_dir(root()).env("PATH", places);
    let done = command.output();
    let done = done.map_err(|error| format!("{}: {error}", program.display()))?;
    if done.status.success() {
        return Ok(());
    }
    let told = [done.stdout, done.stderr].map(|it| String::from_utf8_lossy(&it).into_owned());
    Err(format!("{} {}\n{}", program.display(), arguments.join(" "), told.join("\n")))
}

/// A virtual environment without packages, and what makes it.
fn environment(folder: &Path) -> Result<PathBuf, String> {
    let new_enough = "import sys; sys.exit(sys.version_info < (3, 10))";
    let is_python = |name: &&str| run(Path::new(name), &["-c", new_enough]).is_ok();
    let names = ["python3", "python3.13", "python3.12", "python3.11", "python3.10"];
    let found = names.into_iter().find(is_python).ok_or("there is no Python 3.10 or newer")?;
    let folder_name = folder.to_str().ok_or("the folder has no name in UTF-8")?;
    run(Path::new(found), &["-m", "venv", "--clear", folder_name])?;
    Ok(folder.join("bin/python"))
}

/// All files below a folder, relative to it, in order.
fn files(root: &Path, below: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(root.join(below)).expect("a folder");
    let mut found = Vec::new();
    for entry in entries {
        let entry = entry.expect("an entry");
        let path = below.join(entry.file_name());
        match entry.file_type().expect("a type").is_dir() {
            true => found.extend(files(root, &path)),
            false => found.push(path),
        }
    }
    found.sort();
    found
}

/// The source distribution has all that the package is built of. It is built elsewhere: from it,
/// everything would be compiled a second time.
fn is_whole(folder: &Path, python: &Path) {
    let to = folder.to_str().expect("a name");
    run(python, &["-m", "maturin", "sdist", "-o", to]).expect("a source distribution");
    let archive = files(folder, Path::new("")).pop().expect("an archive");
    let archive = folder.join(archive);
    let (from, to) = (archive.to_str().expect("a name"), folder.to_str().expect("a name"));
    run(Path::new("tar"), &["xzf", from, "-C", to]).expect("an unpacked archive");
    let name = archive.file_name().and_then(|it| it.to_str()).expect("a name");
    let unpacked = folder.join(name.trim_end_matches(".tar.gz"));
    let crates = std::fs::read_dir(root().join("crates")).expect("crates");
    for own in crates {
        let sources = Path::new("crates").join(own.expect("a crate").file_name()).join("src");
        assert_eq!(files(&unpacked, &sources), files(&root(), &sources));
    }
    for file in ["Cargo.lock", "pyproject.toml", "python/posteria/py.typed", "LICENSE-MIT"] {
        assert!(unpacked.join(file).exists(), "{file} is missing");
    }
}

#[test]
fn the_package_is_installed_and_keeps_its_promises() {
    let folder = tempfile::tempdir().expect("a folder");
    let prepared = environment(folder.path()).and_then(|python| {
        let tools =
            ["-m", "pip", "install", "-q", "--disable-pip-version-check", "maturin>=1.9,<2"];
        run(&python, &tools).map(|()| python)
    });
    let python = match prepared {
        Ok(python) => python,
        Err(reason) if std::env::var_os("POSTERIA_REQUIRE_PYTHON").is_none() => {
            // Whoever runs the tests must see that these were not.
            #[expect(clippy::print_stderr, reason = "it is the only way to tell")]
            {
                eprintln!("the Python package is not tested: {reason}");
            }
            return;
        }
        Err(reason) => panic!("{reason}"),
    };
    // Built like the other tests, and of what was compiled for them, not like what is shipped: that
    // takes minutes.
    let dev = "build-args=--profile=dev --features=as-tested";
    // Most modules of what is installed are never imported: none is compiled beforehand.
    let install = ["-m", "pip", "install", "-q", "--disable-pip-version-check", "--no-compile"];
    let package = ["--no-build-isolation", "--config-settings", dev, ".[test]"];
    run(&python, &[&install[..], &package].concat()).expect("an installed package");
    run(&python, &["-m", "pytest", "-q", "-n", "2", "--dist", "loadfile", "python/tests"])
        .expect("tests that pass");
    is_whole(&folder.path().join("sources"), &python);
    // Where the newest ArviZ is of its second kind, the first one is still in use.
    let is_second = "import importlib.metadata as m, sys; sys.exit(m.version('arviz')[:2] == '0.')";
    if run(&python, &["-c", is_second]).is_ok() {
        run(&python, &[&install[..], &["arviz<1"]].concat()).expect("an older ArviZ");
        let of_arviz = ["-m", "pytest", "-q", "-x", "python/tests/test_arviz.py"];
        run(&python, &of_arviz).expect("the same");
    }
}
