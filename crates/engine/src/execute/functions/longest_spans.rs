//! The SQL function `longest_spans`: the longest of many intervals, without a sort in SQL.

use super::aggregate::{aggregate, ints};
use crate::execute::native::texts::{Texts, readable};
use rusqlite::functions::Context;
use rusqlite::types::{Type, ValueRef};
use rusqlite::{Connection, Error, Result};
use serde_json::json;
use std::fmt::Write;

pub(super) fn register(connection: &Connection) -> Result<()> {
    aggregate(connection, "longest_spans", 6, add, longest)
}

#[derive(Debug, Clone, Copy)]
struct Span {
    lane: i64,
    start: i64,
    end: i64,
    at: i64,
    /// The place of the name.
    name: Option<u32>,
}

impl Span {
    fn length(&self) -> i64 {
        self.end.saturating_sub(self.start)
    }
}

#[derive(Debug, Default)]
struct Spans {
    at_most: usize,
    spans: Vec<Span>,
    /// How many there may be before the shorter ones are forgotten.
    room: usize,
    names: Texts,
}

impl Spans {
    /// The length of the last one that is kept.
    fn least(&self) -> i64 {
        if self.spans.len() <= self.at_most {
            return i64::MIN;
        }
        let mut lengths: Vec<i64> = self.spans.iter().map(Span::length).collect();
        let last = self.at_most.saturating_sub(1);
        *lengths.select_nth_unstable_by(last, |a, b| b.cmp(a)).1
    }

    /// Forgets those that are not among the longest so far: a large report has ten times as many.
    fn forget_short(&mut self) {
        let least = self.least();
        self.spans.retain(|span| span.length() >= least);
        self.room = self.spans.len().max(self.at_most).saturating_mul(2);
    }
}

/// `longest_spans(at_most, lane, start_ns, end_ns, at_ns, name)`. The first is the same in all rows.
fn add(context: &mut Context<'_>, spans: &mut Spans) -> Result<()> {
    spans.at_most = usize::try_from(context.get::<i64>(0)?).unwrap_or_default();
    let numbers = ints(context, 1)?;
    let name = match context.get_raw(5) {
        ValueRef::Null => None,
        ValueRef::Text(text) => Some(readable(text)),
        ValueRef::Integer(int) => Some(int.to_string().into()),
        ValueRef::Real(_) => return Err(Error::InvalidFunctionParameterType(5, Type::Real)),
        ValueRef::Blob(_) => return Err(Error::InvalidFunctionParameterType(5, Type::Blob)),
    };
    if let Some([lane, start, end, at]) = numbers {
        let name = name.map(|name| spans.names.place(name.as_bytes()));
        spans.spans.push(Span { lane, start, end, at, name });
        if spans.spans.len() > spans.room {
            spans.forget_short();
        }
    }
    Ok(())
}

fn longest(spans: Spans) -> Result<String> {
    let names: Vec<String> = spans.names.iter().map(|name| json!(name).to_string()).collect();
    let least = spans.least();
    let mut text = "[".to_owned();
    for span in spans.spans.iter().filter(|span| span.length() >= least) {
        let comma = if text.len() > 1 { "," } else { "" };
        let Span { lane, start, end, at, .. } = span;
        let name = span.name.map_or("null", |name| &names[name as usize]);
        // Writing to a text does not fail.
        _ = write!(text, "{comma}[{lane},{start},{end},{at},{name}]");
    }
    text.push(']');
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn longest(at_most: i64, values: &str) -> Result<String> {
        let connection = Connection::open_in_memory()?;
        register(&connection)?;
        let sql = format!(
            "WITH v(lane, a, b, at, name) AS (VALUES {values})
             SELECT longest_spans({at_most}, lane, a, b, at, name) FROM v"
        );
        connection.query_row(&sql, [], |row| row.get(0))
    }

    #[test]
    fn those_as_long_as_the_last_are_kept_in_order() {
        let values = "(0, 1, 3, 3, 'a'), (1, 5, 9, 5, NULL), (0, 10, 12, 10, '\"'), (0, 20, 21, 20, 'a'), (NULL, 0, 9, 0, 'b')";
        let all = r#"[[0,1,3,3,"a"],[1,5,9,5,null],[0,10,12,10,"\""],[0,20,21,20,"a"]]"#;
        assert_eq!(longest(4, values).unwrap(), all);
        assert_eq!(longest(9, values).unwrap(), all);
        let most = r#"[[0,1,3,3,"a"],[1,5,9,5,null],[0,10,12,10,"\""]]"#;
        assert_eq!(longest(2, values).unwrap(), most);
        assert_eq!(longest(3, values).unwrap(), most);
        assert_eq!(longest(1, values).unwrap(), "[[1,5,9,5,null]]");
        assert_eq!(longest(1, "(NULL, 1, 2, 3, 4)").unwrap(), "[]");
    }

    #[test]
    fn of_many_the_longest_are_kept_whatever_their_order() {
        let connection = Connection::open_in_memory().unwrap();
        register(&connection).unwrap();
        let spans = "WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 999),
            v(i, dur) AS (SELECT i, i * 7919 % 101 FROM n)";
        for at_most in [0, 1, 5, 37, 400, 999, 1000, 5000] {
            let own = format!(
                "{spans}, own AS (SELECT longest_spans({at_most}, 0, i, i + dur, i, NULL) AS list FROM v)
                 SELECT count(*) || ' ' || group_concat(each.value ->> 1) FROM own, json_each(list) AS each"
            );
            let stated = format!(
                "{spans} SELECT count(*) || ' ' || group_concat(i ORDER BY i)
                 FROM (SELECT i, rank() OVER (ORDER BY dur DESC) AS place FROM v)
                 WHERE place <= max({at_most}, 1)"
            );
            let text = |sql: &str| connection.query_row(sql, [], |row| row.get::<_, String>(0)).unwrap();
            assert_eq!(text(&own), text(&stated), "{at_most}");
        }
    }

    #[test]
    fn odd_input_is_an_error() {
        assert!(longest(1, "(0, 'a', 3, 3, 'a')").is_err());
        assert!(longest(1, "(0, 1, 3, 3, 1.5)").is_err());
        assert_eq!(longest(1, "(0, 1, 3, 3, 7)").unwrap(), r#"[[0,1,3,3,"7"]]"#);
    }
}
