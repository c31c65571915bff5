//! Clean raw bytes into text a delimited-text parser can take, in bounded memory.

use std::io::{self, Read};
use std::mem;

use serde::{Deserialize, Serialize};

use super::TextFault;

/// What stands between the fields of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Delimiter {
    /// One tab.
    Tab,
    /// One semicolon.
    Semicolon,
    /// One comma.
    Comma,
    /// One vertical bar.
    Bar,
    /// Any number of spaces and tabs.
    Whitespace,
}

impl Delimiter {
    /// In words.
    pub fn name(self) -> &'static str {
        match self {
            Delimiter::Tab => "tab",
            Delimiter::Semicolon => "semicolon",
            Delimiter::Comma => "comma",
            Delimiter::Bar => "vertical bar",
            Delimiter::Whitespace => "whitespace",
        }
    }

    /// What stands between the fields of the cleaned text.
    pub(super) fn byte(self) -> u8 {
        match self {
            Delimiter::Tab => b'\t',
            Delimiter::Semicolon => b';',
            Delimiter::Comma => b',',
            Delimiter::Bar => b'|',
            Delimiter::Whitespace => b' ',
        }
    }
}

/// How much a text may ask for. No length is believed before its bytes have been seen, and no
/// input makes the reader hold more than a small multiple of what was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of one row, all lines of its quoted fields included.
    pub row_bytes: usize,
    /// Bytes of one field.
    pub field_bytes: usize,
    /// Fields of one row.
    pub fields: usize,
    /// Bytes of the whole text.
    pub total_bytes: u64,
}

impl Default for Limits {
    /// 16 MiB a row, 1 MiB a field, 100 000 fields a row, 2 GiB in all.
    fn default() -> Self {
        Limits { row_bytes: 1 << 24, field_bytes: 1 << 20, fields: 100_000, total_bytes: 1 << 31 }
    }
}

/// What stopped the cleaning, and where. Travels through [`io::Error`].
#[derive(Clone, Debug, thiserror::Error)]
pub(super) enum Stop {
    #[error("line {line}, field {column}: {fault}")]
    Fault { line: usize, column: usize, fault: TextFault },
    #[error("more than {limit} bytes")]
    TooLarge { limit: u64 },
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum State {
    LineStart,
    Comment,
    FieldStart,
    Unquoted,
    /// Blanks after a field that blanks end.
    Between,
    Quoted,
    /// A quotation mark in a quoted field: its end, or the first of two.
    QuoteSeen,
    AfterQuote,
}

/// A reader of the same table in plain form: line ends are LF, comment lines are empty (so that
/// lines keep their numbers), blanks around unquoted fields are gone, one byte delimits fields,
/// the last line has an end, and every quotation mark that opens a field is closed.
pub(super) struct CleanText<R> {
    input: R,
    chunk: Box<[u8]>,
    /// Cleaned bytes, and how many of them have been handed on.
    output: Vec<u8>,
    sent: usize,
    /// Blanks inside or after an unquoted field: what follows decides.
    blanks: Vec<u8>,
    delimiter: Delimiter,
    limits: Limits,
    state: State,
    after_cr: bool,
    line: usize,
    field: usize,
    /// Line and field of the last opening quotation mark.
    quote: (usize, usize),
    row_bytes: usize,
    field_bytes: usize,
    total_bytes: u64,
    ended: bool,
    /// Reported once everything before it has been handed on.
    stop: Option<Stop>,
}

impl<R: Read> CleanText<R> {
    pub(super) fn new(input: R, delimiter: Delimiter, limits: Limits) -> Self {
        CleanText {
            input,
            chunk: vec![0; 1 << 16].into_boxed_slice(),
            output: Vec::new(),
            sent: 0,
            blanks: Vec::new(),
            delimiter,
            limits,
            state: State::LineStart,
            after_cr: false,
            line: 1,
            field: 1,
            quote: (1, 1),
            row_bytes: 0,
            field_bytes: 0,
            total_bytes: 0,
            ended: false,
            stop: None,
        }
    }

    fn fault(&self, fault: TextFault) -> Stop {
        Stop::Fault { line: self.line, column: self.field, fault }
    }

    fn emit(&mut self, byte: u8) -> Result<(), Stop> {
        self.field_bytes += 1;
        if self.field_bytes > self.limits.field_bytes {
            return Err(self.fault(TextFault::LongField { limit: self.limits.field_bytes }));
        }
        self.output.push(byte);
        Ok(())
    }

    fn end_field(&mut self) -> Result<(), Stop> {
        self.blanks.clear();
        self.output.push(self.delimiter.byte());
        self.field += 1;
        self.field_bytes = 0;
        if self.field > self.limits.fields {
            return Err(self.fault(TextFault::ManyFields { limit: self.limits.fields }));
        }
        self.state = State::FieldStart;
        Ok(())
    }

    fn end_line(&mut self) {
        self.blanks.clear();
        self.output.push(b'\n');
        self.line += 1;
        self.field = 1;
        self.row_bytes = 0;
        self.field_bytes = 0;
        self.state = State::LineStart;
    }

    fn start_field(&mut self, byte: u8) -> Result<(), Stop> {
        if byte == b'"' {
            self.quote = (self.line, self.field);
            self.state = State::Quoted;
        } else {
            self.state = State::Unquoted;
        }
        self.emit(byte)
    }

