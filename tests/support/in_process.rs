//! `nsq run` without starting a process, for tests of queries rather than of the command line.

use nsq::catalog::Catalog;
use nsq::compile::{Invocation, Layout, Plan};
use nsq::error::Error;
use nsq::execute::{Limits, Session};
use nsq::normalize::{self, Presence, Scope};
use nsq::render::{Format, Heading, Style, Writer};
use nsq::report::{ExportOptions, Report};
use nsq::schema::Schema;
use std::path::Path;

thread_local! {
    // A catalogue reads files on demand, so threads cannot share one.
    static CATALOG: Catalog = Catalog::load(&nsq::BUILT_IN, &[]).unwrap();
}

/// Runs a query on a report and returns its result as CSV.
pub fn answer(report: &Path, query: &str) -> Result<String, Error> {
    CATALOG.with(|catalog| {
        let plan = Plan::new(catalog, &Invocation::parse(query), &Layout::Own)?;
        let opened = Report::open(report, &ExportOptions::default())?;
        let schema = Schema::detect(&opened)?;
        plan.check_presence(&Presence::new(&schema, catalog), report)?;
        let roots = plan.reads.iter().map(String::as_str);
        let installation = normalize::plan(&schema, catalog, &Scope::default(), roots)?;
        let limits = Limits::default();
        let session = Session::begin(opened.connect()?, &installation, &limits)?;
        let mut csv = Vec::new();
        let mut writer = Writer::new(&mut csv, Format::Csv, Style::default(), 1);
        writer.result(&Heading::default(), |sink| session.run(&plan, &limits, sink))?;
        writer.finish()?;
        Ok(String::from_utf8(csv).unwrap())
    })
}
