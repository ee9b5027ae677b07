//! The table function `split_spans(spans, by_spans)`: which spans overlap which, and the time between.
//!
//! One pass over both lists, sorted as `time_spans` returns them, finds every pair: O(n log n) with the sort, and one step
//! for each row. The statement that it stands for is in the tests.

use super::table_function::{self, TableFunction};
use super::time_spans::{Span, read};
use rusqlite::types::ValueRef;
use rusqlite::vtab::Context;
use rusqlite::{Connection, Result};
use std::ffi::{CStr, c_int};

pub(super) fn register(connection: &Connection) -> Result<()> {
    table_function::register::<Rows>(connection, c"split_spans")
}

/// A part of a span.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Part {
    key: i64,
    span: i64,
    /// The span that it overlaps, if any.
    by: Option<i64>,
    start: i64,
    end: i64,
}

/// The parts of all spans, one span after the other.
#[derive(Debug, Default)]
struct Parts {
    spans: Vec<Span>,
    by: Vec<Span>,
    /// Number of spans that are split.
    split: usize,
    /// Number of `by` that begin at or before the span.
    begun: usize,
    /// Those of them, in order, that had not ended when the span began.
    open: Vec<usize>,
}

impl Parts {
    /// The parts of the next span, in the order of their starts.
    fn next(&mut self, parts: &mut Vec<Part>) -> bool {
        let Some(&span) = self.spans.get(self.split) else { return false };
        self.split += 1;
        while let Some(by) = self.by.get(self.begun)
            && (by.key, by.start) <= (span.key, span.start)
        {
            self.open.push(self.begun);
            self.begun += 1;
        }
        let by = &self.by;
        self.open.retain(|&place| by[place].key == span.key && by[place].end > span.start);
        let open = self.open.iter().map(|&place| &by[place]);
        let later = by[self.begun..].iter().take_while(|by| (by.key, by.start) < (span.key, span.end));
        let mut reached = span.start;
        let mut part = |by, start, end| {
            if start < end {
                parts.push(Part { key: span.key, span: span.id, by, start, end });
            }
        };
        for by in open.chain(later) {
            part(None, reached, by.start);
            part(Some(by.id), by.start.max(span.start), by.end.min(span.end));
            reached = reached.max(by.end);
        }
        part(None, reached, span.end);
        true
    }
}

/// The rows of the table function.
#[derive(Debug, Default)]
struct Rows {
    rest: Parts,
    /// The parts of the span that is read.
    parts: Vec<Part>,
    place: usize,
}

impl Rows {
    /// Goes on to the next span if the last part of one was read. Every span has some.
    fn fill(&mut self) {
        while self.place == self.parts.len() {
            self.parts.clear();
            self.place = 0;
            if !self.rest.next(&mut self.parts) {
                break;
            }
        }
    }
}

impl TableFunction for Rows {
    const TABLE: &'static CStr =
        c"CREATE TABLE x(key, span_id, by_id, start_ns, end_ns, spans HIDDEN, by_spans HIDDEN)";
    const COLUMNS: c_int = 5;
    const ARGUMENTS: c_int = 2;

