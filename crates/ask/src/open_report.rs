//! A report that is open, and its sessions: what every way of asking it shares.

use nsq_engine::compile::{Invocation, Layout, Plan};
use nsq_engine::execute::{Limits, Session, Shared};
use nsq_engine::normalize::{self, Installation, Presence, Scope};
use nsq_library::catalog::{Catalog, ClassMaps, Shown};
use nsq_render::render::Heading;
use nsq_report::report::{ExportOptions, Report};
use nsq_report::schema::Schema;
use nsq_value::error::{Error, Result};
use nsq_value::table::{Column, ResultTable, Value};
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

/// An open report and its schema. It can be asked in any number of scopes, from any number of threads.
#[derive(Debug)]
pub struct OpenReport {
    /// The file.
    pub report: Report,
    /// Its tables, and facts about the capture.
    pub schema: Schema,
    /// What its sessions share.
    shared: Shared,
}

/// The query that lists the IDs of a report.
const SCOPE_IDS: &str = "scope_ids";
/// Most IDs to list in an error.
const MAX_LISTED: usize = 20;

impl OpenReport {
    /// Opens a SQLite export, a capture or a trace.
    pub fn new(path: &Path, options: &ExportOptions) -> Result<Self> {
        Self::of(Report::open(path, options)?)
    }

    /// A file that is open.
    pub fn of(report: Report) -> Result<Self> {
        let schema = Schema::detect(&report)?;
        Ok(Self { report, schema, shared: Shared::default() })
    }

    /// The facts that accompany every result: versions of nsq, export schema and nsys; report and scope.
    pub fn heading(&self, scope: &Scope) -> Heading {
        let mut heading = Heading::of_nsq();
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

    /// Answers the plans within the scope. Also returns notes, as [`OpenReport::begin`] does.
    pub fn answers(
        &self,
        catalog: &Catalog,
        scope: &Scope,
        plans: &[Plan],
        limits: &Limits,
    ) -> Result<(Vec<ResultTable>, Vec<String>)> {
        let roots = plans.iter().flat_map(|plan| plan.reads.iter().map(String::as_str));
        let (session, notes) = self.begin(catalog, scope, roots, limits)?;
        let tables = plans.iter().map(|plan| session.table(plan, limits)).collect::<Result<_>>()?;
        Ok((tables, notes))
    }

    /// Keeps what sessions read for native relations, for sessions with other scopes. All must use the same
    /// catalog.
    pub fn sharing(mut self) -> Self {
        self.shared.loads = Some(Arc::default());
        self
    }

    /// Begins a session with the relations `roots` limited to the scope. Also returns notes, where the
    /// scope cannot be applied. Fails if the scope names a device, stream or process that the report
    /// lacks.
    pub fn begin<'a>(
        &self,
        catalog: &'a Catalog,
        scope: &Scope,
        roots: impl IntoIterator<Item = &'a str>,
        limits: &Limits,
    ) -> Result<(Session, Vec<String>)> {
        self.begin_with(catalog, catalog.classes(), scope, roots, limits)
    }

