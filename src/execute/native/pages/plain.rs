//! Finds out from a relation's SQL whether it only renames columns of one table, and which.

use crate::compile::parse;
use crate::normalize::Statements;
use sqlparser::ast::{
    BinaryOperator, Expr, FunctionArg, FunctionArgExpr, FunctionArguments, Query, SelectItem, SetExpr,
    Statement, TableFactor, Value,
};

/// The source of a relation's column.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Field {
    /// The row number.
    RowId,
    /// A column of the table.
    Column(String),
    /// The first field that is not null.
    FirstOf(Vec<Field>),
    /// Always null.
    Null,
}

/// Columns of a relation that maps row by row to one table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in super::super) struct Plain {
    pub(super) table: String,
    /// The requested columns, in order.
    pub(super) fields: Vec<Field>,
    /// A row is kept if one of these fields holds one of its numbers. Empty: all rows are kept.
    pub(super) kept: Vec<(Field, Vec<i64>)>,
}

/// The most levels of relations that read relations; nsq's own need three.
const MAX_DEPTH: usize = 8;

impl Plain {
    /// The source of `columns` of `relation`; `None` unless `id` is the row number and the rest is plain.
    pub(in super::super) fn of(
        statements: &Statements,
        relation: &str,
        id: &str,
        columns: &[&str],
    ) -> Option<Self> {
        let shape = Shape::of_relation(statements, relation, MAX_DEPTH)?;
        let field =
            |column: &&str| if *column == "NULL" { Some(Field::Null) } else { shape.field(column) };
        let fields = columns.iter().map(field).collect::<Option<_>>()?;
        (shape.field(id)? == Field::RowId).then_some(Self {
            table: shape.table,
            fields,
            kept: shape.kept,
        })
    }
}

/// A SELECT that renames columns of one table.
struct Shape {
    table: String,
    /// The columns by name; a field is `None` if its expression is not plain. `None` for the table itself.
    columns: Option<Vec<(String, Option<Field>)>>,
    kept: Vec<(Field, Vec<i64>)>,
}

impl Shape {
    /// The shape of a relation that one of the statements creates as a view.
    fn of_relation(statements: &Statements, relation: &str, deepest: usize) -> Option<Self> {
        let head = format!("CREATE TEMP VIEW {relation} AS");
        let body = statements.iter().find_map(|statement| statement.strip_prefix(&head))?;
        match parse(body).ok()?.as_slice() {
            [Statement::Query(query)] => Self::of_query(statements, query, deepest.checked_sub(1)?),
            _ => None,
        }
    }

    fn of_query(statements: &Statements, query: &Query, deepest: usize) -> Option<Self> {
        let SetExpr::Select(select) = &*query.body else { return None };
        let [from] = select.from.as_slice() else { return None };
        let kept = select.selection.as_ref().map_or(String::new(), |kept| format!(" WHERE {kept}"));
        let items: Vec<String> = select.projection.iter().map(ToString::to_string).collect();
        // Any other clause (LIMIT, DISTINCT, …) would make the printed query differ.
        if query.to_string() != format!("SELECT {} FROM {from}{kept}", items.join(", ")) {
            return None;
        }
        if !from.joins.is_empty() {
            return None;
        }
        let inner = match &from.relation {
            TableFactor::Derived { subquery, .. } => {
                Self::of_query(statements, subquery, deepest.checked_sub(1)?)?
            }
            TableFactor::Table { name, .. } => match name.0.as_slice() {
                [name] => Self::of_relation(statements, &name.as_ident()?.value, deepest)?,
                [schema, name] if schema.as_ident()?.value == "main" => {
                    let table = name.as_ident()?.value.clone();
                    Self { table, columns: None, kept: Vec::new() }
                }
                _ => return None,
            },
            _ => return None,
        };
        let mut columns = Vec::new();
        for item in &select.projection {
            let (name, expr) = match item {
                SelectItem::UnnamedExpr(Expr::Identifier(name)) => {
                    (name, &Expr::Identifier(name.clone()))
                }
                SelectItem::ExprWithAlias { expr, alias } => (alias, expr),
                _ => return None,
            };
            // A column that is not plain may not be needed: fail only if it is requested.
            columns.push((name.value.clone(), inner.expression(expr)));
        }
        let kept = match &select.selection {
            None => inner.kept,
            Some(condition) if inner.kept.is_empty() => inner.alternatives(condition)?,
            Some(_) => return None,
        };
        Some(Self { table: inner.table, columns: Some(columns), kept })
    }

    fn field(&self, name: &str) -> Option<Field> {
        match &self.columns {
            // If a name occurs twice, SQLite takes the first. Names ignore case.
            Some(columns) => {
                let is_it = |(known, _): &&(String, _)| known.eq_ignore_ascii_case(name);
                columns.iter().find(is_it)?.1.clone()
            }
            None if name == "rowid" => Some(Field::RowId),
            None => Some(Field::Column(name.to_owned())),
        }
    }

