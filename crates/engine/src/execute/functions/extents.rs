//! The SQL function `extents`: where the intervals of each key begin and end, without a sort in SQL.

use super::arguments::flags;
use foldhash::HashMap;
use rusqlite::functions::{Aggregate, Context};
use rusqlite::types::ValueRef;
use rusqlite::{Connection, Error, Result};
use serde_json::json;

pub(super) fn register(connection: &Connection) -> Result<()> {
    connection.create_aggregate_function("extents", 3, flags(), Extents)
}

/// `extents(key, start_ns, end_ns)`.
struct Extents;

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

impl Aggregate<Keys, String> for Extents {
    fn init(&self, _: &mut Context<'_>) -> Result<Keys> {
        Ok(Keys::default())
    }

    fn step(&self, context: &mut Context<'_>, keys: &mut Keys) -> Result<()> {
        let key = match context.get_raw(0) {
            ValueRef::Integer(key) => Some(key),
            _ => None,
        };
        let [start, end]: [Option<i64>; 2] = [context.get(1)?, context.get(2)?];
        if let (Some(start), Some(end)) = (start, end) {
            let of = keys.extent(key);
            of.count += 1;
            (of.start, of.end) = (of.start.min(start), of.end.max(end));
            of.total += i128::from(end) - i128::from(start);
        }
        Ok(())
    }

    fn finalize(&self, _: &mut Context<'_>, keys: Option<Keys>) -> Result<String> {
        let mut extents = keys.unwrap_or_default().extents;
        extents.sort_unstable_by_key(|(key, _)| *key);
        let too_long = |_| Error::UserFunctionError("extents: the result exceeds 64 bits".into());
        let row = |(key, of): (Option<i64>, Extent)| {
            Ok(json!([key, of.count, of.start, of.end, i64::try_from(of.total).map_err(too_long)?]))
        };
        Ok(json!(extents.into_iter().map(row).collect::<Result<Vec<_>>>()?).to_string())
    }
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
