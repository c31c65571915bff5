//! Read a table from a Parquet file.

use std::panic::{self, AssertUnwindSafe};

use parquet::file::reader::{ChunkReader, FileReader, SerializedFileReader};
use parquet::record::{Field, Row};

use super::column::Texts;
use super::{Column, DataError, Limits, Table};

impl Table {
    /// Reads a table from a Parquet file (an open [`std::fs::File`], or bytes); `file` names it
    /// in errors. Whole and real numbers and truth values (0 and 1) become numbers, strings
    /// become text whatever they hold, nulls and NaN are missing cells.
    ///
    /// No more than [`Limits::total_bytes`] of cells are kept, counting 8 bytes for each and the
    /// text of strings. The decoder itself believes the sizes that pages declare, so read only
    /// files whose origin is known.
    ///
    /// # Errors
    /// [`DataError`] if the file is damaged, too large, empty, or has columns of other types.
    pub fn from_parquet(
        file: &str,
        source: impl ChunkReader + 'static,
    ) -> Result<Table, DataError> {
        let limit = Limits::default().total_bytes;
        // The decoder has asserts that damaged files can violate.
        panic::catch_unwind(AssertUnwindSafe(|| read(file, source, limit)))
            .unwrap_or_else(|_| Err(damaged(file, "its parts contradict each other")))
    }
}

fn damaged(file: &str, message: impl ToString) -> DataError {
    let message = format!("the Parquet file is damaged: {}", message.to_string());
    DataError::Read { file: file.to_string(), message }
}

fn read(file: &str, source: impl ChunkReader + 'static, limit: u64) -> Result<Table, DataError> {
    let reader = SerializedFileReader::new(source).map_err(|error| damaged(file, error))?;
    let schema = reader.metadata().file_metadata().schema();
    let names: Vec<String> =
        schema.get_fields().iter().map(|field| field.name().to_string()).collect();
    let mut columns: Vec<Growing> = names.iter().map(|_| Growing::default()).collect();
    let mut held = 0;
    let rows = reader.get_row_iter(None).map_err(|error| damaged(file, error))?;
    for row in rows {
        let row: Row = row.map_err(|error| damaged(file, error))?;
        if row.len() != columns.len() {
            return Err(damaged(file, "rows differ in length"));
        }
        for ((name, field), column) in row.get_column_iter().zip(&mut columns) {
            let length = column.push(field).map_err(|kind| DataError::ColumnType {
                file: file.to_string(),
                column: name.clone(),
                kind,
            })?;
            held += 8 + length as u64;
        }
        if held > limit {
            return Err(DataError::TooLarge { file: file.to_string(), limit });
        }
    }
    let columns: Vec<Column> = columns.into_iter().map(Growing::finish).collect();
    if columns.first().is_none_or(|column| column.rows() == 0) {
        return Err(DataError::Empty { file: file.to_string() });
    }
    Table::with_lines(file, names, columns, None)
}

/// A column while it is read: numbers until a string comes; nulls are both.
#[derive(Default)]
struct Growing {
    numbers: Vec<f64>,
    texts: Option<Texts>,
}

impl Growing {
    /// Appends a cell and gives the length of its text, or says what else it is.
    fn push(&mut self, field: &Field) -> Result<usize, String> {
        let number = match field {
            Field::Null => f64::NAN,
            Field::Bool(value) => f64::from(u8::from(*value)),
            Field::Byte(value) => f64::from(*value),
            Field::Short(value) => f64::from(*value),
            Field::Int(value) => f64::from(*value),
            Field::Long(value) => *value as f64,
            Field::UByte(value) => f64::from(*value),
            Field::UShort(value) => f64::from(*value),
            Field::UInt(value) => f64::from(*value),
            Field::ULong(value) => *value as f64,
            Field::Float16(value) => f64::from(*value),
            Field::Float(value) => f64::from(*value),
            Field::Double(value) => *value,
            Field::Str(text) => {
                // All cells so far were null.
                let nulls = self.numbers.len();
                let texts = self.texts.get_or_insert_with(|| Texts::of_missing(nulls));
                return if texts.push(text) { Ok(text.len()) } else { Err("4 GiB of text".into()) };
            }
            other => return Err(kind(other).to_string()),
        };
        match &mut self.texts {
            Some(texts) => {
                if field != &Field::Null || !texts.push("") {
                    return Err("numbers among strings".to_string());
                }
            }
            // One NaN means missing, whichever the file has.
            None => self.numbers.push(if number.is_nan() { f64::NAN } else { number }),
        }
        Ok(0)
    }

    fn finish(self) -> Column {
        self.texts.map_or(Column::Numbers(self.numbers), Column::Text)
    }
}

