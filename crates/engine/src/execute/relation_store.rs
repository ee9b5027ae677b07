//! Relations with `stored: true`: several statements read them, and their rows are few and take long. They are
//! computed for the first of these statements, and kept for the others.
//!
//! Such a relation is a view until then, so that every statement can read it at any time.

use crate::compile::{code_only, words_in};
use crate::normalize::{Installation, StoredView};
use nsq_report::schema::quote;
use rusqlite::types::Value;
use rusqlite::{Connection, params_from_iter};
use std::collections::BTreeSet;
use std::sync::Mutex;

/// Most rows that are kept in memory for the other connections to the report. Of a relation with more, each
/// connection computes its own.
const MOST_KEPT: u32 = 100_000;

/// The stored relations of an installation.
#[derive(Debug, Default)]
pub(super) struct Stored {
    /// Each comes after those that it reads.
    pub(super) relations: Vec<Relation>,
    /// All views and the words of their definitions, which name the relations that they read. Each comes after
    /// those that it reads.
    views: Vec<(String, BTreeSet<String>)>,
    /// The native relations that read relations as views do, and these.
    natives: Vec<(String, Vec<String>)>,
}

#[derive(Debug)]
pub(super) struct Relation {
    pub(super) view: StoredView,
    pub(super) kept: Mutex<Option<Rows>>,
}

#[derive(Debug)]
pub(super) struct Rows {
    /// The statement that creates the table.
    definition: String,
    width: usize,
    cells: Vec<Value>,
}

impl Stored {
    pub(super) fn new(installation: &Installation) -> Self {
        if installation.stored.is_empty() {
            return Self::default();
        }
        let natives = installation.natives.iter().filter(|native| !native.reads.is_empty());
        let natives = natives.map(|native| (native.object.clone(), native.reads.clone())).collect();
        let relation = |view: &StoredView| Relation { view: view.clone(), kept: Mutex::default() };
        let relations = installation.stored.iter().map(relation).collect();
        let mut stored = Self { relations, views: Vec::new(), natives };
        let view = |statement: &String| {
            let (name, body) = statement.strip_prefix("CREATE TEMP VIEW ")?.split_once(" AS")?;
            Some((name.to_owned(), stored.words_of(body)))
        };
        stored.views = installation.statements.iter().filter_map(view).collect();
        stored
    }

    /// The words of a statement and of what native relations in it read.
    fn words_of(&self, sql: &str) -> BTreeSet<String> {
        let mut words = words_in(&code_only(sql));
        for (name, reads) in &self.natives {
            if words.contains(name) {
                words.extend(reads.iter().cloned());
            }
        }
        words
    }

    /// The words of a statement and of the views that it reads, without those that a connection has as tables.
    pub(super) fn words_behind(&self, sql: &str, has: &BTreeSet<String>) -> BTreeSet<String> {
        let mut words = self.words_of(sql);
        for (name, more) in self.views.iter().rev() {
            if words.contains(name) && !has.contains(name) {
                words.extend(more.iter().cloned());
            }
        }
        words
    }

    /// The relations among these words, without those that a connection has.
    pub(super) fn named(&self, words: &BTreeSet<String>, has: &BTreeSet<String>) -> Vec<&Relation> {
        let is_read = |relation: &&Relation| {
            words.contains(&relation.view.name) && !has.contains(&relation.view.name)
        };
        self.relations.iter().filter(is_read).collect()
    }
}

impl Rows {
    /// The rows of a table; `None` if there are too many to keep.
    pub(super) fn read(connection: &Connection, name: &str) -> rusqlite::Result<Option<Self>> {
        let definition = "SELECT sql FROM sqlite_temp_schema WHERE name = ?1";
        let definition: String = connection.query_row(definition, [name], |row| row.get(0))?;
        let table = quote(name);
        let last = format!("SELECT coalesce(max(rowid), 0) FROM temp.{table}");
        let count: u32 = connection.query_row(&last, [], |row| row.get(0))?;
        if count > MOST_KEPT {
            return Ok(None);
        }
        let mut statement = connection.prepare(&format!("SELECT * FROM temp.{table}"))?;
        let width = statement.column_count();
        let mut cells = Vec::with_capacity(count as usize * width);
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            for place in 0..width {
                cells.push(row.get(place)?);
            }
        }
        Ok(Some(Self { definition, width, cells }))
    }

    /// Creates the table and fills it.
    pub(super) fn write(&self, connection: &Connection, name: &str) -> rusqlite::Result<()> {
        connection.execute_batch(&self.definition.replacen("CREATE TABLE", "CREATE TEMP TABLE", 1))?;
        let marks = vec!["?"; self.width].join(", ");
        let insert = format!("INSERT INTO temp.{} VALUES ({marks})", quote(name));
        let mut insert = connection.prepare(&insert)?;
        self.cells
            .chunks(self.width)
            .try_for_each(|row| insert.execute(params_from_iter(row)).map(|_| ()))
    }
}
