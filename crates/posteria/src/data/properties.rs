//! Check the reader on arbitrary bytes, and that what was written reads back.

use std::io::{self, Read};

use proptest::prelude::*;

use super::{Cell, Column, DataError, Delimiter, Limits, Table, TextFormat};

/// Bytes that steer the reader come more often than others.
fn any_bytes() -> impl Strategy<Value = Vec<u8>> {
    let steering = prop::sample::select(b",;\t| \n\r\"\"#%.-+eE0123456789aNnA?\xff\xef\0".to_vec());
    prop::collection::vec(prop_oneof![9 => steering, 1 => any::<u8>()], 0..200)
}

fn any_format() -> impl Strategy<Value = TextFormat> {
    let delimiter = prop::option::of(prop::sample::select(vec![
        Delimiter::Tab,
        Delimiter::Semicolon,
        Delimiter::Comma,
        Delimiter::Bar,
        Delimiter::Whitespace,
    ]));
    (delimiter, any::<Option<bool>>()).prop_map(|(delimiter, header)| TextFormat {
        delimiter,
        header,
        limits: Limits::default(),
    })
}

/// Text that is neither number nor missing in any cell, without carriage returns (line ends in
/// quoted text read as LF) and without NUL.
fn any_text() -> impl Strategy<Value = String> {
    "[^\r\0]{0,8}".prop_map(|text| match Cell::parse(&text) {
        Cell::Text(_) => text,
        _ => format!("t{text}"),
    })
}

fn any_column(rows: usize) -> impl Strategy<Value = Column> {
    let number = prop_oneof![4 => any::<f64>(), 1 => Just(f64::NAN), 1 => Just(-0.0)];
    let numbers = prop::collection::vec(number, rows).prop_map(|values| {
        Column::numbers(values.into_iter().map(|v| if v.is_nan() { f64::NAN } else { v }).collect())
    });
    let texts = prop::collection::vec(prop::option::weighted(0.8, any_text()), rows).prop_map(
        |mut texts: Vec<Option<String>>| {
            texts[0].get_or_insert_with(|| "text".to_string());
            let texts: Vec<String> = texts.into_iter().map(Option::unwrap_or_default).collect();
            Column::from_texts(texts.iter().map(String::as_str)).unwrap()
        },
    );
    prop_oneof![numbers, texts]
}

fn any_table() -> impl Strategy<Value = Table> {
    (1usize..6, 1usize..5).prop_flat_map(|(rows, columns)| {
        let names = prop::collection::btree_set(any_text(), columns);
        (names, prop::collection::vec(any_column(rows), columns)).prop_map(|(names, columns)| {
            Table::new("memory", names.into_iter().zip(columns).collect()).unwrap()
        })
    })
}

/// A cell by its bits, so that -0.0 is not 0.0.
fn bits(cell: Cell) -> (u64, String) {
    match cell {
        Cell::Missing => (1, String::new()),
        Cell::Number(value) => (value.to_bits(), String::new()),
        Cell::Text(text) => (2, text.to_string()),
    }
}

/// Gives its bytes a few at a time.
struct Trickle<'a>(&'a [u8], usize);

impl Read for Trickle<'_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let length = self.1.min(into.len());
        self.0.read(&mut into[..length])
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_bytes_make_the_reader_panic(bytes in any_bytes(), format in any_format()) {
        if let Ok(table) = Table::from_text("f", &bytes[..], &format) {
            prop_assert!(table.rows() > 0);
            prop_assert_eq!(table.names().len(), table.columns().len());
        }
    }

    #[test]
    fn pieces_of_a_text_read_like_the_whole(
        bytes in any_bytes(),
        format in any_format(),
        piece in 1usize..7,
    ) {
        let whole = Table::from_text("f", &bytes[..], &format);
        let pieces = Table::from_text("f", Trickle(&bytes, piece), &format);
        prop_assert_eq!(format!("{whole:?}"), format!("{pieces:?}"));
    }

    #[test]
    fn what_was_written_reads_back(table in any_table()) {
        let mut text = Vec::new();
        table.write_csv(&mut text).unwrap();
        let format = TextFormat {
            header: Some(true),
            delimiter: Some(Delimiter::Comma),
            ..TextFormat::default()
        };
        let again = Table::from_text("memory", &text[..], &format).unwrap();
        prop_assert_eq!(again.names(), table.names());
        prop_assert_eq!(again.rows(), table.rows());
        for (column, original) in again.columns().iter().zip(table.columns()) {
            for row in 0..table.rows() {
                prop_assert_eq!(bits(column.cell(row)), bits(original.cell(row)));
            }
        }
    }
}

/// Makes a text on the fly: `line` for ever, or the bytes of `line` once and then `rest` for ever.
struct Made {
    start: &'static [u8],
    rest: u8,
    left: usize,
}

impl Read for Made {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        if !self.start.is_empty() {
            return self.start.read(into);
        }
        let length = into.len().min(self.left);
        into[..length].fill(self.rest);
        self.left -= length;
        Ok(length)
    }
}

#[test]
fn a_gigabyte_in_one_line_is_refused_after_its_first_megabytes() {
    for (start, rest) in
        [(&b"a,b\n1,2\n"[..], b'7'), (b"\"", b'x'), (b"", b','), (b"#", b'c'), (b"1", b' ')]
    {
        let mut text = Made { start, rest, left: 1 << 30 };
        let result = Table::from_text("f", &mut text, &TextFormat::default());
        assert!(matches!(result, Err(DataError::Text { .. })), "{rest}: {result:?}");
        let read = (1 << 30) - text.left;
        assert!(read <= (1 << 24) + (1 << 18), "{read} bytes read before refusing {rest}");
    }
}
