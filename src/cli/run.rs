//! `nsq run`: answer named questions.

use super::options::{LibraryArgs, LimitArgs, OpenArgs, ScopeArgs};
use super::output::OutputArgs;
use super::{complain, note};
use crate::catalog::Catalog;
use crate::compile::{Invocation, Layout, Plan, TimeUnit};
use crate::error::Result;
use crate::execute::{Limits, Session};
use crate::normalize::{self, Presence};
use crate::render::{Heading, Writer};
use crate::report::Report;
use crate::schema::Schema;
use crate::table::{Column, ResultTable, Value};
use std::path::{Path, PathBuf};

/// Answer named questions about one or several reports
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  nsq run report.sqlite --query top_kernels
  nsq run report.sqlite --query top_kernels -p limit=5 --device 0 --time 1s/2s
  nsq run rank0.sqlite rank1.sqlite --query cuda_gpu_kern_sum:base -o kernels.csv
  nsq run report.sqlite --query cuda_api_sum --query nvtx_sum --format json
  nsq run report.sqlite --query my_question.sql

A name may be followed by @VERSION to insist on it, and by NVIDIA's arguments behind colons.")]
pub(super) struct Args {
    /// SQLite exports or .nsys-rep files; several get a first column `report`.
    #[arg(required = true, value_name = "REPORT")]
    reports: Vec<PathBuf>,
    /// Query to run: NAME[@VERSION][:ARG…], or the path of a .sql file; may be repeated.
    #[arg(short, long = "query", required = true, value_name = "QUERY")]
    query: Vec<String>,
    /// Parameter of the query; may be repeated.
    #[arg(short, long = "param", value_name = "KEY=VALUE")]
    param: Vec<String>,
    /// Columns: the query's own, or NVIDIA's names, arithmetic and rounding.
    #[arg(long, value_enum, default_value = "own", help_heading = "Output")]
    columns: Columns,
    #[command(flatten)]
    scope: ScopeArgs,
    #[command(flatten)]
    output: OutputArgs,
    #[command(flatten)]
    limits: LimitArgs,
    #[command(flatten)]
    open: OpenArgs,
    #[command(flatten)]
    library: LibraryArgs,
}

#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum Columns {
    Own,
    Nsys,
}

pub(super) fn run(args: &Args) -> Result<u8> {
    let mut catalog = args.library.load()?;
    let layout = match args.columns {
        Columns::Own => Layout::Own,
        Columns::Nsys => Layout::Nsys(TimeUnit::Ns),
    };
    let mut invocations = Vec::new();
    for spelling in &args.query {
        let mut invocation = Invocation::parse(spelling).with_params(&args.param)?;
        if let Some(path) = invocation.path().map(Path::to_owned) {
            invocation.query = catalog.add_file(&path)?;
        }
        invocations.push(invocation);
    }
    // What is wrong on the command line is said before any report is opened.
    let plans = invocations
        .iter()
        .map(|invocation| Plan::new(catalog.query(&invocation.query)?, invocation, &layout))
        .collect::<Result<Vec<Plan>>>()?;
    match args.reports.as_slice() {
        [report] => one_report(args, &catalog, &plans, report),
        reports => many_reports(args, &catalog, &plans, reports),
    }
}

/// A report that is open and knows what it holds.
struct Opened {
    report: Report,
    schema: Schema,
    heading: Heading,
}

impl Opened {
    fn open(args: &Args, path: &Path) -> Result<Self> {
        let report = Report::open(path, &args.open.export_options())?;
        let schema = Schema::detect(&report)?;
        let mut heading = Heading::default();
        let mut fact = |key: &str, value: Option<String>| {
            if let Some(value) = value {
                heading.facts.insert(key.to_owned(), value.into());
            }
        };
        fact("nsq", Some(env!("CARGO_PKG_VERSION").to_owned()));
        fact("report", Some(report.name()));
        fact("export_schema", schema.export_version.clone());
        fact("nsys", schema.nsys_version.clone());
        Ok(Self { report, schema, heading })
    }

    /// The plans that the report can answer; the others are complained about. Also the exit code.
    fn answerable<'p>(&self, catalog: &Catalog, plans: &'p [Plan]) -> Result<(Vec<&'p Plan>, u8)> {
        let presence = Presence::new(&self.schema, catalog);
        let mut code = 0;
        let mut answerable = Vec::new();
        for plan in plans {
            let Some((name, _)) = &plan.query else { continue };
            match Plan::check_presence(catalog.query(name)?, &presence, &self.report.path) {
                Ok(()) => answerable.push(plan),
                Err(error) => code = complain(&error),
            }
        }
        Ok((answerable, code))
    }

    fn session(
        &mut self,
        args: &Args,
        catalog: &Catalog,
        plans: &[&Plan],
        limits: &Limits,
    ) -> Result<Session<'_>> {
        let scope = args.scope.resolve(&self.schema)?;
        let roots = plans.iter().flat_map(|plan| plan.reads.iter().map(String::as_str));
        let installation = normalize::plan(&self.schema, catalog, &scope, roots)?;
        installation.notes.iter().for_each(|text| note(text));
        Session::begin(&mut self.report.connection, &installation, limits)
    }
}

