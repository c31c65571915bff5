//! Check small texts of every kind: read exactly, or refused with these words.

use super::{Cell, Delimiter, Limits, Table, TextFormat};

/// Names of columns, then rows; `_` for missing cells, texts in quotation marks.
fn described(table: &Table) -> String {
    let mut text = table.names().join(" ");
    for row in 0..table.rows() {
        text.push_str(" |");
        for column in table.columns() {
            match column.cell(row) {
                Cell::Missing => text.push_str(" _"),
                Cell::Number(value) => text.push_str(&format!(" {value:?}")),
                Cell::Text(cell) => text.push_str(&format!(" {cell:?}")),
            }
        }
    }
    text
}

fn read(text: &[u8], format: &TextFormat) -> String {
    match Table::from_text("f", text, format) {
        Ok(table) => described(&table),
        Err(error) => format!("{error}"),
    }
}

const AUTO: TextFormat = TextFormat {
    delimiter: None,
    header: None,
    limits: Limits { row_bytes: 1000, field_bytes: 100, fields: 50, total_bytes: 100_000 },
};
const HEADER: TextFormat = TextFormat { header: Some(true), ..AUTO };
const NO_HEADER: TextFormat = TextFormat { header: Some(false), ..AUTO };
const BLANKS: TextFormat = TextFormat { delimiter: Some(Delimiter::Whitespace), ..AUTO };
const TABS: TextFormat = TextFormat { delimiter: Some(Delimiter::Tab), ..AUTO };

