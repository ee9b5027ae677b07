//! Finds the relations and functions that a statement uses, with an SQL parser.
//!
//! This is for the library's SQL. For a user's statement, SQLite's authorizer decides what it may read.

use super::dialect::parse;
use nsq_library::catalog::Catalog;
use nsq_value::error::{Error, did_you_mean, nearest};
use sqlparser::ast::{Expr, ObjectName, Query, Visit, Visitor};
use std::borrow::Cow;
use std::collections::BTreeSet;
use std::iter;
use std::ops::ControlFlow;

/// Table-valued functions: those of SQLite and of nsq.
const TABLE_FUNCTIONS: [&str; 4] = ["json_each", "json_rows", "json_tree", "split_spans"];

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
            let is_query = !missing.is_empty() && catalog.query(missing).is_ok();
            let help = match near.as_slice() {
                // A name that exists says what the writer wants; similar names are a guess.
                _ if is_query => {
                    format!("{missing} is a query, not a table: `nsq run REPORT -q {missing}`")
                }
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
    words(sql).map(str::to_ascii_lowercase).collect()
}

/// Those words of a text, in lower case, that are wanted.
pub fn words_among(text: &str, is_wanted: impl Fn(&str) -> bool) -> BTreeSet<String> {
    words(text).map(in_lower_case).filter(|word| is_wanted(word)).map(Cow::into_owned).collect()
}

/// Those words of a statement, in lower case, that are names. Comments and string literals have none.
pub fn names_in(sql: &str, is_name: impl Fn(&str) -> bool) -> BTreeSet<String> {
    let code = pieces(sql).filter(|(_, is_code)| *is_code);
    let words = code.flat_map(|(piece, _)| words(piece)).map(in_lower_case);
    words.filter(|word| is_name(word)).map(Cow::into_owned).collect()
}

fn in_lower_case(word: &str) -> Cow<'_, str> {
    let is_lower = word.bytes().all(|byte| !byte.is_ascii_uppercase());
    if is_lower { Cow::Borrowed(word) } else { Cow::Owned(word.to_ascii_lowercase()) }
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').filter(|word| !word.is_empty())
}

/// The statement with comments and string literals replaced by spaces, so that positions stay the same.
pub fn code_only(sql: &str) -> String {
    let blank =
        |text: &str| text.chars().map(|c| if c == '\n' { '\n' } else { ' ' }).collect::<String>();
    let code = pieces(sql).map(|(piece, is_code)| match is_code {
        true => Cow::Borrowed(piece),
        false => Cow::Owned(blank(piece)),
    });
    code.collect()
}

/// The statement in pieces, and whether each is code: a comment or a string literal is not.
pub(super) fn pieces(sql: &str) -> impl Iterator<Item = (&str, bool)> {
    let mut rest = sql;
    iter::from_fn(move || {
        let end = |of: usize, text: &str| rest[of..].find(text).map_or(rest.len(), |at| of + at);
        let (length, is_code) = match rest.as_bytes() {
            [] => return None,
            [b'\'', ..] => ((end(1, "'") + 1).min(rest.len()), false),
            [b'-', b'-', ..] => (end(0, "\n"), false),
            [b'/', b'*', ..] => ((end(0, "*/") + 2).min(rest.len()), false),
            code => {
                let ends = |at: &usize| {
                    matches!(code[*at..], [b'\'', ..] | [b'-', b'-', ..] | [b'/', b'*', ..])
                };
                ((1..code.len()).find(ends).unwrap_or(code.len()), true)
            }
        };
        let (piece, more) = rest.split_at(length);
        rest = more;
        Some((piece, is_code))
    })
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
