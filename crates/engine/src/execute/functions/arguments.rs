//! What the functions share: their flags, and their arguments.

use rusqlite::functions::{Context, FunctionFlags};
use rusqlite::types::{Type, ValueRef};
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

/// The text in the only argument; `None` for null.
pub(super) fn text<'a>(context: &'a Context<'_>) -> Result<Option<Cow<'a, str>>> {
    match context.get_raw(0) {
        ValueRef::Null => Ok(None),
        ValueRef::Text(text) => Ok(Some(String::from_utf8_lossy(text))),
        ValueRef::Integer(_) => Err(Error::InvalidFunctionParameterType(0, Type::Integer)),
        ValueRef::Real(_) => Err(Error::InvalidFunctionParameterType(0, Type::Real)),
        ValueRef::Blob(_) => Err(Error::InvalidFunctionParameterType(0, Type::Blob)),
    }
}

/// The number in an argument; `None` for null.
pub(super) fn number(context: &Context<'_>, index: usize) -> Result<Option<f64>> {
    match context.get_raw(index) {
        ValueRef::Null => Ok(None),
        ValueRef::Integer(int) => Ok(Some(int as f64)),
        ValueRef::Real(real) => Ok(Some(real)),
        ValueRef::Text(_) => Err(Error::InvalidFunctionParameterType(index, Type::Text)),
        ValueRef::Blob(_) => Err(Error::InvalidFunctionParameterType(index, Type::Blob)),
    }
}
