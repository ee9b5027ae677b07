//! One table as a Parquet or Arrow file.

use crate::spool::{Spool, failed};
use arrow_ipc::CompressionType;
use arrow_ipc::writer::{FileWriter, IpcWriteOptions, StreamWriter};
use arrow_schema::ArrowError;
use nsq::render::{Format, Heading, Output};
use nsq::{Column, Result, RowSink, Value};
use sha2::{Digest, Sha256};
use std::collections::HashMap;

/// The sink that writes one table: [`nsq::render::Encoder`].
pub fn encoder<'o>(format: Format, heading: &Heading, out: &'o mut Output) -> Box<dyn RowSink + 'o> {
    Box::new(TableFile { format, spool: Spool::with_facts(facts(heading)), out })
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
        let written = match self.format {
            Format::Parquet => spool.write_parquet(self.out),
            Format::Arrows => stream(spool, self.out),
            _ => file(spool, self.out),
        };
        written.and_then(|()| Ok(self.out.flush()?)).map_err(failed)
    }
}

fn stream(spool: Spool, out: &mut Output) -> Result<(), ArrowError> {
    let schema = spool.schema();
    let mut writer = StreamWriter::try_new_with_options(out, &schema, zstd()?)?;
    spool.replay(&schema, |batch| writer.write(&batch))?;
    writer.finish()
}

fn file(spool: Spool, out: &mut Output) -> Result<(), ArrowError> {
    let schema = spool.schema();
    let mut writer = FileWriter::try_new_with_options(out, &schema, zstd()?)?;
    spool.replay(&schema, |batch| writer.write(&batch))?;
    writer.finish()
}

fn zstd() -> Result<IpcWriteOptions, ArrowError> {
    IpcWriteOptions::default().try_with_compression(Some(CompressionType::ZSTD))
}
