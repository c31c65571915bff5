//! Collect what to be careful about while a command runs, for stderr, JSON and the exit code.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use posteria::caution::Caution;
use serde::{Deserialize, Serialize};

/// Something to be careful about, as JSON has it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Warning {
    /// A name that does not change with the words.
    code: String,
    /// The run that it is about, where a command has several or repeats the verdict on one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    run: Option<String>,
    /// What is wrong.
    message: String,
    /// What to do about it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    cure: Option<String>,
    /// Whether it is a reason not to trust the result: `--strict` makes these an error.
    doubt: bool,
}

impl Warning {
    /// Of these words: what is wrong, and after the last semicolon what to do about it.
    pub fn new(code: &str, text: &str) -> Self {
        let (message, cure) = match text.rsplit_once("; ") {
            Some((message, cure)) => (message, Some(cure.to_string())),
            None => (text, None),
        };
        Warning { code: code.into(), run: None, message: message.into(), cure, doubt: true }
    }

    /// What is wrong.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// The same with words before and after what is wrong, and more that can be done.
    pub fn told_again(self, before: &str, after: &str, more: &str) -> Self {
        let cure = self.cure.map_or_else(|| more.to_string(), |cure| format!("{cure}; {more}"));
        Warning { message: format!("{before}{}{after}", self.message), cure: Some(cure), ..self }
    }

    /// The same with this to do about it.
    pub fn cured(self, cure: String) -> Self {
        Warning { cure: Some(cure), ..self }
    }

    /// The same without anything to do about it.
    pub fn uncured(self) -> Self {
        Warning { cure: None, ..self }
    }

    /// As this method says.
    pub fn by(self, method: &str) -> Self {
        Warning { message: format!("{method}: {}", self.message), ..self }
    }

    /// About this run.
    pub fn of_run(self, run: impl fmt::Display) -> Self {
        Warning { run: Some(run.to_string()), ..self }
    }

    /// The same, and whether it is a reason not to trust the result.
    pub fn doubt(self, doubt: bool) -> Self {
        Warning { doubt, ..self }
    }
}

impl From<&Caution> for Warning {
    fn from(caution: &Caution) -> Self {
        let (message, cure) = caution.message_and_cure();
        let (code, doubt) = (caution.code().to_string(), caution.is_doubt());
        Warning { code, run: None, message, cure, doubt }
    }
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(run) = &self.run {
            write!(f, "{run}: ")?;
        }
        f.write_str(&self.message)?;
        self.cure.iter().try_for_each(|cure| write!(f, "; {cure}"))
    }
}

/// Characters from which a cure is told once only.
const LONG: usize = 60;

/// All warnings of a command, in the order they came.
#[derive(Clone, Debug, Default)]
pub struct Warnings {
    found: Arc<Mutex<Found>>,
}

#[derive(Debug, Default)]
struct Found {
    all: Vec<Warning>,
    /// So many of them have been shown.
    shown: usize,
    /// Cures that have been shown.
    told: Vec<String>,
}

impl Warnings {
    /// Adds a warning unless it is there already.
    pub fn push(&self, warning: Warning) {
        let mut found = self.lock();
        if !found.all.contains(&warning) {
            found.all.push(warning);
        }
    }

    /// All of them.
    pub fn all(&self) -> Vec<Warning> {
        self.lock().all.clone()
    }

    /// Those that have not been shown yet; from now on they have. A long cure is told once.
    pub fn unshown(&self) -> Vec<Warning> {
        let mut found = self.lock();
        let mut unshown = found.all[found.shown..].to_vec();
        found.shown = found.all.len();
        for cure in unshown.iter_mut().filter_map(|warning| warning.cure.as_mut()) {
            if found.told.contains(cure) {
                *cure = "as above".into();
            } else if cure.len() > LONG {
                found.told.push(cure.clone());
            }
        }
        unshown
    }

    /// Takes over all of another, as far as they have been shown.
    pub fn take_over(&self, other: &Warnings) {
        let (mut own, mut others) = (self.lock(), other.lock());
        *own = std::mem::take(&mut others);
    }

    fn lock(&self) -> MutexGuard<'_, Found> {
        self.found.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Number of reasons not to trust the result.
    pub fn doubts(&self) -> usize {
        self.all().iter().filter(|warning| warning.doubt).count()
    }
}

/// A result as JSON has it: the format's version, the result, what to be careful about.
#[derive(Serialize)]
pub struct Enveloped<'a, T: Serialize> {
    /// Changes when a key changes its meaning or goes.
    format: u32,
    #[serde(flatten)]
    result: &'a T,
    warnings: &'a [Warning],
}

/// The version of the JSON of all commands.
const FORMAT: u32 = 1;

impl<'a, T: Serialize> Enveloped<'a, T> {
    /// `result` with its warnings.
    pub fn new(result: &'a T, warnings: &'a [Warning]) -> Self {
        Enveloped { format: FORMAT, result, warnings }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_warning_is_kept_once_and_shown_once() {
        let warnings = Warnings::default();
        let one = Warning::new("code", "it is wrong; mend it").of_run("a");
        warnings.push(one.clone());
        warnings.push(one);
        warnings.push(Warning::from(&Caution::RowsDropped { count: 1, rows: 9, emptiest: None }));
        assert_eq!(warnings.doubts(), 1);
        let shown: Vec<String> = warnings.unshown().iter().map(ToString::to_string).collect();
        assert_eq!(shown[0], "a: it is wrong; mend it");
        assert_eq!((shown.len(), warnings.unshown().len()), (2, 0));
        let json = serde_json::to_value(&warnings.all()[0]).expect("JSON");
        assert_eq!(json["cure"], "mend it");
        assert_eq!(json["code"], "code");
    }
}
