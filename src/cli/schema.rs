//! `nsq schema`: shows what was captured, and which queries can run.

use super::first_word::must_be_reports;
use super::options::{LibraryArgs, LimitArgs, OpenWithArgs};
use super::output::{OutputArgs, must_differ};
use crate::cli::reports;
use crate::cli::reports::noted;
use nsq_engine::compile::{Invocation, Layout, Plan};
use nsq_engine::execute::Limits;
use nsq_engine::normalize::{Presence, Scope};
use nsq_library::catalog::Shown;
use nsq_library::manual::ASKED_FIRST;
use nsq_render::render::{Format, Heading};
use nsq_sweep::threads::Threads;
use nsq_value::error::Result;
use nsq_value::table::{Column, ResultTable, Value};
use std::path::PathBuf;
use std::time::Duration;

/// Show what was captured, which queries can run, and what others need
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  nsq schema report.sqlite
  nsq schema report.sqlite --format json

Each query is also a table in SQLite itself, once `.load nsq` has loaded nsq's extension.")]
pub(super) struct Args {
    /// SQLite export, .nsys-rep or PyTorch trace.
    #[arg(value_name = "REPORT")]
    report: PathBuf,
    /// List internal queries too, which are parts of pages.
    #[arg(long)]
    all: bool,
    #[command(flatten)]
    output: OutputArgs,
    #[command(flatten)]
    limits: LimitArgs,
    #[command(flatten)]
    open: OpenWithArgs,
    #[command(flatten)]
    library: LibraryArgs,
}

/// The query that lists what was captured.
const CAPTURED: &str = "report_info";
/// The query that lists what is missing from the capture, or distorts it.
const TRUST: &str = "capture_trust";
/// Time for a report with views of its own, unless --timeout says otherwise.
const LONGEST: Duration = Duration::from_secs(10);
/// The title of the questions with which the list of queries begins.
const FIRST: &str = "What people ask first";
/// The title of the list of queries.
const ASKED: &str = "What can be asked";
/// How a SQLite tool asks these queries.
const EXTENSION: &str =
    "on a SQLite export, `.load nsq` makes each query a table: SELECT * FROM top_kernels";
/// The title of the list of tables that no relation reads.
const UNREAD: &str = "What nsq does not read";

pub(super) fn run(args: &Args) -> Result<u8> {
    must_be_reports(std::slice::from_ref(&args.report))?;
    let read = std::iter::once(args.report.as_path()).chain(args.open.trace());
    must_differ(args.output.output.as_deref(), read)?;
    let catalog = args.library.load()?;
    let opened =
        reports::open(&args.report, &args.open.for_reports(std::slice::from_ref(&args.report))?)?;
    let answers = opened.askable(&catalog, Shown::of(args.all))?;
    let unread = opened.unread(&catalog)?;
    let [captured, trust] =
        [CAPTURED, TRUST].map(|query| Plan::new(&catalog, &Invocation::parse(query), &Layout::Own));
    let (captured, trust) = (captured?, trust?);
    let shared = opened.heading(&Scope::default());
    let heading = |title: &str| {
        let mut heading = Heading { title: title.to_owned(), ..shared.clone() };
        heading.facts.insert("table".to_owned(), title.into());
        heading
    };
    let mut limits = args.limits.limits(Threads::default());
    // nsys writes no views; a view may have no end.
    if limits.deadline.is_none() && opened.schema.tables().iter().any(|table| !table.has_rowid) {
        limits.deadline = Limits::with_timeout(Some(LONGEST)).deadline;
    }
    let roots = captured.reads.iter().chain(&trust.reads).map(String::as_str);
    let session = noted(opened.begin(&catalog, &Scope::default(), roots, &limits)?);
    // A report without events has nothing to trust.
    let presence = Presence::new(&opened.schema, &catalog);
    let has_events = trust.check_presence(&presence, &args.report).is_ok();
    let plans = [&captured, &trust];
    session.ask_ahead(if has_events { &plans } else { &plans[..1] }, &limits)?;
    let doubts = match has_events {
        true => session.take_answer(&trust, &limits)?,
        false => ResultTable::default(),
    };
    let facts = session.take_answer(&captured, &limits)?;
    let is_text = args.output.format()? == Format::Text;
    args.output.write(4, |writer| {
        writer.result(&heading("What was captured"), |sink| facts.replay(sink))?;
        if !doubts.rows.is_empty() {
            writer.result(&heading("What the capture does not show"), |sink| doubts.replay(sink))?;
        }
        if is_text {
            writer.result(&heading(FIRST), |sink| asked_first(&answers).replay(sink))?;
        }
        // A terminal is too narrow for the names of the tables next to those of the queries.
        let listed = match is_text && args.output.style(Format::Text).width.is_some() {
            true => writer.lead(ASKED, &by_lack(&answers)),
            false => writer.result(&heading(ASKED), |sink| answers.replay(sink)),
        };
        listed?;
        if is_text {
            writer.lead("In SQLite", &[("sqlite3", EXTENSION.to_owned())])?;
        }
        if !unread.rows.is_empty() {
            writer.result(&heading(UNREAD), |sink| unread.replay(sink))?;
        }
        Ok(())
    })?;
    Ok(0)
}

/// The questions that people ask first, with the query and whether it can run.
fn asked_first(answers: &ResultTable) -> ResultTable {
    let row = |(question, name): &(&str, &str)| {
        let is_name = |row: &&Vec<Value>| matches!(&row[0], Value::Text(query) if query == name);
        let known = answers.rows.iter().find(is_name)?;
        Some(vec![Value::Text((*question).to_owned()), known[0].clone(), known[1].clone()])
    };
    ResultTable {
        columns: ["question", "query", "can_run"].map(Column::untyped).to_vec(),
        rows: ASKED_FIRST.iter().filter_map(row).collect(),
    }
}

/// The queries that can run, and the others by what they lack.
fn by_lack(answers: &ResultTable) -> Vec<(&'static str, String)> {
    let mut groups: Vec<(String, Vec<&str>)> = Vec::new();
    for row in &answers.rows {
        let [Value::Text(query), _, Value::Text(flags), Value::Text(missing)] = row.as_slice() else {
            continue;
        };
        let lack = match flags.as_str() {
            "" => missing.clone(),
            flags => format!("{missing}; record with {flags}"),
        };
        match groups.iter_mut().find(|(known, _)| *known == lack) {
            Some((_, queries)) => queries.push(query),
            None => groups.push((lack, vec![query])),
        }
    }
    let line = |(lack, queries): (String, Vec<&str>)| match lack.as_str() {
        "" => ("can run", queries.join(", ")),
        lack => ("no data", format!("{lack}: {}", queries.join(", "))),
    };
    groups.into_iter().map(line).collect()
}
