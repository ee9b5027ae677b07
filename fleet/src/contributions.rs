//! What each report contributes: its answers to the queries that a question across reports asks. nsq's engine
//! computes them, a report a task, and they wait as Arrow streams in the scratch folder.

use datafusion::arrow::array::{ArrayRef, Int64Array, RecordBatch, StringArray};
use datafusion::arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use datafusion::arrow::error::ArrowError;
use datafusion::arrow::ipc::reader::StreamReader;
use datafusion::arrow::ipc::writer::StreamWriter;
use nsq::{Cancel, Column, Error, Library, Result};
use nsq_arrow::{Spool, cast, common, documented, schema_of};
use std::collections::HashMap;
use std::fs::File;
use std::io::{BufReader, BufWriter, IsTerminal};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

/// Times that a report is tried.
const TRIES: usize = 2;

/// The contribution of one report to one query.
#[derive(Debug, Clone)]
pub(crate) struct Part {
    pub(crate) file: PathBuf,
    pub(crate) columns: Vec<Column>,
    pub(crate) types: Vec<DataType>,
}

/// What one report contributes: to each query, or nothing where it lacks the data.
pub(crate) type Parts = Vec<Result<Part>>;

/// Asks every report, as many at a time as there are threads. With `is_strict`, the first failure stops all.
pub(crate) fn collect(
    library: &Library,
    reports: &[PathBuf],
    queries: &[String],
    scratch: &Path,
    threads: usize,
    is_strict: bool,
    cancel: &Cancel,
) -> Vec<Option<Result<Parts>>> {
    let (next, done, failed) = (AtomicUsize::new(0), AtomicUsize::new(0), AtomicUsize::new(0));
    let results: Mutex<Vec<Option<Result<Parts>>>> = Mutex::new(reports.iter().map(|_| None).collect());
    let (started, is_shown) = (Instant::now(), std::io::stderr().is_terminal());
    let work = || {
        while !cancel.is_cancelled() {
            let place = next.fetch_add(1, Ordering::Relaxed);
            let Some(report) = reports.get(place) else { break };
            let try_once = || one(library, report, place, queries, scratch, cancel);
            let mut result = try_once();
            for _ in 1..TRIES {
                if result.is_err() && !cancel.is_cancelled() {
                    result = try_once();
                }
            }
            if result.is_err() {
                failed.fetch_add(1, Ordering::Relaxed);
                if is_strict {
                    next.store(reports.len(), Ordering::Relaxed);
                }
            }
            let done = done.fetch_add(1, Ordering::Relaxed) + 1;
            results.lock().unwrap_or_else(PoisonError::into_inner)[place] = Some(result);
            if is_shown {
                let failed = failed.load(Ordering::Relaxed);
                let left = started.elapsed().div_f64(done as f64).mul_f64((reports.len() - done) as f64);
                let (all, seconds) = (reports.len(), left.as_secs());
                eprint!("\r\x1b[K{done} of {all} reports, {failed} failed, about {seconds} s left");
            }
        }
    };
    std::thread::scope(|scope| (0..threads.min(reports.len())).for_each(|_| drop(scope.spawn(work))));
    if is_shown {
        eprint!("\r\x1b[K");
    }
    results.into_inner().unwrap_or_else(PoisonError::into_inner)
}

fn one(
    library: &Library,
    path: &Path,
    place: usize,
    queries: &[String],
    scratch: &Path,
    cancel: &Cancel,
) -> Result<Parts> {
    let report = library.open(path)?;
    let mut parts = Vec::new();
    for (index, query) in queries.iter().enumerate() {
        let mut spool = Spool::default();
        match report.query(query).cancel(cancel).run_into(&mut spool) {
            Ok(_) => {}
            Err(lacks @ Error::LacksData { .. }) => {
                parts.push(Err(lacks));
                continue;
            }
            Err(error) => return Err(error),
        }
        let file = scratch.join(format!("{place}-{index}.arrows"));
        let (columns, types) = (spool.columns().to_vec(), spool.types().to_vec());
        let write = || -> std::result::Result<(), ArrowError> {
            let schema = Arc::new(schema_of(&columns, &types, HashMap::new()));
            let mut out = StreamWriter::try_new(BufWriter::new(File::create(&file)?), &schema)?;
            spool.replay(&schema, |batch| out.write(&batch))?;
            out.finish()?;
            Ok(std::io::Write::flush(out.get_mut())?)
        };
        write().map_err(|error| in_scratch(&file, error))?;
        parts.push(Ok(Part { file, columns, types }));
    }
    Ok(parts)
}

fn in_scratch(file: &Path, error: ArrowError) -> Error {
    let source = match error {
        ArrowError::IoError(_, source) => source,
        error => std::io::Error::other(error),
    };
    Error::io(file, source)
}

/// The schema of a table of contributions: `report` and `side`, then the columns of the query, each of the type
/// that holds the values of all reports.
pub(crate) fn schema(columns: &[Column], parts: &[(usize, &Part)]) -> SchemaRef {
    let types: Vec<DataType> = columns
        .iter()
        .enumerate()
        .map(|(place, column)| {
            let found = parts.iter().filter_map(|(_, part)| part.types.get(place));
            found.fold(documented(column.kind), |all, one| common(&all, one))
        })
        .collect();
    let origin =
        [Field::new("report", DataType::Utf8, false), Field::new("side", DataType::Int64, false)];
    let own = schema_of(columns, &types, HashMap::new());
    let fields = origin.into_iter().map(Arc::new).chain(own.fields().iter().cloned());
    Arc::new(Schema::new(fields.collect::<Vec<_>>()))
}

/// Reads a contribution back, with the columns that say which report it comes from.
pub(crate) fn batches(
    part: &Part,
    report: &str,
    side: i64,
    schema: &SchemaRef,
) -> std::result::Result<
    impl Iterator<Item = std::result::Result<RecordBatch, ArrowError>> + use<>,
    ArrowError,
> {
    let reader = StreamReader::try_new(BufReader::new(File::open(&part.file)?), None)?;
    let (report, schema) = (report.to_owned(), Arc::clone(schema));
    Ok(reader.map(move |batch| {
        let batch = batch?;
        let rows = batch.num_rows();
        let reports: ArrayRef =
            Arc::new(StringArray::from_iter_values(std::iter::repeat_n(&report, rows)));
        let sides: ArrayRef = Arc::new(Int64Array::from_iter_values(std::iter::repeat_n(side, rows)));
        let own = batch.columns().iter().zip(schema.fields().iter().skip(2));
        let own = own.map(|(array, field)| cast(Arc::clone(array), field.data_type()));
        RecordBatch::try_new(Arc::clone(&schema), [reports, sides].into_iter().chain(own).collect())
    }))
}
