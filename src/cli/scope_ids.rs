//! Checks the IDs of `--device`, `--stream` and `--process` against the report.

use super::record::rows_of;
use crate::catalog::Catalog;
use crate::compile::{Invocation, Layout, Plan};
use crate::error::{Error, Result};
use crate::execute::{Limits, Session};
use crate::normalize::Scope;

/// The query that lists the IDs of a report.
const QUERY: &str = "scope_ids";
/// Most IDs to list in an error.
const MAX_LISTED: usize = 20;

/// An option and the IDs that the user gave it.
type Given<'a> = (&'static str, &'a [i64]);

fn given(scope: &Scope) -> impl Iterator<Item = Given<'_>> {
    let options =
        [("device", &scope.devices), ("stream", &scope.streams), ("process", &scope.processes)];
    options.into_iter().map(|(option, ids)| (option, ids.as_slice())).filter(|(_, ids)| !ids.is_empty())
}

/// The relations that the check reads; none if the scope has no IDs.
pub(super) fn relations<'c>(catalog: &'c Catalog, scope: &Scope) -> Result<Vec<&'c str>> {
    match given(scope).next() {
        Some(_) => Ok(catalog.query(QUERY)?.header.reads.iter().map(String::as_str).collect()),
        None => Ok(Vec::new()),
    }
}

/// Fails if the report has no device, stream or process with a given ID.
pub(super) fn check(session: &Session, catalog: &Catalog, scope: &Scope, limits: &Limits) -> Result<()> {
    for (option, ids) in given(scope) {
        let invocation = Invocation::parse(QUERY).with_params(&[format!("option={option}")])?;
        let plan = Plan::new(catalog, &invocation, &Layout::Own)?;
        let rows = rows_of(session, &plan, limits)?;
        let known: Vec<i64> = rows.iter().filter_map(|row| row.int("id")).collect();
        // An export without processes or GPU work cannot tell.
        if let Some(unknown) = ids.iter().find(|id| !known.contains(id))
            && !known.is_empty()
        {
            let listed: Vec<String> = known.iter().take(MAX_LISTED).map(i64::to_string).collect();
            let more = match known.len().saturating_sub(MAX_LISTED) {
                0 => String::new(),
                more => format!(" and {more} more"),
            };
            return Err(Error::usage(
                format!("unknown {option} {unknown}: the report has no such {option} ID"),
                format!(
                    "{option} IDs in the report: {}{more}; `--query {QUERY}` lists them",
                    listed.join(", ")
                ),
            ));
        }
    }
    Ok(())
}