fn heading_of(plan: &Plan, shared: &Heading) -> Heading {
    let mut heading = Heading { title: plan.title.clone(), facts: shared.facts.clone() };
    if let Some((name, version)) = &plan.query {
        heading.facts.insert("query".to_owned(), name.as_str().into());
        heading.facts.insert("version".to_owned(), (*version).into());
    }
    let given: serde_json::Map<String, serde_json::Value> = plan
        .bindings
        .iter()
        .map(|(name, value)| {
            let json = match value {
                Value::Null => serde_json::Value::Null,
                Value::Int(int) => (*int).into(),
                Value::Real(real) => (*real).into(),
                Value::Text(text) => text.as_str().into(),
            };
            (name.clone(), json)
        })
        .collect();
    if !given.is_empty() {
        heading.facts.insert("parameters".to_owned(), given.into());
    }
    heading
}

/// Rows go straight from SQLite to the output.
fn one_report(args: &Args, catalog: &Catalog, plans: &[Plan], path: &Path) -> Result<u8> {
    let limits = args.limits.limits();
    let mut opened = Opened::open(args, path)?;
    let (answerable, code) = opened.answerable(catalog, plans)?;
    if answerable.is_empty() {
        return Ok(code);
    }
    let heading = opened.heading.clone();
    let session = opened.session(args, catalog, &answerable, &limits)?;
    args.output.write(plans.len(), |writer| {
        for plan in answerable {
            writer.result(&heading_of(plan, &heading), |sink| session.run(plan, &limits, sink))?;
        }
        Ok(())
    })?;
    Ok(code)
}

/// Each report on a thread of its own; the rows of one query stand together.
fn many_reports(args: &Args, catalog: &Catalog, plans: &[Plan], paths: &[PathBuf]) -> Result<u8> {
    let workers = std::thread::available_parallelism().map_or(1, usize::from).min(paths.len());
    let next = std::sync::atomic::AtomicUsize::new(0);
    let answers: Vec<std::sync::Mutex<Option<Result<Answer>>>> =
        paths.iter().map(|_| None.into()).collect();
    let folders = args.library.clone();
    std::thread::scope(|threads| {
        for _ in 0..workers {
            threads.spawn(|| {
                loop {
                    let index = next.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
                    let Some(path) = paths.get(index) else { break };
                    let answer = answer(args, &folders, plans, path);
                    if let Ok(mut slot) = answers[index].lock() {
                        *slot = Some(answer);
                    }
                }
            });
        }
    });
    let mut code = 0;
    let mut tables: Vec<ResultTable> = plans.iter().map(|_| ResultTable::default()).collect();
    for (path, answer) in paths.iter().zip(answers) {
        let answer = answer.into_inner().ok().flatten();
        match answer {
            Some(Ok(answer)) => {
                code = worse(code, answer.code);
                answer.merge_into(&mut tables, path);
            }
            Some(Err(error)) => code = worse(code, complain(&error)),
            None => code = crate::error::EXIT_FAILED,
        }
    }
    let answered: Vec<(&Plan, &ResultTable)> =
        plans.iter().zip(&tables).filter(|(_, table)| !table.columns.is_empty()).collect();
    if answered.is_empty() {
        return Ok(code);
    }
    let mut shared = Heading::default();
    shared.facts.insert("nsq".to_owned(), env!("CARGO_PKG_VERSION").into());
    let _ = catalog;
    args.output.write(plans.len(), |writer: &mut Writer<'_>| {
        for (plan, table) in answered {
            writer.result(&heading_of(plan, &shared), |sink| table.replay(sink))?;
        }
        Ok(())
    })?;
    Ok(code)
}

/// What one of several reports has to say.
struct Answer {
    tables: Vec<Option<ResultTable>>,
    code: u8,
}

fn answer(args: &Args, library: &LibraryArgs, plans: &[Plan], path: &Path) -> Result<Answer> {
    let limits = args.limits.limits();
    // A catalogue reads its files when they are asked for, so each thread has its own.
    let mut catalog = library.load()?;
    for spelling in &args.query {
        if let Some(path) = Invocation::parse(spelling).path() {
            catalog.add_file(path)?;
        }
    }
    let mut opened = Opened::open(args, path)?;
    let (answerable, code) = opened.answerable(&catalog, plans)?;
    let names: Vec<_> = answerable.iter().map(|plan| plan.query.clone()).collect();
    let session = opened.session(args, &catalog, &answerable, &limits)?;
    let mut tables = Vec::with_capacity(plans.len());
    for plan in plans {
        if !names.contains(&plan.query) {
            tables.push(None);
            continue;
        }
        let mut table = ResultTable::default();
        session.run(plan, &limits, &mut table)?;
        tables.push(Some(table));
    }
    Ok(Answer { tables, code })
}

impl Answer {
    /// Adds the rows under a first column that names their report.
    fn merge_into(self, merged: &mut [ResultTable], path: &Path) {
        for (table, into) in self.tables.into_iter().zip(merged) {
            let Some(table) = table else { continue };
            if into.columns.is_empty() {
                let mut report = Column::untyped("report");
                report.doc = "The report that the row comes from, as it was given.".to_owned();
                into.columns = std::iter::once(report).chain(table.columns).collect();
            }
            let name = path.display().to_string();
            into.rows.extend(table.rows.into_iter().map(|row| {
                std::iter::once(Value::Text(name.clone())).chain(row).collect::<Vec<Value>>()
            }));
        }
    }
}

/// The graver of two exit codes: a failure outweighs missing data.
fn worse(a: u8, b: u8) -> u8 {
    let weight = |code: u8| match code {
        0 => 0,
        crate::error::EXIT_LACKS_DATA => 1,
        _ => 2,
    };
    if weight(b) > weight(a) { b } else { a }
}
