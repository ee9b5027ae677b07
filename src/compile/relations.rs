//! Which relations and functions a statement names, found with a real parser.
//!
//! For the library's own SQL: SQLite itself, not this, decides what a user's statement may do.

use super::dialect::parse;
use sqlparser::ast::{Expr, ObjectName, Query, Visit, Visitor};
use std::collections::BTreeSet;
use std::ops::ControlFlow;

/// SQLite's own functions that stand where relations do.
const TABLE_FUNCTIONS: [&str; 2] = ["json_each", "json_tree"];

/// The relations that a statement reads, without its own `WITH` names. The error is the parser's.
pub fn relations_in(sql: &str) -> Result<BTreeSet<String>, String> {
    let mut names = Names::default();
    for statement in parse(sql)? {
        let _ = statement.visit(&mut names);
    }
    let is_relation = |name: &&String| !TABLE_FUNCTIONS.contains(&name.as_str());
    Ok(names.relations.difference(&names.local).filter(is_relation).cloned().collect())
}

/// The names of the functions that a statement calls, in lower case.
pub fn functions_in(sql: &str) -> Result<BTreeSet<String>, String> {
    let mut names = Names::default();
    for statement in parse(sql)? {
        let _ = statement.visit(&mut names);
    }
    Ok(names.functions)
}

/// The identifiers in a text, roughly: enough to see which relations a statement may name.
pub fn words_in(sql: &str) -> BTreeSet<String> {
    sql.split(|c: char| !c.is_ascii_alphanumeric() && c != '_')
        .filter(|word| !word.is_empty())
        .map(str::to_ascii_lowercase)
        .collect()
}

#[derive(Default)]
struct Names {
    relations: BTreeSet<String>,
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
