//! Make any text harmless inside markup, file names and addresses.

use std::fmt::Write as _;

/// `text` for the content of an element and for quoted attributes. Control characters, which XML
/// does not allow, and direction overrides, which make text lie, become `�`.
pub fn markup(text: &str) -> String {
    let mut safe = String::with_capacity(text.len() + 8);
    for c in text.chars() {
        match c {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            '\'' => safe.push_str("&#39;"),
            '\n' | '\t' => safe.push(c),
            '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => safe.push('\u{fffd}'),
            '\u{fffe}' | '\u{ffff}' => safe.push('\u{fffd}'),
            c if c.is_control() => safe.push('\u{fffd}'),
            c => safe.push(c),
        }
    }
    safe
}

/// `text` for the part of a `data:` address after the comma.
pub fn address(text: &str) -> String {
    let mut safe = String::with_capacity(text.len() + text.len() / 8);
    for byte in text.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b',' | b'.' | b'-' | b'_' | b'~' => {
                safe.push(char::from(byte));
            }
            _ => {
                let _ = write!(safe, "%{byte:02X}");
            }
        }
    }
    safe
}

/// A short name of small letters, digits and hyphens, for files and anchors.
pub fn slug(text: &str) -> String {
    const LONGEST: usize = 60;
    let mut name = String::new();
    for c in text.chars() {
        if name.len() >= LONGEST {
            break;
        }
        match c.to_ascii_lowercase() {
            c @ ('a'..='z' | '0'..='9') => name.push(c),
            _ if !name.is_empty() && !name.ends_with('-') => name.push('-'),
            _ => {}
        }
    }
    let name = name.trim_end_matches('-');
    if name.is_empty() { "figure".into() } else { name.into() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_escapes() {
        assert_eq!(
            markup("<b>\"a\" & 'b'</b>"),
            "&lt;b&gt;&quot;a&quot; &amp; &#39;b&#39;&lt;/b&gt;"
        );
        assert_eq!(markup("a\u{0}\u{1b}\u{202e}b"), "a\u{fffd}\u{fffd}\u{fffd}b");
        assert_eq!(address("a,b\n\"<é>\"%"), "a,b%0A%22%3C%C3%A9%3E%22%25");
        assert_eq!(slug("  R-hat of ../../etc <b>"), "r-hat-of-etc-b");
        assert_eq!(slug("日本"), "figure");
        assert_eq!(slug(&"x".repeat(500)).len(), 60);
    }
}
