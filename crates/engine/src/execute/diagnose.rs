//! Locates the error in a statement: file, line and column, with a caret under it.

use super::guard::{self, Rights};
use crate::compile::Plan;
use nsq_library::catalog::FINDING_TABLES;
use nsq_report::report::plain_message;
use nsq_value::error::{Error, did_you_mean, nearest};
use rusqlite::Connection;

/// Turns SQLite's error from preparing the plan's statement into ours.
pub(super) fn statement_error(
    plan: &Plan,
    error: rusqlite::Error,
    connection: &Connection,
    rights: &Rights,
) -> Error {
    if let Some(table) = rights.denied() {
        return guard::denied(&table, excerpt(plan, None));
    }
    let message = plain_message(&error);
    let offset = match &error {
        rusqlite::Error::SqlInputError { offset, .. } => usize::try_from(*offset).ok(),
        rusqlite::Error::MultipleStatement => None,
        rusqlite::Error::SqliteFailure(_, Some(_)) => None,
        _ => return Error::Sqlite(error),
    };
    let help = help_for(&message, plan, connection);
    Error::Sql { excerpt: excerpt(plan, offset), message, help }
}

/// The error for an argument that a function of the statement does not take.
pub(super) fn wrong_argument(plan: &Plan, sentence: String) -> Error {
    Error::Sql {
        message: sentence,
        excerpt: excerpt(plan, None),
        help:
            "`nsq show RELATION` lists the types of columns; `nsq list --functions` those of functions"
                .to_owned(),
    }
}

/// `--> file:line:column`, the source line, and a caret under the column.
fn excerpt(plan: &Plan, offset: Option<usize>) -> String {
    let (file, first_line) = &plan.origin;
    let Some(before) = offset.and_then(|offset| plan.sql.get(..offset)) else {
        return format!("  --> {file}:{first_line}");
    };
    let index = before.matches('\n').count();
    let line_start = before.rfind('\n').map_or(0, |at| at + 1);
    let line = plan.sql.lines().nth(index).unwrap_or_default();
    let column = before[line_start..].chars().count();
    let number = first_line + index;
    let margin = " ".repeat(number.to_string().len());
    format!(
        "{margin}--> {file}:{number}:{}\n{margin} |\n{number} | {line}\n{margin} | {}^",
        column + 1,
        " ".repeat(column)
    )
}

fn help_for(message: &str, plan: &Plan, connection: &Connection) -> String {
    if let Some(name) = message.strip_prefix("no such column: ") {
        let columns = columns_of(plan, connection);
        let bare = name.rsplit('.').next().unwrap_or(name).trim_matches('"');
        // Another relation of the statement may have it.
        let others = columns.iter().map(String::as_str).filter(|column| *column != bare);
        let near = nearest(bare, others);
        return match near.as_slice() {
            [] => format!("columns of {}: {}", tables_of(plan).join(", "), columns.join(", ")),
            near => did_you_mean(near),
        };
    }
    if message.starts_with("no such table: ") {
        return "`nsq list --relations` lists all relations; a query file must name those that it uses in `reads`"
            .to_owned();
    }
    if let Some(function) = message.strip_prefix("not authorized to use function: ") {
        return format!("reports are read-only, and {function}() does more than read: remove it");
    }
    if message.starts_with("no such function: ") {
        return "`nsq list --functions` lists those of nsq; all others are SQLite's".to_owned();
    }
    if message.starts_with("Multiple statements") {
        return "write one SELECT; WITH names the parts of a longer one".to_owned();
    }
    if ["cannot modify ", guard::NOT_AUTHORIZED].iter().any(|it| message.starts_with(it))
        || message.contains("prohibited")
    {
        return "reports are read-only".to_owned();
    }
    if guard::is_beyond_sqlite(message) {
        return "the statement, or a view that it reads, is too long or too deeply nested for SQLite: \
                split it with WITH, or into several statements"
            .to_owned();
    }
    String::new()
}

/// The relations that the statement reads, or the queries whose answers it reads.
fn tables_of(plan: &Plan) -> Vec<&str> {
    match plan.is_over_answers() {
        false => plan.reads.iter().map(String::as_str).collect(),
        true => {
            let findings = if plan.findings.is_some() { &FINDING_TABLES[..] } else { &[] };
            let asked = plan.asks.iter().map(|asked| asked.table.as_str());
            asked.chain(findings.iter().copied()).collect()
        }
    }
}

/// The columns of the relations that the plan reads.
fn columns_of(plan: &Plan, connection: &Connection) -> Vec<String> {
    let mut columns = Vec::new();
    for relation in tables_of(plan) {
        // The names come from the catalog, so they need no quoting.
        if let Ok(statement) = connection.prepare(&format!("SELECT * FROM {relation} LIMIT 0")) {
            columns.extend(statement.column_names().map(str::to_owned));
        }
    }
    columns.sort();
    columns.dedup();
    columns
}
