//! The SQL functions `time_set` and `overlap_ns`: how much of an interval a set of intervals covers.
//!
//! A set is a blob: for each interval of the union of each key, in order, its key, its start, its end and the
//! length of the intervals of the key before it, as 64-bit integers. A set without keys has the key 0.
//!
//! One set with many keys, in a scalar subquery, is computed once and never copied. A set for each row of a
//! table is copied whenever a row is read.

use super::aggregate::{aggregate, ints};
use super::arguments::{add_interval, flags};
use super::numbers::{Number, numbers};
use nsq_sweep::interval::TimeSet;
use rusqlite::functions::Context;
use rusqlite::{Connection, Result};
use std::collections::BTreeMap;

/// An interval of a set.
type Interval = [Number; 4];

pub(super) fn register(connection: &Connection) -> Result<()> {
    aggregate(connection, "time_set", 2, add, union)?;
    aggregate(connection, "time_set", 3, add, union)?;
    connection.create_scalar_function("overlap_ns", 3, flags(), overlap)?;
    connection.create_scalar_function("overlap_ns", 4, flags(), overlap)
}

/// `overlap_ns(time_set, [key,] start_ns, end_ns)`.
fn overlap(context: &Context<'_>) -> Result<Option<i64>> {
    let Some(set) = numbers(context.get_raw(0))? else { return Ok(None) };
    let Some([key, start, end]) = interval(context, 1)? else { return Ok(None) };
    Ok(Some(match start < end {
        true => covered_before(set, key, end).wrapping_sub(covered_before(set, key, start)),
        false => 0,
    }))
}

/// The key, start and end in the arguments from `first`; the key is 0 if there is none. `None` if one is null.
fn interval(context: &Context<'_>, first: usize) -> Result<Option<[i64; 3]>> {
    match context.len() - first {
        3 => ints(context, first),
        _ => Ok(ints(context, first)?.map(|[start, end]| [0, start, end])),
    }
}

/// The length of a key's intervals before a time, in ns. Lengths wrap, so that a foreign blob gives a wrong number
/// and no panic.
fn covered_before(set: &[Interval], key: i64, time: i64) -> i64 {
    let number = |interval: &Interval, field: usize| i64::from_le_bytes(interval[field]);
    let begun = set.partition_point(|interval| (number(interval, 0), number(interval, 1)) < (key, time));
    match begun.checked_sub(1).map(|last| &set[last]) {
        Some(last) if number(last, 0) == key => {
            let within = time.min(number(last, 2)).wrapping_sub(number(last, 1));
            number(last, 3).wrapping_add(within)
        }
        _ => 0,
    }
}

/// The intervals of each key.
type ByKey = BTreeMap<i64, Vec<(i64, i64)>>;

/// `time_set([key,] start_ns, end_ns)`.
fn add(context: &mut Context<'_>, by_key: &mut ByKey) -> Result<()> {
    if let Some([key, start, end]) = interval(context, 0)? {
        add_interval(by_key.entry(key).or_default(), start, end);
    }
    Ok(())
}

fn union(by_key: ByKey) -> Result<Vec<u8>> {
    let mut set = Vec::new();
    for (key, intervals) in by_key {
        let mut before = 0i64;
        for &(start, end) in TimeSet::union_of(intervals).intervals() {
            [key, start, end, before].iter().for_each(|number| set.extend(number.to_le_bytes()));
            before = before.wrapping_add(end.wrapping_sub(start));
        }
    }
    Ok(set)
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
    fn keys_have_sets_of_their_own() {
        let connection = connection();
        let ask = |key: &str| {
            let sql = format!(
                "WITH t (k, s, e) AS (VALUES (5, 0, 10), (7, 5, 20), (5, 8, 12), (-3, 0, 1), (NULL, 0, 99))
                 SELECT overlap_ns((SELECT time_set(k, s, e) FROM t), {key}, 4, 30)"
            );
            connection.query_row(&sql, [], |row| row.get::<_, Option<i64>>(0)).unwrap()
        };
        let got = ["5", "7", "-3", "6", "NULL"].map(ask);
        assert_eq!(got, [Some(8), Some(15), Some(0), Some(0), None]);
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
        assert!(ask("SELECT overlap_ns(randomblob(320), 0, 5)").is_ok());
        let far = "SELECT overlap_ns(time_set(s, e), -9223372036854775808, 9223372036854775807)
                   FROM (SELECT 1 AS s, 9223372036854775807 AS e)";
        assert_eq!(ask(far), Ok(Some(i64::MAX - 1)));
    }
}
