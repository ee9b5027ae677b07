//! The SQL function `extents`: where the intervals of each key begin and end, without a sort in SQL.

use super::aggregate::{aggregate, ints, within_64_bits};
use foldhash::HashMap;
use rusqlite::functions::Context;
use rusqlite::types::ValueRef;
use rusqlite::{Connection, Result};
use serde_json::json;

pub(super) fn register(connection: &Connection) -> Result<()> {
    aggregate(connection, "extents", 3, add, rows)
}

/// The intervals of a key.
#[derive(Clone, Copy)]
struct Extent {
    count: i64,
    start: i64,
    end: i64,
    total: i128,
}

#[derive(Default)]
struct Keys {
    places: HashMap<Option<i64>, usize>,
    extents: Vec<(Option<i64>, Extent)>,
    /// The place of the key before: consecutive rows often have the same.
    last: usize,
}

impl Keys {
    fn extent(&mut self, key: Option<i64>) -> &mut Extent {
        if self.extents.get(self.last).is_none_or(|(last, _)| *last != key) {
            let fresh = self.extents.len();
            self.last = *self.places.entry(key).or_insert(fresh);
            if self.last == fresh {
                self.extents.push((key, Extent { count: 0, start: i64::MAX, end: i64::MIN, total: 0 }));
            }
        }
        &mut self.extents[self.last].1
    }
}

/// `extents(key, start_ns, end_ns)`.
fn add(context: &mut Context<'_>, keys: &mut Keys) -> Result<()> {
    let key = match context.get_raw(0) {
        ValueRef::Integer(key) => Some(key),
        _ => None,
    };
    if let Some([start, end]) = ints(context, 1)? {
        let of = keys.extent(key);
        of.count += 1;
        (of.start, of.end) = (of.start.min(start), of.end.max(end));
        of.total += i128::from(end) - i128::from(start);
    }
    Ok(())
}

fn rows(Keys { mut extents, .. }: Keys) -> Result<String> {
    extents.sort_unstable_by_key(|(key, _)| *key);
    let row = |(key, of): (Option<i64>, Extent)| {
        Ok(json!([key, of.count, of.start, of.end, within_64_bits("extents", of.total)?]))
    };
    Ok(json!(extents.into_iter().map(row).collect::<Result<Vec<_>>>()?).to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn extents(values: &str) -> Result<String> {
        let connection = Connection::open_in_memory()?;
        register(&connection)?;
        let sql = format!("WITH v(k, a, b) AS (VALUES {values}) SELECT extents(k, a, b) FROM v");
        connection.query_row(&sql, [], |row| row.get(0))
    }

    #[test]
    fn they_are_those_of_a_group() {
        let found = extents("(2, 5, 9), (1, 7, 8), (2, 4, 6), (NULL, 1, 1), (2, NULL, 3), (1, 9, 8)");
        assert_eq!(found.unwrap(), "[[null,1,1,1,0],[1,2,7,8,0],[2,2,4,9,6]]");
        assert_eq!(extents("(1, NULL, NULL)").unwrap(), "[]");
    }

    #[test]
    fn odd_input_is_null_or_an_error() {
        assert_eq!(extents("('a', 1, 2)").unwrap(), "[[null,1,1,2,1]]");
        assert!(extents("(1, 'a', 2)").is_err());
        assert!(extents("(1, -9223372036854775807, 9223372036854775807)").is_err());
    }
}
