//! The relations of a report that are written.

use super::args::Args;
use crate::catalog::{Catalog, Relation};
use crate::cli::note;
use crate::error::Result;
use crate::execute::{Limits, Session};
use crate::materialize::present_relations;
use crate::normalize;
use crate::report::Report;
use crate::schema::Schema;
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
