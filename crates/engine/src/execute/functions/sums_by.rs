//! The SQL function `sums_by`: the sums of groups with several keys, without a sort in SQL.

use super::aggregate::{aggregate, within_64_bits};
use crate::execute::native::texts::{Texts, readable};
use foldhash::HashMap;
use rusqlite::functions::Context;
use rusqlite::types::{Type, ValueRef};
use rusqlite::{Connection, Error, Result};
use serde_json::json;
use std::fmt::Write;

/// The most keys.
const KEYS: usize = 6;

pub(super) fn register(connection: &Connection) -> Result<()> {
    aggregate(connection, "sums_by", -1, add, rows)
}

/// A key of a group. A text is its place among [`Groups::texts`].
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
enum Key {
    #[default]
    Null,
    Int(i64),
    Text(u32),
}

#[derive(Debug, Clone, Copy)]
struct Group {
    keys: [Key; KEYS],
    count: i64,
    sum: i128,
}

#[derive(Debug, Default)]
struct Groups {
    places: HashMap<[Key; KEYS], usize>,
    groups: Vec<Group>,
    texts: Texts,
    /// The number of keys.
    width: usize,
    /// The place of the group before: consecutive rows often are of the same.
    last: usize,
}

impl Groups {
    fn group(&mut self, keys: [Key; KEYS]) -> &mut Group {
        if self.groups.get(self.last).is_none_or(|last| last.keys != keys) {
            let fresh = self.groups.len();
            self.last = *self.places.entry(keys).or_insert(fresh);
            if self.last == fresh {
                self.groups.push(Group { keys, count: 0, sum: 0 });
            }
        }
        &mut self.groups[self.last]
    }
}

/// `sums_by(value, key, …)`.
fn add(context: &mut Context<'_>, groups: &mut Groups) -> Result<()> {
    groups.width = context.len().saturating_sub(1);
    if !(1..=KEYS).contains(&groups.width) {
        return Err(Error::UserFunctionError(format!("sums_by: expected 1 to {KEYS} keys").into()));
    }
    let Some(value) = context.get::<Option<i64>>(0)? else { return Ok(()) };
    let mut keys = [Key::Null; KEYS];
    for (place, key) in (1..).zip(&mut keys[..groups.width]) {
        *key = match context.get_raw(place) {
            ValueRef::Null => Key::Null,
            ValueRef::Integer(int) => Key::Int(int),
            ValueRef::Text(text) => Key::Text(groups.texts.place(readable(text).as_bytes())),
            ValueRef::Real(_) => return Err(Error::InvalidFunctionParameterType(place, Type::Real)),
            ValueRef::Blob(_) => return Err(Error::InvalidFunctionParameterType(place, Type::Blob)),
        };
    }
    let group = groups.group(keys);
    group.count += 1;
    group.sum += i128::from(value);
    Ok(())
}

fn rows(groups: Groups) -> Result<String> {
    let texts: Vec<String> = groups.texts.iter().map(|text| json!(text).to_string()).collect();
    let mut list = "[".to_owned();
    for group in &groups.groups {
        list.push_str(if list.len() > 1 { ",[" } else { "[" });
        for key in &group.keys[..groups.width] {
            // Writing to a text does not fail.
            _ = match key {
                Key::Null => list.write_str("null,"),
                Key::Int(int) => write!(list, "{int},"),
                Key::Text(place) => write!(list, "{},", texts[*place as usize]),
            };
        }
        _ = write!(list, "{},{}]", group.count, within_64_bits("sums_by", group.sum)?);
    }
    list.push(']');
    Ok(list)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sums(arguments: &str, values: &str) -> Result<String> {
        let connection = Connection::open_in_memory()?;
        register(&connection)?;
        let sql = format!("WITH v(x, a, b) AS (VALUES {values}) SELECT sums_by({arguments}) FROM v");
        connection.query_row(&sql, [], |row| row.get(0))
    }

    #[test]
    fn they_are_those_of_group_by() {
        let values =
            "(5, 1, 'a'), (7, 1, 'a'), (1, 2, '\"'), (-2, 1, NULL), (3, 1, 'a'), (NULL, 9, 'b')";
        let found = sums("x, a, b", values).unwrap();
        assert_eq!(found, r#"[[1,"a",3,15],[2,"\"",1,1],[1,null,1,-2]]"#);
        assert_eq!(sums("x, b", values).unwrap(), r#"[["a",3,15],["\"",1,1],[null,1,-2]]"#);
        assert_eq!(sums("x, a", "(NULL, 1, 1)").unwrap(), "[]");
    }

    #[test]
    fn odd_input_is_an_error() {
        assert!(sums("x, a", "('a', 1, 1)").is_err());
        assert!(sums("x, a", "(1, 1.5, 1)").is_err());
        assert!(sums("x, a", "(1, x'00', 1)").is_err());
        assert!(sums("x, a", "(9223372036854775807, 1, 1), (1, 1, 1)").is_err());
        assert!(sums("x", "(1, 1, 1)").is_err());
        assert!(sums("x, a, a, a, a, a, a, a", "(1, 1, 1)").is_err());
    }
}
