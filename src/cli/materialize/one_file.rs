//! The relations of one report as a SQLite file.

use super::args::Args;
use crate::cli::{note, output};
use crate::error::Result;
use crate::materialize::{Source, materialize};
use crate::report::Report;
use crate::schema::Schema;
use crate::table::{Column, Type, Unit, Value, humanize};
use crate::threads::Threads;
use std::path::Path;

pub(super) fn write(args: &Args, report: &Path, output: &Path) -> Result<u8> {
    output::must_be_free(output, args.force)?;
    let catalog = args.library.load()?;
    let report = Report::open(report, &args.open.export_options())?;
    let schema = Schema::detect(&report)?;
    let scope = args.scope.resolve(&schema)?;
    let limits = args.limits.limits(Threads::default());
    let source = Source {
        report: &report,
        schema: &schema,
        catalog: &catalog,
        scope: &scope,
        limits: &limits,
        internal: args.all,
    };
    let written = materialize(&source, output)?;
    written.notes.iter().for_each(|text| note(text));
    let size = |path: &Path| path.metadata().map_or(0, |metadata| metadata.len());
    let (read, bytes_written) = (size(&report.database), size(output));
    note(&format!(
        "wrote {}: {} in {} relations, from a report of {}",
        output.display(),
        bytes(bytes_written),
        written.relations,
        bytes(read)
    ));
    if bytes_written / FEW_TIMES > read {
        note(
            "names are repeated in every row; to keep less, use --time, --device or other scope options",
        );
    }
    Ok(0)
}

/// A file this many times larger than its report deserves an explanation.
const FEW_TIMES: u64 = 4;

fn bytes(size: u64) -> String {
    let column = Column { kind: Type::Bytes, unit: Some(Unit::Bytes), ..Column::untyped("") };
    humanize(&Value::Int(i64::try_from(size).unwrap_or(i64::MAX)), &column)
}
