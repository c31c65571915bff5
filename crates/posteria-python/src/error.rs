//! Errors of the library as Python exceptions.

use std::any::Any;
use std::fmt::Display;

use posteria::assess::AssessError;
use posteria::evidence::{EstimateError, EvidenceComparisonError};
use posteria::fit::{FitError, PredictError, PrepareError};
use posteria::select::SelectionError;
use posteria_store::{FitFolderError, WorkError};
use pyo3::PyErr;
use pyo3::create_exception;
use pyo3::exceptions::{PyKeyboardInterrupt, PyRuntimeError, PyValueError};

create_exception!(posteria, PosteriaError, PyValueError, "What was asked for cannot be done.");
create_exception!(posteria, DataError, PosteriaError, "The table is not what is needed.");
create_exception!(
    posteria,
    SpecificationError,
    PosteriaError,
    "The model or an option is not one, or not for these data."
);
create_exception!(posteria, SamplingError, PosteriaError, "Chains cannot run.");
create_exception!(posteria, InternalError, PyRuntimeError, "A fault of posteria itself.");

/// The exception of this class with the words of the error.
pub(crate) fn of<E: pyo3::PyTypeInfo>(error: impl Display) -> PyErr {
    PyErr::new::<E, _>(in_python(&error.to_string()))
}

/// Options of the command line that are told with a value.
const WITH_VALUE: [&str; 7] =
    ["chains", "inference", "max-levels", "method", "missing", "refit", "task"];

/// Words of the library, whose cures name options of the command line, with arguments of Python:
/// `missing="drop"` for `--missing drop`.
pub(crate) fn in_python(words: &str) -> String {
    let mut parts = words.split("--");
    let mut text = parts.next().unwrap_or_default().to_string();
    for part in parts {
        let is_option = part.starts_with(|c: char| c.is_ascii_lowercase())
            && (text.is_empty() || text.ends_with([' ', '(']));
        let length = part.find(|c: char| !c.is_ascii_lowercase() && c != '-');
        let (name, rest) = part.split_at(length.unwrap_or(part.len()));
        if !is_option {
            text.push_str("--");
            text.push_str(part);
            continue;
        }
        text.push_str(&name.replace('-', "_"));
        if name == "exclude" {
            let (names, rest) = shell_words(rest);
            text.push_str(&format!("=[{}]{rest}", names.join(", ")));
            continue;
        }
        let value = rest.strip_prefix(' ').filter(|_| WITH_VALUE.contains(&name));
        let end = value.map(|it| it.find(|c: char| !c.is_alphanumeric()).unwrap_or(it.len()));
        match value.zip(end).map(|(value, end)| value.split_at(end)) {
            Some((value, rest)) if !value.is_empty() => {
                let quote = if value.parse::<f64>().is_ok() { "" } else { "\"" };
                text.push_str(&format!("={quote}{value}{quote}{rest}"));
            }
            _ => text.push_str(rest),
        }
    }
    text
}

/// The words of a shell that `text` begins with, in the quotes of Python, up to a mark of the sentence;
/// and the rest.
fn shell_words(text: &str) -> (Vec<String>, &str) {
    let (mut words, mut rest) = (Vec::new(), text);
    while let Some(next) = rest.strip_prefix(' ') {
        let (word, after) = match next.strip_prefix('\'') {
            Some(quoted) => quoted.split_once('\'').unwrap_or((quoted, "")),
            None => next.split_at(next.find([' ', ',', ';']).unwrap_or(next.len())),
        };
        words.push(format!("\"{word}\""));
        rest = after;
    }
    (words, rest)
}

/// Work that was stopped.
pub(crate) fn cancelled() -> PyErr {
    PyKeyboardInterrupt::new_err("the work was stopped")
}

/// The exception of work that is divided.
pub(crate) fn of_work(error: WorkError) -> PyErr {
    of::<PosteriaError>(error)
}

/// The exception of a fit.
pub(crate) fn of_fit(error: FitError) -> PyErr {
    match error {
        FitError::Prepare(error) => of_prepare(&error),
        FitError::Cancelled(_) => cancelled(),
        other => of::<SamplingError>(other),
    }
}

/// The exception of what a fit begins with.
pub(crate) fn of_prepare(error: &PrepareError) -> PyErr {
    match error {
        PrepareError::Data(error) => of::<DataError>(error),
        other => of::<SpecificationError>(other),
    }
}

/// The exception of an assessment.
pub(crate) fn of_assess(error: AssessError) -> PyErr {
    match error {
        AssessError::Data(error) => of::<DataError>(error),
        AssessError::Predict(PredictError::Cancelled(_)) => cancelled(),
        other => of::<PosteriaError>(other),
    }
}

/// The exception of a selection of inputs.
pub(crate) fn of_selection(error: SelectionError) -> PyErr {
    match error {
        SelectionError::Fit(error) => of_fit(error),
        SelectionError::Assess(error) => of_assess(*error),
        other => of::<PosteriaError>(other),
    }
}

/// The exception of a log evidence.
pub(crate) fn of_evidence(error: EstimateError) -> PyErr {
    of::<PosteriaError>(error)
}

/// The exception of log evidences that are compared.
pub(crate) fn of_evidence_comparison(error: EvidenceComparisonError) -> PyErr {
    of::<PosteriaError>(error)
}

/// The exception of a run folder.
pub(crate) fn of_folder(error: FitFolderError) -> PyErr {
    of::<PosteriaError>(error)
}

/// The exception of a panic: it is a fault of ours, and must not end the interpreter.
pub(crate) fn of_panic(panic: &(dyn Any + Send)) -> PyErr {
    let words = panic
        .downcast_ref::<String>()
        .map(String::as_str)
        .or_else(|| panic.downcast_ref::<&str>().copied())
        .unwrap_or("no message");
    of::<InternalError>(format!("this is a fault of posteria, please report it: {words}"))
}
