//! The structure of a statement, for the rules.

use nsq_engine::compile::{code_only, parse};
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

/// The column names in the outermost ORDER BY. Positions are resolved.
fn ordered(query: &Query) -> BTreeSet<String> {
    let select = outermost(query);
    let resolve = |expr: &Expr| at_position(select, expr).or_else(|| name_of(expr));
    match query.order_by.as_ref().map(|order| &order.kind) {
        Some(OrderByKind::Expressions(terms)) => {
            terms.iter().filter_map(|term| resolve(&term.expr)).collect()
        }
        _ => BTreeSet::new(),
    }
}

/// The name of the column at the position that a key such as `2` means; `None` if it is not a position.
fn at_position(select: Option<&Select>, key: &Expr) -> Option<String> {
    let Expr::Value(value) = key else { return None };
    let position: usize = value.to_string().parse().ok()?;
    match select?.projection.get(position.checked_sub(1)?)? {
        SelectItem::ExprWithAlias { alias, .. } => Some(alias.value.to_lowercase()),
        SelectItem::UnnamedExpr(expr) => name_of(expr),
        _ => None,
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
            Expr::Value(_) => at_position(Some(select), key),
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

/// One statement that runs `sql` once, without its limit, and counts what is wrong with its rows.
///
/// Its only row holds the number of rows that tie with another row in the ORDER BY, 0 without ORDER BY, and then
/// for each of `checks` the number of rows that break it.
pub(super) fn audit(sql: &str, checks: &[String]) -> String {
    let broken: String =
        checks.iter().map(|check| format!(",\n  coalesce(sum(NOT ({check})), 0)")).collect();
    // A window, not a second look at the rows: SQLite would expand all views of the statement twice.
    let (rows, ties) = match rows_and_order(sql) {
        Some((rows, keys)) => (
            format!("SELECT *, count(*) OVER (PARTITION BY {keys}) AS rows_in_place FROM (\n{rows}\n)"),
            "coalesce(sum(rows_in_place > 1), 0)",
        ),
        None => (sql.to_owned(), "0"),
    };
    format!("SELECT\n  {ties}{broken}\nFROM (\n{rows}\n)")
}

/// The statement without ORDER BY and LIMIT, and the names of the columns to order by. `None` without ORDER BY.
fn rows_and_order(sql: &str) -> Option<(String, String)> {
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
    Some((query.to_string(), keys.join(", ")))
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
    fn positions_stand_for_their_columns() {
        let shape = shape("SELECT a, b AS c, count(*) FROM t GROUP BY 1, 2 ORDER BY 1, 2 DESC").unwrap();
        assert!(shape.groups[0].is_subset(&shape.order));
        assert_eq!(shape.order.into_iter().collect::<Vec<_>>(), ["a", "c"]);
    }

    #[test]
    fn ties_and_broken_checks_are_counted_in_one_run() {
        let connection = rusqlite::Connection::open_in_memory().unwrap();
        connection
            .execute_batch("CREATE TABLE t (a, b); INSERT INTO t VALUES (1, 1), (1, 2), (2, 3)")
            .unwrap();
        let ties =
            |sql: &str| -> i64 { connection.query_row(&audit(sql, &[]), [], |row| row.get(0)).unwrap() };
        let checks = ["a > 1".to_owned(), "a < 9".to_owned(), "NULL".to_owned()];
        let counts: (i64, i64, i64, i64) = connection
            .query_row(&audit("SELECT a FROM t ORDER BY a LIMIT 1", &checks), [], |row| {
                Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?))
            })
            .unwrap();
        assert_eq!(counts, (2, 2, 0, 0), "of all rows, and a check that is null holds");
        assert_eq!(ties("SELECT a FROM t"), 0, "no order has no ties");
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
