//! The rules that only a report can show: checks hold, and the order does not depend on luck.

use super::Finding;
use super::names::Place;
use crate::catalog::{Catalog, Query};
use crate::compile::{Invocation, Layout, Plan};
use crate::error::{Error, Result};
use crate::execute::{Limits, Session};
use crate::normalize::{self, Presence, Scope};
use crate::report::{ExportOptions, Report};
use crate::schema::Schema;
use crate::table::{ResultTable, Value};
use std::path::Path;

/// R11, R16: runs every query that can run on the report at `path`, reading its tables in both
/// directions.
pub fn check_on_report(catalog: &Catalog, path: &Path) -> Result<Vec<Finding>> {
    let mut findings = Vec::new();
    let forwards = run_all(catalog, path, false, &mut findings)?;
    let backwards = run_all(catalog, path, true, &mut findings)?;
    for ((query, one), (_, other)) in forwards.iter().zip(&backwards) {
        if one != other {
            findings.push(place(query).finding(
                "R11",
                "ORDER BY",
                format!(
                    "on {} the rows come out differently when tables are read backwards",
                    path.display()
                ),
                "end ORDER BY with what identifies a row",
            ));
        }
    }
    findings.sort();
    findings.dedup();
    Ok(findings)
}

fn place(query: &Query) -> Place<'_> {
    Place { file: &query.file, text: &query.text }
}

fn run_all<'c>(
    catalog: &'c Catalog,
    path: &Path,
    reversed: bool,
    findings: &mut Vec<Finding>,
) -> Result<Vec<(&'c Query, ResultTable)>> {
    let mut report = Report::open(path, &ExportOptions::default())?;
    let schema = Schema::detect(&report)?;
    let presence = Presence::new(&schema, catalog);
    let mut queries = Vec::new();
    for query in catalog.queries()? {
        match Plan::check_presence(query, &presence, path) {
            Ok(()) => queries.push(query),
            Err(Error::LacksData { .. }) => {}
            Err(error) => return Err(error),
        }
    }
    report.connection.pragma_update(None, "reverse_unordered_selects", reversed)?;
    let roots = queries.iter().flat_map(|query| query.header.reads.iter().map(String::as_str));
    let installation = normalize::plan(&schema, catalog, &Scope::default(), roots)?;
    let limits = Limits::default();
    let session = Session::begin(&mut report.connection, &installation, &limits)?;
    let mut results = Vec::with_capacity(queries.len());
    for query in queries {
        let plan = Plan::new(query, &Invocation::default(), &Layout::Own)?;
        let mut table = ResultTable::default();
        session.run(&plan, &limits, &mut table)?;
        check_predicates(query, plan, &session, path, findings)?;
        results.push((query, table));
    }
    Ok(results)
}

fn check_predicates(
    query: &Query,
    mut plan: Plan,
    session: &Session<'_>,
    path: &Path,
    findings: &mut Vec<Finding>,
) -> Result<()> {
    let statement = std::mem::take(&mut plan.sql);
    plan.columns.clear();
    for check in &query.header.checks {
        plan.sql = format!("SELECT count(*) FROM (\n{statement}\n) WHERE NOT ({check})");
        let mut table = ResultTable::default();
        session.run(&plan, &Limits::default(), &mut table)?;
        if let Some(Value::Int(broken)) = table.rows.first().and_then(|row| row.first())
            && *broken > 0
        {
            findings.push(place(query).finding(
                "R16",
                check,
                format!("on {} the check `{check}` fails for {broken} rows", path.display()),
                "mend the query, or the check",
            ));
        }
    }
    Ok(())
}
