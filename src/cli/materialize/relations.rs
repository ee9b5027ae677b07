//! The relations of a report that are written, in groups.

use super::args::Args;
use crate::catalog::{Catalog, Relation};
use crate::cli::note;
use crate::error::Result;
use crate::execute::{Limits, Session};
use crate::normalize::{self, Installation, Presence, Scope, UNSCOPED};
use crate::render::{Feed, in_background};
use crate::report::Report;
use crate::schema::Schema;
use std::collections::BTreeSet;

/// A report whose relations are written.
pub(super) struct Source<'c> {
    pub(super) report: Report,
    pub(super) schema: Schema,
    pub(super) scope: Scope,
    pub(super) relations: Vec<&'c Relation>,
    catalog: &'c Catalog,
    limits: Limits,
}

/// Rows that are written as a table.
pub(super) struct Part<'c> {
    /// The relation.
    pub(super) relation: &'c Relation,
    /// Name of the table: that of the relation, or its `all_…` version, which ignores the scope.
    pub(super) name: String,
    /// The SQL condition of the rows.
    condition: String,
}

/// Parts of a report that need the same data, and the session that reads them.
pub(super) struct Group<'c> {
    pub(super) parts: Vec<Part<'c>>,
    pub(super) session: Session,
    limits: Limits,
}

impl<'c> Source<'c> {
    /// The relations of a report that it has data for. As in an export, data that was not captured has no table.
    pub(super) fn new(
        args: &Args,
        catalog: &'c Catalog,
        report: Report,
        limits: &Limits,
    ) -> Result<Self> {
        let schema = Schema::detect(&report)?;
        let scope = args.scope.resolve(&schema)?;
        let presence = Presence::new(&schema, catalog);
        let mut relations = Vec::new();
        for relation in catalog.relations()? {
            let is_wanted = args.all || !relation.header.internal;
            if is_wanted && presence.is_present(&relation.header.name)? {
                relations.push(relation);
            }
        }
        Ok(Self { report, schema, scope, relations, catalog, limits: limits.clone() })
    }

    /// Passes on the relations, and those of `beyond` without the scope, group by group: what a group keeps in memory is
    /// freed before the next one is read.
    pub(super) fn each_group(
        &self,
        beyond: &BTreeSet<String>,
        mut take: impl FnMut(Group<'c>) -> Result<()>,
    ) -> Result<()> {
        let (mut raw, mut told) = (Vec::new(), BTreeSet::new());
        let mut groups: Vec<(Needs, Vec<Part<'c>>)> = Vec::new();
        for relation in &self.relations {
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
            let notes = installation.notes.iter().filter(|text| told.insert((*text).clone()));
            notes.for_each(|text| note(text));
            let session = Session::begin(self.report.connect()?, &installation, &self.limits)?;
            take(Group { parts, session, limits: self.limits.clone() })?;
        }
        Ok(())
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
        normalize::plan(&self.schema, self.catalog, &self.scope, roots)
    }

    /// The `all_…` relations that queries read: look-ups that ignore the scope.
    pub(super) fn read_beyond(&self) -> BTreeSet<String> {
        let is_here = |read: &&String| {
            let name = read.strip_prefix(UNSCOPED);
            name.is_some_and(|name| self.relations.iter().any(|relation| relation.header.name == name))
        };
        let queries = self.catalog.readable_queries();
        queries.iter().flat_map(|query| query.header.reads.iter().filter(is_here).cloned()).collect()
    }
}

impl<'c> Group<'c> {
    /// Reads the rows of a part, and passes them to `consume` on another thread.
    pub(super) fn read(
        &self,
        part: &Part<'c>,
        consume: impl FnOnce(Feed<'_>) -> Result<()> + Send,
    ) -> Result<()> {
        in_background(self.limits.threads, consume, |sink| {
            self.session.read_relation(part.relation, &part.name, &part.condition, sink, &self.limits)
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