#[test]
fn tables_of_every_kind_are_read() {
    let fixtures: &[(&[u8], &TextFormat, &str)] = &[
        // delimiters
        (b"a,b\n1,2\n", &AUTO, "a b | 1.0 2.0"),
        (b"a;b\n1;2\n", &AUTO, "a b | 1.0 2.0"),
        (b"a\tb\n1\t2\n", &AUTO, "a b | 1.0 2.0"),
        (b"a|b\n1|2\n", &AUTO, "a b | 1.0 2.0"),
        (b"  a   b\n 1 \t 2 \n", &AUTO, "a b | 1.0 2.0"),
        (b"a;b\n1,5;2\n", &AUTO, "a b | \"1,5\" 2.0"),
        (b"a,b\nx;y,2\n", &AUTO, "a b | \"x;y\" 2.0"),
        (b"a\tb c\n1\tx y\n", &AUTO, "a b c | 1.0 \"x y\""),
        (b"a\t\tb\n1\t\t2\n", &BLANKS, "a b | 1.0 2.0"),
        (b"a b\n1 2\n", &TABS, "a b | \"1 2\""),
        (b"5\n6\n", &AUTO, "x1 | 5.0 | 6.0"),
        // headers
        (b"1,2\n3,4\n", &AUTO, "x1 x2 | 1.0 2.0 | 3.0 4.0"),
        (b"1,2\n3,4\n", &HEADER, "1 2 | 3.0 4.0"),
        (b"a,b\nc,d\n", &AUTO, "a b | \"c\" \"d\""),
        (b"a,b\nc,d\n", &NO_HEADER, "x1 x2 | \"a\" \"b\" | \"c\" \"d\""),
        (b"5.1,set\n4.9,set\n", &AUTO, "x1 x2 | 5.1 \"set\" | 4.9 \"set\""),
        (b"y,2010\n1,2\n", &AUTO, "y 2010 | 1.0 2.0"),
        (b"\"\",\"a\"\n\"1\",5\n", &AUTO, "x1 a | 1.0 5.0"),
        ("größe,β\n1,2\n".as_bytes(), &AUTO, "größe β | 1.0 2.0"),
        // comments and empty lines
        (
            b"%    xs    ys yc\n 0.05  0.16 0\n -0.7 .08 1\n",
            &AUTO,
            "x1 x2 x3 | 0.05 0.16 0.0 | -0.7 0.08 1.0",
        ),
        (b"# from \"R\na,b\n# more, of it\n1,2\n\n \n3,4\n\n", &AUTO, "a b | 1.0 2.0 | 3.0 4.0"),
        (b"\"#a\",b\n\"%1\",2\n", &AUTO, "#a b | \"%1\" 2.0"),
        // quotation marks
        (b"a,b\n\"x,\"\"y\"\"\nz\",2\n", &AUTO, "a b | \"x,\\\"y\\\"\\nz\" 2.0"),
        (b"a , b\n \" x \" , 2 \n", &AUTO, "a b | \" x \" 2.0"),
        (b"\"a\",\"b\"\n\"1\",\" 2 \"\n", &AUTO, "a b | 1.0 2.0"),
        (b"a,b\n5\",6'\n", &AUTO, "a b | \"5\\\"\" \"6'\""),
        (b"a b\n\"x y\" 2\n", &AUTO, "a b | \"x y\" 2.0"),
        // line ends and encodings
        (b"a,b\r\n1,2\r\n", &AUTO, "a b | 1.0 2.0"),
        (b"a,b\r1,2\r3,4", &AUTO, "a b | 1.0 2.0 | 3.0 4.0"),
        (b"\xef\xbb\xbfa,b\n1,2", &AUTO, "a b | 1.0 2.0"),
        (b"\xef\xbb\xbf\"a\",b\n1,2", &AUTO, "a b | 1.0 2.0"),
        (b"# caf\xe9\na\n1\n", &AUTO, "a | 1.0"),
        // trailing delimiters
        (b"a,b,\n1,2,\n3,4,\n", &AUTO, "a b | 1.0 2.0 | 3.0 4.0"),
        (b"1,2,\n3,4,\n", &AUTO, "x1 x2 | 1.0 2.0 | 3.0 4.0"),
        (b"a,b\n1,2,\n3,4\n", &AUTO, "a b | 1.0 2.0 | 3.0 4.0"),
        (b"a,b,,\n1,2,,\n", &AUTO, "a b | 1.0 2.0"),
        (b"a,b,\n1,2,3\n", &AUTO, "a b x3 | 1.0 2.0 3.0"),
        // missing cells
        (b"a,b,c\n1,,NA\n?,null,.\nNaN,nan,N/A\n", &AUTO, "a b c | 1.0 _ _ | _ _ _ | _ _ _"),
        (b"a,b\nx,NA\n,3\n", &AUTO, "a b | \"x\" _ | _ 3.0"),
        // numbers
        (b"a,b,c\n1e308,1e-320,-0.0\n", &AUTO, "a b c | 1e308 1e-320 -0.0"),
        (b"a,b,c\n+.5,-1E+2,9007199254740993\n", &AUTO, "a b c | 0.5 -100.0 9007199254740992.0"),
        (b"a,b\ninf,1e999\n", &AUTO, "a b | inf inf"),
        (b"a\n2020-01-05\n", &AUTO, "a | \"2020-01-05\""),
    ];
    for (text, format, expected) in fixtures {
        let shown = String::from_utf8_lossy(text);
        assert_eq!(read(text, format), *expected, "{shown:?}");
    }
}

