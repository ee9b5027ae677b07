//! Reads the relations of a report to be written elsewhere, and writes them as tables of a plain SQLite file, for `sqlite3`,
//! datasette, DuckDB or nsq.

use nsq_engine::execute::{Limits, Session, TableWriter};
use nsq_engine::normalize::{self, Installation, Presence, Scope, UNSCOPED};
use nsq_files::whole_file::{must_differ, replace};
use nsq_library::catalog::{Catalog, Relation};
use nsq_render::render::{Feed, in_background};
use nsq_report::report::Report;
use nsq_report::schema::Schema;
use nsq_value::error::Result;
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

/// Writes the relations of a report to `output`, whole or not at all.
pub fn materialize(source: &Source<'_>, output: &Path) -> Result<Materialized> {
    let Source { report, schema, scope, .. } = source;
    must_differ(Some(output), [report.path.as_path(), report.database.as_path()])?;
    let relations = source.wanted()?;
    let beyond = if scope.is_whole() { BTreeSet::new() } else { source.read_beyond(&relations) };
    let mut notes = BTreeSet::new();
    replace(output, |path| {
        let mut writer = TableWriter::create(path)?;
        writer.describe(&[
            ("NSQ_VERSION", Some(env!("CARGO_PKG_VERSION").to_owned())),
            ("NSQ_REPORT", Some(report.name())),
            ("NSQ_SCOPE_START_NS", scope.start_ns.map(|ns| ns.to_string())),
            ("NSQ_SCOPE_END_NS", scope.end_ns.map(|ns| ns.to_string())),
            ("NSQ_SCOPE", (!scope.is_whole()).then(|| serde_json::to_string(scope).unwrap_or_default())),
            ("EXPORT_SCHEMA_VERSION", schema.export_version.clone()),
            ("EXPORT_PRODUCT_VERSION", schema.nsys_version.clone()),
        ])?;
        notes = source.each_group(&beyond, |group| {
            let write = |part: &Part<'_>| group.read(part, |feed| feed(&mut writer.table(&part.name)));
            group.parts.iter().try_for_each(write)
        })?;
        writer.finish()
    })?;
    Ok(Materialized { relations: relations.len(), notes: notes.into_iter().collect() })
}

/// Rows that are written as a table.
#[derive(Debug)]
pub struct Part<'c> {
    /// The relation.
    pub relation: &'c Relation,
    /// Name of the table: that of the relation, or its `all_…` version, which ignores the scope.
    pub name: String,
    /// The SQL condition of the rows.
    condition: String,
}

/// Parts of a report that need the same data, and the session that reads them.
#[derive(Debug)]
pub struct Group<'c> {
    /// The parts.
    pub parts: Vec<Part<'c>>,
    /// Reads them.
    pub session: Session,
    limits: &'c Limits,
}

/// A report whose relations are written, and how.
#[derive(Debug, Clone, Copy)]
pub struct Source<'c> {
    /// The report.
    pub report: &'c Report,
    /// Its schema.
    pub schema: &'c Schema,
    /// The relations that it may have.
    pub catalog: &'c Catalog,
    /// The rows that are written.
    pub scope: &'c Scope,
    /// The time that reading may take, and the threads.
    pub limits: &'c Limits,
    /// Whether internal relations are written, too.
    pub internal: bool,
}

