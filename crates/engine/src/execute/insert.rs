//! Fills tables of values.

use nsq_report::schema::quote;
use nsq_value::error::Result;
use nsq_value::table::Value;
use rusqlite::{CachedStatement, Connection, params_from_iter, types::Null};

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
pub(super) struct Insert<'a>(CachedStatement<'a>);

impl<'a> Insert<'a> {
    /// Creates the table.
    pub(super) fn create<'n>(
        connection: &'a Connection,
        name: &str,
        columns: impl Iterator<Item = &'n str>,
    ) -> Result<Self> {
        Self::create_in("main", connection, name, columns)
    }

    /// Creates a TEMP table.
    pub(super) fn create_temp<'n>(
        connection: &'a Connection,
        name: &str,
        columns: impl Iterator<Item = &'n str>,
    ) -> Result<Self> {
        Self::create_in("temp", connection, name, columns)
    }

    fn create_in<'n>(
        schema: &str,
        connection: &'a Connection,
        name: &str,
        columns: impl Iterator<Item = &'n str>,
    ) -> Result<Self> {
        // Without a declared type, SQLite keeps every value as it is: 1.0 does not become 1.
        let fields: Vec<String> = columns.map(quote).collect();
        let table = format!("{schema}.{}", quote(name));
        connection.execute_batch(&format!("CREATE TABLE {table} ({})", fields.join(", ")))?;
        Self::into_table(connection, &table, fields.len())
    }

    /// More rows for a TEMP table with this number of columns.
    pub(super) fn into_temp(connection: &'a Connection, name: &str, width: usize) -> Result<Self> {
        Self::into_table(connection, &format!("temp.{}", quote(name)), width)
    }

    fn into_table(connection: &'a Connection, table: &str, width: usize) -> Result<Self> {
        let marks = vec!["?"; width].join(", ");
        Ok(Self(connection.prepare_cached(&format!("INSERT INTO {table} VALUES ({marks})"))?))
    }

    pub(super) fn row<'v>(&mut self, cells: impl Iterator<Item = &'v Value>) -> Result<()> {
        self.0.execute(params_from_iter(cells.map(Bound)))?;
        Ok(())
    }
}
