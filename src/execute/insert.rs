//! Fills tables of values.

use crate::error::Result;
use crate::schema::quote;
use crate::table::Value;
use rusqlite::{Connection, Statement, params_from_iter, types::Null};

/// A value to bind to a statement's parameter.
pub(super) struct Bound<'a>(pub(super) &'a Value);

impl rusqlite::ToSql for Bound<'_> {
    fn to_sql(&self) -> rusqlite::Result<rusqlite::types::ToSqlOutput<'_>> {
        match self.0 {
            Value::Null => Ok(Null.into()),
            Value::Int(int) => int.to_sql(),
            Value::Real(real) => real.to_sql(),
            Value::Text(text) => text.to_sql(),
        }
    }
}

/// Fills a table of values as they are.
pub(super) struct Insert<'a>(Statement<'a>);

impl<'a> Insert<'a> {
    /// Creates the table.
    pub(super) fn create<'n>(
        connection: &'a Connection,
        name: &str,
        columns: impl Iterator<Item = &'n str>,
    ) -> Result<Self> {
        let name = quote(name);
        // Without a declared type, SQLite keeps every value as it is: 1.0 does not become 1.
        let fields: Vec<String> = columns.map(quote).collect();
        connection.execute_batch(&format!("CREATE TABLE {name} ({})", fields.join(", ")))?;
        let marks = vec!["?"; fields.len()].join(", ");
        Ok(Self(connection.prepare(&format!("INSERT INTO {name} VALUES ({marks})"))?))
    }

    pub(super) fn row<'v>(&mut self, cells: impl Iterator<Item = &'v Value>) -> Result<()> {
        self.0.execute(params_from_iter(cells.map(Bound)))?;
        Ok(())
    }
}