fn kind(field: &Field) -> &'static str {
    match field {
        Field::Decimal(_) => "decimal numbers of fixed precision",
        Field::Bytes(_) => "raw bytes",
        Field::Date(_) => "dates",
        Field::TimeMillis(_) | Field::TimeMicros(_) => "times",
        Field::TimestampMillis(_) | Field::TimestampMicros(_) => "time stamps",
        Field::Group(_) => "groups of values",
        Field::ListInternal(_) => "lists",
        Field::MapInternal(_) => "maps",
        _ => "values of another type",
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use bytes::Bytes;
    use parquet::basic::{Compression, ZstdLevel};
    use parquet::data_type::{
        BoolType, ByteArray, ByteArrayType, DataType, DoubleType, FloatType, Int64Type,
    };
    use parquet::file::properties::WriterProperties;
    use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
    use parquet::schema::parser::parse_message_type;

    use super::*;
    use crate::data::{Cell, Dataset, Missing, Roles};

    fn write<T: DataType>(
        group: &mut SerializedRowGroupWriter<'_, &mut Vec<u8>>,
        values: &[T::T],
        levels: Option<&[i16]>,
    ) {
        let mut column = group.next_column().unwrap().unwrap();
        column.typed::<T>().write_batch(values, levels, None).unwrap();
        column.close().unwrap();
    }

    /// Five columns of three rows in each of two row groups.
    fn example(compression: Compression) -> Vec<u8> {
        let schema = "message table { required int64 n; optional double x; \
                      optional binary colour (UTF8); required boolean b; required float f; }";
        let schema = Arc::new(parse_message_type(schema).unwrap());
        let properties = WriterProperties::builder().set_compression(compression).build();
        let mut bytes = Vec::new();
        let mut writer =
            SerializedFileWriter::new(&mut bytes, schema, Arc::new(properties)).unwrap();
        for _ in 0..2 {
            let mut group = writer.next_row_group().unwrap();
            write::<Int64Type>(&mut group, &[1, -2, 1 << 53], None);
            write::<DoubleType>(&mut group, &[0.1, f64::NAN], Some(&[1, 0, 1]));
            let texts = ["red", "1"].map(ByteArray::from);
            write::<ByteArrayType>(&mut group, &texts, Some(&[0, 1, 1]));
            write::<BoolType>(&mut group, &[true, false, true], None);
            write::<FloatType>(&mut group, &[0.5, 0.25, -0.0], None);
            group.close().unwrap();
        }
        writer.close().unwrap();
        bytes
    }

    fn parquet(bytes: Vec<u8>) -> Result<Table, DataError> {
        Table::from_parquet("d.parquet", Bytes::from(bytes))
    }

    #[test]
    fn parquet_columns_become_numbers_and_text() {
        let zstd = Compression::ZSTD(ZstdLevel::default());
        for compression in [Compression::UNCOMPRESSED, Compression::SNAPPY, zstd] {
            let table = parquet(example(compression)).unwrap();
            assert_eq!(table.names(), ["n", "x", "colour", "b", "f"]);
            assert_eq!(table.rows(), 6);
            let row = |row: usize| -> Vec<Cell<'_>> {
                table.columns().iter().map(|column| column.cell(row)).collect()
            };
            let (number, text) = (Cell::Number, Cell::Text);
            let first = [number(1.0), number(0.1), Cell::Missing, number(1.0), number(0.5)];
            assert_eq!(row(0), first);
            assert_eq!(row(3), first);
            let second = [number(-2.0), Cell::Missing, text("red"), number(0.0), number(0.25)];
            assert_eq!(row(1), second);
            let large = 9_007_199_254_740_992.0;
            let third = [number(large), Cell::Missing, text("1"), number(1.0), number(-0.0)];
            assert_eq!(row(5), third);
        }
    }

    #[test]
    fn parquet_errors_name_the_row() {
        let table = parquet(example(Compression::SNAPPY)).unwrap();
        let roles = Roles { targets: vec!["n".into()], ..Roles::default() };
        assert_eq!(
            Dataset::new(&table, &roles).unwrap_err().to_string(),
            "d.parquet:1:3: 6 missing cells: 1:3 (column \"colour\"), 2:2, 3:2, 4:3, 5:2, …; fill them in, or leave their rows out with --missing drop"
        );
        let drop = Roles { missing: Missing::Drop, ..roles };
        assert!(Dataset::new(&table, &drop).is_err());
    }

    #[test]
    fn parquet_columns_of_other_types_are_refused() {
        let schema = "message table { required int32 day (DATE); }";
        let schema = Arc::new(parse_message_type(schema).unwrap());
        let mut bytes = Vec::new();
        let mut writer = SerializedFileWriter::new(&mut bytes, schema, Default::default()).unwrap();
        let mut group = writer.next_row_group().unwrap();
        write::<parquet::data_type::Int32Type>(&mut group, &[1, 2], None);
        group.close().unwrap();
        writer.close().unwrap();
        assert_eq!(
            parquet(bytes).unwrap_err().to_string(),
            "d.parquet: column \"day\" holds dates, which is neither number nor text; convert it"
        );
    }

    #[test]
    fn damaged_parquet_files_are_refused_or_read_without_panic() {
        let whole = example(Compression::SNAPPY);
        for length in 0..whole.len() {
            assert!(parquet(whole[..length].to_vec()).is_err(), "cut after {length}");
        }
        for position in 0..whole.len() {
            for bit in [0, 3, 7] {
                let mut bytes = whole.clone();
                bytes[position] ^= 1 << bit;
                // Data pages carry no checksum, so a changed value may go unnoticed.
                if let Ok(table) = parquet(bytes) {
                    assert_eq!(table.columns().len(), 5);
                }
            }
        }
        assert!(read("d", Bytes::from(whole), 200).is_err());
    }
}
