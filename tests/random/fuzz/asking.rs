//! Runs queries of the catalogue on one database and counts the outcomes.

use nsq::catalog::{Catalog, Query};
use nsq::compile::{Invocation, Layout, Plan};
use nsq::error::Error;
use nsq::execute::{Limits, Session};
use nsq::normalize::{self, Attribute, Presence, Scope, Selector};
use nsq::render::{Format, Heading, Style, Writer};
use nsq::report::{ExportOptions, Report};
use nsq::schema::Schema;
use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

/// Time limit for all queries on one database.
pub const ALLOWED: Duration = Duration::from_secs(60);

/// How often each outcome occurred.
#[derive(Debug, Clone, Default)]
pub struct Outcomes {
    /// Queries that were answered.
    pub answered: usize,
    /// Queries for which the report lacks the data.
    pub lacking: usize,
    /// Queries that failed with an error, by kind of error.
    pub refused: BTreeMap<&'static str, usize>,
    /// Databases that could not be opened as a report.
    pub unopened: usize,
}

impl Outcomes {
    pub fn add(&mut self, other: &Self) {
        self.answered += other.answered;
        self.lacking += other.lacking;
        self.unopened += other.unopened;
        for (&about, count) in &other.refused {
            *self.refused.entry(about).or_default() += count;
        }
    }

    fn count(&mut self, error: &Error) -> Result<(), String> {
        let about = match error {
            // The scope selects ranges, and the report has no ranges.
            Error::LacksData { .. } | Error::Unknown { what: "NVTX range", .. } => {
                self.lacking += 1;
                return Ok(());
            }
            Error::Report { .. } => "damage",
            Error::Limit { .. } => "limit",
            Error::Sqlite(_) | Error::Sql { .. } => "SQLite",
            other => return Err(format!("an error of another kind: {other:?}")),
        };
        if error.to_string().trim().is_empty() {
            return Err(format!("an error without a message: {error:?}"));
        }
        *self.refused.entry(about).or_default() += 1;
        Ok(())
    }
}

/// The catalogue with a plan for each query.
pub struct Asker {
    catalog: Catalog,
    plans: Vec<Plan>,
    share: usize,
}

impl Asker {
    /// Each database is asked one in `share` queries, so that as many databases together are asked all.
    pub fn new(share: usize) -> Self {
        let catalog = Catalog::load(&nsq::BUILT_IN, &[]).unwrap();
        let plan = |query: &Query| {
            Plan::new(&catalog, &Invocation::parse(&query.header.name), &Layout::Own).unwrap()
        };
        let mut queries = catalog.queries().unwrap();
        queries.retain(|query| query.header.params.iter().all(|param| !param.required));
        let plans = queries.into_iter().map(plan).collect();
        Self { catalog, plans, share }
    }

    /// Runs a share of the queries; `variant` selects them, the format and the scope.
    ///
    /// Returns `Err` for an error that no user should see.
    pub fn ask(&self, database: &Path, variant: u64) -> Result<Outcomes, String> {
        let mut outcomes = Outcomes::default();
        let opened = Report::open(database, &uncached()).and_then(|report| {
            let schema = Schema::detect(&report)?;
            Ok((report, schema))
        });
        let (report, schema) = match opened {
            Ok(opened) => opened,
            Err(Error::Report { .. } | Error::Sqlite(_)) => {
                outcomes.unopened = 1;
                return Ok(outcomes);
            }
            Err(other) => return Err(format!("not opened: {other:?}")),
        };
        let presence = Presence::new(&schema, &self.catalog);
        let mut answerable = Vec::new();
        for plan in self.plans.iter().skip(variant as usize % self.share).step_by(self.share) {
            match plan.check_presence(&presence, database) {
                Ok(()) => answerable.push(plan),
                Err(error) => outcomes.count(&error)?,
            }
        }
        let (scope, format) = (scope(variant), FORMATS[variant as usize % FORMATS.len()]);
        let limits = Limits::with_timeout(Some(ALLOWED));
        match self.session(&report, &schema, &scope, &answerable, &limits) {
            Ok(session) => {
                for plan in answerable {
                    outcomes.take(answer(&session, plan, format, &limits))?;
                }
            }
            // A relation that one query needs cannot be made: run each query in its own session.
            Err(_) => {
                for plan in answerable {
                    let answered = Report::open(database, &uncached()).and_then(|report| {
                        let session = self.session(&report, &schema, &scope, &[plan], &limits)?;
                        answer(&session, plan, format, &limits)
                    });
                    outcomes.take(answered)?;
                }
            }
        }
        Ok(outcomes)
    }

    fn session(
        &self,
        report: &Report,
        schema: &Schema,
        scope: &Scope,
        plans: &[&Plan],
        limits: &Limits,
    ) -> nsq::error::Result<Session> {
        let roots = plans.iter().flat_map(|plan| plan.reads.iter().map(String::as_str));
        let installation = normalize::plan(schema, &self.catalog, scope, roots)?;
        Session::begin(report.connect()?, &installation, limits)
    }
}

impl Outcomes {
    fn take(&mut self, answered: nsq::error::Result<()>) -> Result<(), String> {
        match answered {
            Ok(()) => self.answered += 1,
            Err(error) => self.count(&error)?,
        }
        Ok(())
    }
}

/// Options without a cache: damage can turn a file into a trace, and its import must not be kept.
fn uncached() -> ExportOptions {
    let mut options = ExportOptions::default();
    options.cache.off = true;
    options
}

const FORMATS: [Format; 7] = [
    Format::Csv,
    Format::Text,
    Format::Json,
    Format::Markdown,
    Format::Html,
    Format::Ndjson,
    Format::Tsv,
];

/// Mostly the whole report, sometimes a part of it.
fn scope(variant: u64) -> Scope {
    let all = |name: &str| {
        let (name, spelled) = (name.to_owned(), name.to_owned());
        Selector { name, spelled, domain: None, instances: None, by_thread: false }
    };
    match variant / 7 % 8 {
        5 => Scope { attribute: Attribute::Process, ..Scope::default() },
        6 => Scope { start_ns: Some(1_000), end_ns: Some(1_000_000_000), ..Scope::default() },
        7 => Scope { nvtx: vec![all("*")], attribute: Attribute::Capture, ..Scope::default() },
        _ => Scope::default(),
    }
}

fn answer(session: &Session, plan: &Plan, format: Format, limits: &Limits) -> nsq::error::Result<()> {
    let mut nowhere = std::io::sink();
    let style = Style { max_rows: Some(100), width: Some(100), ..Style::default() };
    let mut writer = Writer::new(&mut nowhere, format, style, 1);
    writer.result(&Heading::default(), |sink| session.run(plan, limits, sink))?;
    writer.finish()
}
