//! Where the answer goes, and what is said beside it.

use crate::asked::Failure;
use crate::question::Args;
use datafusion::arrow::array::{AsArray, RecordBatch};
use datafusion::arrow::compute::cast;
use datafusion::arrow::datatypes::{DataType, Int64Type};
use nsq::render::{Format, Heading, Output, Style, Writer};
use nsq::whole_file::{self, standard_output, tell};
use nsq::{Column, Error, Library, Result, RowSink, Type, Value, visible};
use nsq_arrow::value;
use std::io::{BufWriter, IsTerminal, Write};
use std::path::PathBuf;

pub(crate) fn note(text: &str) {
    tell(&format!("note: {}", visible(text)));
}

pub(crate) fn complain(error: &Error) -> u8 {
    let code = error.exit_code();
    if code != 0 {
        tell(&format!("error: {}", visible(&error.to_string())));
        if let Some(help) = error.help() {
            tell(&format!("  help: {}", visible(&help)));
        }
    }
    code
}

/// A query whose data a report lacks.
pub(crate) fn complain_of(failure: &Failure) -> u8 {
    tell(&format!("error: {}", visible(&failure.message)));
    if let Some(help) = &failure.help {
        tell(&format!("  help: {}", visible(help)));
    }
    failure.code
}

pub(crate) fn complain_about(report: &str, failure: &Failure) {
    let text = &failure.message;
    let name = if text.contains(report) { String::new() } else { format!("{}: ", visible(report)) };
    tell(&format!("error: {name}{}", visible(text)));
}

pub(crate) fn format(args: &Args) -> Result<Format> {
    match (args.format, &args.output) {
        (Some(format), _) => Ok(format),
        (None, None) => Ok(Format::Text),
        (None, Some(path)) => Format::from_extension(path).ok_or_else(|| {
            let reason = format!("{}: no output format has this extension", path.display());
            Error::Usage {
                reason,
                help: "use .csv, .tsv, .json, .ndjson, .md, .html, .parquet or .arrow, or add --format"
                    .to_owned(),
            }
        }),
    }
}

/// Refuses an output file that is one of the reports.
pub(crate) fn must_differ(args: &Args, reports: &[PathBuf]) -> Result<()> {
    whole_file::must_differ(args.output.as_deref(), reports.iter().map(PathBuf::as_path))
}

pub(crate) fn heading(library: &Library, query: &str, reports: usize) -> Result<Heading> {
    let statement = library.statement(query)?.to_owned();
    let mut heading = Heading { title: query.to_owned(), sql: statement, ..Heading::default() };
    heading.facts.insert("nsq".to_owned(), env!("CARGO_PKG_VERSION").into());
    heading.facts.insert("query".to_owned(), query.into());
    heading.facts.insert("reports".to_owned(), reports.into());
    Ok(heading)
}

/// Writes the rows of every report one after the other, beginning with its name.
pub(crate) fn of_reports(
    args: &Args,
    format: Format,
    heading: &Heading,
    columns: &[Column],
    rows: &[RecordBatch],
) -> Result<()> {
    let doc = "Report that the row comes from.".to_owned();
    let report = Column { kind: Type::Text, priority: 0, doc, ..Column::untyped("report") };
    let columns: Vec<Column> = std::iter::once(report).chain(columns.iter().cloned()).collect();
    // The second column is the place of the report.
    let mut rows: Vec<&RecordBatch> = rows.iter().filter(|batch| batch.num_rows() > 0).collect();
    rows.sort_by_key(|batch| batch.column(1).as_primitive::<Int64Type>().value(0));
    batches(args, format, heading, &columns, rows, &[1])
}

/// Writes the rows, without the columns in these places.
pub(crate) fn batches<'r>(
    args: &Args,
    format: Format,
    heading: &Heading,
    columns: &[Column],
    rows: impl IntoIterator<Item = &'r RecordBatch>,
    without: &[usize],
) -> Result<()> {
    write(args, format, heading, |sink| {
        sink.begin(columns)?;
        rows.into_iter().try_for_each(|batch| pass(batch, without, sink))?;
        sink.end()
    })
}

/// Passes on the rows of a batch, without the columns in these places.
fn pass(batch: &RecordBatch, without: &[usize], sink: &mut dyn RowSink) -> Result<()> {
    let places = (0..batch.num_columns()).filter(|place| !without.contains(place));
    let arrays = places.map(|place| {
        let array = batch.column(place);
        let to = match array.data_type() {
            kind if kind.is_integer() => DataType::Int64,
            kind if kind.is_floating() => DataType::Float64,
            DataType::Boolean => DataType::Boolean,
            DataType::Null => DataType::Null,
            _ => DataType::Utf8,
        };
        cast(array, &to).map_err(spool_failed)
    });
    let arrays = arrays.collect::<Result<Vec<_>>>()?;
    for row in 0..batch.num_rows() {
        let cells: Vec<Value> = arrays.iter().map(|array| value(array, row)).collect();
        sink.row(&cells)?;
    }
    Ok(())
}

fn spool_failed(error: datafusion::arrow::error::ArrowError) -> Error {
    Error::Output(std::io::Error::other(error))
}

/// Writes to standard output, or to a file that appears only when it is complete.
fn write(
    args: &Args,
    format: Format,
    heading: &Heading,
    produce: impl FnOnce(&mut dyn RowSink) -> Result<()>,
) -> Result<()> {
    let on_terminal = args.output.is_none() && std::io::stdout().is_terminal();
    let fill = |out: &mut Output| {
        let mut writer = Writer::new(out, format, Style { on_terminal, ..Style::default() }, 1);
        writer.result(heading, produce)?;
        writer.finish()
    };
    match &args.output {
        Some(path) => whole_file::write(path, fill),
        None => {
            let mut out = BufWriter::new(standard_output()?);
            fill(&mut out).and_then(|()| out.flush().map_err(Error::Output))
        }
    }
}
