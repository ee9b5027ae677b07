//! Rows of any number in bounded memory: batches that are full wait in a Parquet file without a name, which the system
//! removes with the process. If the answer is to be Parquet, that file is the answer.

use crate::columns::{Cells, cast, common, schema_of};
use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::{ArrowError, DataType, Schema};
use nsq::render::Output;
use nsq::{Column, Result, RowSink, Value};
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_reader::{ArrowReaderMetadata, ParquetRecordBatchReaderBuilder};
use parquet::basic::{Compression, ZstdLevel};
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use std::collections::HashMap;
use std::fs::File;
use std::io::{Seek, Write};
use std::sync::Arc;

/// Rows in a batch.
const BATCH: usize = 1 << 13;
/// Most bytes of text in a batch.
const BATCH_BYTES: usize = 4 << 20;
/// Rows in a row group of Parquet, and most bytes: the encoded rows of a group wait in memory.
const GROUP: usize = 1 << 16;
const GROUP_BYTES: usize = 16 << 20;

/// A sink that keeps rows as Arrow batches. The types of columns are known only when all rows are.
#[derive(Default)]
pub struct Spool {
    columns: Vec<Column>,
    /// What the metadata of the schema says.
    facts: HashMap<String, String>,
    cells: Vec<Cells>,
    rows: usize,
    bytes: usize,
    types: Vec<DataType>,
    /// The last batch, in memory.
    last: Option<Vec<ArrayRef>>,
    /// The batches before it. A new file begins when a type changes.
    files: Vec<(Arc<Schema>, ArrowWriter<File>)>,
}

impl RowSink for Spool {
    fn begin(&mut self, columns: &[Column]) -> Result<()> {
        self.columns = columns.to_vec();
        self.types = columns.iter().map(|column| crate::documented(column.kind)).collect();
        self.cells = self.types.iter().map(Cells::new).collect();
        Ok(())
    }

    fn row(&mut self, row: &[Value]) -> Result<()> {
        for (cells, value) in self.cells.iter_mut().zip(row) {
            if let Value::Text(text) = value {
                self.bytes += text.len();
            }
            cells.push(value);
        }
        self.rows += 1;
        if self.rows == BATCH || self.bytes >= BATCH_BYTES {
            self.flush().map_err(failed)?;
        }
        Ok(())
    }

    fn end(&mut self) -> Result<()> {
        if self.rows > 0 { self.flush().map_err(failed) } else { Ok(()) }
    }
}

impl Spool {
    /// A spool whose schema has these facts.
    #[must_use]
    pub fn with_facts(facts: HashMap<String, String>) -> Self {
        Self { facts, ..Self::default() }
    }

    fn flush(&mut self) -> Result<(), ArrowError> {
        (self.rows, self.bytes) = (0, 0);
        let batch: Vec<ArrayRef> = self.cells.iter_mut().map(Cells::finish).collect();
        let types: Vec<DataType> =
            self.types.iter().zip(&batch).map(|(all, one)| common(all, one.data_type())).collect();
        if let Some(full) = self.last.replace(batch) {
            self.put_away(full)?;
        }
        if self.types != types {
            self.cells = types.iter().map(Cells::new).collect();
            self.types = types;
        }
        Ok(())
    }

    fn put_away(&mut self, batch: Vec<ArrayRef>) -> Result<(), ArrowError> {
        let schema = self.schema();
        if self.files.last().is_none_or(|(before, _)| *before != schema) {
            let file = parquet(tempfile::tempfile()?, &schema)?;
            self.files.push((Arc::clone(&schema), file));
        }
        let batch = to_schema(batch, &schema)?;
        self.files.last_mut().map_or(Ok(()), |(_, file)| write(file, &batch))
    }

    /// The columns of the rows.
    #[must_use]
    pub fn columns(&self) -> &[Column] {
        &self.columns
    }

    /// The types that hold all values.
    #[must_use]
    pub fn types(&self) -> &[DataType] {
        &self.types
    }

