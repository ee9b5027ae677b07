//! `nsq run`: runs named queries.

mod args;
mod named;
mod page;
mod plans;

use super::output::must_differ;
use super::reports::{self, inputs, open, tell};
use super::{complain, note};
pub(super) use args::Args;
use named::{give_params, named};
use nsq_ask::input::shortest_names;
use nsq_ask::request::Request;
use nsq_engine::compile::{Layout, NsysUnits, Plan};
use nsq_library::catalog::Catalog;
use nsq_value::error::{Error, Result};
use plans::heading_of;
use std::path::{Path, PathBuf};

pub(super) fn run(args: &Args) -> Result<u8> {
    let mut catalog = args.how.library.load()?;
    let args = &args.sorted(&catalog)?;
    if let Some(page) = args.page(&catalog)? {
        return page::run(args, page);
    }
    if args.layout.is_some() {
        return Err(Error::usage("--layout needs a page", "`nsq list --pages` lists the pages"));
    }
    let paths = reports::named(&args.reports)?;
    let read = paths.iter().map(PathBuf::as_path).chain(args.how.open.trace());
    must_differ(args.how.output.output.as_deref(), read)?;
    let is_nsys = args.columns == ["nsys"];
    let layout = if is_nsys { Layout::Nsys(NsysUnits::default()) } else { Layout::Own };
    let named = named(&mut catalog, &args.query)?;
    let named = give_params(&catalog, named, &args.param)?;
    // Report errors in the command line before any report is opened.
    let plans =
        named.into_iter().map(|one| one.plan(&catalog, &layout)).collect::<Result<Vec<Plan>>>()?;
    let chosen = if is_nsys { &[] } else { chosen_columns(args, &plans)? };
    args.how.classes.choose(&mut catalog, plans.iter().map(|plan| plan.sql.as_str()))?;
    ask(args, &catalog, &plans, chosen, &paths)
}

/// Asks the reports, and prints a table for each plan. Rows of a single report go directly from SQLite to the output.
fn ask(
    args: &Args,
    catalog: &Catalog,
    plans: &[Plan],
    chosen: &[String],
    paths: &[PathBuf],
) -> Result<u8> {
    // Explanations are for people; programs read the columns.
    let is_for_people = args.how.output.format()?.is_for_people();
    let asking =
        Request { params: args.param.clone(), explains: is_for_people, ..args.how.request(catalog) };
    // People tell reports apart by short names; programs join them by the path that was given.
    let names = match is_for_people {
        true => shortest_names(paths),
        false => paths.iter().map(|path| path.display().to_string()).collect(),
    };
    let are_several = paths.len() > 1;
    let options = args.how.open.for_reports(paths)?;
    let opener = |path: &Path| open(path, &options);
    let mut begun = asking.queries(&inputs(paths, names, &opener), plans)?;
    let answered = (begun.reports.len(), paths.len());
    let (code, is_shown) = match are_several {
        true => {
            tell(&begun.reports, 0, true);
            reports::complain(
                &begun.failures,
                answered,
                &args.how.many,
                args.how.output.output.as_deref(),
            )
        }
        // Data that is missing for one query does not keep the report from answering the others.
        false => {
            let lacks = begun.failures.iter();
            let code = lacks.fold(0, |_, failed| complain(&failed.error));
            tell(&begun.reports, 0, false);
            (code, !begun.reports.is_empty())
        }
    };
    let told = begun.reports.first().map_or(0, |about| about.notes.len());
    if !is_shown {
        return Ok(code);
    }
    let columns: Vec<String> = match chosen {
        chosen if !are_several || chosen.is_empty() || chosen.iter().any(|name| name == "report") => {
            chosen.to_vec()
        }
        chosen => std::iter::once("report".to_owned()).chain(chosen.iter().cloned()).collect(),
    };
    let (heading, mut without_rows) = (begun.heading(), Vec::new());
    if !begun.has_answers() {
        return Ok(code);
    }
    args.how.output.write_columns(&columns, plans.len(), |writer| {
        writer.use_threads(asking.limits.threads);
        begun.results(&mut |plan, rows| {
            let count = writer.result(&heading_of(plan, &heading), |sink| rows(sink))?;
            without_rows.extend((count == 0).then(|| plan.clone()));
            Ok(())
        })
    })?;
    match are_several {
        true if is_for_people => tell_of_none(catalog, &without_rows),
        true => {}
        false => tell(&begun.reports, told, false),
    }
    Ok(code)
}

/// Says what it means that queries over the answers of several reports returned no rows. Of other queries, each report
/// does.
fn tell_of_none(catalog: &Catalog, plans: &[Plan]) {
    for (name, _) in
        plans.iter().filter(|plan| !plan.asks.is_empty()).filter_map(|plan| plan.query.as_ref())
    {
        let header = catalog.query(name).ok().map(|query| &query.header);
        if let Some(reason) = header.and_then(|header| header.when_empty.as_ref()) {
            note(&format!("{name} returned no rows: {reason}"));
        }
    }
}

/// The columns that the user chose. Each must be a column of at least one query.
fn chosen_columns<'a>(args: &'a Args, plans: &[Plan]) -> Result<&'a [String]> {
    let columns = || plans.iter().flat_map(|plan| &plan.columns);
    if plans.iter().any(|plan| plan.columns.is_empty()) {
        // Only SQLite knows the columns of a statement.
        return Ok(&args.columns);
    }
    for wanted in args.columns.iter().filter(|wanted| *wanted != "own") {
        if !columns().any(|column| column.name == *wanted || column.header() == *wanted) {
            let names: Vec<&str> = columns().map(|column| column.name.as_str()).collect();
            let help = format!("columns: {}", names.join(", "));
            return Err(Error::unknown("column", wanted, names, help));
        }
    }
    Ok(if args.columns == ["own"] { &[] } else { &args.columns })
}
