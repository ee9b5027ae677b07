//! The SQL functions `time_spans` and `time_spans_apart`: intervals with an ID, for `split_spans`.
//!
//! The spans are a blob: for each, sorted by key and start, its key, start, end and ID, as 64-bit integers.

use super::aggregate::{aggregate, ints};
use super::numbers::numbers;
use rusqlite::functions::Context;
use rusqlite::types::ValueRef;
use rusqlite::{Connection, Result};
use std::cmp::Reverse;

/// An interval that is not empty.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Span {
    /// Spans of different keys, such as threads, have no time in common.
    pub key: i64,
    pub start: i64,
    pub end: i64,
    pub id: i64,
}

pub(super) fn register(connection: &Connection) -> Result<()> {
    aggregate(connection, "time_spans", 4, add, |spans| Ok(sorted(spans, false)))?;
    aggregate(connection, "time_spans_apart", 4, add, |spans| Ok(sorted(spans, true)))
}

/// The spans in a blob; none for null.
pub(super) fn read(value: ValueRef<'_>) -> Result<Vec<Span>> {
    let span = |numbers: &[_; 4]| {
        let [key, start, end, id] = numbers.map(i64::from_le_bytes);
        Span { key, start, end, id }
    };
    Ok(numbers(value)?.unwrap_or_default().iter().map(span).collect())
}

/// `time_spans(key, id, start_ns, end_ns)` and `time_spans_apart(key, id, start_ns, end_ns)`.
fn add(context: &mut Context<'_>, spans: &mut Vec<Span>) -> Result<()> {
    if let Some([key, id, start, end]) = ints(context, 0)?
        && start < end
    {
        spans.push(Span { key, start, end, id });
    }
    Ok(())
}

fn sorted(mut spans: Vec<Span>, are_apart: bool) -> Vec<u8> {
    spans.sort_unstable_by_key(|span| (span.key, span.start, Reverse(span.end), span.id));
    if are_apart {
        keep_apart(&mut spans);
    }
    let numbers = spans.into_iter().flat_map(|span| [span.key, span.start, span.end, span.id]);
    numbers.flat_map(i64::to_le_bytes).collect()
}

/// Leaves of each span what is after those before it, so that no two of a key overlap.
fn keep_apart(spans: &mut Vec<Span>) {
    let mut reached: Option<(i64, i64)> = None;
    spans.retain_mut(|span| {
        if let Some((_, until)) = reached.filter(|(key, _)| *key == span.key) {
            span.start = span.start.max(until);
        }
        let has_time = span.start < span.end;
        if has_time {
            reached = Some((span.key, span.end));
        }
        has_time
    });
}
