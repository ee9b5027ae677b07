//! The SQL library, held against its own rules.
//!
//! For: `nsq check` and the project's tests. Every rule has a number, a message, and a remedy:
//! `Q` for queries, `V` for relations, `S` for source specs and rules about names, `C` for class maps, `P` for
//! playbooks, `R` for what only a report can show.
//!
//! Not for: a user's statements in `nsq sql`. Nothing here is needed to answer a question.

mod names;
mod playbook;
mod query;
mod relation;
mod report;
mod statement;

pub use report::check_on_report;

use crate::catalog::Catalog;
use crate::error::{Error, Result};
use crate::execute::check_rules;
use crate::schema::{Schema, quote};
use rusqlite::Connection;
use std::fmt;

/// A broken rule.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Finding {
    /// File, as the user would open it.
    pub file: String,
    /// Line, from 1.
    pub line: usize,
    /// Number of the rule, such as `Q06`.
    pub rule: &'static str,
    /// What is wrong.
    pub message: String,
    /// What to do.
    pub help: String,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {} {}\n  help: {}", self.file, self.line, self.rule, self.message, self.help)
    }
}

/// Holds every file of the library against the rules.
pub fn check(catalog: &Catalog) -> Result<Vec<Finding>> {
    let mut findings: Vec<Finding> = catalog.broken().into_iter().map(unreadable).collect();
    let vocabulary_is_whole = catalog.relations().is_ok() && catalog.sources().is_ok();
    if vocabulary_is_whole {
        let complete = Complete::new(catalog)?;
        for source in catalog.sources()? {
            relation::check_source(source, &mut findings);
        }
        for rules in catalog.all_rules().unwrap_or_default() {
            findings.extend(check_rules(rules).err().map(unreadable));
        }
        check_classes(catalog, &mut findings);
        for relation in catalog.relations()? {
            relation::check_relation(relation, catalog, &complete, &mut findings);
        }
        for playbook in catalog.readable_playbooks() {
            playbook::check_playbook(playbook, catalog, &mut findings);
        }
        for query in catalog.readable_queries() {
            query::check_query(query, catalog, &complete, &mut findings);
        }
    }
    findings.sort();
    Ok(findings)
}

/// C01, C02: maps can be used, say what they are for, and hold no pattern twice.
fn check_classes(catalog: &Catalog, findings: &mut Vec<Finding>) {
    let maps = catalog.classes();
    // A file that cannot be read is a finding already.
    for name in maps.names() {
        let Ok(map) = maps.map(&name) else { continue };
        findings.extend(map.compile().err().map(unreadable));
        findings.extend(map.duplicates.into_iter().map(|twice| Finding {
            file: twice.file,
            line: twice.line,
            rule: "C01",
            message: twice.message,
            help: "take one of them out".to_owned(),
        }));
        let file = map.rules.first().map_or(String::new(), |rule| rule.file.clone());
        if map.doc.is_empty() || map.rules.is_empty() {
            findings.push(Finding {
                file,
                line: 1,
                rule: "C02",
                message: format!("class map {name} has no doc, or no rules"),
                help: "say in `doc` what its classes are".to_owned(),
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

/// A report that has every table and column any export ever had, and no rows.
pub struct Complete {
    schema: Schema,
    ddl: String,
}

impl fmt::Debug for Complete {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Complete").finish_non_exhaustive()
    }
}

impl Complete {
    /// The report that the library's specs describe.
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

    /// Its tables and columns.
    pub fn schema(&self) -> &Schema {
        &self.schema
    }

    /// A database with its tables.
    pub fn connect(&self) -> Result<Connection> {
        let connection = Connection::open_in_memory()?;
        connection.execute_batch(&self.ddl)?;
        Ok(connection)
    }
}
