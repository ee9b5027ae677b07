//! The relations of one report as a SQLite file.

use super::args::Args;
use super::relations::{STRINGS, present_relations, read_beyond, referred_to};
use crate::cli::{note, output};
use crate::error::Result;
use crate::execute::{Session, TableWriter};
use crate::normalize::{self, UNSCOPED};
use crate::report::Report;
use crate::schema::Schema;
use crate::table::{Column, Type, Unit, Value, humanize};
use crate::threads::Threads;
use std::collections::BTreeSet;
use std::path::Path;

pub(super) fn write(args: &Args, report: &Path, output: &Path) -> Result<u8> {
    output::must_be_free(output, args.force)?;
    let catalog = args.library.load()?;
    let report = Report::open(report, &args.open.export_options())?;
    output::must_differ(Some(output), [report.path.as_path(), report.database.as_path()])?;
    let schema = Schema::detect(&report)?;
    let scope = args.scope.resolve(&schema)?;
    let relations = present_relations(&catalog, &schema)?;
    let beyond = if scope.is_whole() { BTreeSet::new() } else { read_beyond(&catalog, &relations)? };
    let names = relations.iter().map(|relation| relation.header.name.as_str());
    let roots = names.chain(beyond.iter().map(String::as_str));
    let installation = normalize::plan(&schema, &catalog, &scope, roots)?;
    installation.notes.iter().for_each(|text| note(text));
    let limits = args.limits.limits(Threads::default());
    let name = report.name();
    let session = Session::begin(report.connect()?, &installation, &limits)?;
    output::replace(output, |path| {
        let writer = TableWriter::create(path)?;
        writer.describe(&[
            ("NSQ_VERSION", Some(env!("CARGO_PKG_VERSION").to_owned())),
            ("NSQ_REPORT", Some(name)),
            ("NSQ_SCOPE_START_NS", scope.start_ns.map(|ns| ns.to_string())),
            ("NSQ_SCOPE_END_NS", scope.end_ns.map(|ns| ns.to_string())),
            (
                "NSQ_SCOPE",
                (!scope.is_whole()).then(|| serde_json::to_string(&scope).unwrap_or_default()),
            ),
            ("EXPORT_SCHEMA_VERSION", schema.export_version.clone()),
            ("EXPORT_PRODUCT_VERSION", schema.nsys_version.clone()),
        ])?;
        for relation in &relations {
            let condition = match relation.header.name.as_str() {
                STRINGS => referred_to(&relations),
                _ => "true".to_owned(),
            };
            let name = &relation.header.name;
            session.copy_relation(relation, name, &condition, &writer, &limits)?;
            let whole = format!("{UNSCOPED}{name}");
            if beyond.contains(&whole) {
                session.copy_relation(relation, &whole, "true", &writer, &limits)?;
            }
        }
        writer.finish()
    })?;
    let size = |path: &Path| path.metadata().map_or(0, |metadata| metadata.len());
    let (read, written) = (size(&report.database), size(output));
    note(&format!(
        "wrote {}: {} in {} relations, from a report of {}",
        output.display(),
        bytes(written),
        relations.len(),
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
