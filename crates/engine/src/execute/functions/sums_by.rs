//! The SQL function `sums_by`: counts and sums of groups, without a sort in SQL.

use super::aggregate::{aggregate, within_64_bits};
use crate::execute::native::texts::{Texts, readable};
use foldhash::HashMap;
use rusqlite::functions::Context;
use rusqlite::types::{Type, ValueRef};
use rusqlite::{Connection, Error, Result};
use serde_json::{Value, json};

/// Most keys of a group.
const MOST: usize = 8;

pub(super) fn register(connection: &Connection) -> Result<()> {
    aggregate(connection, "sums_by", -1, add, rows)
}

/// A value of a key, in the order of SQLite: null, integers, texts. A text is its place in [`Groups::texts`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
enum Key {
    #[default]
    Null,
    Int(i64),
    Text(u32),
}

#[derive(Debug, Default)]
struct Groups {
    width: usize,
    sums: HashMap<[Key; MOST], (i64, i128)>,
    texts: Texts,
}

impl Groups {
    fn key(&mut self, place: usize, value: ValueRef<'_>) -> Result<Key> {
        let wrong = |kind| Err(Error::InvalidFunctionParameterType(place, kind));
        match value {
            ValueRef::Null => Ok(Key::Null),
            ValueRef::Integer(int) => Ok(Key::Int(int)),
            ValueRef::Text(text) => Ok(Key::Text(self.texts.place(readable(text).as_bytes()))),
            ValueRef::Real(_) => wrong(Type::Real),
            ValueRef::Blob(_) => wrong(Type::Blob),
        }
    }

    /// The groups in the order of their keys.
    fn sorted(&mut self) -> Vec<([Key; MOST], (i64, i128))> {
        let mut texts: Vec<_> = self.texts.iter().zip(0u32..).collect();
        texts.sort_unstable();
        let mut rank_of = vec![0; texts.len()];
        (0u32..).zip(texts).for_each(|(rank, (_, place))| rank_of[place as usize] = rank);
        let ranked = |key: Key| match key {
            Key::Text(place) => Key::Text(rank_of[place as usize]),
            key => key,
        };
        let mut sorted: Vec<_> = std::mem::take(&mut self.sums).into_iter().collect();
        sorted.sort_by_cached_key(|(keys, _)| keys.map(ranked));
        sorted
    }
}

/// `sums_by(x, key, …)`.
fn add(context: &mut Context<'_>, groups: &mut Groups) -> Result<()> {
    groups.width = context.len().saturating_sub(1);
    if groups.width == 0 || groups.width > MOST {
        let reason = format!("sums_by: give one to {MOST} keys after the number");
        return Err(Error::UserFunctionError(reason.into()));
    }
    let Some(x) = context.get::<Option<i64>>(0)? else { return Ok(()) };
    let mut keys = [Key::Null; MOST];
    for place in 1..context.len() {
        keys[place - 1] = groups.key(place, context.get_raw(place))?;
    }
    let (count, sum) = groups.sums.entry(keys).or_default();
    *count += 1;
    *sum += i128::from(x);
    Ok(())
}

fn rows(mut groups: Groups) -> Result<String> {
    let rows = groups.sorted();
    let row = |(keys, (count, sum)): ([Key; MOST], (i64, i128))| {
        let key = |key: &Key| match *key {
            Key::Null => Value::Null,
            Key::Int(int) => int.into(),
            Key::Text(place) => groups.texts.text(place).into(),
        };
        let mut row: Vec<Value> = keys[..groups.width].iter().map(key).collect();
        row.extend([json!(count), json!(within_64_bits("sums_by", sum)?)]);
        Ok(row)
    };
    Ok(json!(rows.into_iter().map(row).collect::<Result<Vec<_>>>()?).to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn connection() -> Connection {
        let connection = Connection::open_in_memory().unwrap();
        register(&connection).unwrap();
        connection.execute_batch("CREATE TABLE t (x, a, b)").unwrap();
        connection
    }

    #[test]
    fn they_are_those_of_a_group() {
        let connection = connection();
        let mut seed = 5u64;
        let mut below = |n: u64| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            ((seed >> 33) % n) as i64
        };
        let mut groups = 0;
        for _ in 0..200 {
            connection.execute("DELETE FROM t", []).unwrap();
            for _ in 0..below(30) {
                let x = Some(below(100) - 50).filter(|x| *x != 7);
                let a = Some(below(4) - 1).filter(|a| *a != 0);
                let b = ["", "x", "\"y\"", "Z"][below(4) as usize];
                let b = (!b.is_empty()).then_some(b);
                connection.execute("INSERT INTO t VALUES (?1, ?2, ?3)", (x, a, b)).unwrap();
            }
            let ask = |sql: &str| connection.query_row(sql, [], |row| row.get::<_, String>(0)).unwrap();
            let want = ask(
                "SELECT json_group_array(json_array(a, b, count, sum) ORDER BY a, b) FROM (
                SELECT a, b, count(*) AS count, sum(x) AS sum FROM t WHERE x IS NOT NULL GROUP BY a, b)",
            );
            assert_eq!(ask("SELECT sums_by(x, a, b) FROM t"), want);
            groups += usize::from(want != "[]");
        }
        assert!(groups > 180, "{groups}");
    }

    #[test]
    fn odd_input_is_an_error() {
        let connection = connection();
        let ask = |sql: &str| connection.query_row(sql, [], |row| row.get::<_, String>(0));
        assert_eq!(ask("SELECT sums_by(x, a) FROM t").unwrap(), "[]");
        assert_eq!(ask("SELECT sums_by(2, 1, 'a', NULL)").unwrap(), "[[1,\"a\",null,1,2]]");
        for wrong in ["1", "'a', 1", "1, 1.5", "1, x'00'", "1, 2, 3, 4, 5, 6, 7, 8, 9, 10"] {
            assert!(ask(&format!("SELECT sums_by({wrong})")).is_err(), "{wrong}");
        }
        let most = "SELECT sums_by(x, 1) FROM (SELECT 9223372036854775807 AS x UNION ALL SELECT 1)";
        assert!(ask(most).is_err());
    }
}
