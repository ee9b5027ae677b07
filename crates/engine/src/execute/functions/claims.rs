//! The SQL functions `overlap_times` and `top_share`: how intervals share time, without a sort in SQL.

use super::aggregate::{aggregate, ints, within_64_bits};
use crate::execute::native::texts::{Texts, readable};
use rusqlite::functions::Context;
use rusqlite::types::ValueRef;
use rusqlite::{Connection, Error, Result};
use serde_json::json;
use std::cmp::Reverse;
use std::collections::BTreeMap;

pub(super) fn register(connection: &Connection) -> Result<()> {
    aggregate(connection, "overlap_times", 4, add_changes, overlap_times)?;
    aggregate(connection, "top_share", 4, add_share, top_share)
}

/// The start of an interval of a bit, or its end.
struct Change {
    lane: i64,
    at: i64,
    bit: u8,
    is_start: bool,
}

fn add_changes(context: &mut Context<'_>, changes: &mut Vec<Change>) -> Result<()> {
    let Some([lane, bit, start, end]) = ints(context, 0)? else { return Ok(()) };
    let bit = u8::try_from(bit)
        .ok()
        .filter(|bit| *bit < 63)
        .ok_or_else(|| Error::UserFunctionError("overlap_times: a bit must be from 0 to 62".into()))?;
    if start < end {
        changes.push(Change { lane, at: start, bit, is_start: true });
        changes.push(Change { lane, at: end, bit, is_start: false });
    }
    Ok(())
}

fn overlap_times(mut changes: Vec<Change>) -> Result<String> {
    // The intervals of a bit mostly come in order, and this sort merges what is in order.
    changes.sort_by_key(|change| (change.lane, change.at));
    let mut times: BTreeMap<i64, i128> = BTreeMap::new();
    let (mut open, mut mask) = ([0u32; 63], 0i64);
    for (place, change) in changes.iter().enumerate() {
        let count = &mut open[usize::from(change.bit)];
        // At one time, an end can come before its start.
        *count = if change.is_start { count.wrapping_add(1) } else { count.wrapping_sub(1) };
        mask = if *count == 0 { mask & !(1 << change.bit) } else { mask | 1 << change.bit };
        let next = changes.get(place + 1).filter(|next| next.lane == change.lane);
        if let Some(next) = next.filter(|next| next.at > change.at && mask != 0) {
            *times.entry(mask).or_default() += i128::from(next.at) - i128::from(change.at);
        }
    }
    let rows = times.into_iter().map(|(mask, ns)| Ok([mask, within_64_bits("overlap_times", ns)?]));
    Ok(json!(rows.collect::<Result<Vec<_>>>()?).to_string())
}

/// The intervals of an aggregate, and their names.
#[derive(Default)]
struct Shares {
    /// Lane, start, end, and place of the name.
    intervals: Vec<(i64, i64, i64, Option<u32>)>,
    names: Texts,
}

/// `top_share(lane, start_ns, end_ns, name)`.
fn add_share(context: &mut Context<'_>, shares: &mut Shares) -> Result<()> {
    let Some([lane, start, end]) = ints(context, 0)? else { return Ok(()) };
    let name = match context.get_raw(3) {
        ValueRef::Null => None,
        ValueRef::Text(text) => Some(readable(text)),
        ValueRef::Integer(int) => Some(int.to_string().into()),
        ValueRef::Real(real) => Some(real.to_string().into()),
        ValueRef::Blob(bytes) => Some(readable(bytes)),
    };
    if start < end {
        let name = name.map(|name| shares.names.place(name.as_bytes()));
        shares.intervals.push((lane, start, end, name));
    }
    Ok(())
}

