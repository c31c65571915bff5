//! Name what can be wrong with one place of a text and with one cell of a column.

use super::error_words::{listed, shown};

/// What is wrong at one place of a text.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TextFault {
    /// A byte no text has.
    #[error("a NUL byte, so this is not text; save the table as UTF-8 text")]
    NulByte,
    /// Bytes that are not UTF-8.
    #[error("the text is not UTF-8; save the table in the UTF-8 encoding")]
    NotUtf8,
    /// A quoted field has no end.
    #[error(
        "the quotation mark opened here is never closed; close it, or double it if it is \
             part of a text"
    )]
    UnclosedQuote,
    /// A quoted field goes on after its end.
    #[error(
        "text follows the closing quotation mark; write a quotation mark inside a quoted \
             text twice"
    )]
    TextAfterQuote,
    /// A line, or a record of quoted lines, is too long.
    #[error(
        "a line of more than {limit} bytes; check that the file is a table of text with one \
             row per line"
    )]
    LongLine {
        /// The greatest length.
        limit: usize,
    },
    /// A field is too long.
    #[error("a field of more than {limit} bytes; check the delimiter and the quotation marks")]
    LongField {
        /// The greatest length.
        limit: usize,
    },
    /// A line has too many fields.
    #[error("a line of more than {limit} fields; put rows on lines and variables in columns")]
    ManyFields {
        /// The greatest number.
        limit: usize,
    },
    /// The number of fields differs from that of the first line.
    #[error(
        "{found} field(s), but line {first_line} has {expected}; make the lines equally long \
             (missing cells as NA), or check the delimiter ({delimiter})"
    )]
    Ragged {
        /// Fields here.
        found: usize,
        /// Fields of the first line.
        expected: usize,
        /// Which line that is.
        first_line: usize,
        /// The delimiter in words.
        delimiter: &'static str,
    },
    /// The first line may be names or may be data.
    #[error("this line could be names of columns or a row of data: it mixes numbers with the \
             text {}; say which with --header or --no-header", shown(.text))]
    HeaderUnclear {
        /// The text that may be a name.
        text: String,
    },
}

/// What is wrong with the content of one cell.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CellFault {
    /// A number with a decimal comma or with separators.
    #[error(
        "looks like a number with a decimal comma or separators; write 1234.5 with a point \
             and nothing else, or check the delimiter"
    )]
    Separators,
    /// A text in a column of numbers.
    #[error(
        "is not a number, but most cells of the column are; correct it, or write NA and use \
             --missing drop (classes are read where most of them are words)"
    )]
    Stray,
    /// A text where the model was fitted to numbers.
    #[error(
        "is not a number, but the column held numbers when the model was fitted; correct it, or \
             write NA and use --missing drop"
    )]
    NotNumber,
    /// A number that is too far from those that the model was fitted to.
    #[error(
        "is so far from the values that the model was fitted to that nothing can be computed; \
             correct it, or check its unit"
    )]
    TooFar,
    /// A text as the target of a regression.
    #[error(
        "is not a number, so it cannot be the target of a regression; choose binary or \
             multiclass"
    )]
    TextTarget,
    /// A fraction as a class.
    #[error("is not a class: classes are text or whole numbers; choose regression")]
    NotClass,
    /// A number that counts nothing.
    #[error("is not a count: counts are whole numbers from 0 on; choose regression")]
    NotCount,
    /// A number that nothing can be exposed to.
    #[error("is not an exposure: exposures are positive numbers; correct it, or leave its row out")]
    NotExposure,
    /// A number that is no duration.
    #[error("is not a duration: durations are positive numbers; correct it, or leave its row out")]
    NotDuration,
    /// What does not say whether a duration is censored.
    #[error(
        "does not say whether a duration is censored: 1 (yes) says that it is, that is, known only to be \
             longer, and 0 (no) that it ended; correct it, or leave its row out"
    )]
    NotCensored,
    /// What does not say whether a duration has ended.
    #[error(
        "does not say whether a duration ended: 1 (yes) says that it did, and 0 (no) that it is censored, \
             that is, known only to be longer; correct it, or leave its row out"
    )]
    NotEvent,
    /// A class that is none of those that were named in order.
    #[error("is none of the classes that --levels names: {}; name all in their order", listed(.levels))]
    NotLevel {
        /// Those that were named.
        levels: Box<[String]>,
    },
    /// A class that the training data do not have.
    #[error("is a class that the training data do not have; they have {}", listed(.levels))]
    UnknownLevel {
        /// The classes of the training data.
        levels: Box<[String]>,
    },
}
