//! Make text safe before it reaches a terminal.

use std::borrow::Cow;

pub use posteria_report::plain::{
    bytes, count, decimals_for, decimals_of, duration, fixed, short, significant,
};

/// Heights of a line of text.
const BARS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// Numbers as bars between `low` and `high`.
pub fn bars(values: &[f64], [low, high]: [f64; 2]) -> String {
    let top = (BARS.len() - 1) as f64;
    // Halves, so that the difference of the greatest numbers is one.
    let height = |value: &f64| match high > low {
        true => (0.5 * value - 0.5 * low) / (0.5 * high - 0.5 * low) * top,
        false => 0.0,
    };
    values.iter().map(|value| BARS[height(value).clamp(0.0, top).round() as usize]).collect()
}

/// `text` with control characters and direction overrides escaped: names come from files, and
/// a file must not drive the terminal.
pub fn printable(text: &str) -> Cow<'_, str> {
    let hostile =
        |c: char| c.is_control() || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    if !text.contains(hostile) {
        return Cow::Borrowed(text);
    }
    let mut safe = String::with_capacity(text.len() + 8);
    for c in text.chars() {
        if hostile(c) { safe.extend(c.escape_default()) } else { safe.push(c) }
    }
    Cow::Owned(safe)
}

/// `text` on one line, and printable.
pub fn one_line(text: &str) -> String {
    let lines: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    printable(&lines.join(" ")).into_owned()
}

/// `text` in lines of at most `width` characters where words allow it; all but the first begin
/// with `indent` spaces, which the width includes.
pub fn wrapped(text: &str, indent: usize, width: usize) -> String {
    let mut lines = String::with_capacity(text.len() + 16);
    let mut column = indent;
    for (index, word) in text.split(' ').enumerate() {
        let length = word.chars().count();
        if index > 0 && column + 1 + length > width {
            lines.push('\n');
            lines.extend(std::iter::repeat_n(' ', indent));
            column = indent;
        } else if index > 0 {
            lines.push(' ');
            column += 1;
        }
        lines.push_str(word);
        column += length;
    }
    lines
}

/// What a committee is called.
pub fn committee(members: usize) -> String {
    format!("committee of {}", count(members, "early-stopped network"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_never_reach_the_terminal() {
        assert_eq!(printable("plain ü"), "plain ü");
        assert_eq!(printable("a\u{1b}[31mb\n"), "a\\u{1b}[31mb\\n");
        assert_eq!(printable("\u{202e}evil"), "\\u{202e}evil");
        assert_eq!(one_line("first\n\n  second\u{7}"), "first second\\u{7}");
    }

    #[test]
    fn long_sentences_are_wrapped_between_words() {
        assert_eq!(wrapped("one two three", 2, 9), "one two\n  three");
        assert_eq!(wrapped("one two", 0, 80), "one two");
        assert_eq!(wrapped("unbreakable word", 1, 4), "unbreakable\n word");
    }
}
