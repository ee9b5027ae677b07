//! The SQL functions `time_spans` and `time_spans_apart`: intervals with an ID, for `split_spans`.
//!
//! The spans are a blob: for each, sorted by key and start, its key, start, end and ID, as 64-bit integers.

use super::arguments::flags;
use rusqlite::functions::{Aggregate, Context};
use rusqlite::types::{Type, ValueRef};
use rusqlite::{Connection, Error, Result};
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

/// Bytes of a number, and numbers of a span.
const BYTES: usize = 8;
const NUMBERS: usize = 4;

pub(super) fn register(connection: &Connection) -> Result<()> {
    connection.create_aggregate_function("time_spans", 4, flags(), Spans { apart: false })?;
    connection.create_aggregate_function("time_spans_apart", 4, flags(), Spans { apart: true })
}

/// The spans in a blob; none for null.
pub(super) fn read(value: ValueRef<'_>) -> Result<Vec<Span>> {
    match value {
        ValueRef::Null => Ok(Vec::new()),
        ValueRef::Blob(blob) if blob.len().is_multiple_of(BYTES * NUMBERS) => {
            let spans = blob.as_chunks::<BYTES>().0.as_chunks::<NUMBERS>().0.iter();
            Ok(spans
                .map(|numbers| {
                    let [key, start, end, id] = numbers.map(i64::from_le_bytes);
                    Span { key, start, end, id }
                })
                .collect())
        }
        _ => Err(Error::InvalidFunctionParameterType(0, Type::Blob)),
    }
}

/// `time_spans(key, id, start_ns, end_ns)` and `time_spans_apart(key, id, start_ns, end_ns)`.
struct Spans {
    apart: bool,
}

impl Aggregate<Vec<Span>, Vec<u8>> for Spans {
    fn init(&self, _: &mut Context<'_>) -> Result<Vec<Span>> {
        Ok(Vec::new())
    }

    fn step(&self, context: &mut Context<'_>, spans: &mut Vec<Span>) -> Result<()> {
        let numbers: [Option<i64>; NUMBERS] =
            [context.get(0)?, context.get(1)?, context.get(2)?, context.get(3)?];
        if let [Some(key), Some(id), Some(start), Some(end)] = numbers
            && start < end
        {
            spans.push(Span { key, start, end, id });
        }
        Ok(())
    }

    fn finalize(&self, _: &mut Context<'_>, spans: Option<Vec<Span>>) -> Result<Vec<u8>> {
        let mut spans = spans.unwrap_or_default();
        spans.sort_unstable_by_key(|span| (span.key, span.start, Reverse(span.end), span.id));
        if self.apart {
            keep_apart(&mut spans);
        }
        let numbers = spans.into_iter().flat_map(|span| [span.key, span.start, span.end, span.id]);
        Ok(numbers.flat_map(i64::to_le_bytes).collect())
    }
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