    fn step(&mut self, raw: u8) -> Result<(), Stop> {
        if mem::replace(&mut self.after_cr, raw == b'\r') && raw == b'\n' {
            return Ok(());
        }
        let byte = if raw == b'\r' { b'\n' } else { raw };
        self.row_bytes += 1;
        if self.row_bytes > self.limits.row_bytes {
            return Err(self.fault(TextFault::LongLine { limit: self.limits.row_bytes }));
        }
        if byte == 0 {
            return Err(self.fault(TextFault::NulByte));
        }
        let by_blanks = self.delimiter == Delimiter::Whitespace;
        let delimits = !by_blanks && byte == self.delimiter.byte();
        let blank = !delimits && (byte == b' ' || byte == b'\t');
        match self.state {
            State::Quoted => {
                if byte == b'"' {
                    self.state = State::QuoteSeen;
                } else if byte == b'\n' {
                    self.line += 1;
                }
                return self.emit(byte);
            }
            State::QuoteSeen if byte == b'"' => {
                self.state = State::Quoted;
                return self.emit(byte);
            }
            _ if byte == b'\n' => self.end_line(),
            State::Comment => {}
            _ if delimits => return self.end_field(),
            State::LineStart if blank => {}
            State::LineStart if byte == b'#' || byte == b'%' => self.state = State::Comment,
            State::FieldStart | State::Between if blank => {}
            State::LineStart | State::FieldStart => return self.start_field(byte),
            State::Between => {
                self.end_field()?;
                return self.start_field(byte);
            }
            State::Unquoted | State::QuoteSeen if blank && by_blanks => {
                self.state = State::Between;
            }
            State::QuoteSeen | State::AfterQuote if blank => self.state = State::AfterQuote,
            State::QuoteSeen | State::AfterQuote => {
                return Err(self.fault(TextFault::TextAfterQuote));
            }
            State::Unquoted if blank => self.blanks.push(byte),
            State::Unquoted => {
                for index in 0..self.blanks.len() {
                    self.emit(self.blanks[index])?;
                }
                self.blanks.clear();
                return self.emit(byte);
            }
        }
        Ok(())
    }

    fn clean(&mut self, length: usize) -> Result<(), Stop> {
        self.total_bytes += length as u64;
        if self.total_bytes > self.limits.total_bytes {
            return Err(Stop::TooLarge { limit: self.limits.total_bytes });
        }
        for index in 0..length {
            self.step(self.chunk[index])?;
        }
        if length == 0 && self.state == State::Quoted {
            let (line, column) = self.quote;
            return Err(Stop::Fault { line, column, fault: TextFault::UnclosedQuote });
        }
        if length == 0 && self.state != State::LineStart {
            self.end_line();
        }
        Ok(())
    }
}

impl<R: Read> Read for CleanText<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        while self.sent == self.output.len() {
            self.output.clear();
            self.sent = 0;
            if let Some(stop) = &self.stop {
                return Err(io::Error::other(stop.clone()));
            }
            if self.ended {
                return Ok(0);
            }
            let length = match self.input.read(&mut self.chunk) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                other => other?,
            };
            self.ended = length == 0;
            self.stop = self.clean(length).err();
        }
        let length = into.len().min(self.output.len() - self.sent);
        into[..length].copy_from_slice(&self.output[self.sent..self.sent + length]);
        self.sent += length;
        Ok(length)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cleaned(text: &str, delimiter: Delimiter) -> String {
        let mut result = String::new();
        CleanText::new(text.as_bytes(), delimiter, Limits::default())
            .read_to_string(&mut result)
            .unwrap();
        result
    }

    #[test]
    fn blanks_comments_and_line_ends_are_cleaned() {
        for (delimiter, raw, clean) in [
            (Delimiter::Comma, " a , b c\t,d\r\n1,,3", "a,b c,d\n1,,3\n"),
            (Delimiter::Comma, "# one, \"two\n  %x\n1,2\r\r3,4\r", "\n\n1,2\n\n3,4\n"),
            (Delimiter::Comma, "a, \" b \" ,c\n", "a,\" b \",c\n"),
            (Delimiter::Comma, "\"a\r\n#b\"\"\",5\"", "\"a\n#b\"\"\",5\"\n"),
            (Delimiter::Tab, "a b\t c \t\t\n", "a b\tc\t\t\n"),
            (Delimiter::Whitespace, "  1 \t 2\t\n\n\"a b\"  3 # 4\n", "1 2\n\n\"a b\" 3 # 4\n"),
        ] {
            assert_eq!(cleaned(raw, delimiter), clean, "{raw:?}");
        }
    }

    /// Gives one byte for ever, counting how often it was asked.
    struct Endless {
        byte: u8,
        given: usize,
    }

    impl Read for Endless {
        fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
            into.fill(self.byte);
            self.given += into.len();
            Ok(into.len())
        }
    }

    #[test]
    fn endless_lines_are_refused_in_bounded_memory() {
        let limits = Limits::default();
        for byte in [b'1', b',', b' ', b'"', b'#', b'\n', 0] {
            let small = Limits { total_bytes: 1 << 25, ..limits };
            let mut text = CleanText::new(Endless { byte, given: 0 }, Delimiter::Comma, small);
            assert!(io::copy(&mut text, &mut io::sink()).is_err(), "byte {byte}");
            assert!(text.input.given <= (1 << 25) + (1 << 16), "byte {byte}");
            let held = text.output.capacity() + text.blanks.capacity();
            assert!(held <= 2 * limits.row_bytes + (1 << 18), "byte {byte} holds {held}");
        }
    }
}