    /// The schema with these types, and with the facts.
    #[must_use]
    pub fn schema(&self) -> Arc<Schema> {
        Arc::new(schema_of(&self.columns, &self.types, self.facts.clone()))
    }

    /// Passes on all batches, in this schema, whose types hold all values.
    ///
    /// # Errors
    ///
    /// Those of `take`, and of reading the spooled batches.
    pub fn replay(
        self,
        schema: &Arc<Schema>,
        mut take: impl FnMut(RecordBatch) -> Result<(), ArrowError>,
    ) -> Result<(), ArrowError> {
        for (_, writer) in self.files {
            let file = writer.into_inner().map_err(plain)?;
            let about = ArrowReaderMetadata::load(&file, Default::default()).map_err(plain)?;
            for group in 0..about.metadata().num_row_groups() {
                let reader =
                    ParquetRecordBatchReaderBuilder::new_with_metadata(file.try_clone()?, about.clone());
                let reader = reader.with_row_groups(vec![group]).with_batch_size(BATCH);
                for batch in reader.build().map_err(plain)? {
                    take(to_schema(batch?.columns().to_vec(), schema)?)?;
                }
            }
        }
        self.last.map_or(Ok(()), |batch| take(to_schema(batch, schema)?))
    }

    /// Writes the rows as Parquet.
    ///
    /// # Errors
    ///
    /// Those of writing, and of reading the spooled batches.
    pub fn write_parquet(mut self, out: &mut Output) -> Result<(), ArrowError> {
        let schema = self.schema();
        // If the types never changed, the spooled file has all batches but the last.
        if let [(known, _)] = self.files.as_slice()
            && *known == schema
            && let (Some((_, mut file)), Some(last)) = (self.files.pop(), self.last.take())
        {
            write(&mut file, &to_schema(last, &schema)?)?;
            let mut file = file.into_inner().map_err(plain)?;
            file.rewind()?;
            std::io::copy(&mut file, out)?;
            return Ok(());
        }
        let mut writer = parquet(out, &schema)?;
        self.replay(&schema, |batch| write(&mut writer, &batch))?;
        writer.close().map(|_| ()).map_err(plain)
    }
}

fn parquet<W: Write + Send>(out: W, schema: &Arc<Schema>) -> Result<ArrowWriter<W>, ArrowError> {
    let mut facts: Vec<KeyValue> =
        schema.metadata().iter().map(|(key, text)| KeyValue::new(key.clone(), text.clone())).collect();
    // The same rows are the same bytes.
    facts.sort_by(|a, b| a.key.cmp(&b.key));
    let properties = WriterProperties::builder()
        .set_compression(Compression::ZSTD(ZstdLevel::try_new(3).map_err(plain)?))
        .set_key_value_metadata(Some(facts))
        .build();
    ArrowWriter::try_new(out, Arc::clone(schema), Some(properties)).map_err(plain)
}

/// Writes a batch, and ends the row group if it is full: memory is bounded by one.
fn write<W: Write + Send>(writer: &mut ArrowWriter<W>, batch: &RecordBatch) -> Result<(), ArrowError> {
    writer.write(batch).map_err(plain)?;
    match writer.in_progress_rows() >= GROUP || writer.in_progress_size() >= GROUP_BYTES {
        true => writer.flush().map_err(plain),
        false => Ok(()),
    }
}

/// A batch of these arrays, with the types of the schema.
fn to_schema(arrays: Vec<ArrayRef>, schema: &Arc<Schema>) -> Result<RecordBatch, ArrowError> {
    let arrays = arrays.into_iter().zip(schema.fields());
    let arrays = arrays.map(|(array, field)| cast(array, field.data_type())).collect();
    RecordBatch::try_new(Arc::clone(schema), arrays)
}

/// What goes wrong is the file.
pub(crate) fn failed(error: ArrowError) -> nsq::Error {
    nsq::Error::Output(match error {
        ArrowError::IoError(_, source) => source,
        error => std::io::Error::other(error),
    })
}

