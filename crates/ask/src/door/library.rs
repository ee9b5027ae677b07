//! Libraries of queries, and the reports that they answer for.

use super::rows::{Answer, Table};
use crate::manual::{Form, manual};
use crate::materialize::{Source, materialize};
use crate::open_report::OpenReport;
use nsq_engine::compile::{Invocation, Layout, Plan};
use nsq_engine::execute::Limits;
use nsq_engine::normalize::Presence;
use nsq_engine::scope::ScopeText as Scope;
use nsq_library::catalog::{BuiltIn, Catalog, Shown};
use nsq_library::manual::{self, library_items, queries, search, words_of};
use nsq_report::report::{ExportOptions, Temporaries};
use nsq_value::cancel::Cancel;
use nsq_value::error::{Error, Result};
use nsq_value::table::{Column, ResultTable, Value};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Queries, relations, class maps and pages: the built-in ones, and those of folders of your own.
#[derive(Debug, Clone)]
pub struct Library {
    catalog: Shared,
    /// The temporary databases of its reports, where there is no cache folder.
    temporaries: Temporaries,
    pub(super) cancel: Cancel,
}

#[derive(Debug, Clone)]
enum Shared {
    BuiltIn(&'static Catalog),
    Own(Arc<Catalog>),
}

impl Library {
    /// The built-in library.
    pub fn built_in(built_in: &'static BuiltIn) -> Result<Self> {
        Ok(Self::of(Shared::BuiltIn(built_in.catalog()?)))
    }

    /// The built-in library and query folders, of which a later one overrides an earlier one.
    pub fn load(built_in: &'static BuiltIn, folders: &[PathBuf]) -> Result<Self> {
        Ok(Self::of(Shared::Own(Arc::new(Catalog::load(built_in, folders)?))))
    }

    fn of(catalog: Shared) -> Self {
        Self { catalog, temporaries: Temporaries::default(), cancel: Cancel::default() }
    }

    /// The same library, but `cancel` stops the opening of its reports, and questions without a [`Cancel`] of their own.
    #[must_use]
    pub fn cancelled_by(self, cancel: &Cancel) -> Self {
        Self { cancel: cancel.clone(), ..self }
    }

    /// Opens a report to be asked with this library.
    pub fn open(&self, path: impl AsRef<Path>) -> Result<Report> {
        let mut options = ExportOptions::default();
        options.cache.temporaries = self.temporaries.clone();
        options.cache.cancel = self.cancel.clone();
        let open = OpenReport::new(path.as_ref(), &options)?;
        Ok(Report { library: self.clone(), open })
    }

    /// The names of all queries.
    pub fn queries(&self) -> impl Iterator<Item = &str> {
        self.catalog().query_names()
    }

    /// The queries that are about these words, the best match first; without words, all but internal ones, which are
    /// parts of pages. Columns: `domain`, `name`, `summary`, `version`,
    /// `tags`, all text.
    pub fn find(&self, words: &str) -> Result<Table> {
        let words = words_of(&[words.to_owned()]);
        let mut found = queries(self.catalog(), Shown::Public);
        if !words.is_empty() {
            let names: BTreeSet<String> =
                found.iter().filter_map(|row| row.text("name").map(str::to_owned)).collect();
            let others = ["pages", "playbooks", "relations", "classes", "recorded"];
            found = library_items(self.catalog(), Shown::Public)?;
            search(&mut found, &words, self.catalog())?;
            found.rows.retain(|row| match (row.first(), row.get(1)) {
                (Some(Value::Text(kind)), Some(Value::Text(name))) => {
                    names.contains(name) && !others.contains(&kind.as_str())
                }
                _ => false,
            });
        }
        Ok(listed("Queries", found))
    }

    /// The manual page of a query, relation, page, class map or playbook, as `nsq show` prints it: purpose,
    /// parameters, columns with units, and limits.
    ///
    /// # Errors
    ///
    /// [`Error::Unknown`] for a name that the library does not have.
    pub fn manual(&self, name: &str) -> Result<String> {
        manual(self.catalog(), name, Form::Text)
    }

    /// The statement of a query, as in its file. [`Library::manual`] says what it computes.
    ///
    /// # Errors
    ///
    /// [`Error::Unknown`] for a query that the library does not have.
    pub fn statement(&self, query: &str) -> Result<&str> {
        Ok(self.catalog().query(query)?.sql.trim())
    }

    /// The columns of a query, as it documents them.
    ///
    /// # Errors
    ///
    /// [`Error::Unknown`] for a query that the library does not have.
    pub fn columns(&self, query: &str) -> Result<Vec<Column>> {
        Ok(self.plan(query)?.columns)
    }

    /// Whether a query reads the answers of all reports together.
    ///
    /// # Errors
    ///
    /// [`Error::Unknown`] for a query that the library does not have.
    pub fn is_across(&self, query: &str) -> Result<bool> {
        Ok(self.plan(query)?.across)
    }

