//! An open report, and the facts about it that accompany every result.

use super::options::{OpenArgs, no_instances};
use super::{deadline, note, scope_ids};
use crate::catalog::Catalog;
use crate::error::Result;
use crate::execute::{Limits, Session};
use crate::normalize::{self, Scope};
use crate::render::Heading;
use crate::report::Report;
use crate::schema::Schema;
use std::path::Path;

/// An open report and its schema.
pub(super) struct Opened {
    pub(super) report: Report,
    pub(super) schema: Schema,
}

impl Opened {
    pub(super) fn open(path: &Path, args: &OpenArgs) -> Result<Self> {
        let report =
            deadline::pause(|| Report::open(path, &args.export_options())).map_err(no_instances)?;
        let schema = Schema::detect(&report)?;
        Ok(Self { report, schema })
    }

    /// The facts that accompany every result: versions of nsq, export schema and nsys; report and scope.
    pub(super) fn heading(&self, scope: &Scope) -> Heading {
        let mut heading = nsq_heading();
        let mut fact = |key: &str, value: Option<String>| {
            heading.facts.extend(value.map(|value| (key.to_owned(), value.into())));
        };
        fact("report", Some(self.report.name()));
        fact("export_schema", self.schema.export_version.clone());
        fact("nsys", self.schema.nsys_version.clone());
        if !scope.is_whole()
            && let Ok(scope) = serde_json::to_value(scope)
        {
            heading.facts.insert("scope".to_owned(), scope);
        }
        heading
    }

    /// Begins a session with the relations `roots` limited to the scope. Prints a note where the scope
    /// cannot be applied. Fails if the scope names a device, stream or process that the report lacks.
    pub(super) fn session<'a>(
        &mut self,
        catalog: &'a Catalog,
        scope: &Scope,
        roots: impl IntoIterator<Item = &'a str>,
        limits: &Limits,
    ) -> Result<Session<'_>> {
        let roots = roots.into_iter().chain(scope_ids::relations(catalog, scope)?);
        let installation = normalize::plan(&self.schema, catalog, scope, roots)?;
        installation.notes.iter().for_each(|text| note(text));
        let session = Session::begin(&mut self.report.connection, &installation, limits)?;
        scope_ids::check(&session, catalog, scope, limits)?;
        Ok(session)
    }
}

/// The fact that accompanies every result: the version of nsq.
pub(super) fn nsq_heading() -> Heading {
    let mut heading = Heading::default();
    heading.facts.insert("nsq".to_owned(), env!("CARGO_PKG_VERSION").into());
    heading
}
