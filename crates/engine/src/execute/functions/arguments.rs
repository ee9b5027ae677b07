//! What the functions share: their flags, and their arguments.

use rusqlite::functions::{Context, FunctionFlags};
use rusqlite::types::ValueRef;
use rusqlite::{Error, Result};
use std::borrow::Cow;

/// Flags of a function that is deterministic and has no side effects.
pub(super) fn flags() -> FunctionFlags {
    FunctionFlags::SQLITE_UTF8 | FunctionFlags::SQLITE_DETERMINISTIC | FunctionFlags::SQLITE_INNOCUOUS
}

/// Adds an interval, unless it is empty.
pub(super) fn add_interval(intervals: &mut Vec<(i64, i64)>, start: i64, end: i64) {
    if start >= end {
        return;
    }
    match intervals.last_mut() {
        // Most intervals come sorted. Merging those at once keeps one entry per busy period.
        Some(last) if last.0 <= start && start <= last.1 => last.1 = last.1.max(end),
        _ => intervals.push((start, end)),
    }
}

/// The error for an argument of another type. SQLite adds no name of the function, nor the value.
fn refused(index: usize, is: &str, takes: &str) -> Error {
    Error::UserFunctionError(format!("argument {} of a function is {is}, not {takes}", index + 1).into())
}

/// The text in the only argument; `None` for null.
pub(super) fn text<'a>(context: &'a Context<'_>) -> Result<Option<Cow<'a, str>>> {
    match context.get_raw(0) {
        ValueRef::Null => Ok(None),
        ValueRef::Text(text) => Ok(Some(String::from_utf8_lossy(text))),
        ValueRef::Integer(_) => Err(refused(0, "an integer", "text")),
        ValueRef::Real(_) => Err(refused(0, "a real number", "text")),
        ValueRef::Blob(_) => Err(refused(0, "a blob", "text")),
    }
}

/// The number in an argument; `None` for null.
pub(super) fn number(context: &Context<'_>, index: usize) -> Result<Option<f64>> {
    match context.get_raw(index) {
        ValueRef::Null => Ok(None),
        ValueRef::Integer(int) => Ok(Some(int as f64)),
        ValueRef::Real(real) => Ok(Some(real)),
        ValueRef::Text(_) => Err(refused(index, "text", "a number")),
        ValueRef::Blob(_) => Err(refused(index, "a blob", "a number")),
    }
}