#[test]
fn everything_else_is_refused_with_its_place_and_a_cure() {
    let long_line = ["1,".repeat(499), "123\n".into()].concat();
    let fixtures: &[(&[u8], &TextFormat, &str)] = &[
        (b"", &AUTO, "f: the file holds no rows of data; give it at least one line"),
        (b"# only\n\n", &AUTO, "f: the file holds no rows of data; give it at least one line"),
        (b"\xef\xbb\xbf", &AUTO, "f: the file holds no rows of data; give it at least one line"),
        (b"#\na,b\n", &AUTO, "f: there is a header on line 2 but no row of data below it"),
        (b"1,2", &HEADER, "f: there is a header on line 1 but no row of data below it"),
        (
            b"a,b\n1,2\n# c\n3\n",
            &AUTO,
            "f:4: 1 field(s), but line 1 has 2; make the lines equally long (missing cells as NA), or \
          check the delimiter (comma)",
        ),
        (
            b"a,b\n\"1\n2\",3\n4,5,6\n",
            &AUTO,
            "f:4: 3 field(s), but line 1 has 2; make the lines equally long (missing cells as NA), or \
          check the delimiter (comma)",
        ),
        (
            b"1 2\r\n3 4 5\r\n",
            &AUTO,
            "f:2: 3 field(s), but line 1 has 2; make the lines equally long (missing cells as NA), or \
          check the delimiter (whitespace)",
        ),
        (
            b"a,b\n1,\"2\n3,4\n",
            &AUTO,
            "f:2:2: the quotation mark opened here is never closed; close it, or double it if it is \
          part of a text",
        ),
        (
            b"a,b\n1,\"x\"y\n",
            &AUTO,
            "f:2:2: text follows the closing quotation mark; write a quotation mark inside a quoted \
          text twice",
        ),
        (
            b"a,b\n1,\"x\\\"y\"\n",
            &AUTO,
            "f:2:2: text follows the closing quotation mark; write a quotation mark inside a quoted \
          text twice",
        ),
        (
            b"a,\"b\"c\n1,2\n",
            &AUTO,
            "f:1:2: text follows the closing quotation mark; write a quotation mark inside a \
             quoted text twice",
        ),
        (b"a,b,a\n1,2,3\n", &AUTO, "f: columns 1 and 3 are both called \"a\"; rename one"),
        (b"a,\n1,2\n3,4\n", &HEADER, "a x2 | 1.0 2.0 | 3.0 4.0"),
        (b"x2,\n1,2\n", &HEADER, "f: columns 1 and 2 are both called \"x2\"; rename one"),
        (
            b"\n5,red\n6,blue\n",
            &AUTO,
            "f:2:2: this line could be names of columns or a row of data: it mixes numbers with the \
          text \"red\"; say which with --header or --no-header",
        ),
        (
            b"a\n1\0\n",
            &AUTO,
            "f:2:1: a NUL byte, so this is not text; save the table as UTF-8 text",
        ),
        (
            b"a,b\n1,caf\xe9\n",
            &AUTO,
            "f:2:2: the text is not UTF-8; save the table in the UTF-8 encoding",
        ),
        (
            b"\x1f\x8b\x08\0",
            &AUTO,
            "f: this is a gzip archive, not a table of text; unpack it first",
        ),
        (
            b"PK\x03\x04..",
            &AUTO,
            "f: this is a zip archive or a spreadsheet, not a table of text; export it as CSV",
        ),
        (
            b"PAR1....",
            &AUTO,
            "f: this is a Parquet file, not a table of text; export it as CSV, or read it as \
             Parquet",
        ),
        (b"\xff\xfea\0", &AUTO, "f: this is UTF-16 text, not a table of text; save it as UTF-8"),
        (
            &[b'1'; 101],
            &AUTO,
            "f:1:1: a field of more than 100 bytes; check the delimiter and the quotation marks",
        ),
        (
            long_line.as_bytes(),
            &AUTO,
            "f:1:51: a line of more than 50 fields; put rows on lines and variables in columns",
        ),
        (
            &[b' '; 1001],
            &AUTO,
            "f:1:1: a line of more than 1000 bytes; check that the file is a table of text with one \
          row per line",
        ),
        (
            &[b'\n'; 100_001],
            &AUTO,
            "f: there is more than the 100000 bytes of text that may be read; split it",
        ),
    ];
    for (text, format, expected) in fixtures {
        let shown = String::from_utf8_lossy(&text[..text.len().min(60)]);
        assert_eq!(read(text, format), *expected, "{shown:?}");
    }
}

#[test]
fn unknown_columns_are_refused_with_a_suggestion() {
    let table = Table::from_text("d.csv", &b"age,strength\n1,2\n"[..], &AUTO).unwrap();
    assert_eq!(
        table.column("strenght").unwrap_err().to_string(),
        "d.csv: there is no column \"strenght\" (did you mean \"strength\"?); the columns are \
         \"age\", \"strength\""
    );
    let joined = table.column("age, strength").unwrap_err().to_string();
    assert!(joined.contains("(separate names of columns by spaces)"), "{joined}");
}

#[test]
fn rows_know_their_lines() {
    let text = "# c\n\na,b\n\"x\ny\",1\n\n\"z\n\n\",2\r\n% c\nw,3";
    let table = Table::from_text("d", text.as_bytes(), &AUTO).unwrap();
    let places: Vec<String> = (0..3).map(|row| table.place(row, 1).to_string()).collect();
    assert_eq!(places, ["d:4:2", "d:7:2", "d:11:2"]);
}
