//! Go through a file line by line, and through a line cell by cell.

use std::io::{BufRead, BufReader, Read};

use super::ReadError;

/// Longest line that is read, so that a file that is no table cannot fill the memory.
const LONGEST_LINE: usize = 16 << 20;

/// The lines of a file, counted from 1.
pub(super) struct Lines<R> {
    file: String,
    source: BufReader<R>,
    /// Number of the line read last.
    pub(super) number: u64,
    /// Its bytes, without the end of the line.
    pub(super) line: Vec<u8>,
}

impl<R: Read> Lines<R> {
    pub(super) fn new(file: &str, source: R) -> Self {
        let (file, source) = (file.to_string(), BufReader::new(source));
        Lines { file, source, number: 0, line: Vec::new() }
    }

    /// Reads the next line; false at the end of the file.
    pub(super) fn advance(&mut self) -> Result<bool, ReadError> {
        self.line.clear();
        let found = self.append()?;
        if self.number == 1 && self.line.starts_with(b"\xef\xbb\xbf") {
            self.line.drain(..3); // the byte order mark that some editors write
        }
        Ok(found)
    }

    /// Reads further lines into this one while a quotation mark is open.
    pub(super) fn close_quotes(&mut self) -> Result<(), ReadError> {
        let quotes = |bytes: &[u8]| bytes.iter().filter(|byte| **byte == b'"').count();
        let mut open = quotes(&self.line) % 2 == 1;
        while open {
            self.line.push(b'\n');
            let start = self.line.len();
            if !self.append()? {
                break;
            }
            open = quotes(&self.line[start.min(self.line.len())..]) % 2 == 0;
        }
        Ok(())
    }

    fn append(&mut self) -> Result<bool, ReadError> {
        let room = (LONGEST_LINE + 1).saturating_sub(self.line.len());
        let count = self
            .source
            .by_ref()
            .take(room as u64)
            .read_until(b'\n', &mut self.line)
            .map_err(|error| ReadError::Io { file: self.file.clone(), error })?;
        if count == 0 && room > 0 {
            return Ok(false);
        }
        self.number += 1;
        if self.line.len() > LONGEST_LINE {
            let (file, line) = (self.file.clone(), self.number);
            return Err(ReadError::LongLine { file, line, limit: LONGEST_LINE });
        }
        for end in [b'\n', b'\r'] {
            if self.line.last() == Some(&end) {
                self.line.pop();
            }
        }
        Ok(true)
    }
}

/// The cells of one line. Cells may stand in quotation marks, with `""` for one inside.
#[derive(Default)]
pub(super) struct Cells {
    text: Vec<u8>,
    ends: Vec<usize>,
}

impl Cells {
    /// Takes a line apart, in place of the one before.
    pub(super) fn split(&mut self, line: &[u8], delimiter: u8) {
        self.text.clear();
        self.ends.clear();
        let mut quoted = false;
        let mut bytes = line.iter().copied().peekable();
        while let Some(byte) = bytes.next() {
            if byte == b'"' && quoted && bytes.peek() == Some(&b'"') {
                bytes.next();
                self.text.push(b'"');
            } else if byte == b'"' && (quoted || self.at_start()) {
                quoted = !quoted;
            } else if byte == delimiter && !quoted {
                self.ends.push(self.text.len());
            } else {
                self.text.push(byte);
            }
        }
        self.ends.push(self.text.len());
    }

    fn at_start(&self) -> bool {
        self.ends.last().copied().unwrap_or(0) == self.text.len()
    }

    pub(super) fn len(&self) -> usize {
        self.ends.len()
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &[u8]> {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        starts.zip(&self.ends).map(|(start, end)| &self.text[start..*end])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_may_be_quoted() {
        let mut cells = Cells::default();
        let mut split = |line: &str| -> Vec<String> {
            cells.split(line.as_bytes(), b',');
            assert_eq!(cells.len(), cells.iter().count());
            cells.iter().map(|cell| String::from_utf8_lossy(cell).into_owned()).collect()
        };
        assert_eq!(split("a,,b c"), ["a", "", "b c"]);
        assert_eq!(split("\"a, b\",\"say \"\"no\"\"\",5\""), ["a, b", "say \"no\"", "5\""]);
        assert_eq!(split(""), [""]);
        assert_eq!(split("1,"), ["1", ""]);
    }

    #[test]
    fn lines_are_counted_whatever_ends_them() {
        let mut lines = Lines::new("f", &b"\xef\xbb\xbfa\r\n\nb,\"c\nd\"\ne"[..]);
        let mut seen = Vec::new();
        while lines.advance().unwrap() {
            lines.close_quotes().unwrap();
            seen.push((lines.number, String::from_utf8(lines.line.clone()).unwrap()));
        }
        let expected = [(1, "a"), (2, ""), (4, "b,\"c\nd\""), (5, "e")];
        assert_eq!(seen, expected.map(|(number, text)| (number, text.to_string())));
    }
}
