//! Relations with `stored: true`: several statements read them, and their rows are few and take long. They are
//! computed for the first of these statements, and kept for the others.
//!
//! Such a relation is a view of a table, which its first statement makes from another view. No view is replaced: SQLite
//! would find the columns of all others again.

use super::named_times::NamedTimes;
use crate::compile::names_in;
use crate::normalize::{Installation, Statements, StoredView};
use nsq_report::schema::quote;
use rusqlite::types::Value;
use rusqlite::{Connection, params_from_iter};
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::sync::{Arc, Mutex};

/// Most rows that are kept in memory for the other connections to the report. Of a relation with more, each
/// connection computes its own.
const MOST_KEPT: u32 = 100_000;
/// How the statement of a view begins.
const CREATE_VIEW: &str = "CREATE TEMP VIEW ";

/// The view that computes the rows of a stored relation.
pub(super) fn computed(relation: &str) -> String {
    format!("computed {relation}")
}

/// The table of a stored relation.
pub(super) fn table_of(relation: &str) -> String {
    format!("stored {relation}")
}

/// The stored relations of an installation, and the times that are named.
#[derive(Debug, Default)]
pub(super) struct Stored {
    /// Each comes after those that it reads.
    pub(super) relations: Vec<Relation>,
    /// All views and the relations that their definitions may read. Each comes after those that it reads.
    views: Vec<(String, BTreeSet<String>)>,
    /// The native relations that read relations as views do, and these.
    natives: Vec<(String, Vec<String>)>,
    /// The names of all views and native relations.
    names: HashSet<String>,
    /// The statements of the installation, with two views for each stored relation.
    pub(super) statements: Statements,
    /// The conditions without which queries have no rows, and whether each is true.
    pub(super) held: Mutex<BTreeMap<String, bool>>,
    /// Those that sessions on the report know.
    pub(super) times: Arc<NamedTimes>,
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
    pub(super) fn new(installation: &Installation, times: Arc<NamedTimes>) -> Self {
        let statements = installation.statements.clone();
        if installation.stored.is_empty() {
            return Self { statements, times, ..Self::default() };
        }
        let natives = installation.natives.iter().filter(|native| !native.reads.is_empty());
        let natives = natives.map(|native| (native.object.clone(), native.reads.clone())).collect();
        let relation = |view: &StoredView| Relation { view: view.clone(), kept: Mutex::default() };
        let relations = installation.stored.iter().map(relation).collect();
        let views = installation
            .statements
            .iter()
            .filter_map(|statement| statement.strip_prefix(CREATE_VIEW)?.split_once(" AS"));
        let names = installation.natives.iter().map(|native| native.object.clone()).collect();
        let mut stored = Self { relations, natives, names, statements, times, ..Self::default() };
        for (name, body) in views {
            // A later view is not meant: a part of the statement has its name.
            let read = stored.names_of(body);
            stored.views.push((name.to_owned(), read));
            stored.names.insert(name.to_owned());
        }
        stored.part_views();
        stored
    }

    /// Makes two views of that of each stored relation: one that computes its rows, and one of its table.
    fn part_views(&mut self) {
        let stored: HashSet<&str> =
            self.relations.iter().map(|relation| relation.view.name.as_str()).collect();
        for statement in &mut self.statements.others {
            let view = statement.strip_prefix(CREATE_VIEW).and_then(|view| view.split_once(" AS"));
            if let Some((name, body)) = view.filter(|(name, _)| stored.contains(name)) {
                let (computed, table) = (quote(&computed(name)), quote(&table_of(name)));
                let of_table = format!("{CREATE_VIEW}{name} AS SELECT * FROM temp.{table}");
                *statement = format!("{CREATE_VIEW}{computed} AS{body};\n{of_table}");
            }
        }
    }

    /// The relations that a statement may read, and what native relations among them read.
    fn names_of(&self, sql: &str) -> BTreeSet<String> {
        let mut names = names_in(sql, |name| self.names.contains(name));
        for (name, reads) in &self.natives {
            if names.contains(name) {
                names.extend(reads.iter().cloned());
            }
        }
        names
    }

    /// The relations that a statement and the views behind it may read, without what those read that a connection has as
    /// tables.
    pub(super) fn names_behind(&self, sql: &str, has: &BTreeSet<String>) -> BTreeSet<String> {
        let mut names = self.names_of(sql);
        for (name, more) in self.views.iter().rev() {
            if names.contains(name) && !has.contains(name) {
                names.extend(more.iter().cloned());
            }
        }
        names
    }

    /// The stored relations of these names, without those that a connection has.
    pub(super) fn named(&self, names: &BTreeSet<String>, has: &BTreeSet<String>) -> Vec<&Relation> {
        let is_read = |relation: &&Relation| {
            names.contains(&relation.view.name) && !has.contains(&relation.view.name)
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
