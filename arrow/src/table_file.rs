//! One table as a Parquet or Arrow file.

use crate::columns::schema_of;
use crate::spool::{Spool, failed};
use arrow_ipc::CompressionType;
use arrow_ipc::writer::{FileWriter, IpcWriteOptions, StreamWriter};
use arrow_schema::{ArrowError, Schema};
use nsq::render::{Format, Heading, Output};
use nsq::{Column, Result, RowSink, Value};
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, ZstdLevel};
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use sha2::{Digest, Sha256};
use std::collections::HashMap;
use std::sync::Arc;

/// The sink that writes one table: [`nsq::render::Encoder`].
pub fn encoder<'o>(format: Format, heading: &Heading, out: &'o mut Output) -> Box<dyn RowSink + 'o> {
    Box::new(TableFile { format, facts: facts(heading), spool: Spool::default(), out })
}

/// What the metadata of the schema says: `title`, `query` (with its version), `statement_sha256`, and a key for
/// each other fact of the answer, as JSON where it is no text.
fn facts(heading: &Heading) -> HashMap<String, String> {
    let text = |fact: &serde_json::Value| match fact {
        serde_json::Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    let mut facts: HashMap<String, String> =
        heading.facts.iter().map(|(key, fact)| (key.clone(), text(fact))).collect();
    if let (Some(query), Some(version)) = (facts.get("query").cloned(), facts.remove("version")) {
        facts.insert("query".to_owned(), format!("{query}@{version}"));
    }
    facts.insert("title".to_owned(), heading.title.clone());
    if !heading.sql.is_empty() {
        let hash = Sha256::digest(heading.sql.as_bytes());
        let hash: String = hash.iter().map(|byte| format!("{byte:02x}")).collect();
        facts.insert("statement_sha256".to_owned(), hash);
    }
    facts
}

struct TableFile<'o> {
    format: Format,
    facts: HashMap<String, String>,
    spool: Spool,
    out: &'o mut Output,
}

impl RowSink for TableFile<'_> {
    fn begin(&mut self, columns: &[Column]) -> Result<()> {
        self.spool.begin(columns)
    }

    fn row(&mut self, row: &[Value]) -> Result<()> {
        self.spool.row(row)
    }

    fn end(&mut self) -> Result<()> {
        self.spool.end()?;
        let spool = std::mem::take(&mut self.spool);
        let facts = std::mem::take(&mut self.facts);
        let schema = Arc::new(schema_of(spool.columns(), spool.types(), facts));
        let written = match self.format {
            Format::Parquet => parquet(spool, &schema, self.out),
            Format::Arrows => stream(spool, &schema, self.out),
            _ => file(spool, &schema, self.out),
        };
        written.and_then(|()| Ok(self.out.flush()?)).map_err(failed)
    }
}

fn parquet(spool: Spool, schema: &Arc<Schema>, out: &mut Output) -> Result<(), ArrowError> {
    let mut facts: Vec<KeyValue> =
        schema.metadata().iter().map(|(key, text)| KeyValue::new(key.clone(), text.clone())).collect();
    // The same rows are the same bytes.
    facts.sort_by(|a, b| a.key.cmp(&b.key));
    let properties = WriterProperties::builder()
        .set_compression(Compression::ZSTD(ZstdLevel::try_new(3).map_err(plain)?))
        .set_key_value_metadata(Some(facts))
        .build();
    let mut writer = ArrowWriter::try_new(out, Arc::clone(schema), Some(properties)).map_err(plain)?;
    spool.replay(schema, |batch| {
        writer.write(&batch).map_err(plain)?;
        // A row group for each batch: memory is bounded by one.
        writer.flush().map_err(plain)
    })?;
    writer.close().map(|_| ()).map_err(plain)
}

fn stream(spool: Spool, schema: &Arc<Schema>, out: &mut Output) -> Result<(), ArrowError> {
    let mut writer = StreamWriter::try_new_with_options(out, schema, zstd()?)?;
    spool.replay(schema, |batch| writer.write(&batch))?;
    writer.finish()
}

fn file(spool: Spool, schema: &Arc<Schema>, out: &mut Output) -> Result<(), ArrowError> {
    let mut writer = FileWriter::try_new_with_options(out, schema, zstd()?)?;
    spool.replay(schema, |batch| writer.write(&batch))?;
    writer.finish()
}

fn zstd() -> Result<IpcWriteOptions, ArrowError> {
    IpcWriteOptions::default().try_with_compression(Some(CompressionType::ZSTD))
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
