//! Say what is wrong with a specification, where, and what to do.

use super::ModelKind;
use super::kinds::other_kind;

/// What is wrong with a specification.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum SpecError {
    /// The text is not a specification: not TOML, an unknown key, a value of another type.
    #[error("line {line}, column {column}: {message}")]
    Syntax {
        /// Line, from 1.
        line: usize,
        /// Column in characters, from 1.
        column: usize,
        /// What is wrong; an unknown key comes with the known ones.
        message: String,
    },
    /// Keys that are not those of a specification, or a value of another type.
    #[error("{message}")]
    Keys {
        /// What is wrong; an unknown key comes with the known ones.
        message: String,
    },
    /// Something this version cannot do.
    #[error("{what} is not available in this version")]
    NotAvailable {
        /// What was asked for.
        what: String,
    },
    /// A way to find the posterior that the model does not know.
    #[error(
        "inference = \"{inference}\" in [sampling] is not known to kind = \"{kind}\"; known: {}",
        known.join(", ")
    )]
    Inference {
        /// The way.
        inference: &'static str,
        /// Kind of the model.
        kind: &'static str,
        /// The ways that it knows.
        known: Vec<&'static str>,
    },
    /// A section that the model does not have.
    #[error("[{section}.{name}] is not known; known: {}", known.join(", "))]
    UnknownSection {
        /// Section above it.
        section: &'static str,
        /// Its name.
        name: String,
        /// The names that are known.
        known: &'static [&'static str],
    },
    /// A number outside its range.
    #[error("{key} = {value} in [{section}] must be {must_be}")]
    OutOfRange {
        /// Section of the key.
        section: String,
        /// The key.
        key: &'static str,
        /// Its value.
        value: f64,
        /// The range.
        must_be: &'static str,
    },
    /// A key that says nothing here, or excludes another.
    #[error("{key} in [{section}] does not go together with {with}; leave one of them out")]
    Conflict {
        /// Section of the key.
        section: String,
        /// The key.
        key: &'static str,
        /// What it does not go together with.
        with: &'static str,
    },
    /// A key that only other kinds of model have.
    #[error(
        "{key} in [{section}] does not go together with {}; leave one of them out",
        other_kind(*kind, kinds)
    )]
    OtherKind {
        /// Section of the key.
        section: String,
        /// The key.
        key: &'static str,
        /// Kind of the model.
        kind: ModelKind,
        /// The kinds that have it.
        kinds: &'static [ModelKind],
    },
    /// A key that is needed.
    #[error("[{section}] needs {key} with {with}")]
    Missing {
        /// Section of the key.
        section: String,
        /// The key.
        key: &'static str,
        /// What makes it needed.
        with: &'static str,
    },
    /// A covariance function that cannot be read.
    #[error("covariance in [model]: {message}")]
    Covariance {
        /// What is wrong with it, and where.
        message: String,
    },
    /// The specification cannot be written as TOML.
    #[error("the specification cannot be written: {message}")]
    Write {
        /// Why.
        message: String,
    },
}

impl SpecError {
    pub(crate) fn out_of_range(
        section: &str,
        key: &'static str,
        value: f64,
        must_be: &'static str,
    ) -> Self {
        SpecError::OutOfRange { section: section.into(), key, value, must_be }
    }
}
