//! `nsq run`: runs named queries.

mod explain;
mod many_reports;

use super::opened::Opened;
use super::options::{ClassArgs, LibraryArgs, LimitArgs, ManyArgs, OpenArgs, ScopeArgs};
use super::output::{OutputArgs, must_differ};
use super::{complain, many, note};
use crate::catalog::Catalog;
use crate::compile::{Invocation, Layout, Plan, TimeUnit};
use crate::error::{Error, Result};
use crate::normalize::Presence;
use crate::render::Heading;
use crate::table::Value;
use std::path::{Path, PathBuf};

/// Run named queries on one or more reports
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  nsq run report.sqlite --query top_kernels
  nsq run report.sqlite --query top_kernels -p limit=5 --device 0 --time 1s/2s
  nsq run rank0.sqlite rank1.sqlite --query cuda_gpu_kern_sum:base -o kernels.csv
  nsq run report.sqlite --query cuda_api_sum --query nvtx_sum --format json
  nsq run report.sqlite --query my_question.sql

Add @VERSION to a query name to require that version. Add NVIDIA's arguments after colons.")]
pub(super) struct Args {
    /// SQLite exports, .nsys-rep files or PyTorch traces, folders of them, or quoted patterns; several
    /// reports add a first column `report`.
    #[arg(required = true, value_name = "REPORT")]
    reports: Vec<PathBuf>,
    /// Query to run: NAME[@VERSION][:ARG…], or the path of a .sql file; may be repeated.
    #[arg(short, long = "query", required = true, value_name = "QUERY")]
    query: Vec<String>,
    /// Set a parameter of the query; may be repeated.
    #[arg(short, long = "param", value_name = "KEY=VALUE")]
    param: Vec<String>,
    /// Columns to show, in this order; `nsys`: those of nsys stats, with its names, arithmetic and rounding
    /// [default: all of the query's own]
    #[arg(long, value_name = "A,B,…|nsys", value_delimiter = ',', help_heading = "Output")]
    columns: Vec<String>,
    #[command(flatten)]
    scope: ScopeArgs,
    #[command(flatten)]
    output: OutputArgs,
    #[command(flatten)]
    limits: LimitArgs,
    #[command(flatten)]
    many: ManyArgs,
    #[command(flatten)]
    open: OpenArgs,
    #[command(flatten)]
    library: LibraryArgs,
    #[command(flatten)]
    classes: ClassArgs,
}

impl Args {
    pub(super) fn output(&self) -> &OutputArgs {
        &self.output
    }
}

pub(super) fn run(args: &Args) -> Result<u8> {
    let reports = many::named(&args.reports)?;
    must_differ(args.output.output.as_deref(), reports.iter().map(PathBuf::as_path))?;
    let mut catalog = args.library.load()?;
    let is_nsys = args.columns == ["nsys"];
    let layout = if is_nsys { Layout::Nsys(TimeUnit::Ns) } else { Layout::Own };
    let mut invocations = Vec::new();
    for spelling in &args.query {
        let mut invocation = Invocation::parse(spelling);
        if let Some(path) = invocation.path().map(Path::to_owned) {
            invocation.query = catalog.add_file(&path)?;
        }
        invocations.push(invocation);
    }
    give_params(&catalog, &mut invocations, &args.param)?;
    // Report errors in the command line before any report is opened.
    let plans = invocations
        .iter()
        .map(|invocation| Plan::new(&catalog, invocation, &layout))
        .collect::<Result<Vec<Plan>>>()?;
    let chosen = if is_nsys { &[] } else { chosen_columns(args, &plans)? };
    args.classes.choose(&mut catalog, plans.iter().map(|plan| plan.sql.as_str()))?;
    match reports.as_slice() {
        [report] => one_report(args, &catalog, &plans, chosen, report),
        reports => many_reports::run(args, &catalog, &plans, chosen, reports),
    }
}

