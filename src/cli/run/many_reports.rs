//! `nsq run` on several reports: processed in parallel, with a first column `report` in the results.

use super::args::Args;
use super::plans::{answerable, heading_of, roots};
use super::{explain, watched};
use crate::cli::failures::{Failure, worse};
use crate::cli::opened;
use crate::cli::opened::shortest_names;
use crate::cli::options::Clock;
use crate::cli::{many, note};
use nsq_ask::page::{Partials, ReportAnswers};
use nsq_engine::compile::Plan;
use nsq_library::catalog::Catalog;
use nsq_render::render::Heading;
use nsq_render::render::Writer;
use nsq_value::error::{EXIT_FAILED, Error, Result};
use nsq_value::table::ResultTable;
use std::path::{Path, PathBuf};

/// Processes as many reports in parallel as the limits on threads and open files allow.
///
/// Prints one table per query, with the rows in the order of the reports.
pub(super) fn run(
    args: &Args,
    catalog: &Catalog,
    plans: &[Plan],
    chosen: &[String],
    paths: &[PathBuf],
) -> Result<u8> {
    let partials = Partials::of(plans);
    // People tell reports apart by short names; programs join them by the path that was given.
    let names = match args.output.format()?.is_for_people() {
        true => shortest_names(paths),
        false => paths.iter().map(|path| path.display().to_string()).collect(),
    };
    let all: Vec<&Plan> = plans.iter().collect();
    let gathering = partials.gather(&all)?;
    let (answers, clock) = many::each(paths, &args.many, &args.limits, |place, path, clock| {
        let mut answer = answer(args, catalog, &partials, path, clock);
        let tables = answer.as_mut().ok().map(|answer| std::mem::take(&mut answer.tables));
        let report = tables.map(|tables| ReportAnswers { name: names[place].clone(), tables });
        gathering.add(place, report)?;
        answer
    });
    let (mut code, mut failures) = (0, Vec::new());
    let mut facts: Vec<serde_json::Value> = Vec::new();
    for ((path, name), answer) in paths.iter().zip(&names).zip(answers) {
        match answer {
            Some(Ok(answer)) => {
                failures.extend(answer.lacks.into_iter().map(|error| Failure { name, path, error }));
                let texts = answer.notes.iter().chain(&answer.explanations);
                texts.for_each(|text| note(&format!("{name}: {text}")));
                facts.push(answer.facts.clone().into());
            }
            Some(Err(Error::Interrupted)) => return Err(Error::Interrupted),
            Some(Err(error)) => failures.push(Failure { name, path, error }),
            None => code = EXIT_FAILED,
        }
    }
    let answered = (facts.len(), paths.len());
    let (worst, is_shown) =
        many::complain(&failures, answered, &args.many, args.output.output.as_deref());
    code = worse(code, worst);
    if !is_shown {
        return Ok(code);
    }
    let limits = clock.limits();
    let tables = partials.answer(&all, gathering, true, catalog.classes(), &limits)?;
    let answered: Vec<(&Plan, &ResultTable)> =
        plans.iter().zip(&tables).filter(|(_, table)| !table.columns.is_empty()).collect();
    if answered.is_empty() {
        return Ok(code);
    }
    let mut shared = Heading::of_nsq();
    shared.facts.insert("reports".to_owned(), facts.into());
    let with_report: Vec<String> = match chosen {
        [] => Vec::new(),
        chosen if chosen.iter().any(|name| name == "report") => chosen.to_vec(),
        chosen => std::iter::once("report".to_owned()).chain(chosen.iter().cloned()).collect(),
    };
    args.output.write_columns(&with_report, plans.len(), |writer: &mut Writer<'_>| {
        for (plan, table) in answered {
            writer.result(&heading_of(plan, &shared), |sink| table.replay(sink))?;
        }
        Ok(())
    })?;
    Ok(code)
}

/// The results of one report.
struct Answer {
    facts: serde_json::Map<String, serde_json::Value>,
    tables: Vec<Option<ResultTable>>,
    /// Why some queries have no result. Printed in the order of the reports.
    lacks: Vec<Error>,
    notes: Vec<String>,
    /// What the user must know about this report's rows.
    explanations: Vec<String>,
}

fn answer(
    args: &Args,
    catalog: &Catalog,
    partials: &Partials,
    path: &Path,
    clock: &mut Clock,
) -> Result<Answer> {
    let opened = clock.pause(|| opened::open(path, &args.open))?;
    let limits = clock.limits();
    let (answerable, lacks) = answerable(&opened, catalog, partials.plans())?;
    let names: Vec<_> = answerable.iter().map(|plan| plan.query.clone()).collect();
    let is_for_people = args.output.format()?.is_for_people();
    let mut scope = args.scope.resolve(&opened.schema)?;
    scope.rank = args.many.rank_of(path)?;
    let facts = opened.heading(&scope).facts;
    let explained = if is_for_people { answerable.as_slice() } else { &[] };
    let more = explain::relations(catalog, explained, &scope)?;
    let roots = roots(&answerable).chain(more.iter().map(String::as_str));
    let (session, notes) = opened.begin(catalog, &scope, roots, &limits)?;
    let (mut tables, mut answered) = (Vec::with_capacity(partials.plans().len()), Vec::new());
    for plan in partials.plans() {
        if !names.contains(&plan.query) {
            tables.push(None);
            continue;
        }
        let mut table = ResultTable::default();
        answered.push(watched::run(&session, plan, &limits, &mut table)?);
        tables.push(Some(table));
    }
    let explainer =
        explain::Explainer { catalog, session: &session, scope: &scope, limits: &limits, args };
    let explanations = explainer.notes(&answered, is_for_people)?;
    Ok(Answer { facts, tables, lacks, notes, explanations })
}
