//! Read a table from delimited text.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use super::column::Texts;
use super::header::{has_header, name_columns};
use super::reader::{CleanText, Stop};
use super::{DataError, Delimiter, Limits, Place, Table, TextFault};

/// How a table is written as text. Whatever is `None` is auto-detected.
///
/// # Lines
/// One row per line; LF, CRLF or CR ends it. Empty lines are skipped, and so are comments: lines
/// whose first character is `#` or `%` (a first field that begins so must be quoted). The
/// encoding is UTF-8, with or without a byte order mark.
///
/// # Fields
/// Spaces and tabs around a field do not count. A field in quotation marks may hold delimiters,
/// line ends and, written twice, quotation marks; anything but a delimiter behind it is an error.
/// A line may end in one delimiter too many. Otherwise all lines have as many fields as the
/// first.
///
/// # Delimiter
/// The first of tab, semicolon, comma and vertical bar that cuts each of the first 20 rows into
/// the same number of fields, at least two; failing that, the first that cuts the first row at
/// all (its line will then be reported as uneven); failing that, whitespace.
///
/// # Header
/// The first line holds names if all its fields are text, or if one of them is text above a
/// column of numbers. It is a row of data if no field is text, or if every text in it occurs
/// again further down its column. Anything else is refused as unclear. A column without a name
/// is called after its position: `x1`, `x2`, …, and so are all columns if there is no header.
/// Columns at the right end that have neither name nor any value are dropped.
///
/// # Columns
/// A column is numbers if every cell is a number or missing (see [`Cell::parse`](super::Cell::parse)), else text.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct TextFormat {
    /// What stands between fields.
    pub delimiter: Option<Delimiter>,
    /// Whether the first line holds the names of the columns.
    pub header: Option<bool>,
    /// How much the text may ask for.
    pub limits: Limits,
}

/// How much is looked at to find the delimiter: this many bytes, and this many rows of them.
const GLANCE_BYTES: usize = 1 << 16;
const GLANCE_ROWS: usize = 20;

/// How files that are no text begin.
const SIGNATURES: [(&[u8], &str, &str); 9] = [
    (b"\x1f\x8b", "a gzip archive", "unpack it first"),
    (b"PK\x03\x04", "a zip archive or a spreadsheet", "export it as CSV"),
    (b"BZh", "a bzip2 archive", "unpack it first"),
    (b"\xfd7zXZ\0", "an xz archive", "unpack it first"),
    (b"\x28\xb5\x2f\xfd", "a zstd archive", "unpack it first"),
    (b"PAR1", "a Parquet file", "export it as CSV, or read it as Parquet"),
    (b"\x89HDF", "an HDF5 file", "export it as CSV"),
    (b"\xff\xfe", "UTF-16 text", "save it as UTF-8"),
    (b"\xfe\xff", "UTF-16 text", "save it as UTF-8"),
];

impl Table {
    /// Reads the table in a file: text with a delimiter that is auto-detected, or Parquet where the
    /// name ends in `.parquet` and that feature is built.
    ///
    /// # Errors
    /// [`DataError`] if the file cannot be read or holds no table.
    pub fn read(path: impl AsRef<Path>) -> Result<Table, DataError> {
        let path = path.as_ref();
        let file = path.display().to_string();
        let opened = File::open(path);
        let cannot = |message: String| DataError::Read { file: file.clone(), message };
        let opened = opened.map_err(|error| cannot(error.to_string()))?;
        if path.extension().is_some_and(|ending| ending == "parquet") {
            #[cfg(feature = "parquet")]
            return Table::from_parquet(&file, opened);
            #[cfg(not(feature = "parquet"))]
            return Err(cannot("this posteria was built without Parquet".into()));
        }
        Table::from_text(&file, opened, &TextFormat::default())
    }

    /// Reads a table from text; `file` names the source in errors. The text is read as a stream,
    /// and no more is held than a small multiple of what was read so far.
    ///
    /// # Errors
    /// [`DataError`] if reading fails or the text is not a table as [`TextFormat`] says.
    pub fn from_text(
        file: &str,
        mut input: impl Read,
        format: &TextFormat,
    ) -> Result<Table, DataError> {
        let mut start = Vec::new();
        if let Err(error) = input.by_ref().take(GLANCE_BYTES as u64).read_to_end(&mut start) {
            return Err(DataError::Read { file: file.to_string(), message: error.to_string() });
        }
        for (signature, kind, cure) in SIGNATURES {
            if start.starts_with(signature) {
                return Err(DataError::NotText { file: file.to_string(), kind, cure });
            }
        }
        let text = start.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&start);
        let delimiter = format.delimiter.unwrap_or_else(|| find_delimiter(text));
        let mut raw = RawTable { file, delimiter, columns: Vec::new(), lines: Vec::new() };
        raw.read(CleanText::new(text.chain(input), delimiter, format.limits))?;
        raw.finish(format.header)
    }
}

fn parser<R: Read>(text: CleanText<R>, delimiter: Delimiter) -> csv::Reader<CleanText<R>> {
    csv::ReaderBuilder::new()
        .has_headers(false)
        .flexible(true)
        .delimiter(delimiter.byte())
        .terminator(csv::Terminator::Any(b'\n'))
        .from_reader(text)
}

