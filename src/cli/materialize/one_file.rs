//! The relations of one report as a SQLite file.

use super::args::Args;
use crate::cli::{note, output};
use nsq_ask::materialize::{Source, materialize};
use nsq_ask::open_report::OpenReport;
use nsq_sweep::threads::Threads;
use nsq_value::error::Result;
use nsq_value::table::{Column, Type, Unit, Value, humanize};
use std::path::Path;

pub(super) fn write(args: &Args, report: &Path, output: &Path) -> Result<u8> {
    output::must_be_free(output, args.force)?;
    let catalog = args.library.load()?;
    let open = OpenReport::new(report, &args.open.export_options())?;
    let limits = args.limits.limits(Threads::default());
    let (scope, of_scope) = open.in_numbers(&catalog, &args.scope.resolve(&open.schema)?, &limits)?;
    of_scope.iter().for_each(|text| note(text));
    let source = Source {
        report: &open.report,
        schema: &open.schema,
        catalog: &catalog,
        scope: &scope,
        limits: &limits,
        internal: args.all,
    };
    let written = materialize(&source, output)?;
    written.notes.iter().for_each(|text| note(text));
    let size = |path: &Path| path.metadata().map_or(0, |metadata| metadata.len());
    let (read, bytes_written) = (size(&open.report.database), size(output));
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