    /// The notes of [`OpenReport::begin`], without a session.
    pub fn notes<'a>(
        &self,
        catalog: &'a Catalog,
        scope: &Scope,
        roots: impl IntoIterator<Item = &'a str>,
    ) -> Result<Vec<String>> {
        Ok(self.plan(catalog, scope, roots)?.notes)
    }

    /// As [`OpenReport::begin`], with class maps other than the catalog's.
    pub fn begin_with<'a>(
        &self,
        catalog: &'a Catalog,
        classes: &ClassMaps,
        scope: &Scope,
        roots: impl IntoIterator<Item = &'a str>,
        limits: &Limits,
    ) -> Result<(Session, Vec<String>)> {
        self.begin_sharing(self.shared.clone(), catalog, classes, scope, roots, limits)
    }

    /// As [`OpenReport::begin_with`], for a part of the time of `whole`: what that session read is not read again.
    pub(crate) fn begin_part<'a>(
        &self,
        whole: &Session,
        catalog: &'a Catalog,
        classes: &ClassMaps,
        scope: &Scope,
        roots: impl IntoIterator<Item = &'a str>,
        limits: &Limits,
    ) -> Result<(Session, Vec<String>)> {
        self.begin_sharing(self.shared.part_of(whole), catalog, classes, scope, roots, limits)
    }

    fn begin_sharing<'a>(
        &self,
        shared: Shared,
        catalog: &'a Catalog,
        classes: &ClassMaps,
        scope: &Scope,
        roots: impl IntoIterator<Item = &'a str>,
        limits: &Limits,
    ) -> Result<(Session, Vec<String>)> {
        let (scope, of_scope) = self.in_numbers(catalog, scope, limits)?;
        let scope = &scope;
        let mut installation = self.plan(catalog, scope, roots)?;
        installation.classes = classes.clone();
        let mut notes = of_scope;
        notes.append(&mut installation.notes);
        let connection = self.report.connect()?;
        let session = Session::begin_sharing(connection, &installation, limits, shared)?;
        check_ids(&session, catalog, scope, limits)?;
        Ok((session, notes))
    }

    /// Lists every query, whether it can run on this report, and what it lacks.
    pub fn askable(&self, catalog: &Catalog, shown: Shown) -> Result<ResultTable> {
        let presence = Presence::new(&self.schema, catalog);
        let column = |name, doc: &str| Column { doc: doc.to_owned(), ..Column::untyped(name) };
        let mut table = ResultTable {
            columns: vec![
                column("query", "Name of the query."),
                column("can_run", "yes or no."),
                column(
                    "record_with",
                    "The `nsys profile` flags (for a PyTorch trace, the activities) that record the missing data; empty if they were on.",
                ),
                column("missing", "The tables that are missing."),
            ],
            rows: Vec::new(),
        };
        let listed = catalog.readable_queries().into_iter();
        for query in listed.filter(|query| shown.has(query.header.internal)) {
            let header = &query.header;
            let (mut missing, mut flags) = (Vec::new(), Vec::new());
            // With what the queries need that it asks.
            let plan = Plan::without_values(catalog, &Invocation::parse(&header.name), &Layout::Own)?;
            for requirement in &plan.requires {
                if let Some(lack) = presence.lack(requirement)? {
                    missing.extend(lack.tables);
                    // If the flag was on, recording again would not help: there was nothing to record.
                    if !lack.was_recorded {
                        flags.extend(lack.flags);
                    }
                }
            }
            let (missing, flags) = (unique(missing), unique(flags));
            let can_run = if missing.is_empty() { "yes" } else { "no" };
            let cells = [header.name.clone(), can_run.to_owned(), flags.join(" "), missing.join(", ")];
            table.rows.push(cells.map(Value::Text).to_vec());
        }
        // Queries that can run come first.
        table.rows.sort_by_key(|row| row[1] == Value::Text("no".to_owned()));
        Ok(table)
    }

    fn plan<'a>(
        &self,
        catalog: &'a Catalog,
        scope: &Scope,
        roots: impl IntoIterator<Item = &'a str>,
    ) -> Result<Installation> {
        let ids = match given(scope).next() {
            Some(_) => catalog.query(SCOPE_IDS)?.header.reads.as_slice(),
            None => &[],
        };
        let roots = roots.into_iter().chain(ids.iter().map(String::as_str));
        normalize::plan(&self.schema, catalog, scope, roots)
    }
}

/// The options of a scope that take IDs, with the IDs given.
fn given(scope: &Scope) -> impl Iterator<Item = (&'static str, &[i64])> {
    let options = [
        ("gpu", &scope.gpus),
        ("device", &scope.devices),
        ("stream", &scope.streams),
        ("process", &scope.processes),
    ];
    options.into_iter().map(|(option, ids)| (option, ids.as_slice())).filter(|(_, ids)| !ids.is_empty())
}

/// Fails if the report has no GPU, device, stream or process with a given ID.
fn check_ids(session: &Session, catalog: &Catalog, scope: &Scope, limits: &Limits) -> Result<()> {
    for (option, ids) in given(scope) {
        let invocation = Invocation::parse(SCOPE_IDS).with_params(&[format!("option={option}")])?;
        let plan = Plan::new(catalog, &invocation, &Layout::Own)?;
        let known: Vec<i64> =
            session.table(&plan, limits)?.iter().filter_map(|row| row.int("id")).collect();
        // An export without processes or GPU work cannot tell.
        if let Some(unknown) = ids.iter().find(|id| !known.contains(id))
            && !known.is_empty()
        {
            let listed: Vec<String> = known.iter().take(MAX_LISTED).map(i64::to_string).collect();
            let more = match known.len().saturating_sub(MAX_LISTED) {
                0 => String::new(),
                more => format!(" and {more} more"),
            };
            let ids = if option == "gpu" { "GPU numbers".to_owned() } else { format!("{option} IDs") };
            let one = ids.trim_end_matches('s');
            return Err(Error::usage(
                format!("unknown {option} {unknown}: the report has no such {one}"),
                format!(
                    "{ids} in the report: {}{more}; `--query {SCOPE_IDS}` lists them",
                    listed.join(", ")
                ),
            ));
        }
    }
    Ok(())
}

/// The texts in their order, each once.
fn unique(texts: Vec<String>) -> Vec<String> {
    let mut seen = BTreeSet::new();
    texts.into_iter().filter(|text| seen.insert(text.clone())).collect()
}
