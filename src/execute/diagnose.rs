//! Where in which file a statement is wrong, with a caret under it.

use super::guard::{self, Rights};
use crate::compile::Plan;
use crate::error::{Error, nearest};
use crate::report::plain_message;
use rusqlite::Connection;

/// The error of preparing the plan's statement.
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

/// `--> file:line:column`, the line and a caret.
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
        let near = nearest(bare, columns.iter().map(String::as_str));
        return match near.as_slice() {
            [] => format!("the columns of {}: {}", plan.reads.join(", "), columns.join(", ")),
            near => format!("did you mean {}?", near.join(" or ")),
        };
    }
    if message.starts_with("no such table: ") {
        return "`nsq list --relations` shows the vocabulary".to_owned();
    }
    if let Some(function) = message.strip_prefix("not authorized to use function: ") {
        return format!("a report can only be read, and {function}() does more: leave it out");
    }
    if message.starts_with(guard::NOT_AUTHORIZED) || message.contains("prohibited") {
        return "a report can only be read".to_owned();
    }
    if guard::is_beyond_sqlite(message) {
        return "the statement, or a view that it reads, is nested deeper or is longer than SQLite takes: \
                ask in smaller parts, by WITH or in several statements"
            .to_owned();
    }
    String::new()
}

/// The columns of the relations that the plan reads.
fn columns_of(plan: &Plan, connection: &Connection) -> Vec<String> {
    let mut columns = Vec::new();
    for relation in &plan.reads {
        // The names come from the catalogue, so they need no quoting.
        if let Ok(statement) = connection.prepare(&format!("SELECT * FROM {relation} LIMIT 0")) {
            columns.extend(statement.column_names().map(str::to_owned));
        }
    }
    columns.sort();
    columns.dedup();
    columns
}
