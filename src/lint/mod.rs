//! Lint rules for the SQL library, used by `nsq check` and by the project's tests.
//!
//! Each rule has a number, a message and a remedy. The letter tells the kind of file: `Q` queries, `V`
//! relations, `S` source specs and name rules, `C` class maps, `P` playbooks, `G` pages. `R` rules need a report.
//!
//! Users' statements in `nsq sql` are not checked, and running a query needs nothing from this module.

mod dialect;
mod names;
mod page;
mod playbook;
mod query;
mod relation;
mod report;
mod statement;
mod template;

pub use report::check_on_report;

use crate::catalog::Catalog;
use crate::error::{Error, Result};
use crate::execute::check_rules;
use crate::normalize::{self, Installation, Scope};
use crate::schema::{Schema, quote};
use rusqlite::Connection;
use std::fmt;

/// A violation of a rule.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Finding {
    /// File, as the user would open it.
    pub file: String,
    /// Line number, from 1.
    pub line: usize,
    /// Rule number, such as `Q06`.
    pub rule: &'static str,
    /// What is wrong.
    pub message: String,
    /// How to fix it.
    pub help: String,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {} {}\n  help: {}", self.file, self.line, self.rule, self.message, self.help)
    }
}

/// Checks every file of the library. Queries, relations, playbooks and pages are checked only if all relations
/// and source specs can be read.
pub fn check(catalog: &Catalog) -> Result<Vec<Finding>> {
    let mut findings: Vec<Finding> = catalog.broken().into_iter().map(unreadable).collect();
    let vocabulary_is_whole = catalog.relations().is_ok() && catalog.sources().is_ok();
    if vocabulary_is_whole {
        let empty_report = EmptyReport::new(catalog)?;
        for source in catalog.sources()? {
            relation::check_source(source, &mut findings);
        }
        for rules in catalog.all_rules().unwrap_or_default() {
            findings.extend(check_rules(rules).err().map(unreadable));
        }
        check_classes(catalog, &mut findings);
        for relation in catalog.relations()? {
            relation::check_relation(relation, catalog, &empty_report, &mut findings);
        }
        for playbook in catalog.readable_playbooks() {
            playbook::check_playbook(playbook, catalog, &mut findings);
        }
        for page in catalog.readable_pages() {
            page::check_page(page, catalog, &mut findings);
        }
        for query in catalog.readable_queries() {
            query::check_query(query, catalog, &empty_report, &mut findings);
        }
    }
    findings.sort();
    Ok(findings)
}

/// C01, C02: class maps compile, have a doc and rules, and have no duplicate patterns.
fn check_classes(catalog: &Catalog, findings: &mut Vec<Finding>) {
    let maps = catalog.classes();
    // Unreadable files are findings already.
    for name in maps.names() {
        let Ok(map) = maps.map(&name) else { continue };
        findings.extend(map.compile().err().map(unreadable));
        findings.extend(map.duplicates.into_iter().map(|duplicate| Finding {
            file: duplicate.file,
            line: duplicate.line,
            rule: "C01",
            message: duplicate.message,
            help: "remove one of the two".to_owned(),
        }));
        let file = map.rules.first().map_or(String::new(), |rule| rule.file.clone());
        if map.doc.is_empty() || map.rules.is_empty() {
            findings.push(Finding {
                file,
                line: 1,
                rule: "C02",
                message: format!("class map {name} has no `doc` or no `rules`"),
                help: "add rules, and describe the classes in `doc`".to_owned(),
            });
        }
    }
}

fn unreadable(error: Error) -> Finding {
    let help = error.help().unwrap_or_default();
    match error {
        Error::Catalog { file, line, reason, .. } => {
            let rule = if file.ends_with(".yml") { "S02" } else { "Q02" };
            Finding { file, line, rule, message: reason, help }
        }
        other => Finding { file: String::new(), line: 1, rule: "Q02", message: other.to_string(), help },
    }
}

/// An empty report that has all tables and columns of all export versions.
pub struct EmptyReport {
    schema: Schema,
    ddl: String,
}

impl fmt::Debug for EmptyReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EmptyReport").finish_non_exhaustive()
    }
}

impl EmptyReport {
    /// Builds it from the source specs of the library.
    pub fn new(catalog: &Catalog) -> Result<Self> {
        let mut ddl = String::new();
        for source in catalog.sources()? {
            let Some(table) = source.tables.first() else { continue };
            let mut columns: Vec<String> = source.columns.iter().map(|c| quote(&c.name)).collect();
            if source.is_enum() {
                columns = ["id", "name", "label"].map(str::to_owned).to_vec();
            }
            ddl.push_str(&format!("CREATE TABLE {} ({});\n", quote(table), columns.join(", ")));
        }
        let connection = Connection::open_in_memory()?;
        connection.execute_batch(&ddl)?;
        Ok(Self { schema: Schema::read(&connection)?, ddl })
    }

    /// Its schema.
    pub fn schema(&self) -> &Schema {
        &self.schema
    }

    /// What `roots` need. Stored relations are empty tables, as they are tables when a statement runs; `tested`
    /// stays a view.
    pub(super) fn installation<'n>(
        &self,
        catalog: &Catalog,
        roots: impl IntoIterator<Item = &'n str>,
        tested: Option<&str>,
    ) -> Result<Installation> {
        let mut installation = normalize::plan(&self.schema, catalog, &Scope::default(), roots)?;
        for stored in installation.stored.iter().filter(|name| Some(name.as_str()) != tested) {
            let name = stored.strip_prefix(normalize::UNSCOPED).unwrap_or(stored);
            let view = format!("CREATE TEMP VIEW {stored} AS\n");
            if let Some(relation) = catalog.relation(name) {
                let columns = relation?.header.columns.iter().map(|column| quote(&column.name));
                let table =
                    format!("CREATE TEMP TABLE {stored} ({})", columns.collect::<Vec<_>>().join(", "));
                let others = installation.statements.others.iter_mut();
                others.filter(|made| made.starts_with(&view)).for_each(|made| made.clone_from(&table));
            }
        }
        Ok(installation)
    }

    /// Opens an in-memory database with its tables.
    pub fn connect(&self) -> Result<Connection> {
        let connection = Connection::open_in_memory()?;
        connection.execute_batch(&self.ddl)?;
        Ok(connection)
    }
}
