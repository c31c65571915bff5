//! Cut a formula into words, numbers and signs.

use super::error::{FormulaError, FormulaFault};

/// What a piece of a formula is.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Piece {
    /// A number.
    Number(f64),
    /// A text in quotation marks.
    Text(String),
    /// A word.
    Name(String),
    /// An operator or a parenthesis.
    Sign(&'static str),
    /// Nothing more.
    End,
}

/// A piece and the byte where it begins.
#[derive(Clone, Debug)]
pub(super) struct Token {
    pub(super) piece: Piece,
    pub(super) at: usize,
}

/// Longer signs first.
const SIGNS: [&str; 14] =
    ["<=", ">=", "==", "!=", "<", ">", "+", "-", "*", "/", "^", "(", ")", ","];

pub(super) fn tokens(formula: &str) -> Result<Vec<Token>, FormulaError> {
    let error = |at: usize, fault| FormulaError { formula: formula.to_string(), at, fault };
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(first) = formula[at..].chars().next() {
        let rest = &formula[at..];
        if first.is_whitespace() {
            at += first.len_utf8();
            continue;
        }
        let (piece, length) = if first.is_ascii_digit() || first == '.' {
            let length = number_length(rest.as_bytes());
            let value = rest[..length].parse::<f64>().ok().filter(|value| value.is_finite());
            let no_number = || FormulaFault::NotANumber { text: rest[..length].to_string() };
            (Piece::Number(value.ok_or_else(|| error(at, no_number()))?), length)
        } else if first.is_alphabetic() || first == '_' {
            let inside = |c: char| c.is_alphanumeric() || c == '_';
            let length = rest.find(|c| !inside(c)).unwrap_or(rest.len());
            (Piece::Name(rest[..length].to_string()), length)
        } else if first == '"' || first == '\'' {
            let closing = rest[1..].find(first);
            let inner = closing.ok_or_else(|| error(at, FormulaFault::Unclosed))?;
            (Piece::Text(rest[1..=inner].to_string()), inner + 2)
        } else if let Some(sign) = SIGNS.iter().find(|sign| rest.starts_with(**sign)) {
            (Piece::Sign(sign), sign.len())
        } else {
            let expected = match first {
                '=' => "`==`",
                '&' => "`and`",
                '|' => "`or`",
                '!' => "`not`",
                _ => "a number, a name or an operator",
            };
            let unexpected = FormulaFault::Unexpected { found: format!("`{first}`"), expected };
            return Err(error(at, unexpected));
        };
        found.push(Token { piece, at });
        at += length;
    }
    found.push(Token { piece: Piece::End, at });
    Ok(found)
}

/// Length of the digits, point and exponent that `text` begins with.
fn number_length(text: &[u8]) -> usize {
    let digits = |from: usize| text[from..].iter().take_while(|c| c.is_ascii_digit()).count();
    let mut length = digits(0);
    if text.get(length) == Some(&b'.') {
        length += 1 + digits(length + 1);
    }
    if matches!(text.get(length), Some(b'e' | b'E')) {
        let sign = usize::from(matches!(text.get(length + 1), Some(b'+' | b'-')));
        let exponent = digits((length + 1 + sign).min(text.len()));
        if exponent > 0 {
            length += 1 + sign + exponent;
        }
    }
    length
}

impl Piece {
    /// How it is shown in a message.
    pub(super) fn shown(&self) -> String {
        match self {
            Piece::Number(value) => format!("`{value}`"),
            Piece::Text(text) => format!("\"{text}\""),
            Piece::Name(name) => format!("`{name}`"),
            Piece::Sign(sign) => format!("`{sign}`"),
            Piece::End => "the end".into(),
        }
    }
}