    fn expression(&self, expr: &Expr) -> Option<Field> {
        match expr {
            Expr::Identifier(name) => self.field(&name.value),
            Expr::Value(value) if value.value == Value::Null => Some(Field::Null),
            Expr::Function(function) if function.name.to_string() == "coalesce" => {
                let FunctionArguments::List(list) = &function.args else { return None };
                let argument = |argument: &FunctionArg| match argument {
                    FunctionArg::Unnamed(FunctionArgExpr::Expr(expr)) => self.expression(expr),
                    _ => None,
                };
                let fields: Option<Vec<Field>> = list.args.iter().map(argument).collect();
                let shown: Vec<String> = list.args.iter().map(ToString::to_string).collect();
                let is_all = function.to_string() == format!("coalesce({})", shown.join(", "));
                is_all.then_some(Field::FirstOf(fields?))
            }
            _ => None,
        }
    }

    /// Parses a condition like `a IN (1, 2) OR b IN (3)`.
    fn alternatives(&self, condition: &Expr) -> Option<Vec<(Field, Vec<i64>)>> {
        match condition {
            Expr::BinaryOp { left, op: BinaryOperator::Or, right } => {
                let mut all = self.alternatives(left)?;
                all.append(&mut self.alternatives(right)?);
                Some(all)
            }
            Expr::InList { expr, list, negated: false } => {
                let numbers = list.iter().map(|number| number.to_string().parse().ok());
                Some(vec![(self.expression(expr)?, numbers.collect::<Option<_>>()?)])
            }
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(others: &[&str], columns: &[&str]) -> Option<Plain> {
        let others = others.iter().map(|&sql| sql.to_owned()).collect();
        let statements = Statements { others, ..Statements::default() };
        Plain::of(&statements, "kernel", "kernel_id", columns)
    }

    const SOURCE: &str = "CREATE TEMP VIEW src AS SELECT\n  rowid AS row_id,\n  \"start\",\n  \"end\",\n  \
                          \"mangled\",\n  \"kind\",\n  NULL AS \"node\"\nFROM main.\"KERNEL\"";

    #[test]
    fn columns_are_traced_to_their_table() {
        let kernel = "CREATE TEMP VIEW kernel AS\nSELECT row_id AS kernel_id, start AS start_ns, \
                      \"end\" - start AS dur_ns, coalesce(mangled, node) AS name_id, node AS node_id \
                      FROM (SELECT row_id, start, \"end\", mangled, node FROM src WHERE kind IN (1, 2) OR kind IN (-7))";
        let plain = of(&[SOURCE, kernel], &["kernel_id", "start_ns", "name_id", "node_id"]).unwrap();
        let column = |name: &str| Field::Column(name.to_owned());
        assert_eq!(plain.table, "KERNEL");
        let name = Field::FirstOf(vec![column("mangled"), Field::Null]);
        assert_eq!(plain.fields, [Field::RowId, column("start"), name, Field::Null]);
        assert_eq!(plain.kept, [(column("kind"), vec![1, 2]), (column("kind"), vec![-7])]);
        assert_eq!(of(&[SOURCE, kernel], &["kernel_id", "dur_ns"]), None);
    }

    #[test]
    fn anything_but_renaming_is_left_to_sqlite() {
        let made = |rest: &str| {
            let kernel = format!("CREATE TEMP VIEW kernel AS\nSELECT row_id AS kernel_id, start {rest}");
            of(&[SOURCE, &kernel], &["kernel_id", "start"])
        };
        assert!(made("FROM src").is_some());
        for rest in [
            "FROM src LIMIT 5",
            "FROM src ORDER BY start",
            "FROM src GROUP BY start",
            "FROM src, src AS twice",
            "FROM src AS a JOIN src AS b ON a.row_id = b.row_id",
            "FROM src WHERE kind = 1",
            "FROM src WHERE kind NOT IN (1)",
            "FROM src WHERE kind IN (1) AND kind IN (2)",
            "FROM src WHERE kind IN (SELECT 1)",
            "FROM src WHERE kind IN (1.5)",
            "FROM src UNION ALL SELECT 1, 2",
            "FROM unknown",
            "",
        ] {
            assert_eq!(made(rest), None, "{rest}");
        }
        let distinct = "CREATE TEMP VIEW kernel AS\nSELECT DISTINCT row_id AS kernel_id, start FROM src";
        assert_eq!(of(&[SOURCE, distinct], &["start"]), None);
        for first in ["\"end\" + 1 AS start", "abs(start) AS START", "\"end\" AS start"] {
            let twice = format!(
                "CREATE TEMP VIEW kernel AS\nSELECT row_id AS kernel_id, {first}, start FROM src"
            );
            let fields = of(&[SOURCE, &twice], &["start"]).map(|plain| plain.fields);
            let end = vec![Field::Column("end".to_owned())];
            assert_eq!(fields, first.starts_with("\"end\" AS").then_some(end), "{first}");
        }
        let no_row = "CREATE TEMP VIEW kernel AS\nSELECT start AS kernel_id, start FROM src";
        assert_eq!(of(&[SOURCE, no_row], &["start"]), None);
    }
}