/// The columns that the user chose. Each must be a column of at least one query.
fn chosen_columns<'a>(args: &'a Args, plans: &[Plan]) -> Result<&'a [String]> {
    let columns = || plans.iter().flat_map(|plan| &plan.columns);
    for wanted in args.columns.iter().filter(|wanted| *wanted != "own") {
        if !columns().any(|column| column.name == *wanted || column.header() == *wanted) {
            let names: Vec<&str> = columns().map(|column| column.name.as_str()).collect();
            let help = format!("columns: {}", names.join(", "));
            return Err(Error::unknown("column", wanted, names, help));
        }
    }
    Ok(if args.columns == ["own"] { &[] } else { &args.columns })
}

/// Gives each parameter to the queries that have it. A parameter that no query has is an error.
fn give_params(catalog: &Catalog, invocations: &mut [Invocation], params: &[String]) -> Result<()> {
    for param in params {
        let key = param.split('=').next().unwrap_or_default().trim();
        let takes = |invocation: &Invocation| {
            catalog
                .query(&invocation.query)
                .is_ok_and(|query| query.header.params.iter().any(|p| p.name == key))
        };
        let taken = invocations.iter().any(takes);
        for invocation in invocations.iter_mut().filter(|invocation| !taken || takes(invocation)) {
            *invocation = invocation.clone().with_params(std::slice::from_ref(param))?;
        }
    }
    Ok(())
}

/// The plans that can run on the report, and for each of the others the reason why not.
fn answerable<'p>(
    opened: &Opened,
    catalog: &Catalog,
    plans: &'p [Plan],
) -> Result<(Vec<&'p Plan>, Vec<Error>)> {
    let presence = Presence::new(&opened.schema, catalog);
    let (mut answerable, mut lacks) = (Vec::new(), Vec::new());
    for plan in plans {
        match plan.check_presence(&presence, &opened.report.path) {
            Ok(()) => answerable.push(plan),
            Err(error) => lacks.push(error),
        }
    }
    Ok((answerable, lacks))
}

/// The relations that the plans read.
fn roots<'p>(plans: &[&'p Plan]) -> impl Iterator<Item = &'p str> {
    plans.iter().flat_map(|plan| plan.reads.iter().map(String::as_str)).collect::<Vec<_>>().into_iter()
}

fn heading_of(plan: &Plan, shared: &Heading) -> Heading {
    let (title, sql) = (plan.title.clone(), plan.sql.clone());
    let mut heading = Heading { title, sql, facts: shared.facts.clone() };
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

/// Runs the plans on one report. Rows go directly from SQLite to the output.
fn one_report(
    args: &Args,
    catalog: &Catalog,
    plans: &[Plan],
    chosen: &[String],
    path: &Path,
) -> Result<u8> {
    args.many.threads.allow();
    let opened = Opened::open(path, &args.open)?;
    let limits = args.limits.limits();
    let (answerable, lacks) = answerable(&opened, catalog, plans)?;
    let code = lacks.iter().fold(0, |_, error| complain(error));
    if answerable.is_empty() {
        return Ok(code);
    }
    let scope = args.scope.resolve(&opened.schema)?;
    let heading = opened.heading(&scope);
    // Explanations are for people; programs read the columns.
    let is_for_people = args.output.format()?.is_for_people();
    let explained = if is_for_people { answerable.as_slice() } else { &[] };
    let more = explain::relations(catalog, explained, &scope)?;
    let roots = roots(&answerable).chain(more.iter().map(String::as_str));
    let session = opened.session(catalog, &scope, roots, &limits)?;
    let mut answered = Vec::new();
    args.output.write_columns(chosen, plans.len(), |writer| {
        for plan in &answerable {
            answered.push(writer.result(&heading_of(plan, &heading), |sink| {
                explain::run(&session, plan, &limits, sink)
            })?);
        }
        Ok(())
    })?;
    let explainer =
        explain::Explainer { catalog, session: &session, scope: &scope, limits: &limits, args };
    explainer.notes(&answered, is_for_people)?.iter().for_each(|text| note(text));
    Ok(code)
}
