//! Spell numbers so that they are read back bit for bit.

use std::fmt::Write;
use std::num::FpCategory;

/// Longest part of a bad cell that an error repeats.
const SHOWN: usize = 40;

/// Appends the shortest decimal that reads back as the same number; NaN and infinities as Stan
/// spells them.
pub(super) fn push(text: &mut String, value: f64) {
    let written = if value.is_nan() {
        text.push_str("nan");
        Ok(())
    } else if value.is_infinite() {
        text.push_str(if value > 0.0 { "inf" } else { "-inf" });
        Ok(())
    } else if (1e-5..1e15).contains(&value.abs()) || value.classify() == FpCategory::Zero {
        write!(text, "{value}")
    } else {
        write!(text, "{value:e}")
    };
    written.expect("a string takes any text");
}

/// A cell that holds no number.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum BadCell {
    Missing,
    NotANumber(String),
}

/// Reads a number: decimal, or `nan`, `inf`, `-inf` in any case, with blanks around it.
pub(super) fn parse(cell: &[u8]) -> Result<f64, BadCell> {
    let cell = cell.trim_ascii();
    if cell.is_empty() {
        return Err(BadCell::Missing);
    }
    let number = std::str::from_utf8(cell).ok().and_then(|text| text.parse().ok());
    number.ok_or_else(|| BadCell::NotANumber(shown(cell)))
}

/// Reads an integer, also if it is written as 3.0.
pub(super) fn parse_index(cell: &[u8]) -> Result<i64, String> {
    /// Beyond this not every integer has a place in f64.
    const LIMIT: f64 = 9_007_199_254_740_992.0;
    match parse(cell) {
        Ok(value) if value.fract().abs() < f64::MIN_POSITIVE && value.abs() < LIMIT => {
            Ok(value as i64)
        }
        _ => Err(shown(cell)),
    }
}

fn shown(cell: &[u8]) -> String {
    String::from_utf8_lossy(&cell[..cell.len().min(4 * SHOWN)]).chars().take(SHOWN).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn every_number_reads_back_bit_for_bit(value in proptest::num::f64::ANY) {
            let mut text = String::new();
            push(&mut text, value);
            let back = parse(text.as_bytes()).unwrap();
            prop_assert!(back.to_bits() == value.to_bits() || (back.is_nan() && value.is_nan()));
            prop_assert!(text.len() < 26, "{}", text);
        }

        #[test]
        fn no_cell_panics(cell in proptest::collection::vec(any::<u8>(), 0..60)) {
            let _ = (parse(&cell), parse_index(&cell));
        }
    }

    #[test]
    fn spellings() {
        let text = |value| {
            let mut text = String::new();
            push(&mut text, value);
            text
        };
        assert_eq!(text(1.0), "1");
        assert_eq!(text(-0.0), "-0");
        assert_eq!(text(0.1), "0.1");
        assert_eq!(text(1e300), "1e300");
        assert_eq!(text(f64::NEG_INFINITY), "-inf");
        assert_eq!(parse(b" \t"), Err(BadCell::Missing));
        assert_eq!(parse(b"NA"), Err(BadCell::NotANumber("NA".into())));
        assert!(parse(b" -Inf ").unwrap().is_infinite());
        assert_eq!(parse_index(b"3.0"), Ok(3));
        assert!(parse_index(b"3.5").is_err() && parse_index(b"nan").is_err());
        assert!(parse_index(b"1e300").is_err());
    }
}
