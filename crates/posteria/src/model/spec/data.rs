//! Describe where the rows come from and what their columns are.

use std::fmt;

use serde::de::{SeqAccess, Visitor, value::SeqAccessDeserializer};
use serde::{Deserialize, Deserializer, Serialize};

use crate::data::{FoldSpec, Missing};

/// `[data]`: where the rows come from and what the columns are.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct DataSpec {
    /// File of the table.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// File of test rows whose error a network records with every draw.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub test: Option<String>,
    /// Target columns; one name may stand without brackets.
    #[serde(deserialize_with = "one_or_more")]
    pub target: Vec<String>,
    /// Input columns; all that are neither target nor group nor exposure nor what is censored if
    /// absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub inputs: Option<Vec<String>>,
    /// Columns that are no inputs, where `inputs` is absent.
    #[serde(skip_serializing_if = "Vec::is_empty", deserialize_with = "one_or_more")]
    pub exclude: Vec<String>,
    /// Column of the group: rows that belong together.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub group: Option<String>,
    /// Of counts: column of the exposure, a positive number that the mean count is proportional to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exposure: Option<String>,
    /// Of ordered classes: all of them, from the lowest on; numbers are ordered by value without it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub levels: Option<Vec<String>>,
    /// Of durations: column whose 1 says that a duration is censored: known only to be longer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub censored: Option<String>,
    /// In place of `censored`: column whose 1 says that a duration has ended, and 0 that it is censored.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub event: Option<String>,
    /// Whether inputs and real targets are shifted and scaled to mean 0 and deviation 1.
    pub standardize: bool,
    /// Whether the first line names the columns; decided by its content if absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub header: Option<bool>,
    /// What to do about missing values.
    pub missing: MissingPolicy,
    /// The most different values that a column of classes may have; by the number of rows if absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_levels: Option<usize>,
    /// SHA-256 of the file, in hexadecimal.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sha256: Option<String>,
    /// Number of rows that were used.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rows: Option<usize>,
    /// The fold that is left out of the fit, if one is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fold: Option<FoldSpec>,
}

impl Default for DataSpec {
    fn default() -> Self {
        DataSpec {
            path: None,
            test: None,
            target: Vec::new(),
            inputs: None,
            exclude: Vec::new(),
            group: None,
            exposure: None,
            levels: None,
            censored: None,
            event: None,
            standardize: true,
            header: None,
            missing: MissingPolicy::Error,
            max_levels: None,
            sha256: None,
            rows: None,
            fold: None,
        }
    }
}

/// What to do about missing values.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum MissingPolicy {
    /// Refuse the table and name the cells.
    #[default]
    Error,
    /// Drop the rows, and say how many.
    Drop,
}

impl From<MissingPolicy> for Missing {
    fn from(policy: MissingPolicy) -> Self {
        match policy {
            MissingPolicy::Error => Missing::Error,
            MissingPolicy::Drop => Missing::Drop,
        }
    }
}

/// As [`one_or_more`], for a key that may be absent.
pub(super) fn some_or_more<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<Vec<String>>, D::Error> {
    one_or_more(deserializer).map(Some)
}

fn one_or_more<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<String>, D::Error> {
    struct OneOrMore;

    impl<'de> Visitor<'de> for OneOrMore {
        type Value = Vec<String>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            write!(f, "a name or a list of names")
        }

        fn visit_str<E: serde::de::Error>(self, name: &str) -> Result<Vec<String>, E> {
            Ok(vec![name.into()])
        }

        fn visit_seq<A: SeqAccess<'de>>(self, names: A) -> Result<Vec<String>, A::Error> {
            Vec::deserialize(SeqAccessDeserializer::new(names))
        }
    }

    deserializer.deserialize_any(OneOrMore)
}
