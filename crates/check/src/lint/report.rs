//! Rules that need a report: all checks are true for every row, and the order has no ties.

use super::Finding;
use super::names::Place;
use super::statement::audit;
use nsq_engine::compile::{Invocation, Layout, Plan};
use nsq_engine::execute::{Limits, Session};
use nsq_engine::normalize::{self, Presence, Scope};
use nsq_library::catalog::Catalog;
use nsq_report::report::{ExportOptions, Report};
use nsq_report::schema::Schema;
use nsq_value::error::{Error, Result};
use nsq_value::table::Value;
use std::path::Path;

/// R11, R16, R18: runs each query that the report at `path` has data for. Queries with required parameters
/// are left out.
pub fn check_on_report(catalog: &Catalog, path: &Path) -> Result<Vec<Finding>> {
    let report = Report::open(path, &ExportOptions::default())?;
    let schema = Schema::detect(&report)?;
    let presence = Presence::new(&schema, catalog);
    let mut plans = Vec::new();
    for query in catalog.readable_queries() {
        if query.header.params.iter().any(|param| param.required) {
            continue;
        }
        let plan = Plan::new(catalog, &Invocation::parse(&query.header.name), &Layout::Own)?;
        match plan.check_presence(&presence, path) {
            Ok(()) => plans.push((query, plan)),
            Err(Error::LacksData { .. }) => {}
            Err(error) => return Err(error),
        }
    }
    let roots = plans.iter().flat_map(|(_, plan)| plan.reads.iter().map(String::as_str));
    let installation = normalize::plan(&schema, catalog, &Scope::default(), roots)?;
    let session = Session::begin(report.connect()?, &installation, &Limits::default())?;
    let mut findings = Vec::new();
    for (query, plan) in plans {
        let mut add = |rule, needle: &str, message: String, help: &str| {
            let place = Place { file: &query.file, text: &query.text };
            findings.push(place.finding(
                rule,
                needle,
                format!("on {}: {message}", path.display()),
                help,
            ));
        };
        if let Some(condition) = &plan.rows_if {
            let count = |plan: &Plan| -> Result<usize> {
                Ok(session.table(plan, &Limits::default())?.rows.len())
            };
            let hidden = count(&Plan { rows_if: None, ..plan.clone() })? - count(&plan)?;
            if hidden > 0 {
                let message = format!("`rows_if: {condition}` is false, but there are {hidden} rows");
                add("R18", "rows_if:", message, "write a condition that is true for every row");
            }
        }
        let counts = audit_counts(&session, plan, &query.header.checks)?;
        let (ties, broken) = counts.split_first().unwrap_or((&0, &[]));
        for (check, broken) in query.header.checks.iter().zip(broken).filter(|(_, broken)| **broken > 0)
        {
            let message = format!("the check `{check}` fails for {broken} rows");
            add("R16", check, message, "fix the query or the check");
        }
        if *ties > 0 {
            let message = format!("ORDER BY leaves ties between {ties} rows");
            add("R11", "ORDER BY", message, "end ORDER BY with columns that identify a row");
        }
    }
    findings.sort();
    Ok(findings)
}

/// The counts of [`audit`]: ties first, then the rows that break each check.
fn audit_counts(session: &Session, mut plan: Plan, checks: &[String]) -> Result<Vec<i64>> {
    plan.sql = audit(&plan.sql, checks);
    plan.columns.clear();
    plan.rows_if = None;
    let table = session.table(&plan, &Limits::default())?;
    let count = |value: &Value| match value {
        Value::Int(count) => *count,
        _ => 0,
    };
    Ok(table.rows.first().into_iter().flatten().map(count).collect())
}
