//! Fills tables: of a new SQLite file, or of a database in memory.

use super::insert::Bound;
use super::{Limits, Session};
use crate::compile::Plan;
use nsq_library::catalog::Relation;
use nsq_report::schema::{MATERIALIZED, quote};
use nsq_value::error::Result;
use nsq_value::table::{Column, RowSink, Type, Unit, Value};
use rusqlite::{Connection, Statement, params_from_iter};
use std::path::Path;

/// Writes tables to a new SQLite file.
#[derive(Debug)]
pub struct TableWriter {
    connection: Connection,
}

impl TableWriter {
    /// Creates the file at `path`.
    pub fn create(path: &Path) -> Result<Self> {
        let connection = Connection::open(path)?;
        // An unfinished file is thrown away, so it need not survive a crash.
        connection.execute_batch(&format!(
            "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; BEGIN;
             CREATE TABLE {MATERIALIZED} (name TEXT NOT NULL, value TEXT);
             CREATE TABLE nsq_column (relation TEXT NOT NULL, name TEXT NOT NULL, type TEXT NOT NULL,
                                      unit TEXT, doc TEXT NOT NULL);"
        ))?;
        Ok(Self { connection })
    }

    /// Writes facts about the file as name and value.
    pub fn describe(&self, facts: &[(&str, Option<String>)]) -> Result<()> {
        let sql = format!("INSERT INTO {MATERIALIZED} VALUES (?1, ?2)");
        for (name, value) in facts.iter().filter(|(_, value)| value.is_some()) {
            self.connection.execute(&sql, (name, value))?;
        }
        Ok(())
    }

    /// The sink that creates the table `name` and fills it.
    pub fn table<'w>(&'w mut self, name: &'w str) -> impl RowSink + use<'w> {
        Table { writer: self, name, insert: None }
    }

    /// Commits everything that was written.
    pub fn finish(self) -> Result<()> {
        Ok(self.connection.execute_batch("COMMIT")?)
    }
}

impl Session {
    /// Passes on the rows of `relation`, or of its `all_…` version, that match `condition`.
    pub fn read_relation(
        &self,
        relation: &Relation,
        name: &str,
        condition: &str,
        sink: &mut dyn RowSink,
        limits: &Limits,
    ) -> Result<()> {
        let plan = Plan {
            sql: format!("SELECT * FROM {name} WHERE {condition}"),
            origin: (relation.file.clone(), relation.sql_line),
            columns: relation.header.columns.iter().map(|spec| spec.to_column()).collect(),
            reads: vec![name.to_owned()],
            is_built_in: self.installation.built_in.has(&relation.header.name, &relation.text),
            ..Plan::default()
        };
        self.run(&plan, limits, sink).map(|_| ())
    }
}

/// A table of the new file, filled row by row.
struct Table<'a> {
    writer: &'a TableWriter,
    name: &'a str,
    insert: Option<Statement<'a>>,
}

impl RowSink for Table<'_> {
    fn begin(&mut self, columns: &[Column]) -> Result<()> {
        let connection = &self.writer.connection;
        let fields: Vec<String> = columns
            .iter()
            .map(|column| format!("{} {}", quote(&column.name), declared(column.kind)))
            .collect();
        connection.execute_batch(&format!(
            "CREATE TABLE {} ({})",
            quote(self.name),
            fields.join(", ")
        ))?;
        let mut describe = connection.prepare("INSERT INTO nsq_column VALUES (?1, ?2, ?3, ?4, ?5)")?;
        for column in columns {
            describe.execute((
                self.name,
                &column.name,
                column.kind.name(),
                column.unit.map(Unit::name),
                &column.doc,
            ))?;
        }
        let marks: Vec<&str> = columns.iter().map(|_| "?").collect();
        let sql = format!("INSERT INTO {} VALUES ({})", quote(self.name), marks.join(", "));
        self.insert = Some(connection.prepare(&sql)?);
        Ok(())
    }

    fn row(&mut self, row: &[Value]) -> Result<()> {
        if let Some(insert) = &mut self.insert {
            insert.execute(params_from_iter(row.iter().map(Bound)))?;
        }
        Ok(())
    }

    fn end(&mut self) -> Result<()> {
        Ok(())
    }
}

fn declared(kind: Type) -> &'static str {
    match kind {
        Type::Text => "TEXT",
        Type::Any => "",
        Type::Real | Type::Percent => "REAL",
        Type::Int | Type::Bool | Type::Timestamp | Type::Duration | Type::Bytes | Type::Id => "INTEGER",
    }
}
