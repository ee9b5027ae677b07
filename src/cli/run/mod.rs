//! `nsq run`: runs named queries.

mod args;
mod explain;
mod many_reports;
mod plans;
mod watched;

use super::output::must_differ;
use super::{complain, many, note};
use crate::cli::opened;
use crate::cli::opened::noted;
pub(super) use args::Args;
use nsq_engine::compile::{Invocation, Layout, NsysUnits, Plan};
use nsq_library::catalog::Catalog;
use nsq_value::error::{Error, Result};
use plans::{answerable, heading_of, roots};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

pub(super) fn run(args: &Args) -> Result<u8> {
    let reports = many::named(&args.reports)?;
    must_differ(args.output.output.as_deref(), reports.iter().map(PathBuf::as_path))?;
    let mut catalog = args.library.load()?;
    let is_nsys = args.columns == ["nsys"];
    let layout = if is_nsys { Layout::Nsys(NsysUnits::default()) } else { Layout::Own };
    let mut invocations = invocations(&mut catalog, &args.query)?;
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

/// The queries that the user named. Files among them join the catalogue.
fn invocations(catalog: &mut Catalog, spelled: &[String]) -> Result<Vec<Invocation>> {
    let mut named: Vec<Invocation> = spelled.iter().map(|text| Invocation::parse(text)).collect();
    let mut sources: BTreeMap<String, String> = BTreeMap::new();
    for invocation in &named {
        let (name, source) = match invocation.path().map(Path::to_owned) {
            Some(path) => (Catalog::name_of_file(&path), path.display().to_string()),
            None => match catalog.query(&invocation.query) {
                Ok(query) => (query.header.name.clone(), format!("the query {}", query.header.name)),
                // It may be a file that is named, too.
                Err(_) => continue,
            },
        };
        // One name stands for one query, in output as well.
        match sources.insert(name.clone(), source.clone()) {
            Some(other) if other != source => {
                return Err(Error::usage(
                    format!("{other} and {source} have the same name, {name}"),
                    "rename a file, or run them one after the other",
                ));
            }
            _ => {}
        }
    }
    for invocation in &mut named {
        if let Some(path) = invocation.path().map(Path::to_owned) {
            invocation.query = catalog.add_file(&path)?;
        }
    }
    Ok(named)
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

/// Runs the plans on one report. Rows go directly from SQLite to the output.
fn one_report(
    args: &Args,
    catalog: &Catalog,
    plans: &[Plan],
    chosen: &[String],
    path: &Path,
) -> Result<u8> {
    let opened = opened::open(path, &args.open)?;
    let limits = args.limits.limits(args.many.threads.most());
    let (answerable, lacks) = answerable(&opened, catalog, plans)?;
    let code = lacks.iter().fold(0, |_, error| complain(error));
    if answerable.is_empty() {
        return Ok(code);
    }
    let mut scope = args.scope.resolve(&opened.schema)?;
    scope.rank = args.many.rank_of(path)?;
    let heading = opened.heading(&scope);
    // Explanations are for people; programs read the columns.
    let is_for_people = args.output.format()?.is_for_people();
    let explained = if is_for_people { answerable.as_slice() } else { &[] };
    let more = explain::relations(catalog, explained, &scope)?;
    let roots = roots(&answerable).chain(more.iter().map(String::as_str));
    let session = noted(opened.begin(catalog, &scope, roots, &limits)?);
    let mut answered = Vec::new();
    args.output.write_columns(chosen, plans.len(), |writer| {
        writer.use_threads(limits.threads);
        for plan in &answerable {
            answered.push(writer.result(&heading_of(plan, &heading), |sink| {
                watched::run(&session, plan, &limits, sink)
            })?);
        }
        Ok(())
    })?;
    let explainer =
        explain::Explainer { catalog, session: &session, scope: &scope, limits: &limits, args };
    explainer.notes(&answered, is_for_people)?.iter().for_each(|text| note(text));
    Ok(code)
}
