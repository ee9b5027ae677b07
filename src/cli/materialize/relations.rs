//! The relations of a report that are written.

use super::args::Args;
use crate::catalog::{Catalog, Relation};
use crate::cli::note;
use crate::error::Result;
use crate::execute::{Limits, Session};
use crate::normalize::{self, Presence, UNSCOPED};
use crate::report::Report;
use crate::schema::Schema;
use std::collections::BTreeSet;
use std::path::Path;

/// A report whose relations can be read.
pub(super) struct Opened<'c> {
    pub(super) report: String,
    pub(super) relations: Vec<&'c Relation>,
    pub(super) session: Session,
}

impl<'c> Opened<'c> {
    pub(super) fn new(args: &Args, catalog: &'c Catalog, path: &Path, limits: &Limits) -> Result<Self> {
        let report = Report::open(path, &args.open.export_options())?;
        let schema = Schema::detect(&report)?;
        let scope = args.scope.resolve(&schema)?;
        let relations = present_relations(catalog, &schema)?;
        let names = relations.iter().map(|relation| relation.header.name.as_str());
        let installation = normalize::plan(&schema, catalog, &scope, names)?;
        installation.notes.iter().for_each(|text| note(text));
        let session = Session::begin(report.connect()?, &installation, limits)?;
        Ok(Self { report: report.name(), relations, session })
    }
}

/// The relations that the report has data for. As in an export, data that was not captured has no table.
pub(super) fn present_relations<'c>(catalog: &'c Catalog, schema: &Schema) -> Result<Vec<&'c Relation>> {
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
pub(super) fn read_beyond(catalog: &Catalog, relations: &[&Relation]) -> Result<BTreeSet<String>> {
    let is_here = |read: &&String| {
        let name = read.strip_prefix(UNSCOPED);
        name.is_some_and(|name| relations.iter().any(|relation| relation.header.name == name))
    };
    let queries = catalog.readable_queries();
    Ok(queries.iter().flat_map(|query| query.header.reads.iter().filter(is_here).cloned()).collect())
}

/// The relation of all strings. Strings that no event refers to can be paths and command lines.
pub(super) const STRINGS: &str = "string";

/// The SQL condition that an event refers to a string.
pub(super) fn referred_to(relations: &[&Relation]) -> String {
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
