//! Call the program in a folder of its own.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// What a call gave.
pub struct Outcome {
    pub code: i32,
    pub stdout: String,
    pub stderr: String,
}

impl Outcome {
    /// The one JSON object on stdout.
    #[track_caller]
    pub fn json(&self) -> serde_json::Value {
        assert_eq!(self.code, 0, "{}", self.stderr);
        let mut lines = self.stdout.lines();
        let line = lines.next().expect("a line on stdout");
        assert_eq!(lines.next(), None, "exactly one object");
        serde_json::from_str(line).expect("JSON")
    }

    /// The one line that says what was wrong; checks that nothing else happened.
    #[track_caller]
    pub fn refusal(&self) -> &str {
        assert_eq!(self.code, 2, "stdout {:?} stderr {:?}", self.stdout, self.stderr);
        assert_eq!(self.stdout, "", "nothing on stdout");
        let said = self.stderr.strip_suffix('\n').expect("a line");
        assert!(!said.contains('\n'), "one line, not {said:?}");
        said.strip_prefix("error: ").expect("begins with error:")
    }
}

impl Outcome {
    /// Succeeded, and stdout says all of this; sentences may be wrapped.
    #[track_caller]
    pub fn assert_says(&self, all: &[&str]) {
        assert_eq!(self.code, 0, "{}", self.stderr);
        let said = self.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
        for words in all {
            assert!(said.contains(words), "{words:?} is missing in\n{}", self.stdout);
        }
    }

    /// Refused with all of these words.
    #[track_caller]
    pub fn assert_refused(&self, what: &str, words: &[&str]) {
        let said = self.refusal();
        for word in words {
            assert!(said.contains(word), "{what:?}: {word:?} is missing in {said:?}");
        }
    }
}

/// Rows of `x,z,g,y` with y, a function of x and z, of this spread.
pub fn surface(count: usize, spread: f64) -> String {
    let row = |i: usize| {
        let x = (i as f64 * 0.618_034).fract();
        let z = (i as f64 * 0.754_878).fract();
        format!("{x},{z},{},{}\n", i % 3, spread * ((6.0 * x).sin() + 0.3 * z))
    };
    format!("x,z,g,y\n{}", (0..count).map(row).collect::<String>())
}

/// Six rows of twenty inputs.
pub fn wide() -> String {
    let names: Vec<String> = (0..20).map(|k| format!("x{k}")).collect();
    let line = |i: usize| {
        let cells: Vec<String> = (0..21).map(|k| ((i * 7 + k * k) % 11).to_string()).collect();
        format!("{}\n", cells.join(","))
    };
    format!("{},y\n{}", names.join(","), (0..6).map(line).collect::<String>())
}

/// A folder with a table, in which the program is called.
pub struct Place {
    folder: tempfile::TempDir,
}

impl Place {
    pub fn new() -> Self {
        Place { folder: tempfile::tempdir().expect("a folder") }
    }

    /// A place with `data.csv`: `rows` rows, y = 1 + 2 a - b + noise, and a class column.
    pub fn with_data(rows: usize) -> Self {
        let place = Place::new();
        let mut text = String::from("a,b,y,class\n");
        for row in 0..rows {
            // Quasi-random numbers: fixed, and without a generator.
            let part = |step: f64| (row as f64 * step).fract() - 0.5;
            let (a, b, noise) = (part(0.618_034), part(0.754_878), part(0.569_84));
            let y = 1.0 + 2.0 * a - b + 0.5 * noise;
            let class = if y + part(0.328_2) > 1.0 { "yes" } else { "no" };
            text.push_str(&format!("{a},{b},{y},{class}\n"));
        }
        place.write("data.csv", text);
        place
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        fs::write(self.path(name), content).expect("written");
    }

    pub fn command<S: AsRef<OsStr>>(&self, arguments: &[S]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_posteria"));
        command.args(arguments).current_dir(self.folder.path()).stdin(Stdio::null());
        command
    }

    /// Calls the program with arguments divided by spaces.
    pub fn call(&self, line: &str) -> Outcome {
        self.call_with(&line.split_whitespace().collect::<Vec<_>>())
    }

    pub fn call_with<S: AsRef<OsStr>>(&self, arguments: &[S]) -> Outcome {
        let output = self.command(arguments).output().expect("the program runs");
        let outcome = Outcome {
            code: output.status.code().unwrap_or(-1),
            stdout: String::from_utf8(output.stdout).expect("UTF-8"),
            stderr: String::from_utf8(output.stderr).expect("UTF-8"),
        };
        assert!(!outcome.stderr.contains("panicked"), "{}", outcome.stderr);
        outcome
    }

    /// Starts the program and leaves it running.
    pub fn start(&self, line: &str) -> Child {
        let arguments: Vec<&str> = line.split_whitespace().collect();
        self.command(&arguments)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the program starts")
    }

    /// Waits until a file is there.
    #[track_caller]
    pub fn wait_for(&self, name: &str) {
        let began = Instant::now();
        while !self.path(name).exists() {
            assert!(began.elapsed() < Duration::from_secs(30), "{name} did not appear");
            std::thread::sleep(Duration::from_millis(2));
        }
    }

    /// Every file under a folder, with its content.
    pub fn files(&self, name: &str) -> BTreeMap<PathBuf, Vec<u8>> {
        let root = self.path(name);
        let mut files = BTreeMap::new();
        let mut folders = vec![root.clone()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(&folder).expect("a folder") {
                let path = entry.expect("an entry").path();
                if path.is_dir() {
                    folders.push(path);
                } else {
                    let name = path.strip_prefix(&root).expect("below").to_path_buf();
                    files.insert(name, fs::read(&path).expect("a file"));
                }
            }
        }
        files
    }

    /// Names in the folder itself.
    pub fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(self.folder.path()).expect("a folder");
        let mut names: Vec<String> = entries
            .map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned())
            .collect();
        names.sort();
        names
    }
}

/// Fails with the name of the first file that differs.
#[track_caller]
pub fn assert_same_files(left: &BTreeMap<PathBuf, Vec<u8>>, right: &BTreeMap<PathBuf, Vec<u8>>) {
    let names = |files: &BTreeMap<PathBuf, Vec<u8>>| files.keys().cloned().collect::<Vec<_>>();
    assert_eq!(names(left), names(right));
    for (name, content) in left {
        assert!(*content == right[name], "{} differs", name.display());
    }
}

/// Sends a signal by name to a process of ours.
pub fn signal(child: &Child, name: &str) {
    let sent = Command::new("kill").arg(format!("-{name}")).arg(child.id().to_string()).status();
    assert!(sent.expect("kill runs").success());
}

/// Whether the file at `path` is there.
pub fn exists(path: impl AsRef<Path>) -> bool {
    path.as_ref().exists()
}