/// The error of writing, without Parquet's wrapping.
fn plain(error: ParquetError) -> ArrowError {
    match error {
        ParquetError::External(source) => match source.downcast::<std::io::Error>() {
            Ok(io) => ArrowError::from(*io),
            Err(source) => ArrowError::ExternalError(source),
        },
        error => ArrowError::ParquetError(error.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use nsq::{Error, Type};
    use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;

    /// Values of a column of integers, of one of any type, and of one of texts: row `odd` does not fit the first two.
    fn row(number: usize, odd: usize) -> [Value; 3] {
        let text = Value::Text(format!("row {number}"));
        let null = || if number.is_multiple_of(7) { Value::Null } else { text.clone() };
        match number == odd {
            true => [Value::Real(0.5), text.clone(), text],
            false => [Value::Int(number as i64), Value::Int(1), null()],
        }
    }

    /// The rows as a Parquet file has them.
    fn written(rows: usize, odd: usize) -> (Vec<DataType>, Vec<[Value; 3]>) {
        let column = |name, kind| Column { kind, ..Column::untyped(name) };
        let columns =
            [column("number", Type::Int), column("any", Type::Any), column("text", Type::Text)];
        let mut spool = Spool::with_facts(HashMap::from([("key".to_owned(), "fact".to_owned())]));
        spool.begin(&columns).unwrap();
        (0..rows).try_for_each(|number| spool.row(&row(number, odd))).unwrap();
        spool.end().unwrap();
        let mut file = tempfile::tempfile().unwrap();
        spool.write_parquet(&mut file).unwrap();
        let reader = ParquetRecordBatchReaderBuilder::try_new(file).unwrap();
        let schema = Arc::clone(reader.schema());
        assert_eq!(schema.metadata()["key"], "fact");
        let types = schema.fields().iter().map(|field| field.data_type().clone()).collect();
        let mut read = Vec::new();
        for batch in reader.build().unwrap() {
            let batch = batch.unwrap();
            let cell = |row, place: usize| crate::value(batch.column(place), row);
            read.extend((0..batch.num_rows()).map(|row| [0, 1, 2].map(|place| cell(row, place))));
        }
        (types, read)
    }

    #[test]
    fn rows_on_both_sides_of_a_batch_are_read_back() {
        let none = usize::MAX;
        for rows in [0, 1, BATCH - 1, BATCH, BATCH + 1, GROUP, GROUP + 1, 2 * GROUP + BATCH + 5] {
            let (types, read) = written(rows, none);
            assert_eq!(types[0], DataType::Int64);
            assert!(
                read.iter().enumerate().all(|(number, cells)| *cells == row(number, none)),
                "{rows}"
            );
            assert_eq!(read.len(), rows);
        }
    }

    #[test]
    fn a_value_that_does_not_fit_changes_the_type_of_all_rows() {
        let rows = 3 * BATCH + 5;
        for odd in [0, BATCH - 1, BATCH, 2 * BATCH + 1, rows - 1] {
            let (types, read) = written(rows, odd);
            assert_eq!(types, [DataType::Float64, DataType::Utf8, DataType::Utf8], "{odd}");
            for (number, cells) in read.iter().enumerate() {
                let [first, second, text] = row(number, odd);
                let first = if let Value::Int(int) = first { Value::Real(int as f64) } else { first };
                let second = if second == Value::Int(1) { Value::Text("1".to_owned()) } else { second };
                assert_eq!(*cells, [first, second, text], "{odd}: {number}");
            }
        }
    }

    #[test]
    fn long_texts_end_a_batch() {
        let mut spool = Spool::default();
        spool.begin(&[Column { kind: Type::Text, ..Column::untyped("text") }]).unwrap();
        let text = Value::Text("x".repeat(1 << 20));
        (0..40)
            .try_for_each(|_| -> Result<(), Error> { spool.row(std::slice::from_ref(&text)) })
            .unwrap();
        assert_eq!((spool.rows, spool.files.len()), (40 % (BATCH_BYTES >> 20), 1));
    }
}