impl<'c> Source<'c> {
    /// The relations that a report has data for. As in an export, data that was not captured has no table.
    pub fn relations(catalog: &'c Catalog, schema: &Schema) -> Result<Vec<&'c Relation>> {
        let presence = Presence::new(schema, catalog);
        let mut present = Vec::new();
        for relation in catalog.relations()? {
            if presence.is_present(&relation.header.name)? {
                present.push(relation);
            }
        }
        Ok(present)
    }

    /// Passes on the relations group by group: what a group keeps in memory is freed before the next one is read. Those in
    /// `beyond` are passed on without the scope, too. Returns notes, where the scope could not be applied.
    pub fn each_group(
        &self,
        beyond: &BTreeSet<String>,
        mut take: impl FnMut(Group<'c>) -> Result<()>,
    ) -> Result<BTreeSet<String>> {
        let (mut raw, mut notes) = (Vec::new(), BTreeSet::new());
        let mut groups: Vec<(Needs, Vec<Part<'c>>)> = Vec::new();
        for relation in self.wanted()? {
            let name = &relation.header.name;
            for name in [name.clone(), format!("{UNSCOPED}{name}")] {
                if name != relation.header.name && !beyond.contains(&name) {
                    continue;
                }
                let needs = self.needs(&name)?;
                let part = Part { relation, name, condition: "true".to_owned() };
                match groups.iter_mut().find(|(known, _)| *known == needs && needs.ranges) {
                    _ if needs == Needs::default() => raw.push(part),
                    Some((_, parts)) => parts.push(part),
                    // Data of GPU operations is quick to load, and each relation has large parts of its own.
                    None => groups.push((needs, vec![part])),
                }
            }
        }
        if let Some(place) = raw.iter().position(|part| part.name == STRINGS) {
            raw[place].condition = referred_to(&raw);
        }
        let computed = groups.into_iter().map(|(_, parts)| parts);
        for parts in std::iter::once(raw).chain(computed).filter(|parts| !parts.is_empty()) {
            let installation = self.plan(parts.iter().map(|part| part.name.as_str()))?;
            let session = Session::begin(self.report.connect()?, &installation, self.limits)?;
            notes.extend(installation.notes);
            take(Group { parts, session, limits: self.limits })?;
        }
        Ok(notes)
    }

    fn wanted(&self) -> Result<Vec<&'c Relation>> {
        let mut relations = Self::relations(self.catalog, self.schema)?;
        relations.retain(|relation| self.internal || !relation.header.internal);
        Ok(relations)
    }

    /// The data that a relation needs in memory: that of the native relations behind it.
    fn needs(&self, name: &str) -> Result<Needs> {
        let mut needs = Needs::default();
        for native in self.plan([name])?.natives {
            if let Some(relation) = self.catalog.relation(&native.relation) {
                let reads_ranges =
                    relation?.native_reads().iter().any(|read| read.ends_with("nvtx_record"));
                needs.ranges |= reads_ranges;
                needs.operations |= !reads_ranges;
            }
        }
        Ok(needs)
    }

    fn plan<'a>(&self, roots: impl IntoIterator<Item = &'a str>) -> Result<Installation> {
        normalize::plan(self.schema, self.catalog, self.scope, roots)
    }

    /// The `all_…` relations that queries read: look-ups that ignore the scope.
    fn read_beyond(&self, relations: &[&Relation]) -> BTreeSet<String> {
        let is_here = |read: &&String| {
            let name = read.strip_prefix(UNSCOPED);
            name.is_some_and(|name| relations.iter().any(|relation| relation.header.name == name))
        };
        let queries = self.catalog.readable_queries();
        queries.iter().flat_map(|query| query.header.reads.iter().filter(is_here).cloned()).collect()
    }
}

impl<'c> Group<'c> {
    /// Reads the rows of a part, and passes them to `consume` on another thread.
    pub fn read(
        &self,
        part: &Part<'c>,
        consume: impl FnOnce(Feed<'_>) -> Result<()> + Send,
    ) -> Result<()> {
        in_background(self.limits.threads, consume, |sink| {
            self.session.read_relation(part.relation, &part.name, &part.condition, sink, self.limits)
        })
    }
}

/// The data that relations need in memory.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Needs {
    /// That of NVTX ranges.
    ranges: bool,
    /// That of GPU operations alone.
    operations: bool,
}

/// The relation of all strings. Strings that no event refers to can be paths and command lines.
const STRINGS: &str = "string";

/// The SQL condition that an event refers to a string. What is computed refers to the strings of events.
fn referred_to(parts: &[Part<'_>]) -> String {
    let mut names = Vec::new();
    for part in parts {
        let columns = part
            .relation
            .header
            .columns
            .iter()
            .filter(|column| column.name.ends_with("name_id") || column.name == "text_id");
        names.extend(columns.map(|column| format!("SELECT {} FROM {}", column.name, part.name)));
    }
    format!("string_id IN ({})", names.join(" UNION "))
}
