//! The structure of a statement, for the rules.

use crate::compile::parse;
use sqlparser::ast::{
    Expr, FunctionArguments, GroupByExpr, Ident, OrderByKind, Query, Select, SelectItem, SetExpr,
    Statement, Visit, Visitor,
};
use std::collections::BTreeSet;
use std::ops::ControlFlow;

/// The structure of a statement.
#[derive(Debug, Default)]
pub(super) struct Shape {
    /// Whether it is one SELECT.
    pub is_one_select: bool,
    /// Column names in the outermost ORDER BY.
    pub order: BTreeSet<String>,
    /// The column names of each GROUP BY. Positions are resolved to aliases.
    pub groups: Vec<BTreeSet<String>>,
    /// Whether it returns a single row: the outermost SELECT is an aggregate without GROUP BY.
    pub is_single_row: bool,
}

/// Parses `sql`. The error is the parser's message.
pub(super) fn shape(sql: &str) -> Result<Shape, String> {
    let statements = parse(sql)?;
    let mut shape = Shape::default();
    let [Statement::Query(query)] = statements.as_slice() else { return Ok(shape) };
    shape.is_one_select = true;
    shape.order = ordered(query);
    shape.is_single_row = outermost(query).is_some_and(is_single_row);
    let mut groups = Groups::default();
    let _ = statements.visit(&mut groups);
    shape.groups = groups.0;
    Ok(shape)
}

fn outermost(query: &Query) -> Option<&Select> {
    match query.body.as_ref() {
        SetExpr::Select(select) => Some(select),
        SetExpr::Query(query) => outermost(query),
        _ => None,
    }
}

fn ordered(query: &Query) -> BTreeSet<String> {
    match query.order_by.as_ref().map(|order| &order.kind) {
        Some(OrderByKind::Expressions(terms)) => {
            terms.iter().filter_map(|term| name_of(&term.expr)).collect()
        }
        _ => BTreeSet::new(),
    }
}

/// The last part of a column name.
fn name_of(expr: &Expr) -> Option<String> {
    match expr {
        Expr::Identifier(name) => Some(name.value.to_lowercase()),
        Expr::CompoundIdentifier(parts) => parts.last().map(|name| name.value.to_lowercase()),
        Expr::Collate { expr, .. } | Expr::Nested(expr) => name_of(expr),
        _ => None,
    }
}

fn is_single_row(select: &Select) -> bool {
    const AGGREGATES: [&str; 9] =
        ["sum", "count", "min", "max", "avg", "total", "median", "percentile", "stddev"];
    let is_aggregate = |expr: &Expr| {
        let mut found = false;
        let _ = sqlparser::ast::visit_expressions(expr, |inner: &Expr| {
            if let Expr::Function(call) = inner {
                let name = call.name.to_string().to_lowercase();
                // `min` and `max` with two arguments are scalar functions.
                let arguments = match &call.args {
                    FunctionArguments::List(list) => list.args.len(),
                    _ => 0,
                };
                found |= AGGREGATES.contains(&name.as_str())
                    && call.over.is_none()
                    && (arguments < 2 || name == "percentile");
            }
            ControlFlow::<()>::Continue(())
        });
        found
    };
    let ungrouped = matches!(&select.group_by, GroupByExpr::Expressions(keys, _) if keys.is_empty());
    ungrouped
        && (select.from.is_empty()
            || select.projection.iter().any(|item| match item {
                SelectItem::UnnamedExpr(expr) | SelectItem::ExprWithAlias { expr, .. } => {
                    is_aggregate(expr)
                }
                _ => false,
            }))
}

#[derive(Default)]
struct Groups(Vec<BTreeSet<String>>);

impl Visitor for Groups {
    type Break = ();

    fn pre_visit_query(&mut self, query: &Query) -> ControlFlow<()> {
        let mut bodies = vec![query.body.as_ref()];
        while let Some(body) = bodies.pop() {
            match body {
                SetExpr::Select(select) => self.add(select),
                SetExpr::SetOperation { left, right, .. } => {
                    bodies.extend([left.as_ref(), right.as_ref()])
                }
                _ => {}
            }
        }
        ControlFlow::Continue(())
    }
}

impl Groups {
    fn add(&mut self, select: &Select) {
        let GroupByExpr::Expressions(keys, _) = &select.group_by else { return };
        if keys.is_empty() {
            return;
        }
        let resolve = |key: &Expr| match key {
            Expr::Value(value) => {
                let position: usize = value.to_string().parse().ok()?;
                match select.projection.get(position.checked_sub(1)?)? {
                    SelectItem::ExprWithAlias { alias, .. } => Some(alias.value.to_lowercase()),
                    SelectItem::UnnamedExpr(expr) => name_of(expr),
                    _ => None,
                }
            }
            other => name_of(other).or_else(|| alias_of(select, other)),
        };
        // ORDER BY cannot name a key without a name, so ignore this group.
        if let Some(names) = keys.iter().map(resolve).collect::<Option<BTreeSet<String>>>() {
            self.0.push(names);
        }
    }
}

