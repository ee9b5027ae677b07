//! The relations of one report as a SQLite file.

use super::args::Args;
use super::relations::Source;
use crate::cli::{note, output};
use crate::error::Result;
use crate::execute::TableWriter;
use crate::report::Report;
use crate::table::{Column, Type, Unit, Value, humanize};
use crate::threads::Threads;
use std::collections::BTreeSet;
use std::path::Path;

pub(super) fn write(args: &Args, report: &Path, output: &Path) -> Result<u8> {
    output::must_be_free(output, args.force)?;
    let catalog = args.library.load()?;
    let report = Report::open(report, &args.open.export_options())?;
    output::must_differ(Some(output), [report.path.as_path(), report.database.as_path()])?;
    let limits = args.limits.limits(Threads::default());
    let source = Source::new(args, &catalog, report, &limits)?;
    let (scope, schema) = (&source.scope, &source.schema);
    let beyond = if scope.is_whole() { BTreeSet::new() } else { source.read_beyond() };
    output::replace(output, |path| {
        let mut writer = TableWriter::create(path)?;
        writer.describe(&[
            ("NSQ_VERSION", Some(env!("CARGO_PKG_VERSION").to_owned())),
            ("NSQ_REPORT", Some(source.report.name())),
            ("NSQ_SCOPE_START_NS", scope.start_ns.map(|ns| ns.to_string())),
            ("NSQ_SCOPE_END_NS", scope.end_ns.map(|ns| ns.to_string())),
            ("NSQ_SCOPE", (!scope.is_whole()).then(|| serde_json::to_string(scope).unwrap_or_default())),
            ("EXPORT_SCHEMA_VERSION", schema.export_version.clone()),
            ("EXPORT_PRODUCT_VERSION", schema.nsys_version.clone()),
        ])?;
        source.each_group(&beyond, |group| {
            group
                .parts
                .iter()
                .try_for_each(|part| group.read(part, |feed| feed(&mut writer.table(&part.name))))
        })?;
        writer.finish()
    })?;
    let size = |path: &Path| path.metadata().map_or(0, |metadata| metadata.len());
    let (read, written) = (size(&source.report.database), size(output));
    note(&format!(
        "wrote {}: {} in {} relations, from a report of {}",
        output.display(),
        bytes(written),
        source.relations.len(),
        bytes(read)
    ));
    if written / FEW_TIMES > read {
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