    fn begin<'a>(&mut self, arguments: impl Iterator<Item = ValueRef<'a>>) -> Result<()> {
        let mut lists = arguments.map(read);
        if let (Some(spans), Some(by)) = (lists.next(), lists.next()) {
            self.rest = Parts { spans: spans?, by: by?, ..Parts::default() };
            self.fill();
        }
        Ok(())
    }

    fn next(&mut self) {
        self.place += 1;
        self.fill();
    }

    fn is_over(&self) -> bool {
        self.place >= self.parts.len()
    }

    fn column(&self, context: &mut Context, column: c_int) -> Result<()> {
        let part = self.parts.get(self.place);
        context.set_result(part.and_then(|part| match column {
            0 => Some(part.key),
            1 => Some(part.span),
            2 => part.by,
            3 => Some(part.start),
            4 => Some(part.end),
            _ => None,
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What `split_spans` returns, in SQL: pairs that overlap, and what is left of each span between them.
    const REFERENCE: &str = "
        CREATE VIEW part AS
        SELECT
          s.key,
          s.id AS span_id,
          b.id AS by_id,
          max(s.start_ns, b.start_ns) AS start_ns,
          min(s.end_ns, b.end_ns) AS end_ns
        FROM span AS s
        JOIN by_span AS b ON b.key = s.key AND b.start_ns < s.end_ns AND b.end_ns > s.start_ns
        UNION ALL
        SELECT key, id, NULL, at_ns, coalesce(
          (SELECT min(b.start_ns) FROM by_span AS b WHERE b.key = at.key AND b.start_ns > at_ns AND b.start_ns < at.end_ns), end_ns)
        FROM (
          SELECT key, id, end_ns, start_ns AS at_ns FROM span
          UNION
          SELECT s.key, s.id, s.end_ns, b.end_ns FROM span AS s
          JOIN by_span AS b ON b.key = s.key AND b.end_ns > s.start_ns AND b.end_ns < s.end_ns
        ) AS at
        WHERE NOT EXISTS (
          SELECT 1 FROM by_span AS b WHERE b.key = at.key AND b.start_ns <= at_ns AND b.end_ns > at_ns
        );
        CREATE VIEW apart AS
        SELECT * FROM (
          SELECT key, id, max(start_ns, coalesce(max(end_ns) OVER earlier, start_ns)) AS start_ns, end_ns
          FROM span
          WINDOW earlier AS (
            PARTITION BY key
            ORDER BY start_ns, end_ns DESC, id
            ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
          )
        )
        WHERE end_ns > start_ns;";

    fn connection() -> Connection {
        let connection = Connection::open_in_memory().unwrap();
        super::super::register(&connection, &Default::default()).unwrap();
        for table in ["span", "by_span"] {
            let ddl = format!("CREATE TABLE {table} (key, id INTEGER PRIMARY KEY, start_ns, end_ns)");
            connection.execute_batch(&ddl).unwrap();
        }
        connection.execute_batch(REFERENCE).unwrap();
        connection
    }

    fn rows(connection: &Connection, from: &str) -> String {
        let columns = "json_array(key, span_id, by_id, start_ns, end_ns)";
        let sql = format!("SELECT json_group_array({columns} ORDER BY {columns}) FROM {from}");
        connection.query_row(&sql, [], |row| row.get(0)).unwrap()
    }

    fn split(kind: &str) -> String {
        format!(
            "split_spans((SELECT {kind}(key, id, start_ns, end_ns) FROM span),
               (SELECT time_spans(key, id, start_ns, end_ns) FROM by_span))"
        )
    }

    #[test]
    fn it_agrees_with_a_statement() {
        let connection = connection();
        let mut seed = 5u64;
        let mut below = |n: u64| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            ((seed >> 33) % n) as i64
        };
        let mut pairs = 0;
        for _ in 0..400 {
            connection.execute_batch("DELETE FROM span; DELETE FROM by_span").unwrap();
            for table in ["span", "by_span"] {
                for _ in 0..below(12) {
                    let (key, start, length) = (below(3), below(30), below(9) + 1);
                    let sql = format!("INSERT INTO {table} (key, start_ns, end_ns) VALUES (?1, ?2, ?3)");
                    connection.execute(&sql, (key, start, start + length)).unwrap();
                }
            }
            assert_eq!(rows(&connection, &split("time_spans")), rows(&connection, "part"));
            pairs += usize::from(rows(&connection, "part WHERE by_id IS NOT NULL") != "[]");
            let apart = "(SELECT key, id AS span_id, 1 AS by_id, start_ns, end_ns FROM apart)";
            let own = "(SELECT key, span_id, 1 AS by_id, start_ns, end_ns FROM split_spans(
                (SELECT time_spans_apart(key, id, start_ns, end_ns) FROM span), x''))";
            assert_eq!(rows(&connection, own), rows(&connection, apart));
        }
        assert!(pairs > 200, "{pairs}");
    }

    #[test]
    fn the_parts_of_a_span_come_in_order() {
        let connection = connection();
        connection
            .execute_batch(
                "INSERT INTO span VALUES (7, 1, 0, 20), (7, 2, 30, 31), (8, 3, 0, 5);
                 INSERT INTO by_span VALUES (7, 1, -5, 4), (7, 2, 2, 6), (7, 3, 10, 40), (NULL, 4, 0, 9)",
            )
            .unwrap();
        let sql = format!(
            "SELECT group_concat(span_id || ':' || coalesce(by_id, '-') || ' ' || start_ns || '..' || end_ns, ', ') FROM {}",
            split("time_spans")
        );
        let got: String = connection.query_row(&sql, [], |row| row.get(0)).unwrap();
        assert_eq!(got, "1:1 0..4, 1:2 2..6, 1:- 6..10, 1:3 10..20, 2:3 30..31, 3:- 0..5");
    }

    #[test]
    fn odd_input_has_no_rows_or_is_an_error() {
        let connection = connection();
        let ask = |sql: &str| connection.query_row(sql, [], |row| row.get::<_, i64>(0));
        assert_eq!(ask("SELECT count(*) FROM split_spans(NULL, NULL)"), Ok(0));
        assert_eq!(ask("SELECT count(*) FROM split_spans(x'')"), Ok(0));
        assert_eq!(ask("SELECT count(*) FROM split_spans"), Ok(0));
        assert_eq!(ask("SELECT length(time_spans(1, 2, 4, 3)) FROM (SELECT 1)"), Ok(0));
        assert!(ask("SELECT count(*) FROM split_spans(x'00', x'')").is_err());
        assert!(ask("SELECT count(*) FROM split_spans('text', x'')").is_err());
        assert!(ask("SELECT length(time_spans('x', 2, 3, 4)) FROM (SELECT 1)").is_err());
        let far = "-9223372036854775808, 9223372036854775807";
        assert_eq!(
            ask(&format!(
                "SELECT count(*) FROM split_spans((SELECT time_spans(0, 1, {far})), (SELECT time_spans(0, 2, 5, 6)))"
            )),
            Ok(3)
        );
    }
}
