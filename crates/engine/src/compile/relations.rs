//! Finds the relations and functions that a statement uses, with an SQL parser.
//!
//! This is for the library's SQL. For a user's statement, SQLite's authorizer decides what it may read.

use super::dialect::parse;
use nsq_library::catalog::Catalog;
use nsq_value::error::{Error, did_you_mean, nearest};
use sqlparser::ast::{Expr, ObjectName, Query, Visit, Visitor};
use std::collections::BTreeSet;
use std::ops::ControlFlow;

/// Table-valued functions: those of SQLite and of nsq.
const TABLE_FUNCTIONS: [&str; 3] = ["json_each", "json_tree", "split_spans"];

/// The relations that a statement reads, without its `WITH` names. The error is the parser's message.
pub fn relations_in(sql: &str) -> Result<BTreeSet<String>, String> {
    let mut names = Names::default();
    for statement in parse(sql)? {
        let _ = statement.visit(&mut names);
    }
    let is_relation = |name: &&String| !TABLE_FUNCTIONS.contains(&name.as_str());
    Ok(names.relations.difference(&names.local).filter(is_relation).cloned().collect())
}

/// The functions that a statement calls, in lower case. The error is the parser's message.
pub fn functions_in(sql: &str) -> Result<BTreeSet<String>, String> {
    let mut names = Names::default();
    for statement in parse(sql)? {
        let _ = statement.visit(&mut names);
    }
    Ok(names.functions)
}

/// For an unknown table in a user's statement, suggests relations with a similar name.
pub fn with_similar_relations(error: Error, catalog: &Catalog) -> Error {
    match error {
        Error::Sql { message, excerpt, help } => {
            let missing = message.strip_prefix("no such table: ").unwrap_or_default();
            let near = nearest(missing, catalog.relation_names());
            let help = match near.as_slice() {
                [] => help,
                near => format!("{} `nsq list --relations` lists all tables", did_you_mean(near)),
            };
            Error::Sql { message, excerpt, help }
        }
        other => other,
    }
}

/// All words in a text, in lower case: a superset of the relations that the statement names.
pub fn words_in(sql: &str) -> BTreeSet<String> {
    sql.split(|c: char| !c.is_ascii_alphanumeric() && c != '_')
        .filter(|word| !word.is_empty())
        .map(str::to_ascii_lowercase)
        .collect()
}

/// The statement with comments and string literals replaced by spaces, so that positions stay the same.
pub fn code_only(sql: &str) -> String {
    let mut out = String::with_capacity(sql.len());
    let mut rest = sql;
    let blank =
        |text: &str| text.chars().map(|c| if c == '\n' { '\n' } else { ' ' }).collect::<String>();
    while let Some(c) = rest.chars().next() {
        let taken = match c {
            '\'' => rest[1..].find('\'').map_or(rest.len(), |end| end + 2),
            '-' if rest.starts_with("--") => rest.find('\n').unwrap_or(rest.len()),
            '/' if rest.starts_with("/*") => rest.find("*/").map_or(rest.len(), |end| end + 2),
            c => {
                out.push(c);
                rest = &rest[c.len_utf8()..];
                continue;
            }
        };
        out.push_str(&blank(&rest[..taken]));
        rest = &rest[taken..];
    }
    out
}

#[derive(Default)]
struct Names {
    relations: BTreeSet<String>,
    /// `WITH` names.
    local: BTreeSet<String>,
    functions: BTreeSet<String>,
}

impl Visitor for Names {
    type Break = ();

    fn pre_visit_query(&mut self, query: &Query) -> ControlFlow<()> {
        for table in query.with.iter().flat_map(|with| &with.cte_tables) {
            self.local.insert(table.alias.name.value.to_lowercase());
        }
        ControlFlow::Continue(())
    }

    fn pre_visit_relation(&mut self, relation: &ObjectName) -> ControlFlow<()> {
        self.relations.insert(relation.to_string().to_lowercase());
        ControlFlow::Continue(())
    }

    fn pre_visit_expr(&mut self, expr: &Expr) -> ControlFlow<()> {
        if let Expr::Function(function) = expr {
            self.functions.insert(function.name.to_string().to_lowercase());
        }
        ControlFlow::Continue(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn common_table_expressions_are_not_relations() {
        let sql = "WITH busy AS (SELECT median(dur_ns) AS m FROM kernel) \
                   SELECT * FROM busy JOIN gpu ON true WHERE m IN (SELECT x FROM stream)";
        let relations: Vec<String> = relations_in(sql).unwrap().into_iter().collect();
        assert_eq!(relations, ["gpu", "kernel", "stream"]);
        assert!(functions_in(sql).unwrap().contains("median"));
    }
}