fn top_share(Shares { mut intervals, names }: Shares) -> Result<Option<String>> {
    let name = |place: Option<u32>| place.and_then(|place| names.text(place));
    intervals.sort_unstable_by(|a, b| {
        (a.0, a.1, a.2).cmp(&(b.0, b.1, b.2)).then_with(|| name(a.3).cmp(&name(b.3)))
    });
    let mut times: BTreeMap<Option<u32>, i128> = BTreeMap::new();
    let mut reached: Option<(i64, i64)> = None;
    for (lane, start, end, name) in intervals {
        let start = match reached {
            Some((of, until)) if of == lane => start.max(until),
            _ => start,
        };
        if start < end {
            *times.entry(name).or_default() += i128::from(end) - i128::from(start);
            reached = Some((lane, end));
        }
    }
    let top = times.iter().min_by_key(|(place, ns)| (Reverse(**ns), name(**place)));
    let Some((place, ns)) = top else { return Ok(None) };
    Ok(Some(json!([name(*place), within_64_bits("top_share", *ns)?, times.len()]).to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What the functions do, in SQL.
    const PIECES: &str = "
        CREATE VIEW piece AS
        SELECT bit, lane, name, max(s, coalesce(reached, s)) AS s, e
        FROM (
          SELECT *, max(e) OVER (
            PARTITION BY bit, lane ORDER BY s, e, name ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
          ) AS reached
          FROM t WHERE s < e
        )
        WHERE e > max(s, coalesce(reached, s));
        CREATE VIEW claimed AS
        SELECT mask, sum(ns) AS ns
        FROM (
          SELECT sum(change) OVER so_far AS mask, lead(at) OVER (PARTITION BY lane ORDER BY at) - at AS ns
          FROM (
            SELECT lane, s AS at, 1 << bit AS change FROM piece
            UNION ALL SELECT lane, e, -(1 << bit) FROM piece
          )
          WINDOW so_far AS (PARTITION BY lane ORDER BY at RANGE UNBOUNDED PRECEDING)
        )
        WHERE ns > 0 AND mask > 0
        GROUP BY mask;
        CREATE VIEW share AS
        SELECT bit, json_array(name, ns, count) AS top
        FROM (
          SELECT bit, name, sum(e - s) AS ns, count(*) OVER (PARTITION BY bit) AS count,
            row_number() OVER (PARTITION BY bit ORDER BY sum(e - s) DESC, name) AS nth
          FROM piece GROUP BY bit, name
        )
        WHERE nth = 1;";

    fn connection() -> Connection {
        let connection = Connection::open_in_memory().unwrap();
        super::super::register(&connection, &Default::default()).unwrap();
        connection.execute_batch("CREATE TABLE t (bit, lane, s, e, name)").unwrap();
        connection.execute_batch(PIECES).unwrap();
        connection
    }

    fn text(connection: &Connection, sql: &str) -> Option<String> {
        connection.query_row(sql, [], |row| row.get(0)).unwrap()
    }

    #[test]
    fn they_agree_with_statements() {
        let connection = connection();
        let mut seed = 3u64;
        let mut below = |n: u64| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            ((seed >> 33) % n) as i64
        };
        let mut rows = 0;
        for _ in 0..300 {
            connection.execute("DELETE FROM t", []).unwrap();
            for _ in 0..below(14) {
                let (start, bit, lane) = (below(30), [0, 1, 7, 61][below(4) as usize], below(2));
                let name = ["a", "b", "c", ""][below(4) as usize];
                let name = (!name.is_empty()).then_some(name);
                let row = (bit, lane, start, start + below(9), name);
                connection.execute("INSERT INTO t VALUES (?1, ?2, ?3, ?4, ?5)", row).unwrap();
            }
            let want = text(
                &connection,
                "SELECT json_group_array(json_array(mask, ns) ORDER BY mask) FROM claimed",
            );
            assert_eq!(text(&connection, "SELECT overlap_times(lane, bit, s, e) FROM t"), want);
            rows += usize::from(want != Some("[]".to_owned()));
            let tops = |from: &str| {
                text(
                    &connection,
                    &format!("SELECT json_group_array(bit || top ORDER BY bit) FROM {from}"),
                )
            };
            let own = "(SELECT bit, top_share(lane, s, e, name) AS top FROM t GROUP BY bit) WHERE top IS NOT NULL";
            assert_eq!(tops(own), tops("share"));
        }
        assert!(rows > 200, "{rows}");
    }

    #[test]
    fn odd_input_is_null_or_an_error() {
        let connection = connection();
        let ask = |sql: &str| connection.query_row(sql, [], |row| row.get::<_, Option<String>>(0));
        assert_eq!(ask("SELECT overlap_times(NULL, 1, 2, 3)"), Ok(Some("[]".to_owned())));
        assert_eq!(ask("SELECT overlap_times(0, 1, 3, 2)"), Ok(Some("[]".to_owned())));
        assert_eq!(ask("SELECT top_share(1, 2, NULL, 'x')"), Ok(None));
        assert_eq!(ask("SELECT top_share(1, 2, 3, 4)"), Ok(Some("[\"4\",1,1]".to_owned())));
        assert!(ask("SELECT overlap_times(0, 63, 2, 3)").is_err());
        assert!(ask("SELECT overlap_times(0, -1, 2, 3)").is_err());
        assert!(ask("SELECT overlap_times(0, 1, 'x', 3)").is_err());
        let far = "-9223372036854775808, 9223372036854775807";
        assert!(ask(&format!("SELECT overlap_times(0, 1, {far})")).is_err());
        assert!(ask(&format!("SELECT top_share(0, {far}, 'x')")).is_err());
    }
}
