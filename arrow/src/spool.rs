//! Rows of any number in bounded memory: batches that are full wait in a file without a name, which the system
//! removes with the process.

use crate::columns::{Cells, cast, common, schema_of};
use arrow_array::{ArrayRef, RecordBatch};
use arrow_ipc::CompressionType;
use arrow_ipc::reader::StreamReader;
use arrow_ipc::writer::{IpcWriteOptions, StreamWriter};
use arrow_schema::{ArrowError, DataType, Schema};
use nsq::{Column, Result, RowSink, Value};
use std::collections::HashMap;
use std::fs::File;
use std::io::{BufReader, BufWriter, Seek};
use std::sync::Arc;

/// Rows in a batch, and in a row group of Parquet.
const BATCH: usize = 1 << 16;
/// Most bytes of text in a batch.
const BATCH_BYTES: usize = 64 << 20;

/// A sink that keeps rows as Arrow batches. The types of columns are known only when all rows are.
#[derive(Default)]
pub struct Spool {
    columns: Vec<Column>,
    cells: Vec<Cells>,
    rows: usize,
    bytes: usize,
    types: Vec<DataType>,
    /// The last batch, in memory.
    last: Option<Vec<ArrayRef>>,
    /// The batches before it. A new file begins when a type changes.
    files: Vec<(Arc<Schema>, StreamWriter<BufWriter<File>>)>,
}

impl RowSink for Spool {
    fn begin(&mut self, columns: &[Column]) -> Result<()> {
        self.columns = columns.to_vec();
        self.cells = columns.iter().map(|_| Cells::default()).collect();
        self.types = columns.iter().map(|column| crate::documented(column.kind)).collect();
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
    fn flush(&mut self) -> Result<(), ArrowError> {
        (self.rows, self.bytes) = (0, 0);
        let kinds = self.columns.iter().map(|column| column.kind);
        let batch: Vec<ArrayRef> =
            self.cells.iter_mut().zip(kinds).map(|(cells, kind)| cells.take(kind)).collect();
        let types: Vec<DataType> =
            self.types.iter().zip(&batch).map(|(all, one)| common(all, one.data_type())).collect();
        if let Some(full) = self.last.replace(batch) {
            self.put_away(full)?;
        }
        self.types = types;
        Ok(())
    }

    fn put_away(&mut self, batch: Vec<ArrayRef>) -> Result<(), ArrowError> {
        let schema = Arc::new(schema_of(&self.columns, &self.types, HashMap::new()));
        if self.files.last().is_none_or(|(before, _)| *before != schema) {
            let options =
                IpcWriteOptions::default().try_with_compression(Some(CompressionType::ZSTD))?;
            let file = BufWriter::new(tempfile::tempfile()?);
            let file = StreamWriter::try_new_with_options(file, &schema, options)?;
            self.files.push((Arc::clone(&schema), file));
        }
        let batch = to_schema(batch, &schema)?;
        self.files.last_mut().map_or(Ok(()), |(_, file)| file.write(&batch))
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
        for (_, mut writer) in self.files {
            writer.finish()?;
            let mut file = writer.into_inner()?.into_inner().map_err(|e| e.into_error())?;
            file.rewind()?;
            for batch in StreamReader::try_new(BufReader::new(file), None)? {
                take(to_schema(batch?.columns().to_vec(), schema)?)?;
            }
        }
        self.last.map_or(Ok(()), |batch| take(to_schema(batch, schema)?))
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