    /// What a query across reports reads: names of tables, and the queries whose answers they hold. Empty for
    /// a query about one report. The table of a query about one report begins with the columns `report`
    /// and `side`, the place of the report.
    ///
    /// # Errors
    ///
    /// [`Error::Unknown`] for a query that the library does not have.
    pub fn asks_across(&self, query: &str) -> Result<Vec<(String, String)>> {
        let plan = self.plan(query)?;
        let asks = plan.asks.into_iter().filter(|_| plan.across);
        Ok(asks.filter_map(|asked| Some((asked.table, asked.plan.query.clone()?.0))).collect())
    }

    fn plan(&self, query: &str) -> Result<Plan> {
        Plan::without_values(self.catalog(), &Invocation::parse(query), &Layout::Own)
    }

    /// The names of all relations, which statements read.
    pub fn relations(&self) -> impl Iterator<Item = &str> {
        self.catalog().relation_names()
    }

    /// The relations but internal ones, with a summary and the names of the columns of each. Columns: `domain`, `name`, `summary`,
    /// `present_if`, `columns`, all text.
    pub fn list_relations(&self) -> Result<Table> {
        Ok(listed("Relations", manual::relations(self.catalog(), Shown::Public)?))
    }

    /// The pages, which [`Report::page`] asks. Columns: `domain`, `name`, `summary`, `version`, `queries`, all text.
    pub fn list_pages(&self) -> Table {
        listed("Pages", manual::pages(self.catalog()))
    }

    /// The playbooks, which [`Library::answer`] asks. Columns: `domain`, `name`, `summary`, `version`, `files`, all
    /// text.
    pub fn list_playbooks(&self) -> Table {
        listed("Playbooks", manual::playbooks(self.catalog()))
    }

    /// Its files.
    #[doc(hidden)]
    pub fn catalog(&self) -> &Catalog {
        match &self.catalog {
            Shared::BuiltIn(catalog) => catalog,
            Shared::Own(catalog) => catalog,
        }
    }
}

fn listed(title: &str, rows: ResultTable) -> Table {
    Table::new(Answer { title: title.to_owned(), ..Answer::default() }, rows)
}

/// An open report. Any number of threads can ask it at the same time.
#[derive(Debug)]
pub struct Report {
    pub(super) library: Library,
    pub(super) open: OpenReport,
}

impl Report {
    /// Its file name.
    pub fn name(&self) -> String {
        self.open.report.name()
    }

    /// Its file: the path that was given, absolute and without links.
    pub fn file(&self) -> &Path {
        &self.open.report.file
    }

    /// What it is below the door, for nsq's own programs.
    #[doc(hidden)]
    pub fn opened(&self) -> &OpenReport {
        &self.open
    }

    /// The names of the queries that it has the data for.
    pub fn answerable(&self) -> Result<Vec<&str>> {
        let catalog = self.library.catalog();
        let presence = Presence::new(&self.open.schema, catalog);
        let mut names = Vec::new();
        for query in catalog.readable_queries() {
            let invocation = Invocation::parse(&query.header.name);
            let plan = Plan::without_values(catalog, &invocation, &Layout::Own)?;
            match plan.check_presence(&presence, &self.open.report.path) {
                Ok(()) => names.push(query.header.name.as_str()),
                Err(Error::LacksData { .. }) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(names)
    }

    /// Every query, whether the report has the data for it, and what would record the missing data. Columns: `query`,
    /// `can_run`, `record_with`, `missing`, all text.
    pub fn askable(&self) -> Result<Table> {
        Ok(listed("What can be asked", self.open.askable(self.library.catalog(), Shown::Public)?))
    }

    /// The names of the relations that it has data for.
    pub fn relations(&self) -> Result<Vec<&str>> {
        let present = Source::relations(self.library.catalog(), &self.open.schema)?;
        Ok(present.into_iter().map(|relation| relation.header.name.as_str()).collect())
    }

    /// Writes its relations to a SQLite file, whole or not at all, as `nsq materialize` does. Replaces a file there, but
    /// never the report. Returns notes, where the scope could not be applied.
    pub fn materialize(
        &self,
        output: impl AsRef<Path>,
        scope: &Scope,
        cancel: &Cancel,
    ) -> Result<Vec<String>> {
        let OpenReport { report, schema, .. } = &self.open;
        let limits = Limits { cancel: cancel.clone(), ..Limits::default() };
        let catalog = self.library.catalog();
        let (scope, of_scope) = self.open.in_numbers(catalog, &scope.resolve(schema)?, &limits)?;
        let source = Source { report, schema, catalog, scope: &scope, limits: &limits, internal: false };
        let notes = materialize(&source, output.as_ref())?.notes;
        Ok(of_scope.into_iter().chain(notes).collect())
    }
}
