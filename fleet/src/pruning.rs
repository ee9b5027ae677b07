//! Filters choose reports: a report is left out if no row of its contribution can pass.

use crate::contributions::Span;
use crate::plan::Known;
use datafusion::common::ScalarValue;
use datafusion::logical_expr::{Between, BinaryExpr, Expr, Operator};

/// Whether a row of this report can pass all filters. In doubt, it can.
pub(crate) fn may_have_rows(known: &Known, filters: &[Expr]) -> bool {
    filters.iter().all(|filter| may_pass(known, filter))
}

fn may_pass(known: &Known, filter: &Expr) -> bool {
    match filter {
        Expr::BinaryExpr(BinaryExpr { left, op: Operator::And, right }) => {
            may_pass(known, left) && may_pass(known, right)
        }
        Expr::BinaryExpr(BinaryExpr { left, op: Operator::Or, right }) => {
            may_pass(known, left) || may_pass(known, right)
        }
        Expr::BinaryExpr(BinaryExpr { left, op, right }) => match (&**left, &**right) {
            (Expr::Column(column), Expr::Literal(value, _)) => compares(known, &column.name, *op, value),
            (Expr::Literal(value, _), Expr::Column(column)) => {
                op.swap().is_none_or(|op| compares(known, &column.name, op, value))
            }
            _ => true,
        },
        Expr::Between(Between { expr, negated: false, low, high }) => match (&**expr, &**low, &**high) {
            (Expr::Column(column), Expr::Literal(low, _), Expr::Literal(high, _)) => {
                compares(known, &column.name, Operator::GtEq, low)
                    && compares(known, &column.name, Operator::LtEq, high)
            }
            _ => true,
        },
        Expr::InList(list) if !list.negated => match &*list.expr {
            Expr::Column(column) => list.list.iter().any(|value| match value {
                Expr::Literal(value, _) => compares(known, &column.name, Operator::Eq, value),
                _ => true,
            }),
            _ => true,
        },
        _ => true,
    }
}

/// Whether a value of the column can compare so.
fn compares((source, spans): &Known, column: &str, op: Operator, value: &ScalarValue) -> bool {
    let span = match column {
        "side" => Span::Between(source.side, source.side),
        "report" => Span::Only(source.name.clone()),
        column => match spans.get(column) {
            Some(span) => span.clone(),
            None => return true,
        },
    };
    match (span, value) {
        // No comparison with null is true.
        (Span::Nothing, _) => !is_comparison(op),
        (Span::Between(low, high), ScalarValue::Int64(Some(value))) => match op {
            Operator::Eq => low <= *value && *value <= high,
            Operator::Lt => low < *value,
            Operator::LtEq => low <= *value,
            Operator::Gt => high > *value,
            Operator::GtEq => high >= *value,
            _ => true,
        },
        (Span::Only(text), ScalarValue::Utf8(Some(value))) => match op {
            Operator::Eq => text == *value,
            Operator::NotEq => text != *value,
            _ => true,
        },
        _ => true,
    }
}

fn is_comparison(op: Operator) -> bool {
    use Operator::{Eq, Gt, GtEq, Lt, LtEq, NotEq};
    matches!(op, Eq | NotEq | Lt | LtEq | Gt | GtEq)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::asked::Source;
    use datafusion::prelude::{col, lit};

    #[test]
    fn a_report_is_left_out_only_if_no_row_can_pass() {
        let source =
            Source { side: 3, name: "rank3.sqlite".to_owned(), path: String::new(), not_on: None };
        let spans = [
            ("rank".to_owned(), Span::Between(3, 3)),
            ("start_ns".to_owned(), Span::Between(100, 200)),
            ("host".to_owned(), Span::Only("a".to_owned())),
            ("iteration".to_owned(), Span::Nothing),
        ];
        let known = (source, spans.into_iter().collect());
        let passes = |filter: Expr| may_have_rows(&known, &[filter]);
        for filter in [
            col("rank").eq(lit(3_i64)),
            lit(3_i64).eq(col("rank")),
            col("rank").in_list(vec![lit(1_i64), lit(3_i64)], false),
            col("rank").not_eq(lit(3_i64)),
            col("start_ns").between(lit(200_i64), lit(300_i64)),
            lit(150_i64).lt(col("start_ns")),
            col("host").eq(lit("a")),
            col("report").eq(lit("rank3.sqlite")).and(col("side").gt(lit(2_i64))),
            col("rank").eq(lit(9_i64)).or(col("host").eq(lit("a"))),
            col("other").eq(lit(1_i64)),
            col("iteration").is_null(),
        ] {
            assert!(passes(filter.clone()), "{filter}");
        }
        for filter in [
            col("rank").eq(lit(4_i64)),
            lit(4_i64).lt_eq(col("rank")),
            col("rank").in_list(vec![lit(1_i64), lit(4_i64)], false),
            col("start_ns").between(lit(201_i64), lit(300_i64)),
            col("start_ns").lt(lit(100_i64)),
            col("host").eq(lit("b")),
            col("side").lt(lit(3_i64)).or(col("report").eq(lit("rank4.sqlite"))),
            col("iteration").gt(lit(5_i64)),
            col("other").eq(lit(1_i64)).and(col("rank").gt(lit(3_i64))),
        ] {
            assert!(!passes(filter.clone()), "{filter}");
        }
    }
}
