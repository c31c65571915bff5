//! Say what is wrong with a formula, and where.

use std::fmt;

/// Why a text is no formula, and where. `Display` gives the message and, below it, the formula
/// with a caret under the place; [`FormulaError::message`] is one line.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub struct FormulaError {
    /// The formula.
    pub formula: String,
    /// Byte in it where the fault begins.
    pub at: usize,
    /// What is wrong.
    pub fault: FormulaFault,
}

/// What is wrong with a formula.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum FormulaFault {
    /// More bytes than a formula may have.
    TooLong {
        /// How many there are.
        bytes: usize,
        /// How many there may be.
        most: usize,
    },
    /// Parentheses inside parentheses without end.
    TooDeep,
    /// More different quantities than a formula may have.
    TooMany,
    /// Something cannot stand here.
    Unexpected {
        /// What is there, or `the end`.
        found: String,
        /// What could.
        expected: &'static str,
    },
    /// A quotation mark without its partner.
    Unclosed,
    /// Digits that are no number, or one beyond all bounds.
    NotANumber {
        /// The digits.
        text: String,
    },
    /// Nothing has this name.
    UnknownName {
        /// The name.
        name: String,
        /// One like it.
        suggestion: Option<String>,
        /// What there is.
        known: Vec<String>,
    },
    /// A quantity that these targets do not have.
    NotHere {
        /// Its name.
        name: String,
        /// What there is.
        known: Vec<String>,
    },
    /// A text that is no class.
    UnknownClass {
        /// The text.
        text: String,
        /// One like it.
        suggestion: Option<String>,
        /// The classes.
        known: Vec<String>,
    },
    /// A function with the wrong number of arguments.
    Arguments {
        /// Its name.
        name: String,
        /// How many it takes, in words.
        takes: &'static str,
    },
    /// A class where a number is needed.
    ClassAsNumber {
        /// A class, for the example.
        example: String,
    },
    /// A class is compared with what is none.
    ClassAgainstNumber,
    /// Several targets, and none is named.
    WhichTarget {
        /// The quantity.
        name: String,
        /// The targets.
        targets: Vec<String>,
    },
    /// No target has this number or name.
    NoTarget {
        /// What was given.
        given: String,
        /// The targets.
        targets: Vec<String>,
    },
    /// A quantity of a row where all rows are meant.
    OfRow {
        /// Its name.
        name: String,
    },
    /// A probability that is not between 0 and 1.
    Probability {
        /// The number.
        value: f64,
    },
}

impl FormulaError {
    /// Column of the fault, in characters from 1.
    pub fn column(&self) -> usize {
        self.formula.get(..self.at).map_or(0, |before| before.chars().count()) + 1
    }

    /// What is wrong and where, on one line, without the formula.
    pub fn message(&self) -> String {
        match &self.fault {
            FormulaFault::TooLong { .. } => self.fault.to_string(),
            _ => format!("{} at column {}", self.fault, self.column()),
        }
    }
}

impl fmt::Display for FormulaError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message())?;
        if let FormulaFault::TooLong { .. } = self.fault {
            return Ok(());
        }
        // One column per character, whatever it was.
        let shown: String =
            self.formula.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
        write!(f, "\n  {shown}\n  {:>width$}", '^', width = self.column())
    }
}

impl fmt::Display for FormulaFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FormulaFault::TooLong { bytes, most } => {
                write!(f, "a formula of {bytes} bytes is too long; write it in at most {most}")
            }
            FormulaFault::TooDeep => f.write_str("nested too deeply; use fewer parentheses"),
            FormulaFault::TooMany => {
                f.write_str("too many different quantities; use at most 32 of them")
            }
            FormulaFault::Unexpected { found, expected } => {
                write!(f, "found {found} where {expected} should be")
            }
            FormulaFault::Unclosed => f.write_str("a quotation mark is not closed"),
            FormulaFault::NotANumber { text } => write!(f, "`{text}` is no finite number"),
            FormulaFault::UnknownName { name, suggestion, known } => {
                write!(f, "unknown name `{name}`")?;
                meant(f, suggestion.as_deref(), known)
            }
            FormulaFault::NotHere { name, known } => {
                write!(f, "`{name}` does not exist for these targets; there are {}", listed(known))
            }
            FormulaFault::UnknownClass { text, suggestion, known } => {
                write!(f, "there is no class \"{text}\"")?;
                meant(f, suggestion.as_deref(), known)
            }
            FormulaFault::Arguments { name, takes } => write!(f, "`{name}` takes {takes}"),
            FormulaFault::ClassAsNumber { example } => write!(
                f,
                "a class is no number; compare it, as in y == \"{example}\", which is 1 or 0"
            ),
            FormulaFault::ClassAgainstNumber => {
                f.write_str("a class can be compared with classes only, by == or !=")
            }
            FormulaFault::WhichTarget { name, targets } => write!(
                f,
                "there are {} targets, so say which: `{name}(1)`, or by name, of {}",
                targets.len(),
                listed(targets)
            ),
            FormulaFault::NoTarget { given, targets } => write!(
                f,
                "there is no target {given}; give its number from 1 or its name, of {}",
                listed(targets)
            ),
            FormulaFault::OfRow { name } => {
                write!(f, "`{name}` is of a row; say what of all rows, as in mean({name})")
            }
            FormulaFault::Probability { value } => {
                write!(f, "{value} is no probability between 0 and 1")
            }
        }
    }
}

fn meant(f: &mut fmt::Formatter<'_>, like: Option<&str>, known: &[String]) -> fmt::Result {
    match like {
        Some(like) => write!(f, " (did you mean `{like}`?)"),
        None if known.is_empty() => Ok(()),
        None => write!(f, " (there are {})", listed(known)),
    }
}

/// At most twenty names, and how many more.
fn listed(names: &[String]) -> String {
    const MOST: usize = 20;
    let mut list = names.iter().take(MOST).cloned().collect::<Vec<_>>().join(", ");
    if names.len() > MOST {
        list.push_str(&format!(" and {} more", names.len() - MOST));
    }
    list
}
