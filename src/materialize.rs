//! Writes the relations of a report as tables of a plain SQLite file, for `sqlite3`, datasette, DuckDB or nsq.

use crate::catalog::{Catalog, Relation};
use crate::error::Result;
use crate::execute::{Limits, Session, TableWriter};
use crate::normalize::{self, Presence, Scope, UNSCOPED};
use crate::report::{Report, must_differ, replace};
use crate::schema::Schema;
use std::collections::BTreeSet;
use std::path::Path;

/// What was written.
#[derive(Debug)]
pub struct Materialized {
    /// The number of relations.
    pub relations: usize,
    /// Where the scope could not be applied.
    pub notes: Vec<String>,
}

/// Writes the relations of a report in a scope to `output`, whole or not at all.
pub fn materialize(
    report: &Report,
    schema: &Schema,
    catalog: &Catalog,
    scope: &Scope,
    output: &Path,
    limits: &Limits,
) -> Result<Materialized> {
    must_differ(Some(output), [report.path.as_path(), report.database.as_path()])?;
    let relations = present_relations(catalog, schema)?;
    let beyond = if scope.is_whole() { BTreeSet::new() } else { read_beyond(catalog, &relations)? };
    let names = relations.iter().map(|relation| relation.header.name.as_str());
    let roots = names.chain(beyond.iter().map(String::as_str));
    let installation = normalize::plan(schema, catalog, scope, roots)?;
    let session = Session::begin(report.connect()?, &installation, limits)?;
    replace(output, |path| {
        let writer = TableWriter::create(path)?;
        writer.describe(&[
            ("NSQ_VERSION", Some(env!("CARGO_PKG_VERSION").to_owned())),
            ("NSQ_REPORT", Some(report.name())),
            ("NSQ_SCOPE_START_NS", scope.start_ns.map(|ns| ns.to_string())),
            ("NSQ_SCOPE_END_NS", scope.end_ns.map(|ns| ns.to_string())),
            ("NSQ_SCOPE", (!scope.is_whole()).then(|| serde_json::to_string(scope).unwrap_or_default())),
            ("EXPORT_SCHEMA_VERSION", schema.export_version.clone()),
            ("EXPORT_PRODUCT_VERSION", schema.nsys_version.clone()),
        ])?;
        for relation in &relations {
            let condition = match relation.header.name.as_str() {
                STRINGS => referred_to(&relations),
                _ => "true".to_owned(),
            };
            let name = &relation.header.name;
            session.copy_relation(relation, name, &condition, &writer, limits)?;
            let whole = format!("{UNSCOPED}{name}");
            if beyond.contains(&whole) {
                session.copy_relation(relation, &whole, "true", &writer, limits)?;
            }
        }
        writer.finish()
    })?;
    Ok(Materialized { relations: relations.len(), notes: installation.notes })
}

/// The relations that the report has data for. As in an export, data that was not captured has no table.
pub fn present_relations<'c>(catalog: &'c Catalog, schema: &Schema) -> Result<Vec<&'c Relation>> {
    let presence = Presence::new(schema, catalog);
    let mut present = Vec::new();
    for relation in catalog.relations()? {
        if presence.is_present(&relation.header.name)? {
            present.push(relation);
        }
    }
    Ok(present)
}

/// The `all_…` relations that queries read: lookups that ignore the scope.
fn read_beyond(catalog: &Catalog, relations: &[&Relation]) -> Result<BTreeSet<String>> {
    let is_here = |read: &&String| {
        let name = read.strip_prefix(UNSCOPED);
        name.is_some_and(|name| relations.iter().any(|relation| relation.header.name == name))
    };
    let queries = catalog.readable_queries();
    Ok(queries.iter().flat_map(|query| query.header.reads.iter().filter(is_here).cloned()).collect())
}

/// The relation of all strings. Strings that no event refers to can be paths and command lines.
pub const STRINGS: &str = "string";

/// The SQL condition that an event refers to a string.
pub fn referred_to(relations: &[&Relation]) -> String {
    let mut names = Vec::new();
    for relation in relations {
        let columns = relation
            .header
            .columns
            .iter()
            .filter(|column| column.name.ends_with("name_id") || column.name == "text_id");
        names.extend(
            columns.map(|column| format!("SELECT {} FROM {}", column.name, relation.header.name)),
        );
    }
    format!("string_id IN ({})", names.join(" UNION "))
}
