//! The dialect that SQLite and DataFusion share: queries across the reports of a job also run on the engine for
//! fleets, but for AS MATERIALIZED, which that leaves out.

use nsq_engine::compile::without_hints;
use sqlparser::ast::{
    DataType, Expr, FunctionArguments, Query, UnaryOperator, Visit, Visitor, visit_expressions,
};
use sqlparser::dialect::{Dialect, GenericDialect, SQLiteDialect};
use sqlparser::parser::Parser;
use std::ops::ControlFlow;

/// Functions that both engines have, with the same meaning. `min` and `max` have one argument: SQLite's other
/// ones are scalar functions that DataFusion lacks.
const FUNCTIONS: [(&str, usize); 20] = [
    ("abs", 1),
    ("avg", 1),
    ("coalesce", 2),
    ("count", 1),
    ("dense_rank", 0),
    ("first_value", 1),
    ("lag", 1),
    ("last_value", 1),
    ("lead", 1),
    ("max", 1),
    ("median", 1),
    ("min", 1),
    ("ntile", 1),
    ("nullif", 2),
    ("percentile", 2),
    ("rank", 0),
    ("round", 1),
    ("row_number", 0),
    ("stddev", 1),
    ("sum", 1),
];

/// What of a statement is not in both dialects, each with a remedy.
pub(super) fn departures(sql: &str) -> Vec<(String, &'static str)> {
    // The engine for fleets leaves out AS MATERIALIZED. What is no statement is found below.
    let sql = &without_hints(sql).unwrap_or_else(|_| sql.to_owned());
    let dialects: [(&str, &dyn Dialect); 2] =
        [("SQLite", &SQLiteDialect {}), ("DataFusion", &GenericDialect {})];
    let mut found = Vec::new();
    for (engine, dialect) in dialects {
        match Parser::parse_sql(dialect, sql) {
            Err(error) => found.push((
                format!("this is not a statement of {engine}: {error}"),
                "write what both engines understand",
            )),
            Ok(statements) => {
                let mut departures = Departures::default();
                let _ = statements.visit(&mut departures);
                let _ = visit_expressions(&statements, |expr| {
                    departures.look_at(expr);
                    ControlFlow::<()>::Continue(())
                });
                found.append(&mut departures.0);
            }
        }
    }
    found.sort();
    found.dedup();
    found
}

#[derive(Default)]
struct Departures(Vec<(String, &'static str)>);

impl Visitor for Departures {
    type Break = ();

    fn pre_visit_query(&mut self, query: &Query) -> ControlFlow<()> {
        let limit = query.limit_clause.as_ref().map(ToString::to_string).unwrap_or_default();
        if limit.contains("LIMIT -") {
            self.0.push((
                "LIMIT -1 is SQLite's alone".to_owned(),
                "write AS MATERIALIZED, which the engine for fleets leaves out",
            ));
        }
        ControlFlow::Continue(())
    }
}

impl Departures {
    fn look_at(&mut self, expr: &Expr) {
        match expr {
            Expr::Function(call) => {
                let name = call.name.to_string().to_lowercase();
                let given = match &call.args {
                    FunctionArguments::List(list) => list.args.len(),
                    _ => 0,
                };
                let fits = |(known, most): &(&str, usize)| *known == name && given <= *most;
                if !(FUNCTIONS.iter().any(fits) || name == "coalesce" && given > 0) {
                    self.0.push((
                        format!("{name}() with {given} arguments is not in both engines"),
                        "write CASE, or a function that both have: crates/check/src/lint/dialect.rs lists them",
                    ));
                }
            }
            Expr::Cast { data_type, .. }
                if !matches!(data_type, DataType::BigInt(_) | DataType::Double(_) | DataType::Text) =>
            {
                self.0.push((
                    format!("CAST AS {data_type} means different types"),
                    "write BIGINT, DOUBLE or TEXT: in DataFusion, INTEGER has 32 bits",
                ));
            }
            Expr::BinaryOp { op, .. } if op.to_string() == "->" || op.to_string() == "->>" => {
                self.0.push((format!("{op} is SQLite's alone"), "give the values as columns"));
            }
            Expr::UnaryOp { op: UnaryOperator::BitwiseNot, .. } => {
                self.0.push(("~ is not in both engines".to_owned(), "write arithmetic"));
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::departures;

    #[test]
    fn what_only_sqlite_understands_is_found() {
        for sql in [
            "SELECT iif(a, 1, 2) FROM t",
            "SELECT max(a, b) FROM t",
            "SELECT CAST(a AS INTEGER) FROM t",
            "WITH s AS (SELECT a FROM t LIMIT -1) SELECT a FROM s",
            "SELECT a FROM t WHERE a GLOB 'x*'",
            "SELECT op_class(a) FROM t",
        ] {
            assert_eq!(departures(sql).len(), 1, "{sql}: {:?}", departures(sql));
        }
    }

    #[test]
    fn the_shared_dialect_is_enough() {
        let sql = "WITH s AS MATERIALIZED (SELECT a, count(*) AS n FROM t GROUP BY a) SELECT CAST(round(median(n)) AS \
                   BIGINT), coalesce(a, b, 0), ntile(16) OVER (ORDER BY a NULLS FIRST) FROM s WHERE a IS NOT DISTINCT \
                   FROM b ORDER BY 1";
        assert_eq!(departures(sql), []);
    }
}
