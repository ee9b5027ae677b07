//! What a report contributes to a question across reports: its answer to a query, as an Arrow stream in a file.

use crate::asked::Ask;
use datafusion::arrow::array::{Array, ArrayRef, AsArray, Int64Array, RecordBatch, StringArray};
use datafusion::arrow::compute::{max, min};
use datafusion::arrow::datatypes::{DataType, Field, Int64Type, Schema, SchemaRef};
use datafusion::arrow::error::ArrowError;
use datafusion::arrow::ipc::reader::StreamReader;
use datafusion::arrow::ipc::writer::StreamWriter;
use nsq::{Cancel, Column, Error, Report, Result};
use nsq_arrow::{Spool, cast, common, documented, schema_of};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, HashMap};
use std::fs::File;
use std::io::{BufReader, BufWriter, Write};
use std::path::Path;
use std::sync::Arc;

/// The columns before those of the query: which report, and its place.
pub(crate) const ORIGIN: usize = 2;

/// What is known of the contribution of one report to one query.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Part {
    /// The type of each column, as Arrow writes it.
    types: Vec<String>,
    pub(crate) rows: u64,
    pub(crate) bytes: u64,
    /// What lies in some columns: filters on them need not open every report.
    pub(crate) spans: Spans,
}

/// Columns by name, and what lies in them.
pub(crate) type Spans = BTreeMap<String, Span>;

/// The values of a column in one report.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Span {
    /// Integers from the first to the last.
    Between(i64, i64),
    /// One text in all rows.
    Only(String),
    /// No value.
    Nothing,
}

/// The columns that people filter by: rank, host, iteration and time.
fn is_filtered(name: &str) -> bool {
    matches!(name, "rank" | "host" | "hostname" | "iteration" | "start_ns" | "end_ns" | "device_id")
}

/// Asks the report, and writes its answer to `file`.
pub(crate) fn contribute(report: &Report, ask: &Ask, file: &Path, cancel: &Cancel) -> Result<Part> {
    let mut spool = Spool::default();
    let mut question = report.query(&ask.query).scope(&ask.scope()).cancel(cancel);
    for (name, value) in ask.params() {
        question = question.param(name, value);
    }
    question.run_into(&mut spool)?;
    let (columns, types) = (spool.columns().to_vec(), spool.types().to_vec());
    let mut part = Part { types: types.iter().map(ToString::to_string).collect(), ..Part::default() };
    let write = || -> std::result::Result<(), ArrowError> {
        let schema = Arc::new(schema_of(&columns, &types, HashMap::new()));
        let mut out = StreamWriter::try_new(BufWriter::new(File::create(file)?), &schema)?;
        spool.replay(&schema, |batch| {
            part.rows += batch.num_rows() as u64;
            note_spans(&mut part.spans, &batch);
            out.write(&batch)
        })?;
        out.finish()?;
        out.get_mut().flush()?;
        part.bytes = out.get_ref().get_ref().metadata()?.len();
        Ok(())
    };
    match write() {
        Ok(()) => Ok(part),
        Err(error) => {
            let _ = std::fs::remove_file(file);
            Err(in_scratch(file, error))
        }
    }
}

fn note_spans(spans: &mut Spans, batch: &RecordBatch) {
    let schema = batch.schema();
    for (field, array) in schema.fields().iter().zip(batch.columns()) {
        let now = match array.data_type() {
            _ if !is_filtered(field.name()) => continue,
            DataType::Int64 => {
                let array = array.as_primitive::<Int64Type>();
                min(array).zip(max(array)).map_or(Span::Nothing, |(low, high)| Span::Between(low, high))
            }
            DataType::Utf8 => {
                let mut texts = array.as_string::<i32>().iter().flatten();
                match texts.next() {
                    None => Span::Nothing,
                    Some(first) if texts.all(|text| text == first) => Span::Only(first.to_owned()),
                    // Several texts: nothing is known.
                    Some(_) => Span::Between(i64::MIN, i64::MAX),
                }
            }
            _ => continue,
        };
        let all = match (spans.remove(field.name()), now) {
            (None | Some(Span::Nothing), span) | (Some(span), Span::Nothing) => span,
            (Some(Span::Between(a, b)), Span::Between(c, d)) => Span::Between(a.min(c), b.max(d)),
            (Some(Span::Only(a)), Span::Only(b)) if a == b => Span::Only(a),
            _ => Span::Between(i64::MIN, i64::MAX),
        };
        spans.insert(field.name().clone(), all);
    }
}

fn in_scratch(file: &Path, error: ArrowError) -> Error {
    let source = match error {
        ArrowError::IoError(_, source) => source,
        error => std::io::Error::other(error),
    };
    Error::io(file.parent().unwrap_or(file), source)
}

/// The schema of a table of contributions: `report` and `side`, then the columns of the query, each of the type
/// that holds the values of all reports.
pub(crate) fn schema<'p>(
    columns: &[Column],
    parts: impl Iterator<Item = &'p Part> + Clone,
) -> SchemaRef {
    let type_of = |part: &Part, place: usize| part.types.get(place)?.parse::<DataType>().ok();
    let types: Vec<DataType> = columns
        .iter()
        .enumerate()
        .map(|(place, column)| {
            let found = parts.clone().filter_map(|part| type_of(part, place));
            found.fold(documented(column.kind), |all, one| common(&all, &one))
        })
        .collect();
    let origin =
        [Field::new("report", DataType::Utf8, false), Field::new("side", DataType::Int64, false)];
    let own = schema_of(columns, &types, HashMap::new());
    let fields = origin.into_iter().map(Arc::new).chain(own.fields().iter().cloned());
    Arc::new(Schema::new(fields.collect::<Vec<_>>()))
}

/// Reads the columns at `places` of a contribution, with those that say which report it comes from.
pub(crate) fn batches(
    file: &Path,
    report: &str,
    side: i64,
    (schema, places): (&Schema, &[usize]),
) -> std::result::Result<
    impl Iterator<Item = std::result::Result<RecordBatch, ArrowError>> + use<>,
    ArrowError,
> {
    let mut stored: Vec<usize> = places.iter().filter_map(|place| place.checked_sub(ORIGIN)).collect();
    stored.sort_unstable();
    stored.dedup();
    let reader = StreamReader::try_new(BufReader::new(File::open(file)?), Some(stored.clone()))?;
    let (report, places) = (report.to_owned(), places.to_vec());
    let schema = Arc::new(schema.project(&places)?);
    Ok(reader.map(move |batch| {
        let batch = batch?;
        let rows = batch.num_rows();
        let array = |(place, field): (&usize, &Arc<Field>)| -> ArrayRef {
            match place.checked_sub(ORIGIN).and_then(|own| stored.binary_search(&own).ok()) {
                Some(own) => cast(Arc::clone(batch.column(own)), field.data_type()),
                None if *place == 0 => {
                    Arc::new(StringArray::from_iter_values(std::iter::repeat_n(&report, rows)))
                }
                None => Arc::new(Int64Array::from_iter_values(std::iter::repeat_n(side, rows))),
            }
        };
        let arrays = places.iter().zip(schema.fields().iter()).map(array).collect();
        let options = datafusion::arrow::array::RecordBatchOptions::new().with_row_count(Some(rows));
        RecordBatch::try_new_with_options(Arc::clone(&schema), arrays, &options)
    }))
}
