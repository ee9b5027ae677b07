//! The table function `json_rows(list)`: a row for each list in a JSON list of lists. It reads the text once, where
//! `json_each` and `->>` read it once for each value.

use super::table_function::{self, TableFunction};
use crate::execute::native::texts::Texts;
use rusqlite::types::ValueRef;
use rusqlite::vtab::Context;
use rusqlite::{Connection, Error, Result};
use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, SeqAccess, Visitor};
use std::ffi::{CStr, c_int};
use std::fmt;

/// The number of values of a row.
const WIDTH: usize = 8;

pub(super) fn register(connection: &Connection) -> Result<()> {
    table_function::register::<Rows>(connection, c"json_rows")
}

/// A value of a list. A text is its place among [`Rows::texts`].
#[derive(Debug, Clone, Copy)]
enum Cell {
    Int(i64),
    Real(f64),
    Text(u32),
}

/// The lists, one after the other.
#[derive(Debug, Default)]
struct Rows {
    cells: Vec<Option<Cell>>,
    texts: Texts,
    /// The row that is read.
    place: usize,
}

/// Reads the list of lists.
struct Lists<'a>(&'a mut Rows);
/// Reads one list.
struct List<'a>(&'a mut Rows);
/// Reads one value.
struct One<'a>(&'a mut Rows);

impl<'de> DeserializeSeed<'de> for Lists<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> std::result::Result<(), D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for Lists<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of lists")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut lists: A) -> std::result::Result<(), A::Error> {
        while lists.next_element_seed(List(self.0))?.is_some() {}
        Ok(())
    }
}

impl<'de> DeserializeSeed<'de> for List<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> std::result::Result<(), D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for List<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of numbers, texts and nulls")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> std::result::Result<(), A::Error> {
        let first = self.0.cells.len();
        while self.0.cells.len() < first + WIDTH
            && let Some(cell) = list.next_element_seed(One(self.0))?
        {
            self.0.cells.push(cell);
        }
        self.0.cells.resize(first + WIDTH, None);
        while list.next_element::<IgnoredAny>()?.is_some() {}
        Ok(())
    }
}

impl<'de> DeserializeSeed<'de> for One<'_> {
    type Value = Option<Cell>;

    fn deserialize<D: Deserializer<'de>>(
        self,
        deserializer: D,
    ) -> std::result::Result<Self::Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl Visitor<'_> for One<'_> {
    type Value = Option<Cell>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a number, a text or null")
    }

    fn visit_unit<E>(self) -> std::result::Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_bool<E>(self, value: bool) -> std::result::Result<Self::Value, E> {
        Ok(Some(Cell::Int(value.into())))
    }

    fn visit_i64<E>(self, value: i64) -> std::result::Result<Self::Value, E> {
        Ok(Some(Cell::Int(value)))
    }

    fn visit_u64<E>(self, value: u64) -> std::result::Result<Self::Value, E> {
        Ok(Some(i64::try_from(value).map_or(Cell::Real(value as f64), Cell::Int)))
    }

    fn visit_f64<E>(self, value: f64) -> std::result::Result<Self::Value, E> {
        Ok(Some(Cell::Real(value)))
    }

    fn visit_str<E>(self, value: &str) -> std::result::Result<Self::Value, E> {
        Ok(Some(Cell::Text(self.0.texts.place(value.as_bytes()))))
    }
}

fn read(list: ValueRef<'_>) -> Result<Rows> {
    let mut rows = Rows::default();
    let text = match list {
        ValueRef::Null => return Ok(rows),
        ValueRef::Text(text) => text,
        _ => return Err(Error::ModuleError("json_rows: the argument is not a text".to_owned())),
    };
    let mut reader = serde_json::Deserializer::from_slice(text);
    let wrong = |error: serde_json::Error| Error::ModuleError(format!("json_rows: {error}"));
    Lists(&mut rows).deserialize(&mut reader).and_then(|()| reader.end()).map_err(wrong)?;
    Ok(rows)
}

impl TableFunction for Rows {
    const TABLE: &'static CStr = c"CREATE TABLE x(v0, v1, v2, v3, v4, v5, v6, v7, list HIDDEN)";
    const COLUMNS: c_int = WIDTH as c_int;
    const ARGUMENTS: c_int = 1;

    fn begin<'a>(&mut self, mut arguments: impl Iterator<Item = ValueRef<'a>>) -> Result<()> {
        *self = arguments.next().map_or_else(|| Ok(Self::default()), read)?;
        Ok(())
    }

    fn next(&mut self) {
        self.place += 1;
    }

    fn is_over(&self) -> bool {
        self.place >= self.cells.len() / WIDTH
    }

    fn column(&self, context: &mut Context, column: c_int) -> Result<()> {
        let column = usize::try_from(column).ok().filter(|column| *column < WIDTH);
        let cell = column.and_then(|column| *self.cells.get(self.place * WIDTH + column)?);
        match cell {
            None => context.set_result(rusqlite::types::Null),
            Some(Cell::Int(int)) => context.set_result(int),
            Some(Cell::Real(real)) => context.set_result(real),
            Some(Cell::Text(place)) => context.set_result(self.texts.text(place)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn connection() -> Connection {
        let connection = Connection::open_in_memory().unwrap();
        register(&connection).unwrap();
        connection
    }

    #[test]
    fn the_values_are_those_of_json_each() {
        let connection = connection();
        let list = r#"[[1, "a", null, 2.5], [], [-9223372036854775808, "\"ä\"", true, 1, 2, 3, 4, "last", 9], ["a"]]"#;
        let both = |sql: &str| connection.query_row(sql, [list], |row| row.get::<_, String>(0)).unwrap();
        let own = both(
            "SELECT json_group_array(json_array(v0, v1, v2, v3, v4, v5, v6, v7)) FROM json_rows(?1)",
        );
        let each = both(
            "SELECT json_group_array(json_array(value ->> 0, value ->> 1, value ->> 2, value ->> 3,
               value ->> 4, value ->> 5, value ->> 6, value ->> 7)) FROM json_each(?1)",
        );
        assert_eq!(own, each);
    }

    #[test]
    fn it_joins_with_what_gives_the_list() {
        let sql = "WITH t(id, list) AS MATERIALIZED (VALUES (1, '[[5],[6]]'), (2, NULL), (3, '[[7]]'))
            SELECT group_concat(id || ':' || v0) FROM t CROSS JOIN json_rows(t.list)";
        let joined = connection().query_row(sql, [], |row| row.get::<_, String>(0));
        assert_eq!(joined.unwrap(), "1:5,1:6,3:7");
    }

    #[test]
    fn odd_input_has_no_rows_or_is_an_error() {
        let connection = connection();
        let count = |from: &str| {
            let sql = format!("SELECT count(*) FROM {from}");
            connection.query_row(&sql, [], |row| row.get::<_, i64>(0))
        };
        assert_eq!(count("json_rows(NULL)"), Ok(0));
        assert_eq!(count("json_rows"), Ok(0));
        assert_eq!(count("json_rows('[]')"), Ok(0));
        for wrong in ["'[1]'", "'[[1]'", "'[[1]] x'", "'{}'", "'[[[1]]]'", "5", "x'00'"] {
            assert!(count(&format!("json_rows({wrong})")).is_err(), "{wrong}");
        }
    }
}
