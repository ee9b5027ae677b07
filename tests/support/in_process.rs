//! `nsq run` without starting a process, for tests of queries rather than of the command line.

// Each test binary uses only part of this module.
#![allow(dead_code)]

use nsq::catalog::Catalog;
use nsq::compile::{Invocation, Layout, Plan};
use nsq::error::Error;
use nsq::execute::{Limits, Session};
use nsq::normalize::{self, Presence, Scope};
use nsq::render::{Format, Heading, Style, Writer};
use nsq::report::{ExportOptions, Report};
use nsq::schema::Schema;
use nsq::table::{ResultTable, Value};
use std::path::{Path, PathBuf};

thread_local! {
    // A catalogue reads files on demand, so threads cannot share one.
    static CATALOG: Catalog = Catalog::load(&nsq::BUILT_IN, &[]).unwrap();
}

/// A report that is opened once for many queries. Each query has a session of its own, as in a process of
/// its own, so a query that forgets to say what it reads fails.
pub struct Opened {
    path: PathBuf,
    report: Report,
    schema: Schema,
}

impl Opened {
    pub fn new(path: &Path) -> Result<Self, Error> {
        let report = Report::open(path, &ExportOptions::default())?;
        let schema = Schema::detect(&report)?;
        Ok(Self { path: path.to_owned(), report, schema })
    }

    /// The rows of a query.
    pub fn table(&self, query: &str) -> Result<ResultTable, Error> {
        CATALOG.with(|catalog| {
            let plan = Plan::new(catalog, &Invocation::parse(query), &Layout::Own)?;
            plan.check_presence(&Presence::new(&self.schema, catalog), &self.path)?;
            let roots = plan.reads.iter().map(String::as_str);
            let installation = normalize::plan(&self.schema, catalog, &Scope::default(), roots)?;
            let limits = Limits::default();
            let session = Session::begin(self.report.connect()?, &installation, &limits)?;
            let mut table = ResultTable::default();
            session.run(&plan, &limits, &mut table)?;
            Ok(table)
        })
    }

    /// The lines of SQLite's plan for the statement of a query; `None` if it is over answers of other queries.
    pub fn query_plan(&self, query: &str) -> Result<Option<Vec<String>>, Error> {
        CATALOG.with(|catalog| {
            let mut plan = Plan::new(catalog, &Invocation::parse(query), &Layout::Own)?;
            if plan.is_over_answers() {
                return Ok(None);
            }
            let roots = plan.reads.iter().map(String::as_str);
            let installation = normalize::plan(&self.schema, catalog, &Scope::default(), roots)?;
            let limits = Limits::default();
            let session = Session::begin(self.report.connect()?, &installation, &limits)?;
            plan.sql = format!("EXPLAIN QUERY PLAN {}", plan.sql);
            (plan.columns, plan.rows_if) = (Vec::new(), None);
            let detail = |mut row: Vec<Value>| match row.pop() {
                Some(Value::Text(detail)) => Some(detail),
                _ => None,
            };
            Ok(Some(session.table(&plan, &limits)?.rows.into_iter().filter_map(detail).collect()))
        })
    }

    /// The rows of a query as CSV.
    pub fn csv(&self, query: &str) -> Result<String, Error> {
        written(&self.table(query)?, Format::Csv, &self.heading())
    }

    /// The rows of several queries. They share a session, as in one process, which is several times
    /// faster. If one of them cannot have its relations, each has a session of its own.
    pub fn tables(&self, queries: &[&str]) -> Vec<Result<ResultTable, Error>> {
        let shared = CATALOG.with(|catalog| {
            let presence = Presence::new(&self.schema, catalog);
            let mut plans = Vec::new();
            for query in queries {
                let plan = Plan::new(catalog, &Invocation::parse(query), &Layout::Own)?;
                let lack = plan.check_presence(&presence, &self.path).err();
                plans.push((plan, lack));
            }
            let answerable = plans.iter().filter(|(_, lack)| lack.is_none());
            let roots = answerable.flat_map(|(plan, _)| plan.reads.iter().map(String::as_str));
            let installation = normalize::plan(&self.schema, catalog, &Scope::default(), roots)?;
            let limits = Limits::default();
            let session = Session::begin(self.report.connect()?, &installation, &limits)?;
            // A query that fails can leave the session within a transaction.
            let mut has_failed = false;
            let answer = |(query, (plan, lack)): (&&str, (Plan, Option<Error>))| match lack {
                Some(lack) => Err(lack),
                None if has_failed => self.table(query),
                None => {
                    let mut table = ResultTable::default();
                    let answered = session.run(&plan, &limits, &mut table).map(|_| table);
                    has_failed = answered.is_err();
                    answered
                }
            };
            Ok::<_, Error>(queries.iter().zip(plans).map(answer).collect())
        });
        shared.unwrap_or_else(|_| queries.iter().map(|query| self.table(query)).collect())
    }

    /// A result in a format.
    pub fn written(&self, table: &ResultTable, format: Format) -> Result<String, Error> {
        written(table, format, &self.heading())
    }

    /// The facts of the report that accompany a result, which can be as hostile as its rows.
    fn heading(&self) -> Heading {
        let mut heading = Heading::default();
        let Schema { export_version, nsys_version, .. } = &self.schema;
        for (key, value) in [("export_schema", export_version), ("nsys", nsys_version)] {
            heading.facts.extend(value.clone().map(|value| (key.to_owned(), value.into())));
        }
        heading
    }
}

fn written(table: &ResultTable, format: Format, heading: &Heading) -> Result<String, Error> {
    let mut bytes = Vec::new();
    let mut writer = Writer::new(&mut bytes, format, Style::default(), 1);
    writer.result(heading, |sink| table.replay(sink))?;
    writer.finish()?;
    Ok(String::from_utf8(bytes).unwrap())
}

/// Runs a query on a report and returns its result as CSV.
pub fn answer(report: &Path, query: &str) -> Result<String, Error> {
    Opened::new(report)?.csv(query)
}