/// The alias of the same expression in the select list.
fn alias_of(select: &Select, key: &Expr) -> Option<String> {
    select.projection.iter().find_map(|item| match item {
        SelectItem::ExprWithAlias { expr, alias } if expr == key => Some(alias.value.to_lowercase()),
        _ => None,
    })
}

/// A statement that counts the rows of `sql` that tie with another row in its ORDER BY. `None` if there
/// is no ORDER BY.
pub(super) fn count_of_ties(sql: &str) -> Option<String> {
    let mut statements = parse(sql).ok()?;
    let [Statement::Query(query)] = statements.as_mut_slice() else { return None };
    let OrderByKind::Expressions(terms) = query.order_by.take()?.kind else { return None };
    query.limit_clause = None;
    let SetExpr::Select(select) = query.body.as_mut() else { return None };
    let aliases: Vec<String> = select
        .projection
        .iter()
        .filter_map(|item| match item {
            SelectItem::ExprWithAlias { alias, .. } => Some(alias.value.to_lowercase()),
            SelectItem::UnnamedExpr(expr) => name_of(expr),
            _ => None,
        })
        .collect();
    let mut keys = Vec::with_capacity(terms.len());
    for (index, term) in terms.into_iter().enumerate() {
        match &term.expr {
            // Output columns are visible to the outer SELECT by name. Other terms need an alias.
            Expr::Identifier(name) if aliases.contains(&name.value.to_lowercase()) => {
                keys.push(name.to_string())
            }
            _ => {
                let alias = Ident::new(format!("order_term_{index}"));
                keys.push(alias.to_string());
                select.projection.push(SelectItem::ExprWithAlias { expr: term.expr, alias });
            }
        }
    }
    let keys = keys.join(", ");
    Some(format!(
        "SELECT coalesce(sum(n), 0) FROM (SELECT count(*) AS n FROM ({query}) GROUP BY {keys} HAVING n > 1)"
    ))
}

/// The `:name` parameters of a statement, without those in quotes and comments.
pub(super) fn parameters(sql: &str) -> BTreeSet<String> {
    let code = code_only(sql);
    let mut names = BTreeSet::new();
    for part in code.split(':').skip(1) {
        let name: String = part.chars().take_while(|c| c.is_ascii_alphanumeric() || *c == '_').collect();
        if !name.is_empty() {
            names.insert(name);
        }
    }
    names
}

/// The statement with comments and string literals replaced by spaces, so that positions stay the same.
pub(super) fn code_only(sql: &str) -> String {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_order_and_the_groups_are_found() {
        let shape = shape(
            "WITH g AS (SELECT a AS k, b, sum(c) AS s FROM t GROUP BY 1, b) \
             SELECT k, b, s FROM g ORDER BY s DESC, g.k, b",
        )
        .unwrap();
        assert!(shape.groups[0].is_subset(&shape.order));
        assert!(!shape.is_single_row);
    }

    #[test]
    fn ties_are_counted_by_the_terms_of_order_by() {
        let connection = rusqlite::Connection::open_in_memory().unwrap();
        connection
            .execute_batch("CREATE TABLE t (a, b); INSERT INTO t VALUES (1, 1), (1, 2), (2, 3)")
            .unwrap();
        let ties = |sql: &str| -> i64 {
            connection.query_row(&count_of_ties(sql).unwrap(), [], |row| row.get(0)).unwrap()
        };
        assert_eq!(ties("SELECT a FROM t ORDER BY a"), 2);
        assert_eq!(ties("SELECT a FROM t ORDER BY a, b LIMIT 1"), 0);
        assert_eq!(ties("SELECT a AS x FROM t ORDER BY x DESC, t.b % 2"), 0);
        assert_eq!(
            ties("WITH g AS (SELECT a, sum(b) AS s FROM t GROUP BY a) SELECT a FROM g ORDER BY s"),
            2
        );
    }

    #[test]
    fn an_aggregate_without_groups_is_one_row() {
        assert!(shape("SELECT count(*) AS n FROM t").unwrap().is_single_row);
        assert!(!shape("SELECT min(a, b) AS n FROM t").unwrap().is_single_row);
        assert!(!shape("SELECT sum(a) OVER () AS n FROM t").unwrap().is_single_row);
    }

    #[test]
    fn parameters_in_strings_and_comments_are_ignored() {
        let names = parameters("SELECT ':a', :b -- :c\nWHERE x = :limit_2");
        assert_eq!(names.into_iter().collect::<Vec<_>>(), ["b", "limit_2"]);
    }
}
