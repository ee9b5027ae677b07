//! The SQL functions `time_set` and `overlap_ns`: how much of an interval a set of intervals covers.
//!
//! A set is a blob: for each interval of the union, in order, its start, its end and the length of the
//! intervals before it, as 64-bit integers.

use super::arguments::{add_interval, flags};
use nsq_sweep::interval::TimeSet;
use rusqlite::functions::{Aggregate, Context};
use rusqlite::types::{Type, ValueRef};
use rusqlite::{Connection, Error, Result};

/// Bytes of an interval in a set.
const BYTES: usize = 24;

pub(super) fn register(connection: &Connection) -> Result<()> {
    connection.create_aggregate_function("time_set", 2, flags(), Union)?;
    connection.create_scalar_function("overlap_ns", 3, flags(), |context| {
        let set = match context.get_raw(0) {
            ValueRef::Null => return Ok(None),
            ValueRef::Blob(set) if set.len().is_multiple_of(BYTES) => Set(set),
            _ => return Err(Error::InvalidFunctionParameterType(0, Type::Blob)),
        };
        let (start, end): (Option<i64>, Option<i64>) = (context.get(1)?, context.get(2)?);
        Ok(start.zip(end).map(|(start, end)| match start < end {
            true => set.covered_before(end).wrapping_sub(set.covered_before(start)),
            false => 0,
        }))
    })
}

/// `time_set(start_ns, end_ns)`.
struct Union;

impl Aggregate<Vec<(i64, i64)>, Vec<u8>> for Union {
    fn init(&self, _: &mut Context<'_>) -> Result<Vec<(i64, i64)>> {
        Ok(Vec::new())
    }

    fn step(&self, context: &mut Context<'_>, intervals: &mut Vec<(i64, i64)>) -> Result<()> {
        add_interval(context, intervals)
    }

    fn finalize(&self, _: &mut Context<'_>, intervals: Option<Vec<(i64, i64)>>) -> Result<Vec<u8>> {
        let mut before = 0i64;
        let mut set = Vec::new();
        for &(start, end) in TimeSet::union_of(intervals.unwrap_or_default()).intervals() {
            [start, end, before].iter().for_each(|number| set.extend(number.to_le_bytes()));
            before = before.wrapping_add(end.wrapping_sub(start));
        }
        Ok(set)
    }
}

/// A set as [`Union`] writes it. Lengths wrap, so that a foreign blob gives a wrong number and no panic.
struct Set<'a>(&'a [u8]);

impl Set<'_> {
    fn number(&self, interval: usize, field: usize) -> i64 {
        let from = interval * BYTES + field * 8;
        let bytes = self.0.get(from..from + 8).and_then(|bytes| bytes.try_into().ok());
        i64::from_le_bytes(bytes.unwrap_or_default())
    }

    /// The length of the set before a time, in ns.
    fn covered_before(&self, time: i64) -> i64 {
        let (mut from, mut to) = (0, self.0.len() / BYTES);
        while from < to {
            let middle = from + (to - from) / 2;
            if self.number(middle, 0) < time { from = middle + 1 } else { to = middle }
        }
        let Some(last) = from.checked_sub(1) else { return 0 };
        let within = time.min(self.number(last, 1)).wrapping_sub(self.number(last, 0));
        self.number(last, 2).wrapping_add(within)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn connection() -> Connection {
        let connection = Connection::open_in_memory().unwrap();
        super::super::register(&connection, &Default::default()).unwrap();
        connection.execute_batch("CREATE TABLE t (s, e)").unwrap();
        connection
    }

    #[test]
    fn an_overlap_is_that_of_each_nanosecond() {
        let connection = connection();
        let mut seed = 7u64;
        let mut below = |n: u64| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            ((seed >> 33) % n) as i64
        };
        for _ in 0..60 {
            connection.execute("DELETE FROM t", []).unwrap();
            let mut covered = [false; 80];
            for _ in 0..below(8) {
                let (start, length) = (below(60), below(12));
                connection.execute("INSERT INTO t VALUES (?1, ?2)", [start, start + length]).unwrap();
                (start..start + length).for_each(|at| covered[at as usize] = true);
            }
            for _ in 0..20 {
                let (start, end) = (below(80), below(80));
                let want = (start..end).filter(|at| covered[*at as usize]).count() as i64;
                let sql = "SELECT overlap_ns((SELECT time_set(s, e) FROM t), ?1, ?2)";
                let got: i64 = connection.query_row(sql, [start, end], |row| row.get(0)).unwrap();
                assert_eq!(got, want, "{start} to {end}");
            }
        }
    }

    #[test]
    fn odd_input_is_null_or_an_error() {
        let connection = connection();
        let ask = |sql: &str| connection.query_row(sql, [], |row| row.get::<_, Option<i64>>(0));
        assert_eq!(ask("SELECT overlap_ns(time_set(NULL, 1), 0, 5) FROM (SELECT 1)"), Ok(Some(0)));
        assert_eq!(ask("SELECT overlap_ns(NULL, 0, 5)"), Ok(None));
        assert_eq!(ask("SELECT overlap_ns(time_set(1, 3), NULL, 5) FROM (SELECT 1)"), Ok(None));
        assert!(ask("SELECT overlap_ns('text', 0, 5)").is_err());
        assert!(ask("SELECT overlap_ns(x'00', 0, 5)").is_err());
        assert!(ask("SELECT overlap_ns(randomblob(240), 0, 5)").is_ok());
        let far = "SELECT overlap_ns(time_set(s, e), -9223372036854775808, 9223372036854775807)
                   FROM (SELECT 1 AS s, 9223372036854775807 AS e)";
        assert_eq!(ask(far), Ok(Some(i64::MAX - 1)));
    }
}