fn find_delimiter(start: &[u8]) -> Delimiter {
    // The glance is a limit of its own; what is too long is refused when it is read.
    let limits = Limits {
        row_bytes: GLANCE_BYTES,
        field_bytes: GLANCE_BYTES,
        fields: GLANCE_BYTES,
        total_bytes: GLANCE_BYTES as u64,
    };
    let mut cuts_first = None;
    for delimiter in [Delimiter::Tab, Delimiter::Semicolon, Delimiter::Comma, Delimiter::Bar] {
        let mut rows = parser(CleanText::new(start, delimiter, limits), delimiter);
        let mut fields = Vec::new();
        let mut record = csv::ByteRecord::new();
        while fields.len() <= GLANCE_ROWS {
            match rows.read_byte_record(&mut record) {
                Ok(true) => fields.push(record.len()),
                Ok(false) => break,
                Err(error) => {
                    // A first row at fault behind a delimiter was cut by it.
                    if let (true, Some(Stop::Fault { column, .. })) =
                        (fields.is_empty(), stop(error))
                        && column > 1
                    {
                        cuts_first.get_or_insert(delimiter);
                    }
                    break;
                }
            }
        }
        // The last row seen may have been cut off by the end of the glance.
        if fields.len() > 1 && (fields.len() > GLANCE_ROWS || start.len() >= GLANCE_BYTES - 3) {
            fields.pop();
        }
        if fields.first().is_some_and(|first| *first > 1) {
            if fields.iter().all(|count| *count == fields[0]) {
                return delimiter;
            }
            cuts_first.get_or_insert(delimiter);
        }
    }
    cuts_first.unwrap_or(Delimiter::Whitespace)
}

/// What stopped the cleaning, if that is what the parser reports.
fn stop(error: csv::Error) -> Option<Stop> {
    match error.into_kind() {
        csv::ErrorKind::Io(error) => error.downcast::<Stop>().ok(),
        _ => None,
    }
}

/// All fields as text, column by column, the first line included.
struct RawTable<'a> {
    file: &'a str,
    delimiter: Delimiter,
    columns: Vec<Texts>,
    lines: Vec<u32>,
}

impl RawTable<'_> {
    fn place(&self, line: usize, column: Option<usize>) -> Place {
        Place { file: self.file.to_string(), line, column }
    }

    fn fault(&self, line: usize, column: Option<usize>, fault: TextFault) -> DataError {
        DataError::Text { place: self.place(line, column), fault }
    }

    fn read<R: Read>(&mut self, text: CleanText<R>) -> Result<(), DataError> {
        let mut rows = parser(text, self.delimiter);
        let mut record = csv::ByteRecord::new();
        while rows.read_byte_record(&mut record).map_err(|error| self.stopped(error))? {
            // The parser now stands behind the line end of the record, and the lines inside
            // quoted fields are the record's own.
            let inside = record.as_slice().iter().filter(|byte| **byte == b'\n').count();
            let line = rows.position().line() as usize - 1 - inside;
            self.push(&record, line)?;
        }
        Ok(())
    }

    fn push(&mut self, record: &csv::ByteRecord, line: usize) -> Result<(), DataError> {
        let mut fields = Vec::with_capacity(record.len());
        for (index, field) in record.iter().enumerate() {
            match str::from_utf8(field) {
                Ok(field) => fields.push(field),
                Err(_) => return Err(self.fault(line, Some(index + 1), TextFault::NotUtf8)),
            }
        }
        if self.lines.is_empty() {
            self.columns.resize_with(fields.len(), Texts::default);
        }
        let expected = self.columns.len();
        if fields.len() == expected + 1 && fields[expected].is_empty() {
            fields.pop();
        }
        if fields.len() != expected {
            let fault = TextFault::Ragged {
                found: fields.len(),
                expected,
                first_line: self.lines[0] as usize,
                delimiter: self.delimiter.name(),
            };
            return Err(self.fault(line, None, fault));
        }
        let fits = self.columns.iter_mut().zip(&fields).all(|(column, field)| column.push(field));
        if !fits {
            let limit = u64::from(u32::MAX);
            return Err(DataError::TooLarge { file: self.file.to_string(), limit });
        }
        self.lines.push(u32::try_from(line).unwrap_or(u32::MAX));
        Ok(())
    }

    fn stopped(&self, error: csv::Error) -> DataError {
        let file = self.file.to_string();
        match error.into_kind() {
            csv::ErrorKind::Io(error) => match error.downcast::<Stop>() {
                Ok(Stop::Fault { line, column, fault }) => self.fault(line, Some(column), fault),
                Ok(Stop::TooLarge { limit }) => DataError::TooLarge { file, limit },
                Err(error) => DataError::Read { file, message: error.to_string() },
            },
            // Only reading can fail: lengths are free and bytes are not decoded.
            kind => DataError::Read { file, message: format!("{kind:?}") },
        }
    }

    fn finish(mut self, header: Option<bool>) -> Result<Table, DataError> {
        let Some(&first_line) = self.lines.first() else {
            return Err(DataError::Empty { file: self.file.to_string() });
        };
        let first_line = first_line as usize;
        let header = match header {
            Some(header) => header,
            None => has_header(&self.columns).map_err(|(column, text)| {
                self.fault(first_line, Some(column + 1), TextFault::HeaderUnclear { text })
            })?,
        };
        let (names, columns) = name_columns(self.columns, header);
        if header {
            self.lines.remove(0);
        }
        if self.lines.is_empty() {
            return Err(DataError::HeaderOnly { file: self.file.to_string(), line: first_line });
        }
        let table = Table::with_lines(self.file, names, columns, Some(self.lines))?;
        Ok(table.with_names_of_its_own(header))
    }
}
